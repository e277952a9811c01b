"""Mask secrets in findings that quote a device's configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from qosforge.findings import Finding
from qosforge.platforms.device_text import Configuration, DeviceWords, words_of


def mask_findings(
    findings: Iterable[Finding], texts: Mapping[str, Configuration], platforms: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Findings without the secrets of the devices they are about, and with no character unseen.

    ``texts`` and ``platforms`` have each device's configuration and platform by its name. A finding about another
    device, or about none, has the forms of every platform masked.
    """

    @cache
    def words(device: str) -> DeviceWords:
        """Made when it is asked for: of most devices nothing is found."""
        name = platforms.get(device, "")
        return words_of(texts[device], device, name) if device in texts else DeviceWords(device, name)

    return tuple(
        Finding.model_validate(words(finding.device or "").shown_document(finding.model_dump()))
        for finding in findings
    )
