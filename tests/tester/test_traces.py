"""Recorded traffic is read exactly, and what cannot be read is named."""

from __future__ import annotations

import json
import shutil
import socket
import struct
from contextlib import suppress
from pathlib import Path

import pytest
import qosforge_twin
from msgspec.structs import replace

from qosforge.compiler.running_plans import running_plans
from qosforge.errors import InputError
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.tester.scenario.traces import read_traces
from qosforge.tester.twin import TwinTester
from qosforge.twin.simulation import simulate
from qosforge.twin.sources import TraceSource
from tests.twin.scenarios import wire

EPOCH = 1_700_000_000
"""Capture times count from 1970: a float would lose nanoseconds."""


def ipv4(length: int, src: str = "10.0.0.1", sport: int = 5000, payload: int = 8) -> bytes:
    header = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, length, 1, 0, 64, 17, 0, socket.inet_aton(src), socket.inet_aton("10.0.0.2")
    )
    return header + struct.pack(">HHHH", sport, 53, length - 20, 0) + bytes(payload)


def ipv6(length: int) -> bytes:
    ends = socket.inet_pton(socket.AF_INET6, "fd00::1") + socket.inet_pton(socket.AF_INET6, "fd00::2")
    return struct.pack(">IHBB", 6 << 28, length - 40, 17, 64) + ends + struct.pack(">HHHH", 1, 2, length - 40, 0)


def ethernet(packet: bytes, vlan: bool = False) -> bytes:
    kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    return bytes(12) + (struct.pack(">HH", 0x8100, 7) if vlan else b"") + struct.pack(">H", kind) + packet


ARP = bytes(12) + b"\x08\x06" + bytes(28)


def pcap(records: list[tuple[int, bytes]], *, order: str = "<", nano: bool = False, link: int = 1) -> bytes:
    magic, unit = (0xA1B23C4D, 10**9) if nano else (0xA1B2C3D4, 10**6)
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for ticks, frame in records:
        seconds, rest = divmod(ticks, unit)
        data += struct.pack(order + "IIII", EPOCH + seconds, rest, len(frame), len(frame)) + frame
    return data


def pcapng(records: list[tuple[int, bytes]], *, order: str = "<", link: int = 1) -> bytes:
    """One section with one interface in nanoseconds."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        length = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + length + body + length

    data = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    options = struct.pack(order + "HHBxxx", 9, 1, 9) + struct.pack(order + "HH", 0, 0)
    data += block(1, struct.pack(order + "HHI", link, 0, 0) + options)
    for ticks, frame in records:
        at = EPOCH * 10**9 + ticks
        body = struct.pack(order + "IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(frame), len(frame))
        data += block(6, body + frame)
    return data


def saved(tmp_path: Path, data: bytes | str, name: str = "recorded.pcap") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("form", ["micro", "nano", "pcapng"])
def test_captures_keep_their_times_and_sizes(tmp_path: Path, form: str, order: str) -> None:
    step = 1_000_000 if form == "micro" else 1_000
    records = [
        (7, ethernet(ipv4(100))),
        (8, ARP),
        (9, ethernet(ipv4(1500), vlan=True)),
        (123_456_789, ethernet(ipv6(60))),
        (123_456_790, ethernet(ipv4(40, src="10.0.0.9"))),
    ]
    make = {"micro": pcap, "nano": lambda r, order: pcap(r, order=order, nano=True), "pcapng": pcapng}[form]
    first, second, third = read_traces(saved(tmp_path, make(records, order=order)))
    assert (first.flow, first.ip_bytes) == ("17 10.0.0.1:5000 > 10.0.0.2:53", (100, 1500))
    assert first.times_ps == (0, 2 * step)
    assert (second.flow, second.ip_bytes) == ("17 fd00::1:1 > fd00::2:2", (60,))
    assert second.times_ps == (123_456_782 * step,)
    assert (third.times_ps, third.ip_bytes) == ((123_456_783 * step,), (40,))


def test_packets_without_a_link_header_and_out_of_order(tmp_path: Path) -> None:
    records = [(9, ipv4(200)), (4, ipv4(100)), (4, ipv6(80))]
    traces = read_traces(saved(tmp_path, pcap(records, link=101)))
    assert [t.times_ps for t in traces] == [(0, 5_000_000), (0,)]
    assert traces[0].ip_bytes == (100, 200)


def test_a_table_is_read_to_the_picosecond(tmp_path: Path) -> None:
    text = "time,bytes,flow\n5.000000000001,40,a\n5.1,1500,b\n5.1,60,a\n"
    a, b = read_traces(saved(tmp_path, text, "recorded.csv"))
    assert (a.flow, a.times_ps, a.ip_bytes) == ("a", (0, 99_999_999_999), (40, 60))
    assert (b.times_ps, b.ip_bytes) == ((99_999_999_999,), (1500,))


def test_the_twin_sends_what_was_recorded(tmp_path: Path) -> None:
    text = "time,bytes\n0,40\n0.25,1500\n0.5,1000\n"
    (trace,) = read_traces(saved(tmp_path, text, "recorded.csv"))
    scenario = {
        "version": 1,
        "duration_ps": 10**12,
        "nodes": [{"name": n, "ports": [{"name": "p"}]} for n in "ab"],
        "links": [{"a": ["a", "p"], "b": ["b", "p"], "rate_bps": 10**9, "framing": "none"}],
        "flows": [{"name": "f", "path": [["a", "p"]], "source": wire(trace.source(6 * 10**11)), "samples": True}],
    }
    result = json.loads(qosforge_twin.run(json.dumps(scenario), 1))["flows"][0]
    sent = [0, 25 * 10**10, 5 * 10**11, 6 * 10**11, 85 * 10**10]
    sizes = (40, 1500, 1000, 40, 1500)
    assert result["samples"] == [[at, size * 8000] for at, size in zip(sent, sizes, strict=True)]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("when,bytes\n1,40\n", 1, "no column 'time'"),
        ("time\n1\n", 1, "no column 'bytes'"),
        ("time,bytes\n1,40\nsoon,40\n", 3, "'soon' is no time"),
        ("time,bytes\n1,40\nnan,40\n", 3, "'nan' is no time"),
        ("time,bytes\n1e999999,40\n", 2, "'1e999999' is no time"),
        ("time,bytes\n1,40\n2\n", 3, "None is no packet size"),
        ("time,bytes\n1,19\n", 2, "'19' is no packet size"),
        ("time,bytes\n1,65536\n", 2, "'65536' is no packet size"),
        ("time,bytes\n1,4e1\n", 2, "'4e1' is no packet size"),
        ("time,bytes\n1,40\n0.9,40\n", 3, "is before the row above"),
        ('time,bytes\n1,"40\n', 2, "is not CSV"),
        ("time,bytes\n", None, "holds no IP packets"),
        ("time,bytes\n0,40\n2000000,40\n", None, "lasts more than"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = saved(tmp_path, text, "recorded.csv")
    with pytest.raises(InputError) as caught:
        read_traces(path)
    assert (caught.value.where.file, caught.value.where.line) == (str(path), line)
    assert problem in caught.value.message
    assert caught.value.hint


GOOD = [(0, ethernet(ipv4(100))), (1, ethernet(ipv4(100)))]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is no capture"),
        (b"neither one nor the other", "is no capture"),
        (pcap(GOOD)[:-1] + b"\0" * 5, "packet 3 is damaged"),
        (pcap(GOOD) + b"\0" * 7, "packet 3 is damaged"),
        (pcapng(GOOD) + b"\6\0\0\0\1\0\0\0", "packet 3 is damaged"),
        (pcap(GOOD)[:-10], "packet 2 is damaged (the file ends within it)"),
        (pcapng(GOOD)[:-10], "packet 2 is damaged (the file ends within it)"),
        (pcap(GOOD, link=147), "has link type 147"),
        (pcap([(0, ARP), (1, b"")]), "holds no IP packets"),
    ],
)
def test_a_damaged_capture_is_named(tmp_path: Path, data: bytes, problem: str) -> None:
    path = saved(tmp_path, data)
    with pytest.raises(InputError) as caught:
        read_traces(path)
    assert caught.value.where.file == str(path)
    assert problem in caught.value.message


def test_every_cut_of_a_capture_is_read_or_named(tmp_path: Path) -> None:
    for whole in (pcap(GOOD), pcapng(GOOD)):
        for end in range(len(whole)):
            path = saved(tmp_path, whole[:end])
            with suppress(InputError):
                assert read_traces(path)[0].ip_bytes in ((100,), (100, 100))


CBR = "{kind: cbr, rate: 80 kb/s, ip_bytes: 200}"


def with_recording(tmp_path: Path, table: str, source: str) -> TwinTester:
    """The campus, its first voice flow recorded."""
    folder = tmp_path / "campus"
    shutil.copytree(root() / "inventories" / "campus", folder)
    traffic = folder / "traffic.yaml"
    traffic.write_text(traffic.read_text().replace(CBR, source, 1))
    (folder / "calls.csv").write_text(table)
    network = load_network(folder)
    held = {d.name: (folder / "startup" / f"{d.name}.cfg").read_text() for d in network.devices}
    return TwinTester(network, running_plans(network, held))


CALLS = "time,bytes,flow\n10,200,a\n10.5,60,b\n11,100,a\n"


def test_a_network_sends_its_recordings(tmp_path: Path) -> None:
    tester = with_recording(tmp_path, CALLS, "{kind: trace, file: calls.csv, flow: a}")
    document = tester.scenario(tester.network.traffic[0], 1, set())
    assert document.flows[0].source == TraceSource(times_ps=(0, 10**12), ip_bytes=(200, 100))
    voice = simulate(replace(document, warmup_ps=0), 1).flows[0]
    assert (voice.name, voice.sent) == ("voice", 2)


@pytest.mark.parametrize(("flow", "count"), [("", 2), (", flow: c", 0)])
def test_a_recording_of_several_flows_needs_the_name_of_one(tmp_path: Path, flow: str, count: int) -> None:
    tester = with_recording(tmp_path, CALLS, f"{{kind: trace, file: calls.csv{flow}}}")
    with pytest.raises(InputError, match=f"flow voice: {count} recorded flows are meant") as caught:
        tester.scenario(tester.network.traffic[0], 1, set())
    assert "'a', 'b'" in caught.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_traces(tmp_path / "none.csv")
