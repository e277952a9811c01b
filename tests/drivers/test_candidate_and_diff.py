"""Reading candidates and telling what a merge would change; no box needed."""

from __future__ import annotations

import re

import pytest
from cli_candidate.answers import read_answer
from cli_candidate.candidate import parse_candidate, parse_lines
from cli_candidate.configtext import commands_only, strip_volatile, unwrap
from cli_candidate.diff import merge_diff
from cli_candidate.facts import uptime_seconds
from hypothesis import given
from hypothesis import strategies as st
from napalm.base.exceptions import MergeConfigException

RUNNING = """\
version 12.2
!
class-map match-all VOICE
  match ip dscp ef
!
policy-map WAN
  class VOICE
   priority percent 50
  class class-default
   fair-queue
!
interface Serial0/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.0
 no cdp enable
 service-policy output WAN
!
end
"""
ABSENT_IS_OFF = ("class-map", "policy-map", "service-policy", "match ")
BLOCKS = re.compile(r"(?:interface|router)\s")


def diff(candidate: str, running: str = RUNNING) -> list[str]:
    return merge_diff(parse_candidate(candidate), parse_lines(running), ABSENT_IS_OFF).splitlines()


def test_context_is_the_indentation_however_deep_it_is():
    lines = parse_lines(RUNNING)
    assert lines[5].path == ("policy-map WAN", "class VOICE", "priority percent 50")
    assert lines[5].number == 8
    assert [line.depth for line in lines[:5]] == [0, 0, 1, 0, 1]


def test_flat_blocks_end_at_exit():
    lines = parse_lines("interface Ethernet ALL\nqos if-shaper port 8\nexit\nqos agent queue-set 4\n", BLOCKS)
    assert [(line.context, line.text) for line in lines] == [
        ((), "interface Ethernet ALL"),
        (("interface Ethernet ALL",), "qos if-shaper port 8"),
        ((), "qos agent queue-set 4"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ip cef\nhost?name x", "line 2: character '[?]'"),
        ("name \x03", "line 1: character"),
        ("name x\ry", "line 1: character"),
        ("description café", "line 1: character 'é'"),
        ("!\n\nbanner motd ^", "line 3: 'banner' opens a dialogue"),
        ("ip cef\nend\nno ip cef", "line 3: a command after 'end' on line 2"),
    ],
)
def test_what_cannot_be_typed_safely_is_refused_with_its_line(text, words):
    with pytest.raises(MergeConfigException, match=words):
        parse_candidate(text)


def test_an_indented_block_ends_with_its_indentation_even_where_others_need_exit():
    lines = parse_lines("interface Ethernet ALL\n qos if-shaper port 8\nqos agent queue-set 4\n", BLOCKS)
    assert [line.depth for line in lines] == [0, 1, 0]


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x85", "\u2028", "\r"])
def test_no_command_hides_in_a_comment(separator):
    assert parse_candidate(f"! remark{separator}no ip cef\n") == ()


def test_a_tab_is_a_blank_never_a_completion():
    (line,) = parse_candidate("description\ta b")
    assert line.text == "description a b"


def test_comments_may_hold_anything():
    assert parse_candidate("! is it café?\nip cef\nend\n")[0].path == ("ip cef",)


def test_what_is_held_already_is_no_difference():
    assert diff(RUNNING) == []
    assert diff("interface  Serial0/0\n   bandwidth   2000 \n") == []


def test_interface_names_are_the_same_in_any_case():
    assert diff("interface serial0/0\n bandwidth 2000\n") == []
    assert diff("interface serial0/0\n mtu 1500\n") == [" interface serial0/0", "+ mtu 1500"]


def test_same_words_in_another_context_are_a_difference():
    assert diff("interface Serial0/1\n bandwidth 2000\n") == ["+interface Serial0/1", "+ bandwidth 2000"]


def test_held_context_is_shown_without_a_mark():
    assert diff("policy-map WAN\n class VOICE\n  priority percent 40\n") == [
        " policy-map WAN",
        "  class VOICE",
        "+  priority percent 40",
    ]


def test_removal_of_what_is_there_and_of_what_is_not():
    assert diff("no class-map VOICE\nno class-map OTHER\n") == ["-no class-map VOICE"]
    assert diff("interface Serial0/0\n no cdp enable\n") == []
    # Not printed can mean "on by default": sent, hence shown.
    assert diff("interface Serial0/0\n no fair-queue\n") == [" interface Serial0/0", "- no fair-queue"]


def test_detach_and_attach_again_shows_both():
    assert diff("interface Serial0/0\n no service-policy output WAN\n service-policy output WAN\n") == [
        " interface Serial0/0",
        "- no service-policy output WAN",
        "+ service-policy output WAN",
    ]


def test_removing_a_block_removes_what_stands_in_it():
    assert diff("no policy-map WAN\npolicy-map WAN\n class VOICE\n") == [
        "-no policy-map WAN",
        "+policy-map WAN",
        "+ class VOICE",
    ]


def test_a_no_does_not_reach_beyond_its_very_command():
    running = "mls qos\nmls qos map cos-dscp 0 8 16 24 34 46 48 56\n"
    assert diff("no mls qos\nmls qos map cos-dscp 0 8 16 24 34 46 48 56\n", running) == ["-no mls qos"]


words = st.sampled_from(["alpha", "beta 1", "gamma", "delta x y", "class-map C"])
trees = st.lists(st.tuples(words, st.lists(words, max_size=3)), max_size=5)


@given(trees, trees)
def test_nothing_differs_from_what_was_merged(ours, theirs):
    def text(tree):
        return "".join(f"{head}\n" + "".join(f" {child}\n" for child in children) for head, children in tree)

    assert diff(text(ours), text(theirs) + text(ours)) == []
    shown = [line for line in diff(text(ours), text(theirs)) if line[0] == "+"]
    missing = {line.path for line in parse_lines(text(ours))} - {line.path for line in parse_lines(text(theirs))}
    assert len(shown) == len(missing)


def test_volatile_lines_go_and_nothing_else():
    text = "Building configuration...\n\nCurrent configuration : 12 bytes\n!\nversion 12.2 \nend\n"
    volatile = [re.compile("Building"), re.compile("Current configuration")]
    assert strip_volatile(text, volatile) == "!\nversion 12.2\nend"
    assert commands_only("!\nversion 12.2 \n\nend") == ["version 12.2"]


def test_wrapped_lines_are_joined():
    width = 20
    text = "\n".join(
        [
            "qos policy 1 name ab",  # full, goes on
            "cdef port 1",
            "qos if-group name 12",  # full, but the next one is a command of its own
            "qos if-group name 34",
            "! *** QOS ********",
            "!",
            "vlan members add 10 ",  # full with its blank
            "1/1-4",
            "exit",
        ]
    )
    assert unwrap(text, width).split("\n") == [
        "qos policy 1 name abcdef port 1",
        "qos if-group name 12",
        "qos if-group name 34",
        "! *** QOS ********",
        "!",
        "vlan members add 10 1/1-4",
        "exit",
    ]


def test_a_line_of_several_pieces_is_joined_whole():
    text = "a" * 9 + "\n" + "b" * 9 + "\n" + "c"
    assert unwrap(text, 10) == "aaaaaaaaabbbbbbbbbc"


@given(st.text(alphabet="abc d", min_size=1, max_size=120), st.integers(8, 40))
def test_unwrapping_undoes_wrapping(line, width):
    line = "first " + line.strip()
    pieces = [line[at : at + width - 1] for at in range(0, len(line), width - 1)]
    starts_anew = any(piece.split()[:1] in ([], line.split()[:1]) for piece in pieces[1:])
    if not starts_anew:
        assert unwrap("\n".join(pieces), width) == line


@pytest.mark.parametrize(
    "noise",
    [
        "%SYS-5-CONFIG_I: Configured from console by vty0",
        "*Mar  1 00:00:09.123: %LINK-3-UPDOWN: Interface Serial0/0, changed state to up",
        "00:02:11: %RPM0-P:CP %SYS-5-CONFIG_I: Configured from vty0 ( 127.0.0.1 )",
        "*** --- SHUTDOWN in 0:01:00 ---",
    ],
)
def test_log_lines_are_neither_refusal_nor_remark(noise):
    answer = read_answer(noise, re.compile("^%"), re.compile("^%% warning"))
    assert (answer.refusal, answer.warnings, answer.notices) == (None, (), ())


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1 week, 2 days, 3 hours, 4 minutes", 788640.0),
        ("0 days, 01:02:03", 3723.0),
        ("nothing of the kind", -1.0),
    ],
)
def test_uptime(text, seconds):
    assert uptime_seconds(text) == seconds
