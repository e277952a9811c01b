"""The limits of a session, with the drivers alone."""

from __future__ import annotations

import contextlib
import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from cli_candidate import LimitExceededError, LineTimeoutError, SessionLimits, SessionStoppedError, StepLimit
from cli_candidate.bounded_ios import BoundedIosDriver
from cli_candidate.configtext import unwrap
from cli_candidate.connection import GuardedClient, GuardedConnection
from cli_candidate.guard import SessionGuard
from cli_candidate.terminal import GO_ON, Terminal
from napalm import get_network_driver
from napalm.base.exceptions import CommandErrorException, ConnectionException

from tests.stopwatch import Stopwatch

from .hostile import HEALTHY, Devices, Way, drip, endless, garbage, look_alike, one_line, silent

pytestmark = pytest.mark.hostile

DRIVERS = ["ers", "force10", "ios", "ios_legacy"]
SMALL = StepLimit(silence=0.8, seconds=1.6, bytes=128 << 10)
LIMITS = replace(SessionLimits(), read=SMALL, show=SMALL, batch=SMALL, save=SMALL)


@pytest.fixture
def devices() -> Iterator[Devices]:
    with Devices() as started:
        yield started


@pytest.fixture
def meet(devices: Devices) -> Iterator[Callable[..., Any]]:
    """``meet(driver, way, **optional_args)``: a driver that has logged in."""
    opened = []

    def start(name: str, way: Way, **arguments: object) -> Any:
        kind = BoundedIosDriver if name == "ios" else get_network_driver(name)
        made = kind(
            "127.0.0.1", "lab", "lab", optional_args={"port": devices.add(way), "limits": LIMITS} | arguments
        )
        opened.append(made)
        made.open()
        return made

    yield start
    for driver in opened:
        driver.close()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_limit_ends_the_session_and_a_new_one_may_begin(meet: Callable[..., Any], driver: str) -> None:
    box = meet(driver, Way("drips", "show", drip))
    watch = Stopwatch()
    with pytest.raises(LimitExceededError, match=r"a show command: not finished within 1\.6 s"):
        box.cli(["show clock"])
    assert watch.seconds < 3
    with pytest.raises((LimitExceededError, ConnectionException)):
        box.get_config("running")
    box.close()
    box.open()
    assert "hostname Box" in box.get_config("running")["running"]


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (silent, r"no answer for 0\.8 s"),
        (drip, r"not finished within 1\.6 s"),
        (endless, "more than 131072 bytes received"),
        (garbage, "more than 131072 bytes received"),
    ],
)
def test_each_limit_is_told_with_its_step_and_value(meet: Callable[..., Any], act: Any, told: str) -> None:
    box = meet("force10", Way("bad", "read", act))
    with pytest.raises(LimitExceededError, match=f"reading the configuration: {told}") as caught:
        box.get_config("running")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.step, copy.quantity, copy.limit, str(copy)) == (
        "read",
        caught.value.quantity,
        getattr(SMALL, caught.value.quantity),
        str(caught.value),
    )


def test_a_limit_in_the_midst_of_a_candidate_tells_how_far_it_came(
    meet: Callable[..., Any], devices: Devices
) -> None:
    box = meet("ios_legacy", Way("drips", "show", drip))
    box.load_merge_candidate(config="ip cef\nshow clock\nip routing\n")
    with pytest.raises(LineTimeoutError, match="not finished within") as caught:
        box.commit_config()
    assert (caught.value.progress.applied, caught.value.progress.command) == (1, "show clock")
    assert "ip routing" not in [text for _, text in devices.typed]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_configuration_that_goes_on_after_a_prompt_is_not_taken_for_whole(
    meet: Callable[..., Any], driver: str
) -> None:
    box = meet(driver, Way("looks-alike", "read", look_alike))
    with pytest.raises(CommandErrorException, match="holds the prompt itself"):
        box.get_config("running")


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_session_is_stopped_from_another_thread(meet: Callable[..., Any], driver: str) -> None:
    box = meet(driver, Way("drips", "read", drip), limits=SessionLimits())
    timer = threading.Timer(0.5, box.guard.stop, ["somebody said so"])
    timer.start()
    watch = Stopwatch()
    with pytest.raises(SessionStoppedError, match="somebody said so"):
        box.get_config("running")
    assert watch.seconds < 2
    timer.join()
    box.close()
    with pytest.raises(SessionStoppedError):
        box.open()


@pytest.mark.parametrize(
    "tail",
    [
        "***" * 1300,
        "*** a\n" * 600,
        "%A-1-A: " * 490,
        "\n*Mar: %A-1-A:" * 300,
        "\nBox#" * 780,
        "\nBox(" * 780,
        "[" * 3900,
        " " * 3900,
        "\x07" * 3900,
    ],
)
@pytest.mark.parametrize("end", ["", "x", "\nx"])
def test_no_text_makes_the_search_for_a_prompt_long(tail: str, end: str) -> None:
    """While one thread searches, nothing else in the process runs: no clock, no signal."""
    terminal = Terminal(cast(GuardedConnection, Scripted(f"show clock\r\nBox#{tail}{end}")))
    watch = Stopwatch()
    with contextlib.suppress(CommandErrorException, ConnectionException):
        terminal.run("show clock", GO_ON)
    assert watch.seconds < 1


class Scripted:
    """A connection that says one text after the first command, and then no more."""

    def __init__(self, text: str) -> None:
        self.text = [text.replace("\r\n", "\n")]

    def find_prompt(self, pattern: str) -> str:
        return "Box#"

    def write_channel(self, text: str) -> None:
        """Take it."""

    def read_channel(self) -> str:
        if not self.text:
            raise TimeoutError
        return self.text.pop()


def test_ios_refuses_a_long_answer_before_anybody_searches_it(meet: Callable[..., Any]) -> None:
    limits = replace(LIMITS, batch=StepLimit(5, 20, 8 << 20))
    box = meet("ios", Way("long-line", "copy", one_line), limits=limits)
    watch = Stopwatch()
    with box.guard.step("batch"), pytest.raises(CommandErrorException, match="an answer of 1000000 characters"):
        box._commit_handler("copy flash:/merge_config.txt running-config")
    assert watch.seconds < 10


def test_lines_that_go_on_for_ever_are_joined_in_time() -> None:
    text = "\n".join(f"w{number:06d}".ljust(131, "x") for number in range(30_000))
    watch = Stopwatch()
    assert len(unwrap(text, 131)) == 30_000 * 131
    assert watch.seconds < 2


def test_a_driver_that_was_stopped_before_contacts_nobody(devices: Devices) -> None:
    guard = SessionGuard()
    guard.stop("too late")
    box = get_network_driver("ers")(
        "127.0.0.1", "lab", "lab", optional_args={"port": devices.add(HEALTHY), "session_guard": guard}
    )
    with pytest.raises(SessionStoppedError, match="too late"):
        box.open()
    assert devices.typed == []


def test_between_two_steps_only_a_flood_is_too_much(meet: Callable[..., Any], devices: Devices) -> None:
    limits = replace(LIMITS, idle=replace(SessionLimits().idle, bytes=64 << 10))
    box = meet("ers", HEALTHY, limits=limits)
    time.sleep(1.8)  # longer than any step may be silent, or last
    assert "hostname Box" in box.get_config("running")["running"]
    flooded = meet("ers", Way("floods", "show", endless), limits=limits)
    flooded.device.write_channel("show clock\n")
    time.sleep(0.5)
    with pytest.raises(LimitExceededError, match="between two exchanges: more than 65536 bytes received"):
        flooded.get_config("running")


def test_the_time_of_being_idle_is_that_between_two_steps(meet: Callable[..., Any]) -> None:
    idle = StepLimit(silence=60, seconds=1.0, bytes=1 << 20)
    box = meet("ios_legacy", HEALTHY, limits=replace(LIMITS, idle=idle))
    for _ in range(4):
        time.sleep(0.4)
        assert box.get_config("running")["running"]
    time.sleep(1.5)
    with pytest.raises(LimitExceededError, match="between two exchanges"):
        box.get_config("running")


def test_a_step_within_a_step_has_limits_of_its_own_but_not_the_time() -> None:
    guard = SessionGuard(
        replace(
            SessionLimits(), batch=StepLimit(60, 0.3, 10), read=StepLimit(60, 60, 1000), login=StepLimit(60, 60, 10)
        )
    )
    with guard.step("batch"):
        with guard.step("read"):
            assert guard.received(900)
        assert guard.received(9)
        with guard.step("read"):
            time.sleep(0.4)
            with pytest.raises(LimitExceededError, match=r"entering the configuration lines.*0\.3 s"):
                guard.check()


def test_an_address_that_swallows_packets_is_given_up_in_time() -> None:
    """A listener whose queue is full answers no more connections."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fill = [socket.socket() for _ in range(4)]
        for one in fill:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        guard = SessionGuard(replace(SessionLimits(), login=StepLimit(silence=0.6, seconds=5, bytes=1000)))
        watch = Stopwatch()
        with pytest.raises(LimitExceededError, match=r"logging in: no answer for 0\.6 s"), guard.step("login"):
            guard.connect("127.0.0.1", listener.getsockname()[1])
        assert watch.seconds < 2
        for one in fill:
            one.close()


def test_a_socket_of_ones_own_would_have_no_limits() -> None:
    with socket.socket() as own, pytest.raises(ValueError, match="leave sock out"):
        GuardedClient(SessionGuard()).connect("127.0.0.1", sock=own)
