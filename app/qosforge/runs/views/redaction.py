"""Copies of a run's artifacts for viewers, with the secrets in devices' lines removed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

from qosforge.artifacts.store import Artifacts, canonical_json
from qosforge.platforms.base import secret_forms
from qosforge.platforms.masked_findings import mask_document
from qosforge.runs.views.artifact_list import ArtifactKind, RunArtifact

_OF_A_DEVICE = (ArtifactKind.CONFIGURATION, ArtifactKind.DELTA, ArtifactKind.INVERSE)
_OF_DEVICES = (ArtifactKind.CANDIDATE, ArtifactKind.FINDINGS, ArtifactKind.COUNTERS)


class RedactedArtifacts:
    """Copies, for viewers, of the artifacts of one run: ``whole`` (see `artifact_list.list_artifacts`).

    Secrets are what lines have by the form of any platform, and what was read from the device that an artifact is
    of, or from any device where it is of several.
    """

    def __init__(self, artifacts: Artifacts, whole: Iterable[RunArtifact]) -> None:
        self._artifacts = artifacts
        self._forms = secret_forms("")
        self._held: dict[str, dict[str, None]] = {}
        self._found: dict[str, frozenset[str]] = {}
        for content in whole:
            if content.kind.restricted:
                self._held.setdefault(_device(content), {})[content.id] = None

    def copy(self, content: RunArtifact) -> bytes:
        """The bytes of an artifact that is not restricted: those stored, where they hold no secret.

        Raises:
            StoreError: an artifact is missing or damaged.
        """
        data = self._artifacts.get_bytes(content.id)
        if content.kind in _OF_A_DEVICE:
            return self._forms.shown(data.decode(), self._secrets(_device(content))).encode()
        if content.kind in _OF_DEVICES:
            secrets = frozenset[str]().union(*map(self._secrets, self._held))
            mask = partial(self._forms.shown_document, secrets=secrets)
            document = json.loads(data)
            is_findings = content.kind is ArtifactKind.FINDINGS
            return canonical_json(mask_document(document, mask) if is_findings else mask(document)).encode()
        return data

    def _secrets(self, device: str) -> frozenset[str]:
        """What was read from a device; looked for once, however many artifacts are copied."""
        if device not in self._found:
            texts = map(self._artifacts.get_text, self._held.get(device, {}))
            self._found[device] = frozenset[str]().union(*map(self._forms.secrets, texts))
        return self._found[device]


def _device(content: RunArtifact) -> str:
    return content.name.partition("/")[2].partition("@")[0]
