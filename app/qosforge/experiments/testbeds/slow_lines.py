"""Slow lines through the product: calls and fragments as `campus` runs them, and the rule that sizes fragments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qosforge.errors import ServiceError
from qosforge.experiments.cases import Case, SubjectSelection
from qosforge.experiments.model import Experiment
from qosforge.experiments.testbeds.campus import cases as runs
from qosforge.intent.models import Fragment, fragment_bytes

RULE = "rule"
CALL = "g729"
PACKET = "packet"


def cases(experiment: Experiment) -> Iterator[Case]:
    """What the product's own rule says of every line and codec, and the runs."""
    for name, scenario in experiment.scenarios.items():
        values = _computed(experiment, {**experiment.setup, **scenario})
        yield Case(
            scenarios=(name,),
            document=None,
            subjects={subject: SubjectSelection() for subject in values},
            values=values,
        )
    yield from runs(experiment)


def _computed(experiment: Experiment, setup: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Figures by subject: of the call's codec, and of the rule on the scenario's line.

    Raises:
        ServiceError: a size of fragments is given for no line.
    """
    codec = setup["codec"]
    interval = codec["sample_ms"] * codec["samples_per_packet"] / 1000
    blocking = Fragment(packetisation=interval).blocking
    assert blocking is not None
    if "rate_kbps" not in setup:
        if "fragment_bytes" in setup:
            raise ServiceError(f"{experiment.name}: fragment_bytes without a line", hint="give rate_kbps")
        return {
            CALL: {"packet_interval_ms": interval * 1000},
            RULE: {"blocking_ms": blocking * 1000, "blocking_share": blocking / interval},
        }
    rate = setup["rate_kbps"] * 1000
    size = fragment_bytes(rate, blocking)
    # A size that the paper chooses instead of the rule's.
    chosen = setup.get("fragment_bytes", size)
    time = {"blocking_ms": chosen * 8000 / rate}
    return {RULE: {"fragment_bytes": float(size), "fragment_bits": size * 8.0, **time}, PACKET: time}
