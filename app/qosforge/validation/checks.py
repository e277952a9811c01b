"""All checks of our own: numbers, queues, maps and marks, which no other validator sees."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.compiler.compile import Compilation
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.findings import Finding
from qosforge.platforms.device_text import Configuration
from qosforge.validation.bursts import check_bursts
from qosforge.validation.class_order import check_class_order
from qosforge.validation.classification import check_classification
from qosforge.validation.context import ValidationContext
from qosforge.validation.declared import check_declared
from qosforge.validation.evidence import check_evidence
from qosforge.validation.fragments import check_fragments
from qosforge.validation.intents import check_priority_share, check_routing
from qosforge.validation.lines import check_lines
from qosforge.validation.links import check_efficiency, check_ends
from qosforge.validation.mark_queues import check_mark_queues
from qosforge.validation.marks import check_marks
from qosforge.validation.rendering import check_rendering
from qosforge.validation.unserved import check_unserved
from qosforge.validation.verification import check_verification


def own_checks(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    predicted: Mapping[str, PredictedConfiguration] | None = None,
) -> tuple[Finding, ...]:
    """Findings of every check of ours, in a fixed order; pure.

    ``predicted`` are the configurations that the candidates are made of, where they are made already.
    """
    known = ValidationContext(compilation, running, predicted or {})
    return (*_of_devices(known), *_of_network(known))


def device_checks(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    predicted: Mapping[str, PredictedConfiguration] | None = None,
) -> tuple[Finding, ...]:
    """Findings of the checks that look at one device at a time: of a part of a network they are the same."""
    return _of_devices(ValidationContext(compilation, running, predicted or {}))


def _of_devices(known: ValidationContext) -> tuple[Finding, ...]:
    lines = tuple(check_lines(known))
    faulty = {finding.device for finding in lines}
    return (
        *lines,
        # A fault that is named at its line makes a plan of its own; what else differs is told once it is corrected.
        *(finding for finding in check_rendering(known) if finding.device not in faulty),
        *check_classification(known),
        *check_mark_queues(known),
    )


def network_checks(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    predicted: Mapping[str, PredictedConfiguration] | None = None,
) -> tuple[Finding, ...]:
    """Findings of the checks that look at the policy, at links, paths and flows: they need the whole network."""
    return _of_network(ValidationContext(compilation, running, predicted or {}))


def _of_network(known: ValidationContext) -> tuple[Finding, ...]:
    return (
        *check_class_order(known),
        *check_efficiency(known),
        *check_ends(known),
        *check_marks(known),
        *check_unserved(known),
        *check_priority_share(known),
        *check_bursts(known),
        *check_declared(known),
        *check_fragments(known),
        *check_routing(known),
        *check_verification(known),
        *check_evidence(known),
    )
