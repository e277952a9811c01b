"""Previews for the command line, made on this machine or by a service; the documents are the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qosforge.batfish.service import BatfishService, batfish_address
from qosforge.cli.options import load
from qosforge.cli.server import connect, remote
from qosforge.cli.terminal import progress
from qosforge.client.documents import read
from qosforge.client.request_documents import network_name, policy_choice
from qosforge.compiler.scope_resolution import devices_in
from qosforge.deploy.not_saved import LiveState
from qosforge.deploy.route import lab_of, route_to
from qosforge.intent.loader import load_intent
from qosforge.inventory.models import Network
from qosforge.preview.policy_check import check_policy, chosen_devices
from qosforge.reports.preview import CompilePreview, ValidatePreview, compile_document, validate_document
from qosforge.settings import load_settings
from qosforge.units import counted
from qosforge.validation.checks import own_checks
from qosforge.validation.reads import devices_to_read


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """The options of a preview; ``live``: against the configurations that the devices have now."""

    policy: Path
    network: Path | None
    parameters: Sequence[str] | None
    devices: Sequence[str] | None = None
    live: bool = False
    strict: bool = False

    def document(self) -> dict[str, Any]:
        """The body of the request to a service."""
        return {
            "network": network_name(self.network),
            "policy": policy_choice(self.policy, self.parameters or ()),
            "live": self.live,
            "strict": self.strict,
        }

    def size(self) -> str:
        """How many classes the policy has, where it is at hand."""
        if not self.policy.exists():
            return ""
        classes = load_intent(self.policy, self.parameters or ()).intent.classes
        return f"{len(classes)} {'class' if len(classes) == 1 else 'classes'} on "


def compile_preview(options: PreviewOptions) -> CompilePreview:
    """Compile the policy for the chosen devices."""
    if remote():
        with connect() as connection:
            body = {**options.document(), "devices": list(options.devices or ())}
            return read(CompilePreview, connection.post("/compile", body))
    loaded, net = load(options.policy, options.network, list(options.parameters or ()))
    devices = chosen_devices(net, options.devices or ())
    inside = devices_in(loaded.intent.apply, net)
    now = _read_devices(net, inside & devices) if options.live else LiveState()
    checked = check_policy(
        loaded,
        net,
        now.running,
        unsaved=now.unsaved,
        devices=devices,
        strict=options.strict,
        accepted=lab_of(load_settings(), net) is not None,
    )
    return compile_document(checked)


def validate_preview(options: PreviewOptions, require_batfish: bool) -> ValidatePreview:
    """Validate the policy on its network."""
    if remote():
        with connect() as connection:
            body = {**options.document(), "require_batfish": require_batfish}
            return read(ValidatePreview, connection.post("/validate", body))
    loaded, net = load(options.policy, options.network, list(options.parameters or ()))
    settings = load_settings()
    needed = devices_to_read(loaded.intent, net, devices_in(loaded.intent.apply, net))
    now = _read_devices(net, needed) if options.live else LiveState()
    checked = check_policy(
        loaded,
        net,
        now.running,
        unsaved=now.unsaved,
        own_checks=own_checks,
        strict=options.strict,
        accepted=lab_of(settings, net) is not None,
    )
    service, address = BatfishService.of(settings), batfish_address(settings)
    return validate_document(
        checked.with_findings(service.check(checked.batfish, address, require=require_batfish))
    )


def _read_devices(network: Network, devices: Collection[str]) -> LiveState:
    if not devices:
        return LiveState()
    # The drivers take most of a second to import, and most previews read no device.
    from qosforge.deploy.fleet import Fleet  # noqa: PLC0415
    from qosforge.deploy.read_devices import read_live_state  # noqa: PLC0415
    from qosforge.deploy.sessions import Sessions  # noqa: PLC0415

    settings = load_settings()
    route = route_to(settings, network)
    progress("read", f"{counted(len(devices), 'device')}: {route.told}")
    with Fleet(network, route, Sessions(settings.device_limits, settings.device_sessions)) as fleet:
        return read_live_state(fleet, devices)
