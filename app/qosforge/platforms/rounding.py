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
    if rate != police.rate:
        beyond = abs(rate - police.rate) > tolerance * police.rate
        yield note(
            "police-rate-approximate",
            place,
            requested=format_rate(police.rate),
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
    if police.burst is not None and burst != police.burst:
        requested, applied = f"{police.burst} bytes", f"{burst} bytes"
        yield note("police-burst-approximate", place, requested=requested, applied=applied, **facts)
