"""Batfish: not configured, not answering, answering nonsense, answering."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from qosforge.batfish.http_exchange import Address
from qosforge.batfish.snapshots import make_snapshots
from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Severity
from qosforge.platforms.cisco_ios import PLATFORM
from tests.batfish.support import DEFAULT_PORT, LIVE_SECONDS, check, prepared
from tests.validation.support import RUNNING, compiled, with_device

STATES = pytest.mark.parametrize(
    ("require", "severity"), [(False, Severity.WARNING), (True, Severity.ERROR)], ids=["optional", "required"]
)


@pytest.mark.parametrize(("require", "severity"), [(False, Severity.INFO), (True, Severity.ERROR)])
def test_no_host_is_said_plainly(require: bool, severity: Severity) -> None:
    (finding,) = check(host=None, require=require)
    assert (finding.code, finding.severity) == ("batfish-not-checked", severity)
    assert finding.message == "the second check, by Batfish, was not made: no Batfish host is configured"
    assert "QOSFORGE_BATFISH_HOST" in str(finding.hint)


@STATES
def test_closed_port(require: bool, severity: Severity) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can answer there
        port = taken.getsockname()[1]
        (finding,) = check(port=port, require=require)
    assert (finding.code, finding.severity) == ("batfish-unreachable", severity)
    assert f"127.0.0.1:{port}" in finding.message


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("a" * 70, DEFAULT_PORT)])
def test_address_that_is_none(host: str, port: int) -> None:
    assert [f.code for f in check(host=host, port=port)] == ["batfish-unreachable"]


def test_platform_batfish_does_not_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(PLATFORM), "batfish_format", None)
    (finding,) = check(port=1)
    assert (finding.code, finding.severity) == ("batfish-not-modelled", Severity.INFO)
    assert "Cisco IOS: r1, r2, r3" in finding.message
    (required,) = check(port=1, require=True)
    assert (required.code, required.severity) == ("batfish-not-modelled", Severity.ERROR)
    assert "batfish: {except: [r1, r2, r3]}" in str(required.hint)


def test_devices_that_the_rules_except_need_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(PLATFORM), "batfish_format", None)
    asked = replace(prepared(), excepted=frozenset({"r2", "r3"}))
    found = asked.not_modelled(require=True)
    assert [(f.severity, f.message.partition(": ")[2].split(" checked")[0]) for f in found] == [
        (Severity.ERROR, "r1"),
        (Severity.INFO, "r2, r3"),
    ]


def test_no_answer_is_no_error_where_the_rules_except_all() -> None:
    assert prepared().requires(require=True)
    assert not replace(prepared(), excepted=frozenset({"r1", "r2", "r3"})).requires(require=True)
    assert not prepared().requires(require=False)


def test_platform_without_a_model_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(PLATFORM), "batfish_format", None)
    assert make_snapshots(compiled(), RUNNING).after == {}


def test_snapshots_differ_in_the_change_alone() -> None:
    snapshots = make_snapshots(compiled(), RUNNING)
    assert set(snapshots.before) == set(snapshots.after) == {"r1.cfg", "r2.cfg", "r3.cfg"}
    before, after = snapshots.before["r1.cfg"].splitlines(), snapshots.after["r1.cfg"].splitlines()
    assert set(before) < set(after)
    assert " service-policy output QOSFORGE-OUT" in set(after) - set(before)
    assert after.index(" bandwidth 2000") < after.index(" service-policy output QOSFORGE-OUT")


def test_box_that_is_not_known_starts_empty() -> None:
    snapshots = make_snapshots(compiled(), {})
    assert snapshots.before["r1.cfg"] == "! BATFISH_FORMAT: cisco_ios\nhostname r1\n"
    assert "policy-map QOSFORGE-OUT" in snapshots.after["r2.cfg"]


def test_devices_are_told_apart_whatever_their_names() -> None:
    """Batfish writes names in small letters, and they are names of files."""
    two = compiled()
    devices = tuple(
        replace(device, request=device.request.model_copy(update={"device": name}))
        for device, name in zip(two.devices, ("Core/1", "core-1", "CORE-1"), strict=True)
    )
    snapshots = make_snapshots(replace(two, devices=devices), {})
    assert list(snapshots.after) == ["core-1.cfg", "core-1-.cfg", "core-1--.cfg"]
    assert [copies.name for copies in snapshots.devices.values()] == ["Core/1", "core-1", "CORE-1"]
    for file, text in snapshots.after.items():
        assert text.endswith(f"hostname {file.removesuffix('.cfg')}\n")


@pytest.mark.batfish
def test_live_service_passes_a_sound_change(live: Address) -> None:
    found = check(host=live.host, port=live.port, require=True, seconds=LIVE_SECONDS)
    assert {(f.code, f.severity) for f in found} == {("batfish-checked", Severity.INFO)}


@pytest.mark.batfish
def test_live_service_finds_a_lost_class_map(live: Address) -> None:
    def lose(device: CompiledDevice) -> CompiledDevice:
        return replace(device, blocks=tuple(b for b in device.blocks if b.name != "voice"))

    found = check(with_device(compiled(), "r2", lose), host=live.host, port=live.port, seconds=LIVE_SECONDS)
    errors = [f for f in found if f.severity is Severity.ERROR]
    assert {(f.code, f.device) for f in errors} == {("batfish-undefined-reference", "r2")}
