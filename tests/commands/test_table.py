"""Command tables: no line of a configuration is lost, and each is known in every spelling."""

from __future__ import annotations

from qosforge.commands import ELSEWHERE, Change, CommandTable, Line
from qosforge.configtree import transition

TABLE = CommandTable(
    Line("policy", "policy-map WORD:name", opens="policy", change=Change(defines="policy {name}", owned=True)),
    Line("class", "class WORD:name", "policy", opens="class", change=Change(owned=True)),
    Line(
        "priority",
        "priority percent <1-100>:percent",
        "class",
        change=Change(key="priority", negate="no priority"),
        also=("priority REST",),
    ),
    Line("fair", "fair-queue", "class", change=Change(), no="fair-queue"),
    Line("shape", "", "class", also=("shape average REST",)),
    Line("interface", "interface REST:name", opens="interface", change=Change()),
    Line("attach", "service-policy output WORD:name", "interface", change=Change(refers=("policy {name}",))),
    Line("text", "description REST", "interface"),
    shared={"": "(?:policy|qos).*", "interface": "(?:service-policy|queue).*", ELSEWHERE: "service-policy .*"},
    families=("FastEthernet", "GigabitEthernet"),
)
TEXT = """\
policy-map OUT
 class VOICE
  priority percent 50
   inside 1
  no fair-queue
  shape average 64000
 class DATA
  priority 128
  bandwidth 7
interface FastEthernet0/1
 description an uplink
 ip address 10.0.0.1 255.0.0.0
 service-policy output OUT
  below it
 queue 9
router bgp 1
 neighbor x
 service-policy output OUT
qos all
"""


def test_every_line_is_an_entry_or_not_understood_or_none_of_qos() -> None:
    reading = TABLE.read(TEXT)
    assert [(line.line, line.text, line.context) for line in reading.unknown] == [
        (4, "inside 1", "class VOICE"),
        (6, "shape average 64000", "class VOICE"),
        (8, "priority 128", "class DATA"),
        (9, "bandwidth 7", "class DATA"),
        (14, "below it", "service-policy output OUT"),
        (15, "queue 9", "interface FastEthernet0/1"),
        (18, "service-policy output OUT", "router bgp 1"),
        (19, "qos all", ""),
    ]
    policy = reading.objects("policy")["OUT"]
    voice = policy.below[0]
    assert [(entry.id, dict(entry.values), entry.negated) for entry in voice.below] == [
        ("priority", {"percent": 50}, False),
        ("fair", {}, True),
    ]
    assert voice.settings == {"percent": 50}


def test_what_a_template_wrote_is_found_without_reading_the_rest() -> None:
    ids = frozenset({"class", "priority", "fair", "shape", "attach"})
    found = [
        (entry.id, entry.line.text, dict(entry.values), entry.negated) for entry in TABLE.find_written(TEXT, ids)
    ]
    assert found == [
        ("class", "class VOICE", {"name": "VOICE"}, False),
        ("priority", "priority percent 50", {"percent": 50}, False),
        ("fair", "no fair-queue", {}, True),
        ("class", "class DATA", {"name": "DATA"}, False),
        ("attach", "service-policy output OUT", {"name": "OUT"}, False),
    ]
    assert not list(TABLE.find_written(TEXT, frozenset()))
    assert not list(TABLE.find_written("description an uplink\n", ids))
    blank = TABLE.find_written("policy-map OUT\n  \n class VOICE\n\t\n", ids)
    assert [entry.line.text for entry in blank] == ["class VOICE"], "a template may leave blanks on a line"


def test_abbreviations_are_read_alike_and_kept_as_written_where_they_are_not_understood() -> None:
    written = TEXT.replace("priority percent 50", "prio perc 50").replace("service-policy output", "serv out")
    written = written.replace("FastEthernet0/1", "fa0/1").replace("priority 128", "pri 128")
    said, short = TABLE.read(TEXT), TABLE.read(written)
    assert [(e.id, e.values, e.below) for e in short.entries] == [(e.id, e.values, e.below) for e in said.entries]
    assert "pri 128" in [line.text for line in short.unknown]


def test_the_change_of_a_line_follows_from_its_row() -> None:
    now, then = (
        TABLE.tree(TEXT),
        TABLE.tree(TEXT.replace("percent 50", "percent 40").replace("priority 128", "priority 64")),
    )
    assert transition(now, then, TABLE.grammar) == [
        "policy-map OUT",
        " class VOICE",
        "  priority percent 40",
        " class DATA",
        "  priority 64",
    ]


LISTS = CommandTable(
    Line("list", "access-list extended WORD:name", opens="list"),
    Line("standard", "access-list standard WORD:name", opens="standard"),
    Line("entry", "permit WORD:source WORD:destination", "list"),
    Line("entry", "permit WORD:source", "standard"),
    shared={},
)


def test_lines_with_one_first_word_may_open_several_modes() -> None:
    reading = LISTS.read("acc ext A\nperm x y\nacc stand B\nperm z\n")
    assert [(entry.id, [below.values for below in entry.below]) for entry in reading.entries] == [
        ("list", [{"source": "x", "destination": "y"}]),
        ("standard", [{"source": "z"}]),
    ]
    assert reading.unknown == ()


def test_the_words_of_a_line_that_nobody_abbreviates_stay_as_they_are() -> None:
    table = CommandTable(
        Line("entry", "permit {tcp|udp}:protocol any", abbreviated=False),
        Line("entry", "permit REST:rest"),
        shared={},
    )
    assert table.syntax.spelt("", "perm tcp an") == "permit tcp an"
    assert [dict(entry.values) for entry in table.read("perm tcp any\nperm tcp an\n").entries] == [
        {"protocol": "tcp"},
        {"rest": "tcp an"},
    ]
