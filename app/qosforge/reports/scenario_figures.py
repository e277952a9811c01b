"""All that is drawn and computed of one scenario of a run, as one document that is kept with the run."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from qosforge.reports.delay_origin import DelayOrigin, not_recorded, run_origins
from qosforge.reports.figures import Figure, class_figures
from qosforge.reports.model import RunReport
from qosforge.reports.trade_offs import Account, TradeOff, accounts, trade_offs
from qosforge.tester.measurement.document import Measurement, When


@dataclass(frozen=True)
class ScenarioFigures:
    """The figures of one scenario, and what stands beside them; ``scenarios`` names all of the run in order.

    ``titles`` says what each of these is; it is empty in documents of earlier releases.
    """

    scenario: str
    title: str
    scenarios: tuple[str, ...]
    figures: tuple[Figure, ...]
    accounts: tuple[Account, ...]
    trade_offs: tuple[TradeOff, ...]
    origins: tuple[DelayOrigin, ...]
    unrecorded: tuple[When, ...]
    titles: tuple[str, ...] = ()

    def figure(self, key: str) -> Figure | None:
        """The figure of this key, else the first."""
        return next((one for one in self.figures if one.key == key), next(iter(self.figures), None))


FIGURES = TypeAdapter(ScenarioFigures)
"""Reads and writes the document."""


def scenario_figures(report: RunReport, scenario: str = "") -> ScenarioFigures | None:
    """Draw one scenario of a run, the first by default; ``None`` where the run has none of this name.

    It draws for seconds: on a service, in a process of its own.
    """
    sides = (report.before, report.predicted, report.after)
    titles = {each.name: each.title for side in sides if side for each in side.scenarios}
    name = scenario or next(iter(titles), "")
    if name not in titles:
        return None
    part = report.model_copy(
        update={
            "before": _part(report.before, name),
            "predicted": _part(report.predicted, name),
            "after": _part(report.after, name),
        }
    )
    return ScenarioFigures(
        scenario=name,
        title=titles[name],
        scenarios=tuple(titles),
        figures=class_figures(part),
        accounts=accounts(part.before, part.after),
        trade_offs=trade_offs(part.before, part.after),
        origins=tuple(one for one in run_origins(part) if one.scenario == name),
        unrecorded=not_recorded((part.before, part.predicted, part.after)),
        titles=tuple(titles.values()),
    )


def _part(measurement: Measurement | None, scenario: str) -> Measurement | None:
    if measurement is None:
        return None
    return measurement.model_copy(
        update={"scenarios": tuple(each for each in measurement.scenarios if each.name == scenario)}
    )
