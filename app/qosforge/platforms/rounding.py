"""Findings on policers that a device holds with other numbers than requested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qosforge.errors import Place
from qosforge.findings import Finding
from qosforge.intent.models import Police
from qosforge.note import note
from qosforge.platforms.capability_data import Bounds
from qosforge.units import format_rate


def rate_findings(
    place: Place,
    police: Police,
    rate: int,
    tolerance: float,
    rates: Bounds,
    *,
    variant: str,
    variant_beyond: str,
    **facts: Any,
) -> Iterator[Finding]:
    """Whether a policer has another rate, and whether that is beyond the tolerance; ``rates`` are all there are."""
    asked = police.committed_rate
    if rate != asked:
        beyond = abs(rate - asked) > tolerance * asked
        yield note(
            "police-rate-approximate",
            place,
            requested=format_rate(asked),
            applied=format_rate(rate),
            variant=variant_beyond if beyond else variant,
            lowest=format_rate(rates.minimum),
            highest=format_rate(rates.maximum),
            step=format_rate(rates.step),
            preferred=police.prefer,
            **facts,
        )


def burst_findings(place: Place, police: Police, burst: int, **facts: Any) -> Iterator[Finding]:
    """Whether a policer has another burst; one that the intent does not give may be any."""
    given = police.burst is not None or police.burst_time is not None
    if given and burst != police.burst_bytes:
        requested, applied = f"{police.burst_bytes} bytes", f"{burst} bytes"
        yield note("police-burst-approximate", place, requested=requested, applied=applied, **facts)
