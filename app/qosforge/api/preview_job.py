"""What a computing process does for a preview. It imports no more than it needs: it begins soon."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Generic, Literal, TypeVar

from qosforge.compiler.reach import devices_in
from qosforge.deploy.traits import require_installed
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.written import Written, load_written
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.preview.policy_check import CheckOptions, PolicyCheck, check_policy
from qosforge.reports.preview import Document, compile_document, policy_document, validate_document
from qosforge.validation.reads import devices_to_read

KEPT_INTENTS = 64
KEPT_NETWORKS = 16
"""What every process keeps read."""

T = TypeVar("T")
Kind = Literal["compile", "validate", "policy"]
"""Which document: ``policy`` is that of `PolicyPreview`."""


@dataclass(frozen=True)
class Job:
    """All that a computing process needs; the same job always gives the same bytes, Batfish aside."""

    kind: Kind
    intent: str
    written: Written
    digest: str
    blob: bytes = field(repr=False)
    devices: tuple[str, ...]
    running: Mapping[str, DeviceText] | None
    checks: CheckOptions | None
    strict: bool
    unsaved: Mapping[str, tuple[str, ...]] | None = None

    def key(self) -> str:
        """What it depends on, as one hash."""
        held = {name: text.digest for name, text in (self.running or {}).items()}
        parts = [self.kind, version("qosforge"), self.intent, self.digest, self.devices, held, self.strict]
        return hashlib.sha256(_text([*parts, self.unsaved, repr(self.checks)]).encode()).hexdigest()


def digest_of(written: Written) -> str:
    """All that an intent is read from, as one hash."""
    parts: list[Any] = [written.text, written.file, dict(written.included), written.settings()]
    return hashlib.sha256(_text(parts).encode()).hexdigest()


class _Read(Generic[T]):
    """What a computing process keeps read, by digests: the last ones that were asked for."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, T] = OrderedDict()

    def get(self, digest: str, read: Callable[[], T]) -> T:
        if digest not in self._kept:
            self._kept[digest] = read()
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(digest)
        return self._kept[digest]


_NETWORKS: _Read[Network] = _Read(KEPT_NETWORKS)
_INTENTS: _Read[LoadedIntent] = _Read(KEPT_INTENTS)


def made(job: Job) -> bytes:
    """The document of a job, in a computing process: one call at a time."""
    network = _NETWORKS.get(job.digest, lambda: _unpacked(job.blob))
    loaded = _INTENTS.get(job.intent, lambda: load_written(job.written))
    checks = CheckOptions(batfish=False) if job.kind == "policy" else job.checks
    checked = check_policy(
        loaded,
        network,
        job.running,
        unsaved=job.unsaved,
        devices=job.devices,
        checks=checks,
        strict=job.strict,
    )
    document = _DOCUMENTS[job.kind](checked)
    return document.model_dump_json(by_alias=True).encode()


def needed(job: Job) -> tuple[str, ...]:
    """The devices whose configurations the document of a job depends on: those in scope that are wanted, and where
    it is checked those that the checks ask for. In a computing process, as `made`.
    """
    network = _NETWORKS.get(job.digest, lambda: _unpacked(job.blob))
    loaded = _INTENTS.get(job.intent, lambda: load_written(job.written))
    inside = devices_in(loaded.intent.apply, network)
    if job.kind == "compile":
        return tuple(sorted(inside.intersection(job.devices) if job.devices else inside))
    return tuple(sorted(devices_to_read(loaded.intent, network, inside)))


_DOCUMENTS: Mapping[Kind, Callable[[PolicyCheck], Document]] = {
    "compile": compile_document,
    "validate": validate_document,
    "policy": policy_document,
}


def _unpacked(blob: bytes) -> Network:
    network = pickle.loads(blob)  # noqa: S301  from the process that began this one
    assert isinstance(network, Network)
    require_installed(network)
    return network


def _text(parts: list[Any]) -> str:
    return json.dumps(parts, sort_keys=True, ensure_ascii=False)
