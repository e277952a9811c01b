"""Which configuration lines of a 2950 belong to QoS, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.configtree import Grammar, LineRule
from qosforge.platforms.ios_switch.grammar import CLASSIFIERS, INTERFACE, MAPS, TRUST, attached

RULES = (
    *CLASSIFIERS,
    *MAPS,
    LineRule(
        "wrr-bandwidth", r"(?:no )?wrr-queue bandwidth.*", key="wrr-bandwidth", negate="no wrr-queue bandwidth"
    ),
    LineRule(
        "wrr-cos-map",
        r"(?:no )?wrr-queue cos-map.*",
        group="wrr-cos-map",
        reset="no wrr-queue cos-map",
    ),
    INTERFACE,
    *TRUST,
    attached(),
)

GRAMMAR = Grammar(rules=RULES)
