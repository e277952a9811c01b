"""An emulated box: running and startup configuration, modes, sessions, data plane."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from qoslab.attachments import AttachmentHistory
from qoslab.clock import Clock
from qoslab.config import Section
from qoslab.errors import BoxError
from qoslab.faults import Faults
from qoslab.grammar import SyntaxRefused
from qoslab.packets import Outcome, Packets, PortCount
from qoslab.shell import Mode, Reply, Shell, apply_lines
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from qoslab.wiring import Announcement, Cable

_TYPED = 4096


class Box(ABC):
    """The platform-neutral part of a box. A platform gives the modes, the printout and the data plane."""

    comment = "!"
    line_end = "\r\n"
    more_prompt = " --More-- "
    output_filters: ClassVar[Mapping[str, str]] = {
        name: name for name in ("include", "exclude", "begin", "section")
    }
    """The box's words after ``|`` and what each does; "all" prints everything without paging."""
    accepts_files = False
    log_line = ""
    """A message of its log as it comes into a session; "" where no form is published."""

    def __init__(self, spec: BoxSpec, storage: Storage, clock: Clock) -> None:
        self.spec = spec
        self.storage = storage
        self.clock = clock
        self.faults = Faults()
        storage.is_full = lambda: self.faults.stands("full_flash")
        self.hostname = spec.name
        self.running = Section("")
        self.boot_messages: list[str] = []
        self.booted_at = clock.seconds()
        self.attached = AttachmentHistory()
        self.port_counts: dict[str, PortCount] = {}
        """What passed each port, by its name as the device prints it."""
        self.typed: deque[tuple[str, str]] = deque(maxlen=_TYPED)
        """The last lines typed in sessions, each behind the mode it was typed in; answers to questions are none."""
        self._sessions: set[Callable[[], None]] = set()
        self.modes: dict[str, Mode] = {}
        self.cables: dict[str, Cable] | None = None
        """Cables by port; None where the lab was not told what is plugged in."""

    # -- what a platform gives ---------------------------------------------------------------------------
    @abstractmethod
    def factory_reset(self) -> None:
        """Set ``running`` (and everything volatile) to what the box has with an empty startup."""

    @abstractmethod
    def running_text(self) -> str:
        """The configuration as ``show running-config`` prints its body and as startup stores it."""

    @abstractmethod
    def offer(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Forward packets by the running configuration, move counters. Raises BoxError for no such port."""

    @abstractmethod
    def prompt(self, shell: Shell) -> str:
        """The prompt of a login."""

    @abstractmethod
    def syntax_error(self, shell: Shell, error: SyntaxRefused) -> str:
        """The box's words for a line its grammar does not know."""

    @abstractmethod
    def attached_policies(self) -> dict[str, str]:
        """The policy in force by place (an interface and a direction); places without one are left out."""

    @abstractmethod
    def name_line(self, name: str) -> str:
        """The configuration line that gives it this host name."""

    @property
    def timer_runs(self) -> bool:
        """Whether a timer runs that takes a change back unless it is confirmed."""
        return False

    def fire_timer(self) -> bool:
        """Let the timer that takes a change back run out now; False where none runs."""
        return False

    def put_timer_off(self) -> bool:
        """Let that timer run for another year; False where none runs."""
        return False

    def save_by_itself(self) -> bool:
        """Save as nobody asked for it; False where it is set never to."""
        self.save()
        return True

    def greeting(self, shell: Shell) -> Reply:
        """What is printed (or asked) right after login, before the first prompt."""
        del shell
        return Reply()

    def layout(self, shell: Shell, text: str) -> str:
        """How output reaches the screen (some boxes wrap at the terminal's width)."""
        del shell
        return text

    def configuration_ended(self, shell: Shell) -> None:
        """Called when a login leaves configuration mode."""
        del shell

    def receive_file(self, path: str, data: bytes) -> None:
        """A file came in by SCP. Raises BoxError when the box does not take it."""
        del path, data
        raise BoxError("this box takes no files")

    def port_name(self, name: str) -> str:
        """A port's name as the box prints it; one that names no port stays as it is."""
        return name

    def sends(self, protocol: str, port: str) -> bool:
        """Whether it announces itself by a discovery protocol ("cdp", "lldp", "sonmp") on a port now."""
        del protocol, port
        return False

    def hears(self, protocol: str, port: str) -> bool:
        """Whether it takes announcements; mostly where it sends them."""
        return self.sends(protocol, port)

    def announcement(self, protocol: str, port: str) -> Announcement:
        """What it tells its neighbour on a port. Raises BoxError for no such port."""
        raise BoxError(f"{self.spec.name}: announces nothing by {protocol} on {port}")

    # -- what is common ----------------------------------------------------------------------------------
    def carry(self, into: str, out: str, packets: Sequence[Packets], seconds: float) -> list[Outcome]:
        """Forward packets as `offer` does, and count them at both ports; what is dropped does not go out."""
        outcomes = self.offer(into, out, packets, seconds)
        for group in packets:
            entry = self.port_count(into)
            entry.input_packets += group.count
            entry.input_bytes += group.count * group.bytes
        for at, outcome in enumerate(outcomes):
            # A platform that never divides a group gives one outcome for each, in order, without a count.
            group = packets[outcome.group if outcome.count else at]
            left = (outcome.count or group.count) - outcome.dropped_in - outcome.dropped_out
            leave = self.port_count(out)
            leave.output_packets += left
            leave.output_bytes += left * group.bytes
        return outcomes

    def port_count(self, port: str) -> PortCount:
        """The counters of a port, by any name it goes by; zero when nothing passed yet."""
        return self.port_counts.setdefault(self.port_name(port), PortCount())

    def new_shell(self, user: str) -> Shell:
        """A login over SSH: privileged at once only when the box has no enable secret."""
        return Shell(self, privileged=not self.spec.secret, user=user)

    def console(self, *, loading: bool = False) -> Shell:
        """A privileged login in configuration mode that no fault touches.

        ``loading`` says that a whole configuration follows, so that a line may refer to a later one.
        """
        shell = Shell(self, privileged=True)
        shell.planted_faults = False
        shell.loading = loading
        shell.length = 0
        shell.enter("config", self.running)
        return shell

    def boot(self) -> None:
        """Load startup into running. What the box refuses of it is kept in ``boot_messages``."""
        self.factory_reset()
        self.port_counts.clear()
        said = apply_lines(self.console(loading=True), self.storage.startup().splitlines())
        self.boot_messages = [f"line {number}: {line.strip()}: {text.strip()}" for number, line, text in said]
        self.booted_at = self.clock.seconds()
        self.attached.look(self.attached_policies(), "boot")

    def rename(self, name: str) -> bool:
        """Somebody else gives it another host name; sessions see it in their next prompt."""
        return not self.configure([self.name_line(name)])

    def happen(self, kind: str, text: str = "") -> bool:
        """Let a fault of the whole box happen now; False where this box has nothing of the kind at present.

        Raises BoxError for a kind that is none of the whole box.
        """
        ways: dict[str, Callable[[], bool | None]] = {
            "save": self.save_by_itself,
            "reboot": self.reboot,
            "rename": lambda: self.rename(text),
            "early_timer": self.fire_timer,
            "late_timer": self.put_timer_off,
        }
        if kind not in ways:
            raise BoxError(f"fault {kind!r} does not happen to a whole box: one of {', '.join(ways)}")
        happened = ways[kind]() is not False
        if happened:
            self.faults.came_about(kind)
        return happened

    def reboot(self) -> None:
        """A real reload: every session dies, running is lost, startup is loaded."""
        for drop in list(self._sessions):
            drop()
        self._sessions.clear()
        self.boot()

    def save(self) -> None:
        """Running becomes startup."""
        self.storage.save_startup(self.running_text())

    def store(self, parent: Section, child: Section, *, before: str = "", faulty: bool = True) -> Section:
        """Put a line into the configuration, as the planted faults let it be.

        A forgotten line comes back as a loose section: accepted, entered, and kept nowhere.
        """
        if faulty:
            text = self.faults.stored(child.text)
            if text is None:
                child.parent = parent
                return child
            child.text = text
        if before and child.key not in parent:
            return parent.insert_before(child, before)
        return parent.put(child)

    def configure(self, lines: Sequence[str]) -> list[str]:
        """Type configuration lines on the console; returns what the box said to them."""
        return [text for _, _, text in apply_lines(self.console(), list(lines))]

    def power_off(self) -> None:
        """The lab stops: running is lost, timers die with the event loop."""
        for drop in list(self._sessions):
            drop()
        self._sessions.clear()

    @property
    def session_count(self) -> int:
        """How many logins there are now."""
        return len(self._sessions)

    def attach(self, drop: Callable[[], None]) -> None:
        """Remember how to cut a session."""
        self._sessions.add(drop)

    def detach(self, drop: Callable[[], None]) -> None:
        """Forget a session."""
        self._sessions.discard(drop)
