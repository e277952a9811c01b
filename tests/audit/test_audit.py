"""The audit of the campus: before any intent, and when its devices hold one; then with one fault at a time."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.audit import Audit, audit
from qosforge.audit.table import rows
from qosforge.compiler.compile import compile_intent
from qosforge.findings import Finding, Severity, has_errors
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Device, DeviceRole, Interface, Link, Network, Station
from qosforge.resources import root

CAMPUS = load_network(root() / "inventories" / "campus")


def _text(folder: str, device: str) -> str:
    return (root() / folder / f"{device}.cfg").read_text()


BEFORE = {d.name: _text("inventories/campus/startup", d.name) for d in CAMPUS.devices}
HELD = {
    name: text + _text("tests/golden/campus-collaboration", name) for name, text in BEFORE.items()
}  # what a person who pastes the compiled blocks into each device would get


def with_fault(device: str, *changes: tuple[str, str]) -> Audit:
    """The audit of the configured campus with lines of one device replaced."""
    text = HELD[device]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return audit(CAMPUS, {**HELD, device: text})


def test_lines_that_are_quoted_have_no_secret_and_nothing_unseen() -> None:
    name = next(device.name for device in CAMPUS.devices if device.platform == "cisco_ios")
    odd = "interface Serial0/0\n random-detect password 7 PLANTED01\n random-detect odd\u202e PLANTED01\n"
    result = audit(CAMPUS, {**HELD, name: HELD[name] + odd})
    told = [finding.message for finding in coded(result, "line-not-understood") if finding.device == name]
    assert len([message for message in told if "********" in message]) == 2
    assert not [message for message in told if "PLANTED01" in message or "\u202e" in message]


def coded(result: Audit, code: str) -> list[Finding]:
    return [f for f in result.findings if f.code == code]


def places(result: Audit, code: str) -> set[tuple[str | None, str | None, str | None]]:
    warned = [f for f in coded(result, code) if f.severity is not Severity.INFO]
    return {(f.device, f.interface, f.direction) for f in warned}


def test_a_campus_that_holds_its_intent_has_nothing_against_it() -> None:
    result = audit(CAMPUS, HELD)
    assert [f for f in result.findings if f.severity is not Severity.INFO] == []
    arrived = {(way.source, way.target, way.dscp): way.lost_at for way in result.mark_paths}
    assert arrived["vigo1", "vigo2", 34] is None, "the campus keeps AF41 from end to end"
    assert arrived["vigo2", "vigo1", 34] is None
    assert arrived["vigo1", "vigo2", 46] == ("s2970", "GigabitEthernet0/5"), "the edge marks EF anew"


def test_what_passes_a_device_that_was_not_read_is_not_said_to_arrive() -> None:
    result = audit(CAMPUS, {name: text for name, text in HELD.items() if name != "s2970"})
    ways = {(way.source, way.target): way for way in result.mark_paths if way.dscp == 34}
    assert (ways["vigo1", "vigo2"].arrives, ways["vigo1", "vigo2"].unread) == (None, ("s2970",))
    assert any(way.arrives == 34 and not way.unread for way in ways.values())


def test_a_campus_as_delivered_loses_marks_where_the_switches_do_not_trust() -> None:
    result = audit(CAMPUS, BEFORE)
    lost = {f.device for f in coded(result, "mark-rewritten")}
    assert lost == {"s2950", "ers5510"}
    # A 2950 leaves the DSCP, and queues by CoS 0.
    new = {
        "s2950": "keeps its DSCP here, and takes the queue of another CoS (trust none): af21 by CoS 0",
        "ers5510": "loses its mark here (trust none): af21 → default, af41 → default",
    }
    assert all(new[f.device] in f.message for f in coded(result, "mark-rewritten"))
    assert ("s2950", "FastEthernet0/24", "input") in places(result, "mark-rewritten")
    assert {f.device for f in coded(result, "mark-not-trusted")} == {"s2950", "ers5510"}
    assert {way.lost_at[0] for way in result.mark_paths if way.lost_at} == {"ers5510"}
    served = coded(result, "mark-not-served")
    assert {f.device for f in served} == {"s2950", "e300"}
    unserved = {f.interface for f in served if f.device == "e300"}
    assert unserved == {f"GigabitEthernet 0/{n}" for n in range(4)}, "eight queues, and every mark in the same"
    assert not has_errors(result.findings)


def test_a_trust_of_the_cos_with_the_default_map_is_found_on_its_port() -> None:
    result = with_fault(
        "s2970",
        ("mls qos map cos-dscp 0 8 18 24 32 34 48 56\n", ""),
        ("mls qos trust dscp", "mls qos trust cos"),
    )
    assert places(result, "mark-rewritten") == {("s2970", "GigabitEthernet0/1", "input")}
    (found,) = [f for f in coded(result, "mark-rewritten") if f.severity is not Severity.INFO]
    assert "af41 → cs5" in found.message
    assert "s2950 GigabitEthernet0/1 sends" in found.message
    warned = [f.device for f in coded(result, "maps-disagree") if f.severity is Severity.WARNING]
    assert warned == ["s2970"]
    lost = {(w.source, w.target): w.lost_at for w in result.mark_paths if w.dscp == 34 and w.lost_at}
    assert lost["vigo2", "vigo1"] == ("s2970", "GigabitEthernet0/1")
    assert ("vigo1", "vigo2") not in lost, "the other direction keeps it"


def test_a_missing_trust_is_found_on_its_port_and_in_its_direction() -> None:
    result = with_fault("s2950", ("interface FastEthernet0/24\n mls qos trust dscp", "interface FastEthernet0/24"))
    assert places(result, "mark-rewritten") == {("s2950", "FastEthernet0/24", "input")}


def test_a_priority_that_one_end_lacks_is_found() -> None:
    result = with_fault("r2", ("interface Serial0/1\n service-policy output QOSFORGE-OUT", "interface Serial0/1"))
    found = coded(result, "ends-treat-marks-differently")
    warned = [f for f in found if f.severity is Severity.WARNING]
    assert [(f.device, f.interface) for f in warned] == [("r1", "Serial0/0")]
    assert "af41 served first here" in warned[0].message, "EF, which the edge marks anew, is not on this line"
    assert "r2 Serial0/1" in warned[0].message


def test_a_queueing_policy_on_the_input_is_on_the_wrong_side() -> None:
    result = with_fault(
        "r2", ("interface Serial0/1\n service-policy output", "interface Serial0/1\n service-policy input")
    )
    assert ("r2", "Serial0/1", "input") in places(result, "policy-wrong-side")


def test_a_marking_policy_on_the_output_is_on_the_wrong_side() -> None:
    result = with_fault("r1", (" service-policy input QOSFORGE-IN", " service-policy output QOSFORGE-IN"))
    assert places(result, "policy-wrong-side") == {("r1", "FastEthernet0/0", "output")}


def test_a_bandwidth_that_is_not_the_links_is_an_error() -> None:
    result = with_fault("r1", (" bandwidth 2000", " bandwidth 1544"))
    assert places(result, "bandwidth-differs") == {("r1", "Serial0/0", "output")}
    assert has_errors(result.findings)


def _with_a_shaped_port() -> tuple[Network, dict[str, str]]:
    """The campus whose R1 has a fast line with 2 Mb/s contracted on it, and what it holds after a kept run."""
    device = CAMPUS.device("r1")
    fast = {"rate": 100_000_000, "contracted": 2_000_000}
    ports = tuple(p.model_copy(update=fast) if p.name == "Serial0/0" else p for p in device.interfaces)
    there = device.model_copy(update={"interfaces": ports})
    devices = tuple(there if entry.name == "r1" else entry for entry in CAMPUS.devices)
    network = CAMPUS.model_copy(update={"devices": devices})
    compiled = compile_intent(load_intent(root() / "policies" / "campus-collaboration.yaml"), network)
    made = next(entry.text for entry in compiled.devices if entry.name == "r1")
    assert "shape average 2000000" in made
    return network, {**HELD, "r1": BEFORE["r1"].replace(" bandwidth 2000\n", "") + made}


def test_what_a_port_shaper_divides_is_judged_inside_it() -> None:
    network, texts = _with_a_shaped_port()
    result = audit(network, texts)
    assert coded(result, "bandwidth-differs") == [], "shares are parts of the shaped rate"
    (served,) = [f for f in coded(result, "mark-not-served") if f.device == "r1"]
    assert "af41" not in served.message, "the policy inside has a queue for it"
    assert [f for f in result.findings if f.severity is Severity.WARNING] == []


def test_a_port_that_is_shaped_to_another_rate_than_its_contract_is_told() -> None:
    network, texts = _with_a_shaped_port()
    texts["r1"] = texts["r1"].replace("shape average 2000000", "shape average 1500000")
    (found,) = coded(audit(network, texts), "bandwidth-differs")
    assert (found.device, found.interface, found.severity) == ("r1", "Serial0/0", Severity.WARNING)
    assert "shaped to 1500 kb/s" in found.message
    assert "2000 kb/s" in found.message


def test_compression_at_one_end_is_an_error() -> None:
    result = with_fault("b256", (" ip rtp header-compression iphc-format\n", ""))
    assert places(result, "one-sided-efficiency") == {("r2", "Multilink1", "output")}


def test_an_interface_that_the_device_does_not_have_is_an_error() -> None:
    result = with_fault("r3", ("interface Serial0/1", "interface Serial1/1"))
    assert places(result, "interface-missing") == {("r3", "Serial0/1", None)}


def test_a_line_that_is_not_understood_is_reported_with_its_place() -> None:
    text = HELD["r1"] + "interface Serial0/0\n rate-limit input 8000 1500 2000 conform-action transmit\n"
    result = audit(CAMPUS, {**HELD, "r1": text}, {"r1": "saved/r1.cfg"})
    (found,) = coded(result, "line-not-understood")
    assert (found.device, found.file, found.line) == ("r1", "saved/r1.cfg", len(text.splitlines()))
    assert "rate-limit input 8000" in found.message


def test_a_device_without_a_configuration_is_reported_and_the_rest_is_read() -> None:
    result = audit(CAMPUS, {"r1": HELD["r1"], "r2": HELD["r2"]})
    assert {f.device for f in coded(result, "device-not-read")} == {d.name for d in CAMPUS.devices} - {"r1", "r2"}
    assert {row[0] for row in rows(result)} == {"r1", "r2"}
    assert coded(result, "one-sided-efficiency")[0].severity is Severity.WARNING, "the branches are not known"


def test_the_table_says_what_is_configured() -> None:
    table = {(row[0], row[1]): row[2:] for row in rows(audit(CAMPUS, HELD))}
    assert len(table) == sum(len(d.interfaces) for d in CAMPUS.devices)
    assert table["r2", "Multilink1"] == (
        "–",
        "–",
        "QOSFORGE-OUT",
        "voice-video first 50 %, web-and-file 70 % of the rest, class-default 30 % of the rest WRED",
        "cRTP, fragments of 512 bytes, interleaved",
    )
    assert table["r1", "FastEthernet0/0"][1] == "QOSFORGE-IN (voice-video → af41, web-and-file → af21)"
    assert table["s2950", "FastEthernet0/24"][0] == "dscp"
    assert table["s2970", "GigabitEthernet0/1"][3] == "q1 first, q2 30, q3 70, q4 3"
    delivered = {(row[0], row[1]): row[2:] for row in rows(audit(CAMPUS, BEFORE))}
    assert delivered["s2950", "FastEthernet0/24"][3] == "q4 before q3 before q2 before q1"


@given(random=st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_garbled_configurations_are_audited_all_the_same(random: Random) -> None:
    words = [*sorted({word for text in HELD.values() for word in text.split()}), "²", "999", "-1", "1.1.1.1/99"]
    texts = dict(HELD)
    for name in random.sample(sorted(HELD), 3):
        lines = [line.split(" ") for line in texts[name].splitlines()]
        for _ in range(25):
            line = random.choice(lines)
            line[random.randrange(len(line))] = random.choice(words)
        texts[name] = "\n".join(" ".join(line) for line in lines)
    result = audit(CAMPUS, texts)
    assert set(result.plans) == set(HELD)
    assert all(row[0] in HELD for row in rows(result))


@pytest.mark.parametrize("stations", [0, 1])
def test_a_network_with_hardly_anything_in_it(stations: int) -> None:
    box = Device(
        name="alone",
        platform="catalyst_2950",
        image="12.1EA-EI",
        role=DeviceRole.ACCESS,
        driver="ios_legacy",
        interfaces=(Interface(name="FastEthernet0/1", rate=10**8, role=DeviceRole.ACCESS),),
    )
    links: tuple[Link, ...] = ()
    hosts = tuple(
        Station(name=f"h{n}", address="192.0.2.1", attach=("alone", "FastEthernet0/1"), rate=10**8)
        for n in range(stations)
    )
    network = Network(name="n", devices=(box,), links=links, stations=hosts)
    result = audit(network, {"alone": "interface FastEthernet0/1\n"})
    assert result.mark_paths == ()
    assert {f.code for f in result.findings} <= {"mark-not-trusted", "maps-disagree"}


LABELS = """\
class-map match-any core
 match mpls experimental topmost 5
policy-map CORE
 class core
  bandwidth percent 10
"""


def test_classes_of_labels_are_told_as_not_followed() -> None:
    name = next(device.name for device in CAMPUS.devices if device.platform == "cisco_ios")
    port = next(i.name for d in CAMPUS.devices if d.name == name for i in d.interfaces)
    text = f"{BEFORE[name]}{LABELS}interface {port}\n service-policy output CORE\n"

    (found,) = coded(audit(CAMPUS, {**BEFORE, name: text}), "labels-not-followed")

    assert (found.interface, found.direction, found.severity) == (port, "output", Severity.INFO)
    assert "core look at MPLS labels" in found.message
