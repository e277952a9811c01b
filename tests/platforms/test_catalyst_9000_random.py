"""Random intents of the whole language on random Catalyst 9000s, and what the emulated device makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qosforge.inventory.models import Device
from qosforge.platforms.catalyst_9000 import PLATFORM
from tests.properties.devices import Site
from tests.properties.harness import boot, compiled, loaded, push
from tests.properties.intents import WHOLE, Dialect, intents

PORTS = ("TenGigabitEthernet1/1/1", "GigabitEthernet1/0/1", "GigabitEthernet1/0/2")
EXAMPLES = 20
FEASIBLE = Dialect(PLATFORM.features, marked=True)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    """Switches with a trunk and host ports, some of them contracted, some members of an aggregation."""
    ports: list[dict[str, Any]] = []
    startup = "hostname BOX\n!\n"
    role = draw(st.sampled_from(("edge", "access", "core")))
    for name in PORTS[: draw(st.integers(1, 3))]:
        trunk = name == PORTS[0]
        rate = draw(st.sampled_from((10**8, 10**9)))
        entry: dict[str, Any] = {"name": name, "rate": rate, "role": role, "vlans": (3,), "tagged": trunk}
        if draw(st.integers(0, 3)) == 0:
            entry["contracted"] = rate // 5
        if draw(st.integers(0, 3)) == 0:
            entry["lag"] = "Port-channel1"
        ports.append(entry | {"tags": {"trunk" if trunk else "lan"}})
        startup += f"interface {name}\n switchport mode {'trunk' if trunk else 'access'}\n!\n"
    made = {
        "name": "box",
        "platform": "catalyst_9000",
        "image": "17.12",
        "role": role,
        "driver": "ios",
        "interfaces": tuple(ports),
    }
    return Site(Device.model_validate(made), startup)


@pytest.mark.parametrize("words", [FEASIBLE, WHOLE], ids=["what it has", "anything"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_box_takes_shows_and_gives_back_what_is_made_of_any_intent(words: Dialect, data: st.DataObject) -> None:
    site = data.draw(sites())
    box = boot(site)
    for _ in range(2):
        intent = loaded(data.draw(intents(words, site)))
        if intent is not None and (made := compiled(site, intent, box.running_text())) is not None:
            push(site, box, made)
