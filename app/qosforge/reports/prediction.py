"""A prediction as a document."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from qosforge.deltaq.objective import Outcome
from qosforge.findings import Finding
from qosforge.prediction.predict import Prediction
from qosforge.reports.trade_offs import Account, TradeOff, accounts, trade_offs
from qosforge.tester.measurement.document import Measurement
from qosforge.tester.measurement.judging import ClassVerdict


class SimulatedDocument(BaseModel):
    """The simulated time of a scenario."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    scenario: str
    seconds: int
    wanted: int = Field(description="how long the policy wants it measured")


class PredictionDocument(BaseModel):
    """What a policy would do: the measurement of the twin of its plans, verdicts, and what every class is expected
    to get and would get (``accounts``, ``trade_offs``: as the one side of a measurement, ``before``).
    """

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    simulated: tuple[SimulatedDocument, ...]
    verdicts: tuple[ClassVerdict, ...]
    findings: tuple[Finding, ...] = Field(default=(), description="what no measurement would decide either")
    measurement: Measurement
    accounts: tuple[Account, ...]
    trade_offs: tuple[TradeOff, ...]


def prediction_document(prediction: Prediction) -> PredictionDocument:
    """The document of a prediction."""
    return PredictionDocument(
        outcome=prediction.outcome,
        simulated=tuple(SimulatedDocument.model_validate(each) for each in prediction.simulated),
        verdicts=prediction.verdicts,
        findings=prediction.findings,
        measurement=prediction.measurement,
        accounts=accounts(prediction.measurement, None),
        trade_offs=trade_offs(prediction.measurement, None),
    )
