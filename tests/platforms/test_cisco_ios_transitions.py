"""One shape of output policy takes the place of another: the device takes every line on the way there and back."""

from __future__ import annotations

from itertools import permutations

import pytest

from qosforge.inventory.models import Framing
from qosforge.plan.request import DeviceRequest

from .ios_support import FAST, LIBRARY, MODERN, OLD, PHYSICS, a_class, line, pushed, requested

PLAIN = requested(a_class("a", 3, treatment={"bandwidth": {"percent": 40}, "wred": True}))
TREE = requested(PHYSICS, LIBRARY)
SHAPED = requested(a_class("a", 3, treatment={"bandwidth": {"percent": 40}}), interfaces=(FAST,))
BELOW = requested(
    a_class("a", 2, treatment={"priority": {"percent": 30}}),
    interfaces=(line("FastEthernet0/1.7", 100_000_000, framing=Framing.ETHERNET), line()),
)


@pytest.mark.parametrize("image", [OLD, MODERN])
@pytest.mark.parametrize(
    ("first", "second"), list(permutations([PLAIN, TREE, SHAPED, BELOW], 2)), ids=lambda request: ""
)
def test_one_shape_of_policy_takes_the_place_of_another_and_back(
    image: str, first: DeviceRequest, second: DeviceRequest
) -> None:
    _, box = pushed(first.model_copy(update={"image": image}))

    pushed(second.model_copy(update={"image": image}), box.running_text())
