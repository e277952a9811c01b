"""The job of a measurement that is no run: what the devices do now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from qosforge.deltaq.objective import Outcome
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.reports.trade_offs import Account, TradeOff, accounts, trade_offs
from qosforge.tester.measurement.judging import ClassVerdict
from qosforge.tester.twin_measurement import measure_until_conclusive


class MeasurementDocument(BaseModel):
    """A measurement with its verdicts, and what every class was expected to get and got."""

    outcome: Outcome
    verdicts: tuple[ClassVerdict, ...]
    measurement: dict[str, Any]
    accounts: tuple[Account, ...]
    trade_offs: tuple[TradeOff, ...]


def measure_network(
    written: PolicySource, network: Network, texts: Mapping[str, DeviceText], seed: int, at_most_seconds: float
) -> bytes:
    """Measure what the given configurations do and return the document as JSON, within ``at_most_seconds``.

    Raises:
        InputError: the policy is no valid intent.
        TesterError: the tester cannot measure this.
    """
    intent = load_policy(written).intent
    judged = measure_until_conclusive(intent, network, texts, seed=seed, at_most_seconds=at_most_seconds)
    document = MeasurementDocument(
        outcome=judged.outcome,
        verdicts=judged.verdicts,
        measurement=judged.measurement.model_dump(mode="json"),
        accounts=tuple(accounts(judged.measurement, None)),
        trade_offs=tuple(trade_offs(judged.measurement, None)),
    )
    return document.model_dump_json(by_alias=True).encode()
