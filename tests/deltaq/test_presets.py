"""Presets: each number from a source, and those of ITU-T Y.1541 as its tables have them."""

from __future__ import annotations

import pytest

from qosforge.deltaq.objective import Objective
from qosforge.deltaq.presets import preset, presets, service_classes
from qosforge.intent.loader import parse_intent
from qosforge.resources import read_text

TABLES = {
    # class: mean (s), variation (s), quantile, loss
    0: (0.1, 0.05, 0.999, 1e-3),
    1: (0.4, 0.05, 0.999, 1e-3),
    2: (0.1, None, 0.999, 1e-3),
    3: (0.4, None, 0.999, 1e-3),
    4: (1.0, None, 0.999, 1e-3),
    6: (0.1, 0.05, 0.99999, 1e-5),
    7: (0.4, 0.05, 0.99999, 1e-5),
}


@pytest.mark.parametrize(("number", "figures"), TABLES.items())
def test_the_classes_of_y1541(number: int, figures: tuple[float, float | None, float, float]) -> None:
    mean, variation, quantile, loss = figures
    expected = Objective(mean=mean, variation=variation, variation_quantile=quantile, loss=loss)
    assert preset(f"y1541-{number}").objective() == expected


def test_class_5_bounds_nothing() -> None:
    assert preset("y1541-5").objective() is None
    assert preset("rfc4594-standard").objective() is None


def test_g114_is_of_the_mean() -> None:
    assert preset("g114").objective() == Objective(mean=0.15)
    assert preset("g114-limit").objective() == Objective(mean=0.4)


def test_every_bound_names_its_source() -> None:
    bounds = [bound for each in presets().values() for bound in (each.mean, each.variation, each.loss) if bound]
    assert len(bounds) > 20
    assert all("ITU-T" in bound.source for bound in bounds)


def test_service_classes_are_those_of_the_library() -> None:
    """The twelve of RFC 4594 are in the library's intent, too: ``default`` there is ``standard`` here."""
    intent = parse_intent(
        read_text("policies/rfc4594-12.yaml"),
        "rfc4594-12.yaml",
        included={"classes/rfc4594-12.yaml": read_text("policies/classes/rfc4594-12.yaml")},
    ).intent
    named = {f"rfc4594-{'standard' if each.name == 'default' else each.name}" for each in intent.classes}
    assert named == set(service_classes())


def test_what_bears_no_jitter_has_its_variation_bounded_and_nothing_else_has() -> None:
    for name, each in service_classes().items():
        bounded = preset(name).variation is not None
        assert bounded == (each.tolerance.jitter in ("low", "very low")), name


def test_an_unknown_name_is_told_what_comes_near() -> None:
    with pytest.raises(ValueError, match=r"'y1541_0' is no preset .*did you mean y1541-0"):
        preset("y1541_0")
    with pytest.raises(ValueError, match="there are y1541-0, y1541-1"):
        preset("excellent")
