"""Mask secrets in findings that quote a device's configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from qosforge.finding_codes import PREFERRED
from qosforge.findings import Finding
from qosforge.note import facts_agree
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

    def masked(finding: Finding) -> Finding:
        document = finding.model_dump()
        shown = mask_document(document, words(finding.device or "").shown_document)
        return finding if shown == document else Finding.model_validate(shown)

    return tuple(map(masked, findings))


def mask_document(document: Any, mask: Callable[[Any], Any]) -> Any:
    """The document of a finding, or of several, without the secrets that ``mask`` replaces.

    The words around a fact in a message may show that it is a secret, where the fact alone does not: facts of what
    was masked are kept only where they give the masked texts. That the policy prefers something is no secret.
    """
    if isinstance(document, list):
        return [mask_document(entry, mask) for entry in document]
    masked = mask(document)
    match masked:
        case {"facts": {} as facts} if masked != document and not facts_agree(Finding.model_validate(masked)):
            return {**masked, "facts": {name: fact for name, fact in facts.items() if name == PREFERRED}}
    return masked
