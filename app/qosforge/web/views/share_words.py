"""The shares of classes in words."""

from __future__ import annotations

from qosforge.intent.models import TrafficClass
from qosforge.units import format_rate


def share_text(entry: TrafficClass) -> str:
    """What a class is given of a link, as its policy has it."""
    priority, share = entry.treatment.priority, entry.treatment.bandwidth
    if priority is not None:
        if priority.percent is not None:
            return f"up to {priority.percent} %"
        return f"up to {format_rate(priority.rate)}" if priority.rate is not None else "no limit"
    if share is None:
        return "what is left"
    if share.percent is not None:
        return f"{share.percent} %"
    if share.remaining_percent is not None:
        return f"{share.remaining_percent} % of the rest"
    return format_rate(share.rate) if share.rate is not None else f"weight {share.weight}"
