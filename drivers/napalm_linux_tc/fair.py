"""Fair queueing among flows: the words of a ``fq_codel`` queue that does that alone, and what ``tc`` shows of one.

``fq_codel`` serves the flows of a queue in turn, by a quantum of bytes each, and drops from the one that has most
where the limit is reached (tc-fq_codel(8)). Besides, CoDel drops what waits for longer than a ``target``. Nothing
asks for that here, so the target is further away than any packet waits; and where a queue is full one packet goes,
not the kernel's 64 (``drop_batch_size`` in net/sched/sch_fq_codel.c).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from napalm_linux_tc.answers import whole

KIND = "fq_codel"
USUAL_FLOWS = 1024
"""tc-fq_codel(8): "Default value is 1024"."""
_US = 1_000_000
_NEVER_S = 1024
"""Seconds. The kernel keeps times in steps of 1024 ns: a multiple of 128 us is shown as it was entered."""
_MEMORY_BYTES = 1 << 30
"""More than the buffers of any limit take: its limit alone counts."""
_QUANTUM_BYTES = 1514
FIXED = (
    f"quantum {_QUANTUM_BYTES} target {_NEVER_S}s interval {_NEVER_S}s memory_limit {_MEMORY_BYTES}b drop_batch 1 "
    "noecn"
)
"""The words behind those of limit and flows."""
_SHOWN = {
    "quantum": _QUANTUM_BYTES,
    "target": _NEVER_S * _US,
    "interval": _NEVER_S * _US,
    "memory_limit": _MEMORY_BYTES,
    "drop_batch": 1,
}


def fair_words(*, limit: int, flows: int) -> str:
    """The words of a queue of ``limit`` packets that tells ``flows`` apart."""
    return f"{KIND} limit {limit} flows {flows} {FIXED}"


def shown_fair(options: Mapping[str, Any]) -> str:
    """The words of a queue by what ``tc -j`` shows of it; "" where it does more than serve flows in turn."""
    own = {name: options.get(name) for name in ("limit", "flows")}
    if {name: held for name, held in options.items() if name not in own} != _SHOWN or None in own.values():
        return ""
    return fair_words(limit=whole(own["limit"]), flows=whole(own["flows"]))
