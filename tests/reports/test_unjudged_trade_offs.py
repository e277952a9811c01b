"""What a change costs the classes that have no objective."""

from __future__ import annotations

from qosforge.intent.loader import parse_intent
from qosforge.intent.models import TrafficClass
from qosforge.prediction.record import Today, TodayScenario
from qosforge.reports.unjudged_trade_offs import (
    Before,
    TradeOffFigure,
    UnjudgedTradeOff,
    before_by_measurement,
    before_by_today,
    figures_by_class,
    trade_off_words,
    unjudged_trade_offs,
)
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult
from qosforge.tester.measurement.pooling import class_figures

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
    known = before_by_measurement(before) if before else Before()
    return unjudged_trade_offs(classes(), known, figures_by_class(after))


def loss(before: float | None, after: float, path: str) -> TradeOffFigure:
    return TradeOffFigure(label="loss", before=before, after=after, scenario="wan", path=path)


def delay(before: float, after: float, path: str) -> TradeOffFigure:
    return TradeOffFigure(label="mean delay", before=before, after=after, scenario="wan", path=path)


def test_a_class_that_pays_is_told_by_its_worst_path() -> None:
    before = measured(voice=(40, 90), mail=(0, 20), default=((30, 20), (31, 20)))
    after = measured(voice=(0, 5), mail=(0, 22), default=((70, 20), (77, 21)))
    assert found(before, after) == (
        UnjudgedTradeOff(name="default", number=3, figures=(loss(0.31, 0.77, "b→a"),), paths=2, known="measured"),
    )


def test_the_path_that_got_worse_is_told_though_another_one_was_as_bad() -> None:
    (worse,) = found(measured(default=((0, 20), (50, 20))), measured(default=((50, 20), (50, 20))))
    assert worse.figures == (loss(0, 0.5, "a→b"),)


def test_a_prediction_alone_names_the_path_that_is_named_when_both_sides_are_known() -> None:
    after = measured(default=((82, 20), (78, 20)))
    (predicted,), (compared,) = found(None, after), found(measured(default=((41, 20), (27, 20))), after)
    assert predicted.figures == (loss(None, 0.82, "a→b"),)
    assert compared.figures == (loss(0.41, 0.82, "a→b"),)


def test_delays_that_grow_are_told_too() -> None:
    (worse,) = found(measured(mail=(3, 20)), measured(mail=(3, 200)))
    assert worse.figures == (delay(20, 200, "a→b"),)
    (worse,) = found(measured(mail=(3, 2_371)), measured(mail=(3, 26_680)))
    (figure,) = worse.figures
    assert (figure.was, figure.value) == ("2.37 s", "26.7 s")


def test_a_path_that_is_much_slower_is_told_beside_one_that_lost_more_but_a_small_part() -> None:
    (worse,) = found(measured(mail=((3, 1_000), (3, 20))), measured(mail=((3, 1_400), (3, 200))))
    assert worse.figures == (delay(20, 200, "b→a"),)


def test_what_is_judged_or_fares_as_well_is_not_told() -> None:
    before = measured(voice=(0, 5), mail=(2, 20), default=(5, 20))
    assert found(before, measured(voice=(60, 90), mail=(2, 21), default=(4, 15))) == ()


def test_losses_are_told_where_nothing_is_known_from_before() -> None:
    (worse,) = found(None, measured(mail=(0, 900), default=(50, 20)))
    assert worse == UnjudgedTradeOff(
        name="default", number=3, figures=(loss(None, 0.5, "a→b"),), paths=1, known=None
    )
    assert trade_off_words(worse, "predicted").endswith("loss 50 % predicted on a→b (today: not simulated)")
    assert trade_off_words(worse, "after").endswith("loss 50 % on a→b (not measured before the change)")


def today(**got: Got | tuple[Got, Got]) -> TodayScenario:
    (scenario,) = measured(**got).scenarios
    return TodayScenario(scenario="wan", figures=class_figures(scenario))


def against(known: Today, after: Measurement) -> tuple[UnjudgedTradeOff, ...]:
    return unjudged_trade_offs(classes(), before_by_today(known), figures_by_class(after))


def test_what_is_predicted_stands_beside_what_is_simulated_of_today_on_the_same_path() -> None:
    after = measured(default=((82, 20), (78, 20)))
    (worse,) = against((today(default=((41, 20), (27, 20))),), after)
    assert worse == UnjudgedTradeOff(
        name="default", number=3, figures=(loss(0.41, 0.82, "a→b"),), paths=2, known="simulated"
    )
    assert trade_off_words(worse, "predicted") == (
        "default has no objective and would be worse off: "
        "loss 41 % today → 82 % predicted on a→b, the worst of 2 paths"
    )
    assert against((today(default=((82, 20), (78, 20))),), after) == ()  # it is as bad today
    (alone,) = found(None, after)
    assert alone.figures == (loss(None, 0.82, "a→b"),)  # the same path


def test_why_today_is_not_known_is_told() -> None:
    after = measured(default=(82, 20))
    for unread, words in (("r1", "r1 was never read"), ("r1 r2 r3 r4", "r1 and 3 more were never read")):
        (one,) = against((TodayScenario(scenario="wan", unread=tuple(unread.split())),), after)
        assert trade_off_words(one, "predicted").endswith(f"(today: not simulated, {words})")
    (one,) = against((TodayScenario(scenario="wan", why="the twin refuses it"),), after)
    assert (one.known, one.unknown) == (None, "the twin refuses it")


def test_a_path_of_which_today_is_not_known_hides_no_loss_there() -> None:
    after = measured(default=(20, 20), mail=(0, 20))
    other = measured(default=(60, 20)).scenarios[0].model_copy(update={"name": "lan"})
    both = after.model_copy(update={"scenarios": (*after.scenarios, other)})
    known = (today(default=(10, 20)), TodayScenario(scenario="lan", unread=("r9",)))
    (worse,) = against(known, both)
    assert worse.figures[0].after == 0.6
    assert worse.unknown == "r9 was never read"
