"""The preview: a policy compiled for every device, before anything is touched."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Response

from qosforge.access.roles import Principal, Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.jobs.preview import PreviewKind
from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.api.middleware.authorization import audit_live_read
from qosforge.api.previews import PreviewRequest
from qosforge.compute import TookTooLong
from qosforge.deploy.route import devices_without_address
from qosforge.device_state.last_known import last_known, store_readings, unsaved_lines
from qosforge.errors import InputError
from qosforge.intent.policy_analysis import analyse_policy
from qosforge.intent.policy_source import load_policy
from qosforge.inventory.catalogue import device_of
from qosforge.inventory.models import Network
from qosforge.reports.preview import PolicyPreview
from qosforge.tester.measurement.judging import has_objectives
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.between import Unsettled, unsettled_devices
from qosforge.web.views.preview import (
    FIRST_PART,
    MAX_WHOLE_DEVICES,
    PART,
    LargePreview,
    PartsSoFar,
    PreviewForm,
    PreviewView,
)
from qosforge.web.views.preview_groups import GROUPS_FORM, MOST_GROUPS, group_devices, shown_groups, with_more

router = APIRouter()

TheForm = Annotated[PreviewForm, Depends()]
REST_SHARE = 0.75
"""Of the time of a request, what the checks of a whole network may take: else the request itself would be ended,
and nobody told what was not checked.
"""
SoFar = Annotated[PartsSoFar, Depends()]


@router.post("/preview", dependencies=sees(Role.VIEWER, recorded=False))
def preview(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    form: TheForm,
    live: Annotated[Literal["true", ""], Form()] = "",
) -> Response:
    """The preview of a policy on a network; ``live``: read the devices first.

    A policy that cannot be compiled is answered with its problems and the header ``X-Preview: refused``: the page
    keeps the last good preview beside them.
    """
    network = _visible_network(caller, backend, form)
    written = form.written(backend, caller)
    readable = len(devices_without_address(backend.settings, network)) < len(network.devices)
    try:
        devices = _required(caller, backend, form)
        read = bool(live and devices)
        unread = (
            _read(audit_live_read(page.request, backend, network.name), backend, network, devices) if read else {}
        )
        large = _large(caller, backend, form, unread)
        if large is not None:
            return page.answer("preview/large.html.j2", large=large, readable=readable)
        view = _view(caller, backend, form, devices, unread)
    except InputError as error:
        # The editor lists beside it what is wrong with the text alone.
        listed = form.is_edited and bool(analyse_policy(written).problems)
        answer = page.answer(
            "preview/refused.html.j2", problems=error.problems(), listed=listed, file=written.file, form=form
        )
        answer.headers["X-Preview"] = "refused"
        return answer
    between = _between(backend, form)
    return page.answer("preview/preview.html.j2", view=view, between=between, readable=readable)


@router.post("/preview/part", dependencies=sees(Role.VIEWER, recorded=False))
def part(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    form: TheForm,
    so_far: SoFar,
    groups: Annotated[str, Form(pattern=GROUPS_FORM, max_length=MOST_GROUPS * 22)] = "",
) -> Response:
    """The next devices of the preview of a large network; ``so_far`` is what came before, in these ``groups``."""
    names = _devices_in_scope(caller, backend, form)
    end = so_far.done + PART if so_far.done else FIRST_PART
    view = _part(caller, backend, form, names[so_far.done : end])
    shown = shown_groups(groups)
    more = group_devices(view.noted, shown)
    return page.answer(
        "preview/part.html.j2",
        view=view,
        groups=more,
        shown=with_more(shown, more),
        of=len(names),
        so_far=so_far + view.so_far,
        between=_between(backend, form),
    )


@router.post("/preview/rest", dependencies=sees(Role.VIEWER, recorded=False))
def rest(*, page: ThePage, caller: Caller, backend: TheBackend, form: TheForm, so_far: SoFar) -> Response:
    """What is found of a large network as a whole, after its devices."""
    _visible_network(caller, backend, form)
    end = time.monotonic() + REST_SHARE * backend.settings.request_seconds
    view: PreviewView | None
    try:
        view = _compiled(caller, backend, form, "rest", _required(caller, backend, form), end=end)
    except TookTooLong:
        view = None
    return page.answer("preview/rest.html.j2", view=view, so_far=so_far)


@router.post("/preview/device", dependencies=sees(Role.VIEWER, recorded=False))
def device(
    *,
    page: ThePage,
    caller: Caller,
    backend: TheBackend,
    form: TheForm,
    device: Annotated[str, Form(max_length=128)],
) -> Response:
    """One device of a preview: lines to enter, rollback lines, configuration and plan."""
    network = _visible_network(caller, backend, form)
    name = device_of(network, device).name
    if _large(caller, backend, form, {}) is not None:
        view = _part(caller, backend, form, (name,))
    else:
        view = _view(caller, backend, form, _required(caller, backend, form), {})
    return page.answer(
        "preview/device.html.j2", view=view, device=next(one for one in view.devices if one.name == name)
    )


def _visible_network(caller: Principal, backend: Backend, form: PreviewForm) -> Network:
    caller.require(Role.VIEWER, form.network)
    return backend.networks.network(form.network)


def _between(backend: Backend, form: PreviewForm) -> Mapping[str, Unsettled]:
    """The devices of the form's network that a run has between two states: what they hold is about to change."""
    return unsettled_devices(backend).get(form.network, {})


def _read(call: AuditEntry, backend: Backend, network: Network, devices: tuple[str, ...]) -> Mapping[str, str]:
    """Read these devices and store their configurations; returns the errors by device."""
    store = backend.run_requests.store
    began = store.now()
    now, errors = backend.previews.answers(call, network, devices)
    store_readings(store, backend.artifacts, network, now.running, began, unsaved=now.unsaved)
    return {device: str(error) for device, error in errors.items()}


def _required(caller: Principal, backend: Backend, form: PreviewForm) -> tuple[str, ...]:
    """The devices whose configurations the preview depends on."""
    written = form.written(backend, caller)
    return backend.previews.required_devices(PreviewRequest("policy", form.network, written, caller=caller.name))


def _devices_in_scope(caller: Principal, backend: Backend, form: PreviewForm) -> tuple[str, ...]:
    """The devices that the policy applies to, in the order of the inventory."""
    network = _visible_network(caller, backend, form)
    written = form.written(backend, caller)
    request = PreviewRequest("compile", network.name, written, caller=caller.name)
    inside = frozenset(backend.previews.required_devices(request))
    return tuple(device.name for device in network.devices if device.name in inside)


def _large(
    caller: Principal, backend: Backend, form: PreviewForm, unread: Mapping[str, str]
) -> LargePreview | None:
    """The head of a preview that comes in parts; ``None`` where it fits into one answer."""
    if len(backend.networks.network(form.network).devices) <= MAX_WHOLE_DEVICES:
        return None
    names = _devices_in_scope(caller, backend, form)
    return LargePreview(form.network, names, unread) if len(names) > MAX_WHOLE_DEVICES else None


def _part(caller: Principal, backend: Backend, form: PreviewForm, names: tuple[str, ...]) -> PreviewView:
    """Some devices of a large network. Raises as `_view`."""
    return _compiled(caller, backend, form, "part", names, devices=names)


def _view(
    caller: Principal, backend: Backend, form: PreviewForm, devices: tuple[str, ...], unread: Mapping[str, str]
) -> PreviewView:
    """The preview against the last known configurations of the devices that it depends on.

    Raises:
        InputError, InputErrors: the policy cannot be compiled for the network.
        TooBusy, TookTooLong: the computing processes have too much to do.
    """
    return replace(_compiled(caller, backend, form, "policy", devices), unread=unread)


def _compiled(
    caller: Principal,
    backend: Backend,
    form: PreviewForm,
    kind: PreviewKind,
    required: tuple[str, ...],
    *,
    devices: tuple[str, ...] = (),
    end: float | None = None,
) -> PreviewView:
    written = form.written(backend, caller)
    network = backend.networks.network(form.network)
    last_reads = last_known(backend.run_requests.store, backend.artifacts, network, required)
    began = time.perf_counter()
    known = {name: read.text for name, read in last_reads.items()}
    document = backend.previews.preview(
        PreviewRequest(
            kind,
            network.name,
            written,
            devices,
            known=known,
            unsaved=unsaved_lines(last_reads),
            accepted=bool(form.accept_unconfirmed),
            caller=caller.name,
            seconds=None if end is None else max(0.0, end - time.monotonic()),
        )
    )
    return PreviewView(
        preview=PolicyPreview.model_validate_json(document.body),
        file=written.file,
        last_known=last_reads,
        seconds=time.perf_counter() - began,
        editable=form.is_edited,
        unread={},
        judged=kind == "part" or has_objectives(load_policy(written).intent),
    )
