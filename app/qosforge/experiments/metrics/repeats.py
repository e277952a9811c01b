"""How far trials of the same set-up lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from qosforge.experiments.metrics.base import NotMeasured, require, trials
from qosforge.experiments.rows import ResultRow


@trials("trial_variation_percent")
def trial_variation_percent(rows: Sequence[ResultRow]) -> float:
    """Largest less smallest jitter of the trials, in per cent of their mean."""
    if len(rows) < 2:
        raise NotMeasured("one trial alone has no variation")
    jitters = [require(row.delay_sd_us, "delay: nothing was delivered", row) for row in rows]
    total = require(sum(jitters) or None, "jitter", rows[0])
    return 100 * (max(jitters) - min(jitters)) * len(jitters) / total
