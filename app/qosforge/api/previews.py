"""Previews for requests: compiled in the computing processes, and cached by everything that they depend on."""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from qosforge.api.jobs.preview import (
    PreviewJob,
    PreviewKind,
    policy_digest,
    render_preview,
    render_share,
    required_devices,
)
from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.batfish.check import BatfishCheck
from qosforge.batfish.process import NotAwaited
from qosforge.batfish.service import BatfishService, batfish_address
from qosforge.compute import Compute, ComputeDied, TooBusy
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.deploy.fleet import GRACE_SECONDS, Fleet
from qosforge.deploy.inspection import DeviceCheck, inspect_devices
from qosforge.deploy.not_saved import LiveState
from qosforge.deploy.read_devices import read_each_live_state, read_live_state, read_running
from qosforge.deploy.route import lab_of, route_to
from qosforge.deploy.sessions import Sessions
from qosforge.errors import QosforgeError
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.catalogue import Networks
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.preview.policy_check import chosen_devices, shown_findings
from qosforge.reports.preview import ValidatePreview
from qosforge.reports.preview_shares import PreviewShare, join_shares, share_out
from qosforge.settings import Settings

MAX_CACHED_BYTES = 64 << 20
"""Bytes of the documents that are cached, least recently used out first."""

ANSWER_SECONDS = 3.0
"""Of the time of a request, what is left after Batfish: to answer with our own findings, whatever became of it."""

FEW_DEVICES = 20
"""Devices that are compiled so soon (some 60 ms of one processor) that it may have all processes meanwhile."""

PATIENCE_SECONDS = 5.0
"""How long a call waits for its turn at the devices."""


@dataclass(frozen=True)
class PreviewRequest:
    """The parameters of a preview. ``devices``: of these alone; ``live``: against what the devices hold now, which
    the call of this audit entry reads.

    ``accepted``: lines that no published source confirms may be entered, as into emulated devices anyway.

    ``caller``: who waits for it. ``seconds``: its longest time, where a request has more. ``known``: against these
    configurations by device, of which ``unsaved`` lines were not saved; then no device is read.
    """

    kind: PreviewKind
    network: str
    written: PolicySource
    devices: tuple[str, ...] = ()
    live: AuditEntry | None = None
    known: Mapping[str, DeviceText] | None = None
    unsaved: Mapping[str, tuple[str, ...]] | None = None
    strict: bool = False
    accepted: bool = False
    require_batfish: bool = False
    caller: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Preview:
    """A document as JSON, and its tag: the SHA-256 of the bytes."""

    body: bytes
    tag: str


@dataclass(frozen=True)
class _PickledNetwork:
    """A network as it is sent to a computing process, which caches it by its digest."""

    network: Network
    digest: str
    blob: bytes


class Previews:
    """Compiles and validates policies for requests, with a cache of the documents; thread-safe.

    Compiling is pure, so documents are cached by everything that they depend on, up to `MAX_CACHED_BYTES`. Those
    that Batfish had a part in are not: it is a service that comes and goes.
    """

    def __init__(
        self,
        settings: Settings,
        networks: Networks,
        compute: Compute,
        known: Callable[[str, str], str | None] | None = None,
    ) -> None:
        """``known`` gives the configuration that was last read from a device of a network, if any."""
        self._known = known
        self._settings = settings
        self._networks = networks
        self._compute = compute
        self.batfish = BatfishService.of(settings)
        self.sessions = Sessions(settings.device_limits, settings.device_sessions)
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, Preview] = OrderedDict()
        self._bytes = 0
        self._turns: dict[str, threading.Lock] = {}
        self._sent: dict[str, _PickledNetwork] = {}
        self._threads = ThreadPoolExecutor(settings.compute_processes, "qosforge-preview-share")
        self.hits = 0
        self.misses = 0

    def preview(self, request: PreviewRequest) -> Preview:
        """Make a preview, or take it from the cache.

        Raises:
            InputError, InputErrors: the policy is no valid intent, or there is no such network or device.
            DeviceErrors: devices that should be read cannot be.
            TooBusy, TookTooLong: the computing processes have too much to do.
        """
        end = time.monotonic() + self._settings.request_seconds
        sent = self._network(request.network)
        job = self._job(request, sent)
        if request.live is not None:
            devices = self._required_devices(job, request)
            now = self._now(request.live, sent.network, devices) if devices else LiveState()
            job = replace(job, running=now.running, unsaved=now.unsaved)
        key = _key(job, request) if request.kind != "validate" or self._settings.batfish_host is None else None
        cached = self._cached(key)
        if cached is not None:
            return cached
        timeout = self._settings.request_seconds if request.seconds is None else request.seconds
        shares = self._shares(job, sent.network)
        if len(shares) > 1:
            body = join_shares(self._rendered(shares, timeout, request.caller))
        else:
            rendered = self._compute.call(render_preview, job, timeout=timeout, caller=request.caller)
            body = rendered.body
            if rendered.batfish is not None:
                body = self._with_batfish(body, rendered.batfish, job, request, end - time.monotonic())
        preview = Preview(body, hashlib.sha256(body).hexdigest())
        self._keep(key, preview)
        return preview

    def _shares(self, job: PreviewJob, network: Network) -> list[PreviewJob]:
        """The job in parts for the processes that are free now, where its devices are compiled each by itself."""
        if job.kind != "compile" or job.running is not None:
            return [job]
        devices = job.devices or tuple(device.name for device in network.devices)
        idle = self._compute.idle
        most = idle if len(devices) <= FEW_DEVICES else min(idle, self._compute.fair_share)
        return [replace(job, devices=names) for names in share_out(network, devices, most)]

    def _rendered(self, shares: Sequence[PreviewJob], timeout: float, caller: str) -> list[PreviewShare]:
        """The shares of a preview, made at once."""
        brief = sum(len(share.devices) for share in shares) <= FEW_DEVICES
        call = partial(self._compute.call, render_share, timeout=timeout, caller=caller, brief=brief)
        others = [self._threads.submit(call, share) for share in shares[1:]]
        return [call(shares[0]), *(other.result() for other in others)]

    def _with_batfish(
        self, body: bytes, check: BatfishCheck, job: PreviewJob, request: PreviewRequest, left: float
    ) -> bytes:
        """A validation with what Batfish finds in the seconds that are left of the request.

        It is waited for in this thread: the computing processes are for others meanwhile.
        """
        within = left - min(ANSWER_SECONDS, self._settings.request_seconds / 4)
        address = batfish_address(self._settings)
        try:
            found = self.batfish.check(check, address, require=request.require_batfish, within=within)
        except NotAwaited:
            raise ComputeDied("the service is being stopped", hint="come again") from None
        network = self._networks.network(request.network)
        names = chosen_devices(network, job.devices)
        shown = shown_findings(found, network, job.running or {}, names)
        document = ValidatePreview.model_validate_json(body).with_findings(shown, strict=request.strict)
        return document.model_dump_json(by_alias=True).encode()

    def required_devices(self, request: PreviewRequest) -> tuple[str, ...]:
        """The devices whose configurations a preview depends on: few of many, where its scopes are narrow.

        Raises:
            InputError, InputErrors: the policy is no valid intent, or there is no such network or device.
            TooBusy, TookTooLong: the computing processes have too much to do.
        """
        return self._required_devices(self._job(request, self._network(request.network)), request)

    def _required_devices(self, job: PreviewJob, request: PreviewRequest) -> tuple[str, ...]:
        bare = replace(job, running=None)  # they are large, and say nothing here
        return self._compute.call(
            required_devices, bare, timeout=self._settings.request_seconds, caller=request.caller
        )

    def running(self, audit: AuditEntry, network: Network, devices: tuple[str, ...] = ()) -> dict[str, DeviceText]:
        """What devices hold now. ``audit`` is the entry of the call that reads them: see `audit_live_read`.

        Raises:
            DeviceErrors: some cannot be read.
            TooBusy: another call reads devices of this network.
        """
        with self._fleet(audit, network) as fleet:
            return read_running(fleet, devices)

    def _now(self, audit: AuditEntry, network: Network, devices: tuple[str, ...]) -> LiveState:
        with self._fleet(audit, network) as fleet:
            return read_live_state(fleet, devices)

    def answers(
        self, audit: AuditEntry, network: Network, devices: tuple[str, ...] = ()
    ) -> tuple[LiveState, dict[str, QosforgeError]]:
        """What the devices hold now that can be read, and the errors of those that cannot, by device: of all unless
        ``devices`` are named. What is saved is told where that can be read, too.

        Raises:
            TooBusy: another call reads devices of this network.
        """
        with self._fleet(audit, network) as fleet:
            return read_each_live_state(fleet, devices)

    def checks(self, audit: AuditEntry, network: Network, devices: tuple[str, ...] = ()) -> tuple[DeviceCheck, ...]:
        """Whether devices are reached, are what the inventory says, and can be changed; see `inspect_devices`.

        Raises:
            TooBusy: another call reads devices of this network.
        """
        with self._fleet(audit, network) as fleet:
            return inspect_devices(fleet, devices)

    @contextmanager
    def _fleet(self, audit: AuditEntry, network: Network) -> Iterator[Fleet]:
        require_installed(network)
        audit.network = network.name
        route = route_to(self._settings, network)
        with self.alone(network.name):
            # A device that takes longer than the request is named in its answer, and holds nobody up after it.
            whole = self._settings.request_seconds
            end = time.monotonic() + max(whole / 2, whole - PATIENCE_SECONDS - GRACE_SECONDS)

            def late() -> str | None:
                return "the time of the request is over" if time.monotonic() >= end else None

            earlier = partial(self._known, network.name) if self._known else None
            with Fleet(network, route, self.sessions, until=late, earlier=earlier) as fleet:
                yield fleet

    @contextmanager
    def alone(self, network: str) -> Iterator[None]:
        """Let one call of this process at a time open sessions to the devices of a network.

        An old device has five lines for sessions: callers who only look must leave some to who changes or corrects
        it.

        Raises:
            TooBusy: another call is at it for longer than `PATIENCE_SECONDS`.
        """
        with self._lock:
            turn = self._turns.setdefault(network, threading.Lock())
        if not turn.acquire(timeout=PATIENCE_SECONDS):
            raise TooBusy(f"other calls read the devices of network {network}", hint="come again")
        try:
            yield
        finally:
            turn.release()

    def _job(self, request: PreviewRequest, sent: _PickledNetwork) -> PreviewJob:
        return PreviewJob(
            request.kind,
            policy_digest(request.written),
            request.written,
            sent.digest,
            sent.blob,
            tuple(sorted(chosen_devices(sent.network, request.devices))) if request.devices else (),
            request.known,
            request.strict,
            request.unsaved,
            request.accepted or lab_of(self._settings, sent.network) is not None,
        )

    def _network(self, name: str) -> _PickledNetwork:
        network = self._networks.network(name)
        with self._lock:
            sent = self._sent.get(name)
        if sent is None or sent.network is not network:
            blob = pickle.dumps(network)
            digest = hashlib.sha256(network.model_dump_json(by_alias=True).encode()).hexdigest()
            sent = _PickledNetwork(network, digest, blob)
            with self._lock:
                self._sent[name] = sent
        return sent

    def close(self) -> None:
        """Stop what waits for Batfish, or for its turn: the service ends."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.batfish.close()

    def _cached(self, key: str | None) -> Preview | None:
        with self._lock:
            cached = self._cache.get(key) if key is not None else None
            if cached is None:
                self.misses += 1
                return None
            self._cache.move_to_end(str(key))
            self.hits += 1
            return cached

    def _keep(self, key: str | None, preview: Preview) -> None:
        if key is None or len(preview.body) > MAX_CACHED_BYTES:
            return
        with self._lock:
            if key in self._cache:
                return
            self._cache[key] = preview
            self._bytes += len(preview.body)
            while self._bytes > MAX_CACHED_BYTES:
                _, oldest = self._cache.popitem(last=False)
                self._bytes -= len(oldest.body)


def _key(job: PreviewJob, request: PreviewRequest) -> str:
    """What a document is cached under: all that it depends on."""
    return f"{job.key()} {request.require_batfish}"
