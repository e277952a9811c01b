"""A prediction as a document."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from qosforge.deltaq.objective import Outcome
from qosforge.findings import Finding
from qosforge.intent.models import TrafficClass
from qosforge.prediction.predict import Prediction
from qosforge.prediction.record import SimulatedTime, Today
from qosforge.reports.trade_offs import Account, TradeOff, accounts, trade_offs
from qosforge.reports.unjudged_trade_offs import (
    UnjudgedTradeOff,
    before_by_today,
    figures_by_class,
    unjudged_trade_offs,
)
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict


class PredictionDocument(BaseModel):
    """What a policy would do: the measurement of the twin of its plans, verdicts, and what every class is expected
    to get and would get (``accounts``, ``trade_offs``: as the one side of a measurement, ``before``).
    """

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    simulated: tuple[SimulatedTime, ...]
    verdicts: tuple[ClassVerdict, ...]
    findings: tuple[Finding, ...] = Field(default=(), description="what no measurement would decide either")
    measurement: Measurement
    accounts: tuple[Account, ...]
    trade_offs: tuple[TradeOff, ...]
    today: Today = Field(default=(), description="What classes without an objective get now, where that is known.")
    unjudged_trade_offs: tuple[UnjudgedTradeOff, ...] = Field(
        default=(), description="What classes without an objective would pay."
    )


def prediction_document(
    prediction: Prediction, classes: Sequence[TrafficClass], today: Today
) -> PredictionDocument:
    """The document of a prediction for a policy of these classes."""
    return PredictionDocument(
        outcome=prediction.outcome,
        simulated=prediction.simulated,
        verdicts=prediction.verdicts,
        findings=prediction.findings,
        measurement=prediction.measurement,
        accounts=accounts(prediction.measurement, None),
        trade_offs=trade_offs(prediction.measurement, None),
        today=today,
        unjudged_trade_offs=unjudged_trade_offs(
            classes, before_by_today(today), figures_by_class(prediction.measurement)
        ),
    )
