"""What is measured is what is made: templates give the same text by Jinja2's own call and by ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from jinja2 import UndefinedError

from benchmarks.compiler import renderings
from benchmarks.fleet import fleet, flow_classes, recognised_classes
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import LoadedIntent
from qosforge.templating import render


@pytest.mark.parametrize("made", [recognised_classes, flow_classes])
def test_jinja_alone_gives_every_block(made: Callable[[], LoadedIntent]) -> None:
    intent, network = made(), fleet(10)
    blocks = [block for device in compile_intent(intent, network).devices for block in device.blocks]

    alone = [template.render(values) for template, values in renderings(intent, network)]

    assert len(alone) > 100
    assert [text.rstrip("\n") for text in alone] == [block.text.rstrip("\n") for block in blocks]


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="kind"):
        render("mqc/access_list.j2")


def test_a_fleet_has_the_shapes_that_it_is_asked_for() -> None:
    for shapes in (5, None):
        devices = fleet(40, shapes=shapes).devices
        assert len({d.name for d in devices}) == 40
        assert len({d.model_copy(update={"name": ""}) for d in devices}) == (shapes or 40)
