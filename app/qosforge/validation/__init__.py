"""Validation: our own checks of a compilation, and Batfish beside them where a service is configured."""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.batfish.check import DEFAULT_PORT, check_with_batfish
from qosforge.compiler.compile import Compilation
from qosforge.compiler.merged_configuration import PredictedConfiguration
from qosforge.findings import Finding
from qosforge.platforms.device_text import Configuration
from qosforge.validation.checks import own_checks


def validate(
    compilation: Compilation,
    running: Mapping[str, Configuration],
    *,
    predicted: Mapping[str, PredictedConfiguration] | None = None,
    batfish_host: str | None = None,
    batfish_port: int = DEFAULT_PORT,
    require_batfish: bool = False,
) -> tuple[Finding, ...]:
    """What stands against pushing a compilation, beside what the compiler found itself.

    ``running`` holds the running configurations that are known, by device; ``predicted`` are the configurations
    that the candidates are made of, where they are made already. With ``require_batfish`` a Batfish
    that did not check is an error. Never raises for what a configuration or a service does: that is a finding.
    """
    batfish = check_with_batfish(
        compilation, running, predicted, host=batfish_host, port=batfish_port, require=require_batfish
    )
    return (*own_checks(compilation, running, predicted), *batfish)
