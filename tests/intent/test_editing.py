"""A policy's text after a change: what was asked for, laid out as a person would, and all else as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qosforge.intent.editing import Change, Insert, Move, NotEditable, Remove, Set, edited
from qosforge.intent.policy_source import shipped_policies
from qosforge.intent.yaml_source import parse_document

POLICY = """\
# What the campus needs.
version: 1
intent: campus   # the whole of it

classes:
  # Voice goes first: agreed with the faculties.
  - name: voice
    match: {any: [{application: [rtp-audio]}, {dscp: [ef, "46"]}]}
    treatment: {priority: {percent: 33}}   # of the slowest link
    # The objective is that of G.114.

  - name: web
    match:
      any:
        - {application: http}
        # The proxy.
        - {protocol: tcp, destination_port: 3128}
    treatment: {bandwidth: {remaining_percent: 70}}

  - name: default
    treatment:
      bandwidth: {remaining_percent: 30}
      wred: true

apply:
  - {role: [edge, middle], interfaces: wan, direction: output}
"""
CLASS: dict[str, Any] = {
    "name": "bulk",
    "match": {"any": [{"dscp": ["af11"]}]},
    "treatment": {"bandwidth": {"remaining_percent": 5}},
}


def change(*changes: Change, text: str = POLICY) -> str:
    return edited(text, "p.yaml", changes)


def lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came, between what both have in common at the beginning and at the end."""
    old, new = before.split("\n"), after.split("\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


@pytest.mark.parametrize(
    ("requested", "went", "came"),
    [
        (
            Set(("intent",), "the-campus"),
            ["intent: campus   # the whole of it"],
            ["intent: the-campus   # the whole of it"],
        ),
        (
            Set(("classes", 0, "treatment", "priority", "percent"), 25),
            ["    treatment: {priority: {percent: 33}}   # of the slowest link"],
            ["    treatment: {priority: {percent: 25}}   # of the slowest link"],
        ),
        (
            Set(("classes", 0, "match", "any", 1, "dscp", 1), "cs5"),
            ['    match: {any: [{application: [rtp-audio]}, {dscp: [ef, "46"]}]}'],
            ['    match: {any: [{application: [rtp-audio]}, {dscp: [ef, cs5]}]}'],
        ),
        (
            Set(("classes", 0, "treatment", "police", "rate"), "768 kb/s"),
            ["    treatment: {priority: {percent: 33}}   # of the slowest link"],
            ["    treatment: {priority: {percent: 33}, police: {rate: 768 kb/s}}   # of the slowest link"],
        ),
        (
            Set(("classes", 0, "mark"), {"dscp": "af41", "cos": 5}),
            [],
            ["    mark: {dscp: af41, cos: 5}"],
        ),
        (Set(("classes", 2, "treatment", "wred", "prefer"), True),
         ["      wred: true"], ["      wred: {prefer: true}"]),
        (Set(("classes", 1, "match", "any", 0, "application"), ["http", "ftp"]),
         ["        - {application: http}"], ["        - {application: [http, ftp]}"]),
        (Insert(("classes", 1, "match", "any", 0, "application"), 0, "ftp"),
         ["        - {application: http}"], ["        - {application: [ftp, http]}"]),
        (Insert(("classes", 1, "match", "any"), 1, {"dscp": ["af21"]}), [], ["        - {dscp: [af21]}"]),
        (Set(("tolerance",), "3 %"), [], ["tolerance: 3 %"]),
        (Set(("parameters", "line"), "wan"), [], ["parameters:", "  line: wan"]),
        (
            Insert(("link_efficiency",), 0, {"when": {"rate_below": "768 kb/s"}, "header_compression": "rtp"}),
            [],
            ["link_efficiency:", "  - {when: {rate_below: 768 kb/s}, header_compression: rtp}", ""],
        ),
        (Remove(("classes", 1, "match", "any", 1)),
         ["        # The proxy.", "        - {protocol: tcp, destination_port: 3128}"], []),
        (
            Remove(("classes", 0, "match", "any", 1)),
            ['    match: {any: [{application: [rtp-audio]}, {dscp: [ef, "46"]}]}'],
            ["    match: {any: [{application: [rtp-audio]}]}"],
        ),
        (
            Remove(("classes", 0, "match", "any", 0, "application", 0)),  # an empty alternative matches nothing
            ['    match: {any: [{application: [rtp-audio]}, {dscp: [ef, "46"]}]}'],
            ['    match: {any: [{dscp: [ef, "46"]}]}'],
        ),
        (Remove(("classes", 1, "treatment", "bandwidth", "remaining_percent")),
         ["    treatment: {bandwidth: {remaining_percent: 70}}"], []),
        (
            Remove(("classes", 0, "treatment", "priority", "percent")),  # strict priority
            ["    treatment: {priority: {percent: 33}}   # of the slowest link"],
            ["    treatment: {priority: {}}   # of the slowest link"],
        ),
        (Remove(("apply", 0)), ["apply:", "  - {role: [edge, middle], interfaces: wan, direction: output}"],
         ["apply: []"]),
    ],
)  # fmt: skip
def test_lines(requested: Change, went: list[str], came: list[str]) -> None:
    after = change(requested)

    assert lines(POLICY, after) == (went, came)


def test_a_new_class_stands_like_its_neighbours() -> None:
    after = change(Insert(("classes",), 1, CLASS))

    assert lines(POLICY, after) == (
        [],
        [
            "  - name: bulk",
            "    match: {any: [{dscp: [af11]}]}",
            "    treatment: {bandwidth: {remaining_percent: 5}}",
            "",
        ],
    )
    assert change(Remove(("classes", 1)), text=after) == POLICY


def test_a_new_class_stands_in_braces_where_its_neighbours_do() -> None:
    text = "classes:\n  - {name: a, match: {any: [{cos: 5}]}}\n  - {name: default}\n"

    after = change(Insert(("classes",), 1, CLASS), text=text)

    assert lines(text, after)[1] == [
        "  - {name: bulk, match: {any: [{dscp: [af11]}]}, treatment: {bandwidth: {remaining_percent: 5}}}"
    ]


def test_what_is_too_long_for_one_line_has_a_line_for_every_key() -> None:
    many = [f"application-number-{n}" for n in range(4)]

    after = change(Set(("classes", 2, "match"), {"any": [{"application": many}, {"dscp": ["ef"]}]}))

    assert lines(POLICY, after)[1] == [
        "    match:",
        "      any:",
        f"        - {{application: [{', '.join(many)}]}}",
        "        - {dscp: [ef]}",
    ]
    assert max(map(len, after.split("\n"))) <= 120


def test_a_class_moves_with_the_comment_above_it() -> None:
    after = change(Move(("classes",), 0, 1))

    assert after.index("- name: web") < after.index("# Voice goes first") < after.index("- name: voice")
    assert after.index("- name: voice") < after.index("# The objective is that") < after.index("- name: default")
    assert sorted(after.split("\n")) == sorted(POLICY.split("\n"))
    assert change(Move(("classes",), 1, 0), text=after) == POLICY


def test_a_class_goes_with_its_comments_and_the_blank_line() -> None:
    after = change(Remove(("classes", 0)))

    assert after == POLICY.replace(POLICY[POLICY.index("  # Voice") : POLICY.index("  - name: web")], "")


def test_a_comment_over_several_lines_of_a_list_stays_when_the_first_goes() -> None:
    text = "verify:\n  - {from: a, to: b}\n  # Inside one network:\n  - {from: c, to: d}\n  - {from: e, to: f}\n"

    after = change(Remove(("verify", 1)), text=text)

    assert after == text.replace("  - {from: c, to: d}\n", "")


def test_the_comment_at_the_head_of_the_file_stays() -> None:
    assert change(Remove(("version",))).startswith("# What the campus needs.\nintent: campus")


def test_a_section_goes_with_its_last_entry_and_comes_back_in_its_place() -> None:
    text = shipped_policies()["campus-collaboration"]

    without = change(Remove(("link_efficiency", 0)), text=text)

    assert "link_efficiency" not in without
    again = change(
        Insert(("link_efficiency",), 0, parse_document(text, "x").data["link_efficiency"][0]), text=without
    )
    assert again == text.replace(
        "  # A G.729 packet every 20 ms; one fragment may block the link for 80 % of that.\n", ""
    )


def test_classes_from_nothing() -> None:
    text = "version: 1\nintent: new\nclasses: []   # to come\napply:\n"

    after = change(
        Insert(("classes",), 0, {"name": "default"}),
        Insert(("classes",), 0, CLASS),
        Insert(("apply",), 0, {"interfaces": ["wan"], "direction": "output"}),
        Set(("classes", 1, "treatment", "wred"), True),
        text=text,
    )

    assert after == (
        "version: 1\nintent: new\nclasses:   # to come\n  - name: bulk\n    match: {any: [{dscp: [af11]}]}\n"
        "    treatment: {bandwidth: {remaining_percent: 5}}\n  - name: default\n    treatment: {wred: true}\n"
        "apply:\n  - {interfaces: [wan], direction: output}\n"
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("50 ms", "50 ms"),
        ("0.1 %", "0.1 %"),
        ("16384-32767", "16384-32767"),
        ("10.1.0.0/16", "10.1.0.0/16"),
        ("2001:db8::/32", "2001:db8::/32"),
        ("00:1b:54:aa:bb:cc", "00:1b:54:aa:bb:cc"),
        ("FastEthernet0/0", "FastEthernet0/0"),
        ("Größe – µs", "Größe – µs"),
        ("yes", '"yes"'),
        ("true", '"true"'),
        ("", '""'),
        ("46", '"46"'),
        ("0755", '"0755"'),
        ("1e3", '"1e3"'),
        ("2024-01-01", '"2024-01-01"'),
        ("12:30", '"12:30"'),
        ("null", '"null"'),
        ("${robin}", '"${robin}"'),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        (" a", '" a"'),
        ("- a", '"- a"'),
        ("[a", '"[a"'),
        ("back\\slash", "back\\slash"),
        ("two\nlines\t", '"two\\nlines\\t"'),
        ("\x85\u2028\ufeff\x00", '"\\u0085\\u2028\\ufeff\\u0000"'),
        (7, "7"),
        (0.25, "0.25"),
        (1e-9, "1e-09"),
        (True, "true"),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
        ({"on": [1, None], "a b": "c"}, '{"on": [1, null], a b: c}'),
    ],
)
def test_values(value: Any, written: str) -> None:
    for text in ("a: 1   # remark\nb: 2\n", "{a: 1, b: 2}", "x: 0\na: ~\nb: 2"):
        after = change(Set(("a",), value), text=text)

        assert f"a: {written}" in after or (value is None and after == text)  # ~ is null too
        assert parse_document(after, "x").data["a"] == value
        assert ("# remark" in after) == ("# remark" in text)


@pytest.mark.parametrize(
    ("old", "new"), [('"x"', '"z"'), ("'x'", "'z'"), ("'46'", "'z'"), ('"46"', "z"), ('"${x}"', "z"), ('""', "z")]
)
def test_quotes_stay_where_they_are_a_matter_of_taste(old: str, new: str) -> None:
    assert (
        change(Set(("a",), "z"), text=f"a: {old} # remark\nb: {{c: {old}}}")
        == f"a: {new} # remark\nb: {{c: {old}}}"
    )
    assert change(Set(("b", "c"), "z"), text=f"b: {{c: {old}}}") == f"b: {{c: {new}}}"


def test_what_stands_around_the_last_class_stays() -> None:
    text = (
        "classes:   # all of them\n  # Not yet:\n\n  # The first.\n  - name: a\n    mark: {cos: 1}\n"
        "  # - name: b\napply: []\n"
    )

    after = change(Remove(("classes", 0)), text=text)

    assert after == "classes: []   # all of them\n  # Not yet:\n\n  # - name: b\napply: []\n"


@pytest.mark.parametrize("value", ["Operations, administration and management", "it's", 'say "a"', "a{b}[c]"])
def test_values_that_need_quotes_in_braces_alone(value: str) -> None:
    assert change(Set(("a",), value), text="a: b") == f"a: {value}"
    assert change(Set(("a",), value), text="{a: b}") == "{a: " + json.dumps(value) + "}"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_marks_and_ends_of_lines_stay(mark: str, end: str, last: bool) -> None:
    def as_file(text: str) -> str:
        return mark + (text if last else text.removesuffix("\n")).replace("\n", end)

    text = as_file(POLICY)
    for requested in (
        Insert(("classes",), 3, CLASS),
        Insert(("apply",), 1, {"role": "core", "direction": "input"}),
        Move(("classes",), 2, 0),
        Remove(("apply", 0)),
        Remove(("classes", 1)),
        Set(("version",), 1),
        Set(("description",), "ü"),
        Set(("verify",), [{"from": "a", "to": "b"}]),
    ):
        assert change(requested, text=text) == as_file(change(requested)), requested


def test_documents_with_markers() -> None:
    text = "%YAML 1.2\n--- # the policy\nversion: 1\n...\n# behind it\n"

    after = change(Set(("intent",), "a"), text=text)

    assert after == "%YAML 1.2\n--- # the policy\nversion: 1\nintent: a\n...\n# behind it\n"


def test_text_blocks_keep_what_looks_like_a_comment() -> None:
    text = "a:\n  - x: |\n      # no comment\n      text\n\n  - y: 1\nb: |+\n  kept\n\nc: 1\n"

    assert change(Remove(("a", 1)), text=text) == text.replace("\n  - y: 1\n", "")
    assert change(Set(("b2",), 1), Remove(("c",)), text=text).endswith("b: |+\n  kept\n\nb2: 1\n")
    assert change(Set(("a", 0, "x"), "short"), text=text).startswith("a:\n  - x: short\n\n  - y")


def test_brackets_over_several_lines_keep_their_remarks() -> None:
    text = "dscp: [\n  ef,   # voice\n  # video\n  af41   # both kinds\n]\n"

    assert change(Remove(("dscp", 1)), text=text) == text.replace("  af41 ", "   ").replace("af41", "")
    assert change(Remove(("dscp", 0)), text=text) == text.replace("  ef,", "  ")
    assert change(Insert(("dscp",), 2, "cs5"), text=text) == text.replace("af41", "af41, cs5")


def test_what_other_places_refer_to_is_left_to_people() -> None:
    text = "a: &one {x: 1, y: [1]}\nb: *one\nc: [*one, 2]\nd:\n  - *one\n  - {z: 1}\n"

    for path in (("a", "x"), ("b", "x"), ("c", 0, "y"), ("b",)):
        with pytest.raises(NotEditable, match=r"p\.yaml:1:4.*several places.*in the YAML"):
            change(Set(path, 5), text=text)
    with pytest.raises(NotEditable):
        change(Remove(("a",)), text=text)
    # What stands beside it can be changed.
    assert change(Set(("d", 1, "z"), 2), text=text) == text.replace("z: 1", "z: 2")
    assert change(Insert(("c",), 1, 5), text=text) == text.replace("[*one, 2]", "[*one, 5, 2]")
    assert change(Insert(("d",), 1, 5), text=text) == text.replace("- *one\n", "- *one\n  - 5\n")
    assert change(Set(("e",), 1), text=text) == text + "e: 1\n"


@pytest.mark.parametrize(
    ("text", "requested", "says"),
    [
        ("a: [", Set(("a",), 1), "p.yaml:1"),
        ("", Set(("a",), 1), "is empty"),
        ("a: 1\n---\nb: 1\n", Set(("a",), 2), "not YAML"),
        ("a: 1\na: 2\n", Set(("a",), 2), "given twice"),
        ("? a\n: 1\nb: 2\n", Remove(("b",)), "unusual way"),
        ("a: !!map\n  x: 1\n", Set(("a", "y"), 2), "unusual way"),
        ("a: 1\n", Set(("a", "b"), 2), "has no part 'b'"),
        ("a: [1]\n", Set(("a", 1), 2), "has no part 1"),
        ("a: [1]\n", Set(("a", -1), 2), "has no part -1"),
        ("a: [1]\n", Set(("a", "x"), 2), "has no part 'x'"),
        ("a: 1\n", Set(("b", 0, "c"), 2), "has no entry 0"),
        ("a: 1\n", Set((0,), 2), "has no part 0"),
        ("a: 1\n", Set(("a",), 1e999), "no value of a policy"),
        ("a: 1\n", Set(("a",), "\ud800"), "is no text"),
        ("a: 1\n", Set((), "x"), "whole policy"),
        ("a: 1\n", Remove(("b",)), "has no part 'b'"),
        ("a: 1\n", Remove(("a",)), "all that the policy has"),
        ("a: 1\n", Remove(()), "whole policy"),
        ("a: 1\n", Move(("a",), 0, 1), "is no list"),
        ("a: [1, 2]\n", Move(("a",), 0, 2), "no positions"),
        ("a: [1, 2]\n", Insert(("a",), 3, 2), "no position 3"),
        ("a:\n  - - 1\n    - 2\n", Move(("a", 0), 0, 1), "on the line of something else"),
    ],
)
def test_refusals_say_where(text: str, requested: Change, says: str) -> None:
    with pytest.raises(NotEditable) as raised:
        change(requested, text=text)

    assert says in str(raised.value)
    assert raised.value.where.file == "p.yaml"
    assert raised.value.hint


def test_nothing_changes_where_nothing_differs() -> None:
    data = parse_document(POLICY, "x").data

    assert change(Set((), data), Set(("classes",), data["classes"]), Move(("classes",), 1, 1)) == POLICY


def test_of_a_list_only_what_differs_is_written() -> None:
    any_ = [{"application": "http"}, {"protocol": "tcp", "destination_port": 8080}, {"dscp": ["af21"]}]

    after = change(Set(("classes", 1, "match"), {"any": any_}))

    assert lines(POLICY, after) == (
        ["        - {protocol: tcp, destination_port: 3128}"],
        ["        - {protocol: tcp, destination_port: 8080}", "        - {dscp: [af21]}"],
    )
