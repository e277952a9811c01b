"""A preview of what a policy compiles to, made in shares: each of some of the devices, by a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic_core import to_json

from qosforge.finding_rows import what_is_said
from qosforge.inventory.models import Network
from qosforge.platforms.base import platform
from qosforge.preview.policy_check import PolicyCheck
from qosforge.reports.preview import CompilePreview, PreviewDocument, compile_document

LEAST_DEVICES = 3
"""A share has as many at least: to read the policy and to resolve it costs each share as much as a device."""


class _Placed(NamedTuple):
    """A part of the document as JSON, with what tells its place among those of the whole document."""

    place: tuple[int, int]
    device: str | None
    text: bytes


@dataclass(frozen=True)
class PreviewShare:
    """The preview of some devices that were not read, in pieces of JSON. What is found of the policy as a whole
    stands in every share.
    """

    intent: str
    version: str
    network: str
    good: bool
    findings: tuple[_Placed, ...]
    devices: tuple[_Placed, ...]


def share_out(network: Network, devices: Sequence[str], shares: int) -> list[tuple[str, ...]]:
    """Parts of some devices that take about as long as each other, ``shares`` at most. Those of a platform stay
    together where they can: they have more in common than others. One part where there are too few devices for two.
    """
    weights = {name: platform(network.device(name).platform).compile_weight for name in devices}
    by_platform: dict[str, list[str]] = {}
    for name in devices:
        by_platform.setdefault(network.device(name).platform, []).append(name)
    count = max(1, min(shares, len(devices) // LEAST_DEVICES))
    fair = sum(weights.values()) / count
    parts: list[list[str]] = [[] for _ in range(count)]
    loads = [0.0] * count
    for group in sorted(by_platform.values(), key=lambda names: -sum(weights[name] for name in names)):
        left, each = list(group), weights[group[0]]
        while left:
            lightest = min(range(count), key=loads.__getitem__)
            taken = max(1, round((fair - loads[lightest]) / each))
            parts[lightest] += left[:taken]
            loads[lightest] += each * len(left[:taken])
            left = left[taken:]
    return [tuple(part) for part in parts if part]


def preview_share(checked: PolicyCheck) -> PreviewShare:
    """The share of the devices of a policy check, none of which was read."""
    document = compile_document(checked)
    positions = {device.name: at for at, device in enumerate(checked.compilation.network.devices)}
    places: dict[tuple[object, ...], tuple[int, int]] = {}
    for at, finding in enumerate(checked.compilation.general):
        places.setdefault(what_is_said(finding), (0, at))
    for device in checked.devices:
        for finding in device.findings:
            places.setdefault(what_is_said(finding), (1, positions[device.name]))

    def place(said: tuple[object, ...], device: str | None) -> tuple[int, int]:
        # What comes after the findings of all devices' lowering is of a device.
        return places[said] if said in places else (2, positions[device or ""])

    return PreviewShare(
        intent=document.intent,
        version=document.version,
        network=document.network,
        good=document.good,
        findings=tuple(
            _Placed(place(what_is_said(finding), finding.device), finding.device, _json(told))
            for finding, told in zip(checked.findings, document.findings, strict=True)
        ),
        devices=tuple(_Placed((0, positions[each.name]), each.name, _json(each)) for each in document.devices),
    )


def join_shares(shares: Sequence[PreviewShare]) -> bytes:
    """The JSON of the whole document, byte for byte as `CompilePreview` is written."""
    first = shares[0]
    findings = [found for share in shares for found in share.findings if share is first or found.device is not None]
    values = {
        "intent": to_json(first.intent),
        "version": to_json(first.version),
        "network": to_json(first.network),
        "good": to_json(all(share.good for share in shares)),
        "findings": _array(findings),
        "devices": _array([device for share in shares for device in share.devices]),
        "rollout": b"[]",
    }
    return b"{%s}" % b",".join(b"%s:%s" % (to_json(name), values[name]) for name in CompilePreview.model_fields)


def _json(document: PreviewDocument) -> bytes:
    return document.model_dump_json(by_alias=True).encode()


def _array(parts: Sequence[_Placed]) -> bytes:
    return b"[%s]" % b",".join(part.text for part in sorted(parts, key=lambda part: part.place))
