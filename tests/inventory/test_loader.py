"""Networks from files: the campus as it is, and every mistake with its place and hint."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.errors import InputError
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import DeviceRole, Framing, Network

ROOT = Path(__file__).resolve().parents[2]
CAMPUS = ROOT / "inventories" / "campus"

Change = tuple[str, str, str]


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Path]:
    """``changed((file, old, new), ...)``: the campus with some text replaced."""

    def build(*changes: Change) -> Path:
        folder = tmp_path / "campus"
        shutil.copytree(CAMPUS, folder)
        for file, old, new in changes:
            text = (folder / file).read_text(encoding="utf-8")
            assert old in text
            (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
        return folder

    return build


def changed_lines(change: Change) -> tuple[int, int]:
    """Between which lines a change shows: from the line before it (where a list entry or mapping may begin)."""
    file, old, new = change
    text = (CAMPUS / file).read_text(encoding="utf-8")
    first = text.count("\n", 0, text.index(old)) + 1
    return first - 2, first + max(old.count("\n"), new.count("\n")) + 3


def problems(folder: Path) -> list[InputError]:
    with pytest.raises(InputError) as caught:
        load_network(folder)
    assert caught.value.exit_code == 2
    return caught.value.problems()  # type: ignore[return-value]


@pytest.fixture(scope="module")
def campus() -> Network:
    return load_network(CAMPUS)


def test_the_campus_has_the_boxes_and_lines_of_the_paper(campus: Network) -> None:
    platforms = {d.name: d.platform for d in campus.devices}
    assert {n for n, p in platforms.items() if p == "cisco_ios"} == {"r1", "r2", "r3", "b256", "b56"}
    assert len(set(platforms.values())) == 5
    serial = campus.device("r1").interface("Serial0/0")
    assert (serial.rate, serial.role, serial.encapsulation) == (2_000_000, DeviceRole.EDGE, Framing.HDLC)
    assert campus.device("r2").interface("Multilink2").rate == 56_000
    assert "archive" in campus.device("r1").features
    assert "archive" not in campus.device("r3").features
    assert campus.station("vigo1").address == "192.168.3.15"


def test_a_path_leaves_every_device_by_its_port_towards_the_goal(campus: Network) -> None:
    path = campus.path("vigo1", "vigo2")

    assert path[:3] == (
        ("s2970", "GigabitEthernet0/1"),
        ("s2950", "FastEthernet0/24"),
        ("r1", "Serial0/0"),
    )
    assert path[-1] == ("ers5510", "1")
    with pytest.raises(KeyError):
        campus.path("vigo1", "nobody")


def test_neighbours_are_mutual(campus: Network) -> None:
    for link in campus.links:
        assert campus.neighbour(link.a) == (link, link.b)
        assert campus.neighbour(link.b) == (link, link.a)
    assert campus.neighbour(("r1", "Serial9/9")) is None


SERIAL = "Serial0/0: {rate: 2 Mb/s,"
FLOW = "{name: voice, from: vigo1, to: vigo2, application: rtp-audio, dst_port: 16384,"
CASES: dict[str, tuple[Change, str, str]] = {
    "unknown port": (("links.yaml", "a: [r1, Serial0/0]", "a: [r1, Serial0/7]"), "'Serial0/7'", "'Serial0/0'?"),
    "unknown device": (("links.yaml", "a: [r1, Serial0/0]", "a: [r11, Serial0/0]"), "no device 'r11'", "'r1'?"),
    "station in the air": (
        ("links.yaml", "attach: [s2970, GigabitEthernet0/5]", "attach: [s9999, GigabitEthernet0/5]"),
        "no device 's9999'",
        "known: r1",
    ),
    "station without a place": (
        ("links.yaml", "address: 192.168.3.15, attach: [s2970, GigabitEthernet0/5]", "address: 192.168.3.15"),
        "missing key 'attach'",
        "add it",
    ),
    "two links at a port": (
        ("links.yaml", "b: [r3, Serial0/1]", "b: [r2, Serial0/1]"),
        "r2 Serial0/1 has a line already",
        "a port takes one",
    ),
    "station at a link's port": (
        ("links.yaml", "attach: [s2970, GigabitEthernet0/5]", "attach: [s2970, GigabitEthernet0/1]"),
        "s2970 GigabitEthernet0/1 has a line already",
        "a port takes one",
    ),
    "bad rate unit": (("hosts.yaml", "rate: 2 Mb/s", "rate: 2 MB/s"), "'2 MB/s' is not a rate", "768 kb/s"),
    "rate without unit": (("links.yaml", "rate: 2 Mb/s", "rate: 2000000"), "2000000", "768 kb/s"),
    "rates that differ": (("links.yaml", "rate: 256 kb/s", "rate: 255 kb/s"), "rate is not that of", "agree"),
    "framing that differs": (("links.yaml", "framing: hdlc", "framing: ppp"), "framing is not that of", "agree"),
    "unknown role": (("hosts.yaml", "role: middle", "role: center"), "'center'", "'edge', 'middle', 'access'"),
    "unknown role of a port": (("hosts.yaml", SERIAL, SERIAL + " role: rim,"), "'rim'", "'edge'"),
    "unknown key": (("hosts.yaml", "tags: [wan]", "tag: [wan]"), "unknown key 'tag'", "'tags'"),
    "image as a number": (("hosts.yaml", 'image: "12.4"', "image: 12.4"), "12.4 is not text", "quotes"),
    "no image": (("hosts.yaml", '    image: "12.4"\n', ""), "missing key 'image'", "add it"),
    "newline in an interface": (
        ("hosts.yaml", "Serial0/0: {", '"Serial0/0\\nno ip cef": {'),
        "'Serial0/0\\nno ip cef'",
        "as the device does",
    ),
    "space in a device": (("hosts.yaml", "\nr1:", '\n"r 1":'), "'r 1' is not a name", "letters"),
    "interfaces as a list": (
        ("hosts.yaml", "    interfaces:\n", "    interfaces: [x]\n    ports:\n"),
        "interfaces must be a mapping",
        "hosts.yaml",
    ),
    "not an address": (("links.yaml", "192.168.3.15", "192.168.3.256"), "'192.168.3.256'", "192.0.2.10"),
    "links as a mapping": (("links.yaml", "links:\n", "links: {}\nlinkz:\n"), "links must be a list", "campus"),
    "flow from nobody": (("traffic.yaml", "from: vigo1", "from: vigo9"), "no station 'vigo9'", "did you mean"),
    "flow to itself": (
        ("traffic.yaml", "from: vigo1, to: vigo2", "from: vigo1, to: vigo1"),
        "itself",
        "two stations",
    ),
    "check of nobody": (
        ("traffic.yaml", "between: [[vigo1,", "between: [[vigo0,"),
        "no station 'vigo0'",
        "did you mean",
    ),
    "tcp by udp": (
        ("traffic.yaml", "application: ftp, protocol: tcp", "application: ftp, protocol: udp"),
        "a tcp source cannot be udp",
        "protocol: tcp",
    ),
    "segments without data": (
        (
            "traffic.yaml",
            "count: 2,\n         source: {kind: tcp}",
            "count: 2,\n         source: {kind: tcp, ip_bytes: 40}",
        ),
        "segments of 40 bytes have no data",
        "ip_bytes above 40",
    ),
    "cbr without a rate": (("traffic.yaml", "{kind: cbr, rate: 80 kb/s,", "{kind: cbr,"), "needs rate", "add rate"),
    "video without frames": (
        ("traffic.yaml", "frames_per_second: 15, frame_bytes: 3200,", "frame_bytes: 3200,"),
        "needs frames_per_second",
        "add frames_per_second",
    ),
    "trace without a file": (
        ("traffic.yaml", "{kind: cbr, rate: 80 kb/s, ip_bytes: 200}", "{kind: trace}"),
        "needs file",
        "add file",
    ),
    "no such recording": (
        ("traffic.yaml", "{kind: cbr, rate: 80 kb/s, ip_bytes: 200}", "{kind: trace, file: calls.csv}"),
        "calls.csv",
        "from the network's folder",
    ),
    "unknown source": (("traffic.yaml", "kind: cbr", "kind: cbrr"), "'cbrr'", "'cbr', 'poisson'"),
    "unknown application": (
        ("traffic.yaml", "application: rtp-audio", "application: rtp-audo"),
        "'rtp-audo'",
        "'rtp-audio'?",
    ),
    "port out of range": (("traffic.yaml", "dst_port: 16384", "dst_port: 70000"), "70000", "65535"),
    "flow given twice": (("traffic.yaml", "name: video,", "name: voice,"), "flow 'voice' is given twice", "rename"),
    "station given twice": (
        ("links.yaml", "name: traffic1", "name: vigo1"),
        "station 'vigo1' is given twice",
        "rename",
    ),
    "key given twice": (("hosts.yaml", "\nr2:", "\nr1:"), "key 'r1' is given twice", "keep one"),
    "unknown kind of entries": (("links.yaml", "stations:", "station:"), "unknown key 'station'", "'stations'?"),
    "unknown kind of traffic": (("traffic.yaml", "scenarios:", "flows:"), "unknown key 'flows'", "scenarios"),
    "unknown key of a host": (("hosts.yaml", "groups: [cisco_ios]", "group: [cisco_ios]"), "key 'group'", "groups"),
    "host without a body": (("hosts.yaml", "\nr1:", "\nr0:\nr1:"), "'r0' must be a mapping", "campus"),
    "groups as text": (("hosts.yaml", "groups: [cisco_ios]", "groups: cisco_ios"), "'cisco_ios'", "a list"),
    "unknown group": (
        ("hosts.yaml", "groups: [cisco_ios]", "groups: [cisco_iox]"),
        "no group 'cisco_iox'",
        "'cisco_ios'?",
    ),
    "group of itself": (
        ("groups.yaml", "cisco_ios: {", "up: {groups: [cisco_ios]}\ncisco_ios: {groups: [up], "),
        "group 'cisco_ios' belongs to itself",
        "break the circle",
    ),
    "link without a port": (
        ("links.yaml", "a: [r1, Serial0/0]", "a: [r1]"),
        "['r1'] has too few values",
        "write 2",
    ),
    "data as a list": (("hosts.yaml", "  data:\n", "  data: [a]\n  port: 22\nr0:\n"), "is not a mapping", "{key"),
    "group as text": (("groups.yaml", "{platform: catalyst_2950}", "catalyst"), "must be a mapping", "campus"),
    "defaults as a number": (("defaults.yaml", "data: {}", "data: 5"), "5 is not a mapping", "{key"),
    "port as text": (("hosts.yaml", "groups: [cisco_ios]", "port: ssh"), "'ssh' is not a whole", "whole number"),
    "no platform": (("hosts.yaml", "  groups: [cisco_ios]\n", ""), "r1 has no platform", "a group"),
    "platform under data": (
        ("hosts.yaml", "    role: edge\n", "    platform: cisco_ios\n    role: edge\n"),
        "'platform' does not belong under data",
        "beside data",
    ),
    "port named twice": (("hosts.yaml", SERIAL, SERIAL + " name: Serial1,"), "unknown key 'name'", "take it away"),
    "contracted above the line": (
        ("hosts.yaml", "contracted: 2 Mb/s", "contracted: 3 Mb/s"),
        "the contracted rate (3 Mb/s) is above that of the line (2 Mb/s)",
        "at most",
    ),
}


@pytest.mark.parametrize(("change", "says", "hint"), CASES.values(), ids=CASES.keys())
def test_a_mistake_is_told_with_its_place_and_its_hint(
    changed: Callable[..., Path], change: Change, says: str, hint: str
) -> None:
    folder = changed(change)
    first, last = changed_lines(change)

    found = problems(folder)

    matching = [p for p in found if says in p.message]
    assert matching, [str(p) for p in found]
    assert hint in matching[0].hint
    assert matching[0].where.file == str(folder / change[0])
    assert matching[0].where.line is not None
    assert first <= matching[0].where.line <= last


def test_mistakes_of_several_files_are_told_at_once(changed: Callable[..., Path]) -> None:
    folder = changed(
        ("hosts.yaml", "rate: 2 Mb/s", "rate: 2"),
        ("hosts.yaml", "role: core", "role: kern"),
        ("links.yaml", "delay: 1 ms", "delay: 1"),
        ("traffic.yaml", "kind: cbr", "kind: none"),
    )

    files = [Path(p.where.file or "").name for p in problems(folder)]

    assert files == ["hosts.yaml", "hosts.yaml", "links.yaml", "traffic.yaml"]


@pytest.mark.parametrize("missing", ["hosts.yaml", "links.yaml"])
def test_a_missing_file_is_told(changed: Callable[..., Path], missing: str) -> None:
    folder = changed()
    (folder / missing).unlink()

    (found,) = problems(folder)

    assert found.hint
    assert str(folder) in str(found.where)


def test_a_network_without_traffic_is_a_network(changed: Callable[..., Path]) -> None:
    folder = changed()
    (folder / "traffic.yaml").unlink()

    assert load_network(folder).traffic == ()


@pytest.mark.parametrize("file", ["hosts.yaml", "groups.yaml", "defaults.yaml", "links.yaml", "traffic.yaml"])
@pytest.mark.parametrize("content", [b"", b"- 1\n", b"a: [\n", b"\x00\xff", b"word\n"])
def test_a_file_that_is_no_inventory_is_told(changed: Callable[..., Path], file: str, content: bytes) -> None:
    if not content and file in ("defaults.yaml", "traffic.yaml"):
        content = b"[]\n"  # these may be empty
    folder = changed()
    (folder / file).write_bytes(content)

    assert all(str(folder) in str(p.where.file) for p in problems(folder))


def test_an_unknown_platform_is_told_with_its_device(changed: Callable[..., Path]) -> None:
    network = load_network(changed(("groups.yaml", "{platform: catalyst_2950}", "{platform: catalyst_2951}")))

    with pytest.raises(InputError) as caught:
        compile_intent(
            load_intent(ROOT / "policies" / "itesm-paper.yaml"),
            network.model_copy(
                update={
                    "devices": (
                        network.device("s2950").model_copy(
                            update={
                                "role": "edge",
                                "interfaces": tuple(
                                    i.model_copy(update={"role": DeviceRole.EDGE})
                                    for i in network.device("s2950").interfaces
                                ),
                            }
                        ),
                    )
                }
            ),
        )

    assert caught.value.where.device == "s2950"
    assert "catalyst_2951" in caught.value.message
    assert "catalyst_2950" in caught.value.hint


def test_what_all_hosts_share_may_stand_in_the_defaults_and_in_groups_of_groups(
    changed: Callable[..., Path],
) -> None:
    folder = changed(
        ("defaults.yaml", "data: {}", "data: {features: [hqf]}"),
        ("groups.yaml", "catalyst_2970: {", "rack: {data: {role: core}}\ncatalyst_2970: {groups: [rack], "),
        (
            "hosts.yaml",
            "  groups: [catalyst_2970]\n  data:\n    role: access\n",
            "  groups: [catalyst_2970]\n  data:\n",
        ),
    )

    network = load_network(folder)

    assert network.device("s2970").role == DeviceRole.CORE
    assert network.device("s2950").features == {"hqf"}
    assert "hqf" not in network.device("r1").features


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", "---\n# nothing\n"])
@pytest.mark.parametrize("file", ["groups.yaml", "defaults.yaml", "traffic.yaml", "changes.yaml"])
def test_a_file_that_one_may_do_without_may_be_empty(tmp_path: Path, file: str, text: str) -> None:
    folder = tmp_path / "campus"
    shutil.copytree(CAMPUS, folder)
    if file == "groups.yaml":  # of the campus, the devices have their platforms from there
        shutil.rmtree(folder)
        shutil.copytree(CAMPUS.parent / "itesm-wan", folder)
        hosts = folder / "hosts.yaml"
        hosts.write_text(hosts.read_text().replace("groups: [cisco_ios]", "platform: cisco_ios"))
    (folder / file).write_text(text)
    assert load_network(folder).devices
