"""The preview: a policy compiled for every device, before anything is touched."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Response

from qosforge.access.roles import Principal, Role
from qosforge.api.backend import Backend
from qosforge.api.dependencies import Caller, TheBackend
from qosforge.api.middleware.audit_log import AuditEntry
from qosforge.api.middleware.authorization import audit_live_read
from qosforge.api.previews import PreviewRequest
from qosforge.device_state.last_known import last_known, store_readings
from qosforge.errors import InputError
from qosforge.inventory.catalogue import device_of
from qosforge.inventory.models import Network
from qosforge.reports.preview import PolicyPreview
from qosforge.web.pages import ThePage, sees
from qosforge.web.views.preview import PreviewForm, PreviewView

router = APIRouter()

TheForm = Annotated[PreviewForm, Depends()]


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
    try:
        devices = backend.previews.required_devices(
            PreviewRequest("policy", network.name, written, caller=caller.name)
        )
        read = bool(live and devices)
        unread = (
            _read(audit_live_read(page.request, backend, network.name), backend, network, devices) if read else {}
        )
        view = _view(caller, backend, form, devices, unread)
    except InputError as error:
        answer = page.answer("preview/refused.html.j2", problems=error.problems(), file=written.file, form=form)
        answer.headers["X-Preview"] = "refused"
        return answer
    return page.answer("preview/preview.html.j2", view=view)


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
    preview_request = PreviewRequest("policy", network.name, form.written(backend, caller), caller=caller.name)
    view = _view(caller, backend, form, backend.previews.required_devices(preview_request), {})
    return page.answer(
        "preview/device.html.j2", view=view, device=next(one for one in view.devices if one.name == name)
    )


def _visible_network(caller: Principal, backend: Backend, form: PreviewForm) -> Network:
    caller.require(Role.VIEWER, form.network)
    return backend.networks.network(form.network)


def _read(call: AuditEntry, backend: Backend, network: Network, devices: tuple[str, ...]) -> Mapping[str, str]:
    """Read these devices and store their configurations; returns the errors by device."""
    store = backend.run_requests.store
    began = store.now()
    texts, errors = backend.previews.answers(call, network, devices)
    store_readings(store, backend.artifacts, network, texts, began)
    return {device: str(error) for device, error in errors.items()}


def _view(
    caller: Principal, backend: Backend, form: PreviewForm, devices: tuple[str, ...], unread: Mapping[str, str]
) -> PreviewView:
    """The preview against the last known configurations of the devices that it depends on.

    Raises:
        InputError, InputErrors: the policy cannot be compiled for the network.
        TooBusy, TookTooLong: the computing processes have too much to do.
    """
    written = form.written(backend, caller)
    network = backend.networks.network(form.network)
    last_reads = last_known(backend.run_requests.store, backend.artifacts, network, devices)
    began = time.perf_counter()
    known = {name: read.text for name, read in last_reads.items()}
    document = backend.previews.preview(
        PreviewRequest("policy", network.name, written, known=known, caller=caller.name)
    )
    return PreviewView(
        preview=PolicyPreview.model_validate_json(document.body),
        file=written.file,
        last_known=last_reads,
        seconds=time.perf_counter() - began,
        editable=form.is_edited,
        unread=unread,
    )
