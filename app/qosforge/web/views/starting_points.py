"""How the starting points do on a network: compiled for it, so that the one that is recommended really fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from qosforge.api.backend import Backend
from qosforge.api.jobs.preview import policy_digest
from qosforge.api.jobs.queue import JobProgress
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.device_state.last_known import last_known
from qosforge.errors import QosforgeError
from qosforge.findings import Severity
from qosforge.intent.editing import Change, Set, edited
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.policy_library.groups import STARTING_POINTS
from qosforge.policy_library.library import Policies
from qosforge.preview.policy_check import check_policy
from qosforge.reports.grouped_findings import group_findings
from qosforge.validation.checks import own_checks
from qosforge.web.views.checks import fitting_checks
from qosforge.web.views.preview import MAX_WHOLE_DEVICES
from qosforge.web.views.readings_key import readings_key


@dataclass(frozen=True)
class StartFit:
    """A starting point on a network: how many errors its preview lists, and the devices that these are about.

    ``problem`` says why it cannot be compiled for it at all. ``ports`` says whether it applies to any device,
    ``whole`` whether it was checked beyond being compiled. ``unread`` is how many devices of the network were never
    read: what they hold may be in the way.
    """

    errors: int = 0
    devices: tuple[str, ...] = ()
    problem: str = ""
    ports: bool = True
    whole: bool = True
    unread: int = 0

    @property
    def fits(self) -> bool:
        """Whether it can be run there as it is."""
        return not self.errors and not self.problem and self.ports


Fits = Mapping[str, StartFit]
"""By the name of the starting point, in their order."""


def recommended_start(fits: Fits) -> str:
    """The first, and so the simplest, that fits; empty where none does, and before every device was read: what one
    holds may be in the way.
    """
    return next((name for name, fit in fits.items() if fit.fits and not fit.unread), "")


@dataclass(frozen=True)
class BegunText:
    """The text of a new policy that begins from another one; ``checks`` are those that it got for a network."""

    text: str
    checks: tuple[dict[str, Any], ...] | None


def begin_from(written: PolicySource, name: str, network: Network | None) -> BegunText:
    """A new policy that begins from this one; on a ``network`` with measurements between the end hosts of that.

    Raises:
        NotEditable: the text is not one that can be changed.
    """
    changes: list[Change] = [Set(("intent",), name)]
    checks = fitting_checks(written, network) if network is not None else None
    changes += [] if checks is None else [Set(("verify",), list(checks))]
    return BegunText(edited(written.text, written.file, changes), checks)


def submit_fits(
    backend: Backend, policies: Policies, network: Network, *, person: str, retry: bool = False
) -> JobProgress:
    """Have the starting points compiled for a network by its last known configurations, unless that is under way,
    done or has failed; where it has, only to ``retry``. The result is a `Fits`.

    Raises:
        TooBusy: too many jobs of this person wait.
        StoreError: an artifact is missing or damaged.
    """
    found = {name: policies.get(name) for name in STARTING_POINTS}
    starts = {name: policy.written() for name, policy in found.items() if policy.about.at is None}
    digests = {name: policy_digest(written) for name, written in starts.items()}
    key = f"starts {network.name} {readings_key(backend, network, digests)}"
    progress = backend.jobs.progress(key)
    if progress is not None and not (retry and progress.state == "failed"):
        return progress
    known = last_known(backend.run_requests.store, backend.artifacts, network)
    texts = {name: read.text for name, read in known.items()}
    return backend.jobs.submit(key, start_fits, starts, network, texts, person=person, topic="starting points")


def start_fits(starts: Mapping[str, PolicySource], network: Network, running: Mapping[str, DeviceText]) -> Fits:
    """Compile each of the texts for a network. One of many devices is not checked as a whole, as in the preview of
    it: that takes several times as long as compiling.

    Raises:
        InputError: a device has a platform that is not installed.
    """
    require_installed(network)
    return {name: _fit(written, network, running) for name, written in starts.items()}


def _fit(written: PolicySource, network: Network, running: Mapping[str, DeviceText]) -> StartFit:
    checks = own_checks if len(network.devices) <= MAX_WHOLE_DEVICES else None
    try:
        loaded = load_policy(replace(written, text=begin_from(written, "new", network).text))
        checked = check_policy(loaded, network, running, own_checks=checks)
    except QosforgeError as error:
        return StartFit(problem=error.message)
    errors = [one for one in checked.findings if one.severity is Severity.ERROR]
    about = {one.device for one in errors}
    return StartFit(
        errors=len(group_findings(errors)),
        devices=tuple(device.name for device in network.devices if device.name in about),
        ports=bool(checked.devices),
        whole=checks is not None,
        unread=sum(device.name not in running for device in network.devices),
    )
