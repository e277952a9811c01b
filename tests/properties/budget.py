"""How many examples the properties try.

The suite tries few of them, always the same ones. `QOSFORGE_PROPERTY_EXAMPLES=1000` tries that many on each
platform and image (about a minute a thousand on an idle core), and `QOSFORGE_PROPERTY_SEED=7` tries others:

    QOSFORGE_PROPERTY_EXAMPLES=1000 QOSFORGE_PROPERTY_SEED=7 pytest tests/properties --timeout 0
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings

EXAMPLES = int(os.environ.get("QOSFORGE_PROPERTY_EXAMPLES", "60"))
SEED = os.environ.get("QOSFORGE_PROPERTY_SEED")


def tried(parts: float = 1) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of a property: how often it is tried, and with which numbers; ``parts`` times as often."""
    # A counterexample of two intents says enough: to make it smaller takes longer than to read it.
    chosen = settings(
        max_examples=max(1, round(EXAMPLES * parts)),
        deadline=None,
        database=None,
        derandomize=SEED is None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    return lambda test: chosen(test if SEED is None else seed(int(SEED))(test))
