"""The job of a preview. It imports no more than it needs, so that a computing process starts soon."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from qosforge.batfish.check import BatfishCheck
from qosforge.compiler.scope_resolution import devices_in
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.preview.policy_check import OwnChecks, PolicyCheck, check_policy
from qosforge.release import release
from qosforge.reports.preview import (
    PreviewDocument,
    compile_document,
    part_document,
    policy_document,
    rest_document,
    validate_document,
)
from qosforge.reports.preview_shares import PreviewShare, preview_share
from qosforge.validation.checks import device_checks, network_checks, own_checks
from qosforge.validation.reads import devices_to_read

MAX_INTENTS = 64
MAX_NETWORKS = 16
"""Parsed policies and networks that each process caches."""

T = TypeVar("T")
PreviewKind = Literal["compile", "validate", "policy", "part", "rest"]
"""Which document to make; ``policy`` is a `PolicyPreview`.

``part`` is one of some of the devices, at the cost of these alone; ``rest`` one without any, with the findings that
only the whole network gives. Parts and rest make the preview of a network that is too large for one answer.
"""


@dataclass(frozen=True)
class PreviewJob:
    """The input of `render_preview`; the same job always gives the same bytes."""

    kind: PreviewKind
    intent: str
    written: PolicySource
    digest: str
    blob: bytes = field(repr=False)
    devices: tuple[str, ...]
    running: Mapping[str, DeviceText] | None
    strict: bool
    unsaved: Mapping[str, tuple[str, ...]] | None = None
    accepted: bool = False

    def key(self) -> str:
        """A hash of everything that the document depends on."""
        digests = {name: text.digest for name, text in (self.running or {}).items()}
        parts = [self.kind, release(), self.intent, self.digest, self.devices, digests, self.strict]
        return hashlib.sha256(_canonical_text([*parts, self.unsaved, self.accepted]).encode()).hexdigest()


def policy_digest(written: PolicySource) -> str:
    """A hash of everything that a policy is loaded from: its text, includes and settings."""
    parts: list[Any] = [written.text, written.file, dict(written.included), written.settings()]
    return hashlib.sha256(_canonical_text(parts).encode()).hexdigest()


class _Cache(Generic[T]):
    """Parsed objects by digest, the least recently used out first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[str, T] = OrderedDict()

    def get(self, digest: str, read: Callable[[], T]) -> T:
        if digest not in self._entries:
            self._entries[digest] = read()
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)
        self._entries.move_to_end(digest)
        return self._entries[digest]


_NETWORKS: _Cache[Network] = _Cache(MAX_NETWORKS)
_INTENTS: _Cache[LoadedIntent] = _Cache(MAX_INTENTS)


@dataclass(frozen=True)
class RenderedPreview:
    """A document as JSON, and of a validation what Batfish is to be asked beside it."""

    body: bytes
    batfish: BatfishCheck | None = None


def render_preview(job: PreviewJob) -> RenderedPreview:
    """Make the document of a job, in a computing process."""
    network = _NETWORKS.get(job.digest, lambda: _unpickle_network(job.blob))
    loaded = _INTENTS.get(job.intent, lambda: load_policy(job.written))
    if job.kind == "part":
        network = _narrowed(network, job.devices)
    checked = check_policy(
        loaded,
        network,
        job.running,
        unsaved=job.unsaved,
        devices=job.devices,
        own_checks=_CHECKS[job.kind],
        strict=job.strict,
        accepted=job.accepted,
    )
    document = _DOCUMENTS[job.kind](checked)
    body = document.model_dump_json(by_alias=True).encode()
    return RenderedPreview(body, checked.batfish if job.kind == "validate" else None)


def render_share(job: PreviewJob) -> PreviewShare:
    """Compile the devices of a job that are named: a share of a preview whose other shares are made meanwhile. In a
    computing process, as `render_preview`.
    """
    network = _NETWORKS.get(job.digest, lambda: _unpickle_network(job.blob))
    loaded = _INTENTS.get(job.intent, lambda: load_policy(job.written))
    return preview_share(
        check_policy(loaded, network, devices=job.devices, strict=job.strict, accepted=job.accepted)
    )


def required_devices(job: PreviewJob) -> tuple[str, ...]:
    """The devices whose configurations the document of a job depends on: the chosen ones in scope, and for a
    validation those that the checks read. In a computing process, as `render_preview`.
    """
    network = _NETWORKS.get(job.digest, lambda: _unpickle_network(job.blob))
    loaded = _INTENTS.get(job.intent, lambda: load_policy(job.written))
    inside = devices_in(loaded.intent.apply, network)
    if job.kind == "compile":
        return tuple(sorted(inside.intersection(job.devices) if job.devices else inside))
    return tuple(sorted(devices_to_read(loaded.intent, network, inside)))


_DOCUMENTS: Mapping[PreviewKind, Callable[[PolicyCheck], PreviewDocument]] = {
    "compile": compile_document,
    "validate": validate_document,
    "policy": policy_document,
    "part": part_document,
    "rest": rest_document,
}

_CHECKS: Mapping[PreviewKind, OwnChecks | None] = {
    "compile": None,
    "validate": own_checks,
    "policy": own_checks,
    "part": device_checks,
    "rest": network_checks,
}


def _narrowed(network: Network, devices: tuple[str, ...]) -> Network:
    """A network with these devices alone. Its links are not for use: most of their ends are not there."""
    kept = tuple(device for device in network.devices if device.name in devices)
    return network.model_copy(update={"devices": kept})


def _unpickle_network(blob: bytes) -> Network:
    network = pickle.loads(blob)  # noqa: S301  from the process that began this one
    assert isinstance(network, Network)
    require_installed(network)
    return network


def _canonical_text(parts: list[Any]) -> str:
    return json.dumps(parts, sort_keys=True, ensure_ascii=False)
