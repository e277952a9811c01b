"""Sending a candidate to a scripted peer over real SSH."""

from __future__ import annotations

import pickle

import pytest
from cli_candidate import CommitBrokenError, CommitProgress, LineRefusedError, LineTimeoutError
from napalm.base.exceptions import CommandErrorException, MergeConfigException

from tests.stopwatch import Stopwatch

from .conftest import IOS_MODES
from .peer import Peer

POLICY = """\
policy-map P
 class A
  police cir 64000
 class B
  bandwidth 10
!
interface Serial0/0
 service-policy output P
"""


def quiet(line: str) -> str:
    return ""


def ios(script=quiet, **changes):
    return Peer(script, modes=IOS_MODES, **changes)


def sent(peer: Peer) -> list[str]:
    return peer.typed[peer.typed.index("configure terminal") :]


def test_modes_are_left_as_the_prompt_shows_it(connect):
    peer = ios()
    box = connect("ios_legacy", peer)
    box.load_merge_candidate(config=POLICY)
    box.commit_config()
    assert sent(peer) == [
        "configure terminal",
        "policy-map P",
        "class A",
        "police cir 64000",
        "exit",
        "exit",
        "class B",
        "bandwidth 10",
        "exit",
        "exit",
        "interface Serial0/0",
        "service-policy output P",
        "exit",
        "end",
    ]
    assert (box.last_commit.applied, box.last_commit.total) == (7, 7)


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        ("ios_legacy", "         ^\n% Invalid input detected at '^' marker."),
        ("ios_legacy", "% Incomplete command."),
        ("ios_legacy", "I/f Serial0/0 class A requested bandwidth 9000 (kbps), available only 7500 (kbps)"),
        ("ios_legacy", "CBWFQ : Can be enabled as an output feature only"),
        ("ios_legacy", "All classes with bandwidth should have consistent units"),
        ("ios_legacy", "Sum total of class bandwidths exceeds 100 percent"),
        ("ios_legacy", "Policy map P is already attached"),
        ("ios_legacy", "Must deconfigure bandwidth in this class before configuring priority"),
        ("force10", "% Error: Class-map is in use."),
        ("force10", "%Error: Specified VLANs overlap with existing config."),
        ("force10", "00:02:11: %EX2YD:12 %DIFFSERV-2-DSA_QOS_CAM_INSTALL_FAILED: Not enough space in L3 Cam"),
        ("ers", "% Cannot modify settings"),
        ("ers", "% Inappropriate value - insufficient resources"),
        ("ers", "A meter that is referenced in an installed policy cannot be deleted."),
    ],
)
def test_a_refusal_names_line_words_and_progress(connect, driver, words):
    root = "(conf)" if driver == "force10" else "(config)"
    peer = ios(lambda line: words if line == "bad thing" else "", root_mode=root)
    box = connect(driver, peer)
    box.load_merge_candidate(config="good one\n!\ngood two\nbad thing\nnever sent\n")
    with pytest.raises(MergeConfigException) as caught:
        box.commit_config()
    error = caught.value
    assert isinstance(error, LineRefusedError)
    assert (error.progress.line_number, error.progress.command) == (4, "bad thing")
    assert (error.progress.applied, error.progress.total) == (2, 4)
    assert words.strip().rsplit("\n", 1)[-1] in str(error)
    assert "never sent" not in peer.typed
    assert peer.typed[-1] == "end"
    # The session is good for the inverse.
    box.load_merge_candidate(config="no good two\nno good one\n")
    box.commit_config()
    assert peer.typed[-3:] == ["no good two", "no good one", "end"]


def test_errors_survive_pickling_and_hide_secrets():
    error = LineRefusedError(CommitProgress(3, "username bob password 0 hunter2", 2, 9), "% Invalid input")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.progress, copy.answer, str(copy)) == (error.progress, error.answer, str(error))
    assert "hunter2" not in str(error)


def test_a_refusal_when_a_block_is_left_names_its_command(connect):
    peer = ios(lambda line: "% Incomplete class" if line == "exit" else "")
    box = connect("ios_legacy", peer)
    box.load_merge_candidate(config="class-map A\n match any\nhostname Other\n")
    with pytest.raises(LineRefusedError) as caught:
        box.commit_config()
    assert caught.value.progress.command == "class-map A"


def test_ers_warnings_are_kept_and_the_commit_goes_on(connect):
    peer = ios(lambda line: "% Queue set is used after a reset" if line.startswith("qos agent") else "")
    box = connect("ers", peer)
    box.load_merge_candidate(config="qos agent queue-set 4\nqos if-group name g class trusted\n")
    box.commit_config()
    (warning,) = box.last_commit.warnings
    assert (warning.line_number, warning.text) == (1, "% Queue set is used after a reset")
    assert box.last_commit.applied == 2


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Remove it? [confirm]", ""), ("Sure (y/n)? ", "y"), ("Proceed [confirm yes/no]: ", "yes")],
)
def test_questions_are_answered(connect, question, answer):
    def script(line):
        return question + "\0" if line == "no thing" else ""

    peer = ios(script)
    box = connect("ios_legacy", peer)
    box.load_merge_candidate(config="no thing\nlast\n")
    box.commit_config()
    assert [remark.text for remark in box.last_commit.notices] == [f"answered: {question.strip()}"]
    assert sent(peer) == ["configure terminal", "no thing", *([answer] if answer else []), "last", "end"]


def test_log_messages_and_announcements_are_no_answer(connect):
    peer = ios(
        lambda line: "*Mar  1 00:01:02.123: %SYS-5-CONFIG_I: Configured from console" if line == "one" else "",
        after_prompt={
            "two": "\n\n***\n*** --- SHUTDOWN in 0:01:00 ---\n***\n\x07",
            "three": "\n00:00:09: %LINK-3-UPDOWN: Interface Serial0/0, changed state to up\n",
        },
    )
    box = connect("ios_legacy", peer)
    box.load_merge_candidate(config="one\ntwo\nthree\nfour\n")
    box.commit_config()
    assert box.last_commit.applied == 4
    assert box.last_commit.notices == ()


@pytest.mark.parametrize("driver", ["ios_legacy", "force10", "ers"])
def test_a_warning_is_no_refusal(connect, driver):
    words = "%Warning: this cannot be undone"
    root = "(conf)" if driver == "force10" else "(config)"
    box = connect(driver, ios(lambda line: words if line == "one" else "", root_mode=root))
    box.load_merge_candidate(config="one\n")
    box.commit_config()
    assert [remark.text for remark in box.last_commit.warnings] == [words]


def test_an_unknown_remark_is_kept_as_a_notice(connect):
    box = connect("ios_legacy", ios(lambda line: "Sure, but mind the gap" if line == "one" else ""))
    box.load_merge_candidate(config="one\n")
    box.commit_config()
    assert [remark.text for remark in box.last_commit.notices] == ["Sure, but mind the gap"]


def test_a_new_host_name_is_followed(connect):
    def script(line):
        if line.startswith("hostname "):
            peer.name = line.split()[1]
        return ""

    peer = ios(script)
    box = connect("ios_legacy", peer)
    box.load_merge_candidate(config="hostname Quite-Different\nip cef\n")
    box.commit_config()
    assert box.cli(["show clock"]) == {"show clock": ""}


def test_a_box_renamed_by_somebody_else_is_followed_too(connect):
    def script(line):
        if line == "one":
            peer.name = "Renamed-By-Another"
        return ""

    peer = ios(script)
    box = connect("ios_legacy", peer)
    box.load_merge_candidate(config="one\ntwo\nthree\n")
    box.commit_config()
    assert box.last_commit.applied == 3


def test_a_hang_up_says_how_far_it_came(connect):
    box = connect("ios_legacy", ios(lambda line: None if line == "two" else ""))
    box.load_merge_candidate(config="one\ntwo\nthree\n")
    with pytest.raises(CommitBrokenError) as caught:
        box.commit_config()
    assert (caught.value.progress.line_number, caught.value.progress.applied) == (2, 1)
    assert box.is_alive() == {"is_alive": False}


def test_silence_is_an_error(connect):
    box = connect("ios_legacy", ios(silent={"two"}), read_timeout_override=0.6)
    box.load_merge_candidate(config="one\ntwo\n")
    with pytest.raises(LineTimeoutError) as caught:
        box.commit_config()
    assert caught.value.progress.line_number == 2


def test_endless_questions_are_an_error(connect):
    peer = ios(lambda line: "Again? (y/n)\0" if line in {"one", "y"} else "")
    box = connect("ios_legacy", peer)
    box.load_merge_candidate(config="one\n")
    with pytest.raises(CommandErrorException, match="keeps asking"):
        box.commit_config()


@pytest.mark.parametrize("driver", ["ios_legacy", "ers", "force10"])
def test_sixty_commands_take_under_three_seconds(connect, driver):
    peer = ios(root_mode="(conf)" if driver == "force10" else "(config)")
    box = connect(driver, peer)
    blocks = (f"interface Eth{n}\n description number {n}\n mtu 1500\n" for n in range(20))
    box.load_merge_candidate(config="exit\n".join(blocks))
    watch = Stopwatch()
    box.commit_config()
    assert watch.seconds < 3
    assert box.last_commit.applied == 60


def test_a_long_candidate_line_survives_a_wrapped_echo(connect):
    peer = ios()
    box = connect("ers", peer)
    long = "qos ip-element 1 addr-type ipv4 " + "src-ip 10.10.10.0/24 " * 12
    box.load_merge_candidate(config=long)
    box.commit_config()
    assert long.strip() in peer.typed
