"""Policers of a class as nft has them."""

from __future__ import annotations

from qosforge.plan.model import DROP, Policer
from qosforge.plan.request import ClassRequest
from qosforge.platforms.base import Direction
from qosforge.platforms.linux_tc.capabilities import CAPABILITIES


def policer(class_request: ClassRequest, side: Direction) -> Policer | None:
    """The policer of a class on one side; None where none is asked for, or none that nft has."""
    requested = class_request.treatment.police
    if requested is None or requested.direction != side or requested.exceed != "drop":
        return None
    rates, bursts = CAPABILITIES.police_rate, CAPABILITIES.police_burst
    return Policer(
        rate=max(requested.committed_rate // rates.step * rates.step, rates.minimum),
        burst=min(max(requested.burst_bytes, bursts.minimum), bursts.maximum),
        exceed=DROP,
    )
