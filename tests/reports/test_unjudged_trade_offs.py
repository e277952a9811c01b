"""What a change costs the classes that have no objective."""

from __future__ import annotations

from qosforge.intent.loader import parse_intent
from qosforge.intent.models import TrafficClass
from qosforge.reports.unjudged_trade_offs import (
    TradeOffFigure,
    UnjudgedTradeOff,
    figures_by_class,
    unjudged_trade_offs,
)
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult

MS = 10**9
INTENT = """version: 1
intent: one
classes:
  - {name: voice, match: {any: [{dscp: ef}]}, treatment: {priority: {percent: 20}}, objective: {loss: 1 %}}
  - {name: mail, match: {any: [{dscp: af11}]}}
  - {name: default}
apply: [{interfaces: lan, direction: output}]
"""
Got = tuple[int, int]
"""Packets lost of a hundred, and the mean delay of the others in ms."""


def classes() -> tuple[TrafficClass, ...]:
    return tuple(parse_intent(INTENT, "one.yaml").intent.classes)


def measured(**got: Got | tuple[Got, Got]) -> Measurement:
    """Each class on one path, or on two."""
    flows = []
    for name, figures in got.items():
        paths = figures if isinstance(figures[0], tuple) else (figures,)
        for path, (lost, delay) in zip(("a→b", "b→a"), paths, strict=False):  # type: ignore[misc]
            flows.append(
                FlowResult(
                    name=f"{name} {path}",
                    traffic_class=name,
                    path=path,
                    sent=100,
                    delivered=100 - lost,
                    lost=lost,
                    mean_delay_ps=delay * MS,
                )
            )
    scenario = ScenarioResult(name="wan", title="Over the WAN", flows=tuple(flows))
    return Measurement(
        when="after", evidence="emulated", tester="twin", seed=1, delay_reference="first bit", scenarios=(scenario,)
    )


def found(before: Measurement | None, after: Measurement) -> tuple[UnjudgedTradeOff, ...]:
    return unjudged_trade_offs(classes(), figures_by_class(before) if before else {}, figures_by_class(after))


def test_a_class_that_pays_is_told_by_its_worst_path() -> None:
    before = measured(voice=(40, 90), mail=(0, 20), default=((30, 20), (31, 20)))
    after = measured(voice=(0, 5), mail=(0, 22), default=((70, 20), (77, 21)))
    assert found(before, after) == (
        UnjudgedTradeOff("default", 3, (TradeOffFigure("loss", "31 %", "77 %", "b→a"),), 2),
    )


def test_the_path_that_got_worse_is_told_though_another_one_was_as_bad() -> None:
    (worse,) = found(measured(default=((0, 20), (50, 20))), measured(default=((50, 20), (50, 20))))
    assert worse.figures == (TradeOffFigure("loss", "0 %", "50 %", "a→b"),)


def test_delays_that_grow_are_told_too() -> None:
    (worse,) = found(measured(mail=(3, 20)), measured(mail=(3, 200)))
    assert worse.figures == (TradeOffFigure("mean delay", "20 ms", "200 ms", "a→b"),)
    (worse,) = found(measured(mail=(3, 2_371)), measured(mail=(3, 26_680)))
    assert worse.figures == (TradeOffFigure("mean delay", "2.37 s", "26.7 s", "a→b"),)


def test_a_path_that_is_much_slower_is_told_beside_one_that_lost_more_but_a_small_part() -> None:
    (worse,) = found(measured(mail=((3, 1_000), (3, 20))), measured(mail=((3, 1_400), (3, 200))))
    assert worse.figures == (TradeOffFigure("mean delay", "20 ms", "200 ms", "b→a"),)


def test_what_is_judged_or_fares_as_well_is_not_told() -> None:
    before = measured(voice=(0, 5), mail=(2, 20), default=(5, 20))
    assert found(before, measured(voice=(60, 90), mail=(2, 21), default=(4, 15))) == ()


def test_losses_are_told_where_nothing_is_known_from_before() -> None:
    (worse,) = found(None, measured(mail=(0, 900), default=(50, 20)))
    assert worse == UnjudgedTradeOff("default", 3, (TradeOffFigure("loss", "", "50 %", "a→b"),), 1)
