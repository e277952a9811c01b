"""Ports that are described once: what a range stands for, what it must not say, and inventories that hold some."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.compiler.compile import compile_intent
from qosforge.errors import InputError
from qosforge.intent.loader import load_intent
from qosforge.intent.yaml_source import MAX_NODES, Bounds, parse_document
from qosforge.inventory import loader
from qosforge.inventory.loader import BOUNDS, load_network
from qosforge.inventory.port_ranges import MOST_PORTS, port_names, range_names

ROOT = Path(__file__).resolve().parents[2]
CAMPUS = ROOT / "inventories" / "campus"
S2970 = """\
      GigabitEthernet0/5: {rate: 100 Mb/s, tags: [lan]}
      GigabitEthernet0/6: {rate: 1 Gb/s, tags: [lan]}
"""


@pytest.mark.parametrize(
    ("name", "first", "last", "count"),
    [
        ("Serial0/0", "Serial0/0", "Serial0/0", 1),
        ("GigabitEthernet1/0/[1-48]", "GigabitEthernet1/0/1", "GigabitEthernet1/0/48", 48),  # Catalyst
        ("GigabitEthernet [0-13]/[0-47]", "GigabitEthernet 0/0", "GigabitEthernet 13/47", 14 * 48),  # Force10
        ("[1-48]", "1", "48", 48),  # a BayStack alone
        ("[1-8]/[1-48]", "1/1", "8/48", 8 * 48),  # and a stack of them
        ("FastEthernet0/[1-12, 14,20-24]", "FastEthernet0/1", "FastEthernet0/24", 18),
        ("Serial1/0.[100-101]", "Serial1/0.100", "Serial1/0.101", 2),
    ],
)
def test_what_a_name_stands_for(name: str, first: str, last: str, count: int) -> None:
    names = port_names(name)

    assert (names[0], names[-1], len(set(names))) == (first, last, count)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Gi0/[1-48", "without its other one"),
        ("Gi0/1-48]", "without its other one"),
        ("Gi0/[[1-4]]", "without its other one"),
        ("Gi0/[]", "hold no numbers"),
        ("Gi0/[a-c]", "hold no numbers"),
        ("Gi0/[01-09]", "hold no numbers"),
        ("Gi0/[1-2-3]", "hold no numbers"),
        ("Gi0/[4-1]", r"write \[1-4\]"),
        ("Gi0/[1-4,4-8]", "a number twice"),
        ("Gi[1-99999]/[1-99999]", "stands for 9,999,800,001 ports"),
        ("Gi0/[1-5000]", "stands for 5,000 ports, at most 4,096"),
        ("Gi0/[1-4000,5000-9000]", "more than 4,096"),
    ],
)
def test_what_is_no_range_is_told(name: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        port_names(name)


@pytest.fixture
def campus(tmp_path: Path) -> Callable[..., Path]:
    """The campus, with some text of its ``hosts.yaml`` replaced."""

    def build(old: str, new: str) -> Path:
        folder = tmp_path / "campus"
        shutil.copytree(CAMPUS, folder)
        text = (folder / "hosts.yaml").read_text(encoding="utf-8")
        assert old in text
        (folder / "hosts.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
        return folder

    return build


def problem(folder: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_network(folder)
    (found,) = caught.value.problems()
    assert isinstance(found, InputError)
    return found


def line_of(folder: Path, text: str) -> int:
    return (folder / "hosts.yaml").read_text(encoding="utf-8").split(text)[0].count("\n") + 1


def test_a_range_is_its_ports_one_by_one(campus: Callable[..., Path], tmp_path: Path) -> None:
    one_by_one = "".join(f"      GigabitEthernet0/{n}: {{rate: 100 Mb/s, tags: [lan]}}\n" for n in range(5, 25))
    by_range = "      GigabitEthernet0/[5-24]: {rate: 100 Mb/s, tags: [lan]}\n"
    made = {}
    for name, text in (("one", one_by_one), ("range", by_range)):
        folder = campus(S2970, text)
        made[name] = load_network(folder)
        shutil.rmtree(folder)
    loaded = load_intent(ROOT / "policies" / "campus-collaboration.yaml")

    assert made["range"] == made["one"]
    assert [d.text for d in compile_intent(loaded, made["range"]).devices] == [
        d.text for d in compile_intent(loaded, made["one"]).devices
    ]


def test_a_group_may_describe_the_ports_of_its_devices(campus: Callable[..., Path]) -> None:
    folder = campus("  groups: [nortel_5510]\n", "  groups: [nortel_5510, stacked]\n")
    text = (folder / "hosts.yaml").read_text(encoding="utf-8")
    at = text.index("    interfaces:\n", text.index("ers5510:"))
    cut = text.index("e300:")
    (folder / "hosts.yaml").write_text(text[:at] + text[cut:], encoding="utf-8")
    with (folder / "groups.yaml").open("a", encoding="utf-8") as groups:
        groups.write(
            'stacked: {data: {interfaces: {"[1-47]": {rate: 1 Gb/s}, "48": {rate: 1 Gb/s, tagged: true}}}}\n'
        )

    names = [i.name for i in load_network(folder).device("ers5510").interfaces]

    assert names == [str(number) for number in range(1, 49)]


def test_a_port_of_two_ranges_is_told_with_both(campus: Callable[..., Path]) -> None:
    folder = campus(
        S2970,
        "      GigabitEthernet0/[5-12]: {rate: 100 Mb/s, tags: [lan]}\n"
        "      GigabitEthernet0/[10-24]: {rate: 1 Gb/s, tags: [lan]}\n",
    )
    found = problem(folder)

    assert "s2970: 3 ports are described twice (GigabitEthernet0/10 …)" in found.message
    assert f"line {line_of(folder, 'GigabitEthernet0/[5-12]')} (GigabitEthernet0/[5-12])" in found.message
    assert found.where.line == line_of(folder, "GigabitEthernet0/[10-24]")
    assert "take them out of one of both" in found.hint


def test_a_port_of_a_range_and_of_its_own_is_told(campus: Callable[..., Path]) -> None:
    folder = campus(S2970, S2970 + "      GigabitEthernet0/[6-9]: {rate: 100 Mb/s}\n")
    found = problem(folder)

    assert "s2970: GigabitEthernet0/6 is described twice" in found.message
    assert found.where.line == line_of(folder, "GigabitEthernet0/[6-9]")


def test_a_wrong_range_is_told_with_its_line(campus: Callable[..., Path]) -> None:
    folder = campus(S2970, S2970 + "      GigabitEthernet0/[9-7]: {rate: 100 Mb/s}\n")
    found = problem(folder)

    assert "'GigabitEthernet0/[9-7]' has a range that goes backwards" in found.message
    assert "[7-9]" in found.hint
    assert found.where.line == line_of(folder, "GigabitEthernet0/[9-7]")


def test_what_is_wrong_with_the_ports_of_a_range_is_told_once(campus: Callable[..., Path]) -> None:
    folder = campus(S2970, S2970 + "      GigabitEthernet0/[7-24]: {rate: fast}\n")
    found = problem(folder)

    assert "'fast'" in found.message
    assert found.where.line == line_of(folder, "GigabitEthernet0/[7-24]")


def test_a_device_has_no_more_ports_than_it_may(campus: Callable[..., Path]) -> None:
    folder = campus(
        S2970,
        S2970
        + "      GigabitEthernet1/[1-4000]: {rate: 1 Gb/s}\n      GigabitEthernet2/[1-4000]: {rate: 1 Gb/s}\n",
    )
    found = problem(folder)

    assert f"s2970 has 8,003 interfaces, at most {MOST_PORTS:,}" in found.message
    assert found.where.line == line_of(
        folder, "GigabitEthernet0/1: {rate: 1 Gb/s, tags: [trunk], tagged: true}\n      GigabitEthernet0/5"
    )


def test_brackets_want_quotes_where_a_key_begins_with_them(campus: Callable[..., Path]) -> None:
    folder = campus('      "48": {rate: 1 Gb/s,', '      [3-47]: {rate: 1 Gb/s}\n      "48": {rate: 1 Gb/s,')
    found = problem(folder)

    assert "a key that is not text" in found.message
    assert "in quotes" in found.hint
    assert found.where.line == line_of(folder, "[3-47]")


def written_out(devices: int) -> str:
    """Devices with 48 ports, each described by itself."""
    port = "      GigabitEthernet0/{}: {{rate: 100 Mb/s, tags: [lan]}}\n"
    ports = "".join(port.format(number) for number in range(1, 49))
    data = f'  data:\n    role: access\n    image: "12.2"\n    driver: ios_legacy\n    interfaces:\n{ports}'
    return "".join(f"d{number}:\n  platform: catalyst_2970\n{data}" for number in range(devices))


@pytest.fixture
def network(tmp_path: Path) -> Callable[[str], Path]:
    """A network of nothing but these hosts."""

    def build(hosts: str) -> Path:
        folder = tmp_path / "many"
        folder.mkdir()
        (folder / "hosts.yaml").write_text(hosts, encoding="utf-8")
        (folder / "links.yaml").write_text("links: []\nstations: []\n", encoding="utf-8")
        return folder

    return build


def test_a_campus_is_described_port_by_port_as_well(network: Callable[[str], Path]) -> None:
    text = written_out(160)
    assert len(parse_document(text, "hosts.yaml", BOUNDS).marks) > 0.6 * MAX_NODES

    assert sum(len(d.interfaces) for d in load_network(network(text)).devices) == 160 * 48


def test_what_is_too_large_can_be_said_shorter(network: Callable[[str], Path]) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(written_out(10), "hosts.yaml", Bounds(values=1_000, hint=BOUNDS.hint))

    assert "has more than 1,000 values" in caught.value.message
    assert "as a range, such as GigabitEthernet1/0/[1-48]" in caught.value.hint


def test_a_network_has_no_more_interfaces_than_it_may(
    network: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "MOST_INTERFACES", 100)
    found = problem(network(written_out(3)))

    assert "more than 100 interfaces" in found.message
    assert "several networks" in found.hint
    assert found.where.path == "d2"


@pytest.mark.parametrize(
    ("ports", "names"),
    [
        (("Gi1/0/1", "Gi1/0/2", "Gi1/0/3", "Gi1/0/5"), ("Gi1/0/[1-3,5]",)),
        (("Gi1/0/1", "Gi2/0/1", "Gi2/0/2"), ("Gi1/0/1", "Gi2/0/[1-2]")),
        (("1", "2", "48"), ("[1-2,48]",)),
        (("Serial0/0:7", "mgmt", "Gi", "Gi5"), ("Serial0/0:7", "mgmt", "Gi", "Gi5")),
        (("Gi0/01", "Gi0/02"), ("Gi0/01", "Gi0/02")),  # brackets hold no leading zeros
    ],
)
def test_ports_that_are_alike_share_a_name(ports: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert range_names(ports) == names


@given(st.sets(st.from_regex(r"[A-Z]?[a-z]{0,2}([0-3]{1,2}/){0,2}[0-9]{0,3}[a-c]?", fullmatch=True)))
def test_shared_names_stand_for_the_same_ports(ports: set[str]) -> None:
    found = [port for name in range_names(sorted(ports)) for port in port_names(name)]
    assert len(found) == len(ports)
    assert set(found) == ports
