"""Findings that quote a device's configuration, as people may have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.findings import Finding
from app.platforms.base import secret_forms


def shown_findings(
    findings: Iterable[Finding], texts: Mapping[str, str], platforms: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Findings without the secrets of the devices they are about, and with no character unseen.

    ``texts`` and ``platforms`` have each device's configuration and platform by its name. A finding about another
    device, or about none, has the forms of every platform blotted out.
    """
    every = secret_forms("")
    forms = {device: secret_forms(name) for device, name in platforms.items()}
    secrets = {device: forms.get(device, every).secrets(text) for device, text in texts.items()}
    return tuple(
        Finding.model_validate(
            forms.get(finding.device or "", every).shown_document(
                finding.model_dump(), secrets.get(finding.device or "", ())
            )
        )
        for finding in findings
    )
