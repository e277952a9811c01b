"""The exec commands every IOS box has."""

from __future__ import annotations

from collections.abc import Callable

from qoslab.boxes.ios.arguments import IF, interface_name
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row
from qoslab.grammar import Match, Refused
from qoslab.shell import Question, Reply, Row, Shell
from qoslab.storage import FULL

_TRIES = 3


class Exec:
    """Login level commands: enable, terminal, configure, show, write, copy to startup."""

    def __init__(self, box: IosBox) -> None:
        self._box = box

    def rows(self, *, privileged: bool) -> list[Row]:
        """The rows of user exec, or of privileged exec."""
        common = [
            row("enable", self._enable),
            row("exit", _close),
            row("logout", _close),
            row("quit", _close),
            row("terminal length <0-512>:n", _length),
            row("terminal width <0-512>:n", _width),
            row("terminal {monitor|no monitor}", _nothing),
            row("show version", self._version),
            row("show clock", lambda s, m: self._clock()),
            row("show privilege", lambda s, m: f"Current privilege level is {15 if s.privileged else s.level}"),
            row("show hosts", lambda s, m: self._hosts()),
            row("show ip interface brief", lambda s, m: self._brief()),
            row(f"show interfaces [{IF}]", self._interfaces),
        ]
        if not privileged:
            return common
        return [
            *common,
            row("disable", _disable),
            row("configure terminal", self._configure),
            row("configure", lambda s, m: Reply(ask=Question(_CONFIGURING, lambda a: self._choose(s, a)))),
            row(f"show running-config [interface {IF}]", self._running),
            row("show startup-config", self._startup),
            row("write [memory]", lambda s, m: self._save()),
            row("write terminal", self._running),
            row("copy running-config startup-config", self._copy_to_startup),
            row("clear counters", self._clear),
        ]

    # -- modes -------------------------------------------------------------------------------------------
    def _enable(self, shell: Shell, match: Match) -> Reply:
        del match
        if shell.privileged:
            return Reply()
        return Reply(ask=self._secret(shell, _TRIES))

    def _secret(self, shell: Shell, tries: int) -> Question:
        def answer(text: str) -> Reply:
            if text == self._box.spec.secret:
                shell.privileged = True
                return Reply()
            if tries > 1:
                return Reply(ask=self._secret(shell, tries - 1))
            return Reply("% Bad secrets\n")

        return Question("Password: ", answer, echo=False)

    def _configure(self, shell: Shell, match: Match) -> str:
        del match
        shell.enter("config", self._box.running)
        return "Enter configuration commands, one per line.  End with CNTL/Z."

    def _choose(self, shell: Shell, answer: str) -> Reply:
        if answer and not "terminal".startswith(answer.strip().lower()):
            return Reply('?Must be "terminal", "memory" or "network"')
        shell.enter("config", self._box.running)
        return Reply("Enter configuration commands, one per line.  End with CNTL/Z.")

    # -- configuration -----------------------------------------------------------------------------------
    def _running(self, shell: Shell, match: Match) -> str:
        del shell
        if "interface" in match:
            name = interface_name(match["interface"].replace(" ", ""))
            held = self._box.running.get(f"interface {name}")
            if held is None:
                raise Refused("% Invalid input detected at '^' marker.\n")
            body = "\n".join(["!", held.text, *held.lines(1), "end"]) + "\n"
        else:
            body = self._box.running_text()
        head = f"Building configuration...\n\nCurrent configuration : {len(body)} bytes"
        return f"{head}\n{body}"

    def _startup(self, shell: Shell, match: Match) -> str:
        del shell, match
        text = self._box.storage.startup()
        if not text.strip():
            return "startup-config is not present"
        return f"Using {len(text)} out of 245752 bytes\n{text}"

    def _save(self) -> str:
        if self._box.storage.is_full():
            # The form of field notice 13000; which file is named here is unconfirmed.
            return f"Building configuration...\n%Error copying system:running-config ({FULL})"
        self._box.save()
        return "Building configuration...\n[OK]"

    def _copy_to_startup(self, shell: Shell, match: Match) -> Reply:
        del shell, match

        def answer(text: str) -> Reply:
            if text.strip() not in {"", "startup-config"}:
                return Reply(f"%Error opening nvram:{text.strip()} (Permission denied)")
            return Reply(self._save())

        return Reply(ask=Question("Destination filename [startup-config]? ", answer))

    # -- show --------------------------------------------------------------------------------------------
    def _version(self, shell: Shell, match: Match) -> str:
        del shell, match
        minutes = int(self._box.clock.seconds() - self._box.booted_at) // 60
        hours, minutes = divmod(minutes, 60)
        banner, processor = self._box.version_texts()
        return (
            f"{banner}\n\nROM: System Bootstrap\n\n"
            f"{self._box.hostname} uptime is {hours} hours, {minutes} minutes\n"
            "System returned to ROM by reload\n"
            'System image file is "flash:image.bin"\n\n'
            f"{processor}\n\nConfiguration register is 0x2102\n"
        )

    def _clock(self) -> str:
        """In the zone of ``clock timezone NAME HOURS [MINUTES]``; no box here has a source of time to trust."""
        zone, hours, minutes = [*self._box.running.value("clock timezone").split()[2:], "UTC", "0", "0"][:3]
        if zone == "UTC":
            hours = minutes = "0"
        if not minutes.isdigit():
            minutes = "0"
        ahead = int(hours) * 3600 + (-1 if hours.startswith("-") else 1) * int(minutes) * 60
        return f"*{self._box.clock.stamp(f'%H:%M:%S.000 {zone} %a %b %d %Y', ahead=ahead)}"

    def _hosts(self) -> str:
        domain = self._box.running.value("ip domain name").split()[-1:] or ["not set"]
        return f"Default domain is {domain[0]}\nName/address lookup uses static mappings\n"

    def _brief(self) -> str:
        lines = ["Interface                  IP-Address      OK? Method Status                Protocol"]
        for held in self._box.interfaces():
            words = held.value("ip address").split()
            address = words[2] if words[:2] == ["ip", "address"] and len(words) > 2 else "unassigned"
            down = "shutdown" in held
            status = "administratively down" if down else "up"
            lines.append(
                f"{held.text.split()[1]:<26} {address:<15} YES NVRAM  {status:<21} {'down' if down else 'up'}"
            )
        return "\n".join(lines)

    def _interfaces(self, shell: Shell, match: Match) -> str:
        del shell
        wanted = match["interface"].replace(" ", "") if "interface" in match else ""
        name = interface_name(wanted)
        found = [held for held in self._box.interfaces() if not wanted or held.key == f"interface {name}"]
        if not found:
            raise Refused("% Invalid input detected at '^' marker.\n")
        return "\n".join(self._box.interface_report(held) for held in found)

    def _clear(self, shell: Shell, match: Match) -> Reply:
        del shell, match

        def answer(key: str) -> Reply:
            if key in "\r\nyY":
                self._box.clear_counters()
                self._box.port_counts.clear()
            return Reply()

        return Reply(ask=confirm('Clear "show interface" counters on all interfaces [confirm]', answer))


_CONFIGURING = "Configuring from terminal, memory, or network [terminal]? "


def confirm(prompt: str, answer: Callable[[str], Reply]) -> Question:
    """A ``[confirm]`` question: one key; Enter and y mean yes."""
    return Question(prompt, answer, single_key=True)


def _close(shell: Shell, match: Match) -> Reply:
    del shell, match
    return Reply(close=True)


def _disable(shell: Shell, match: Match) -> None:
    del match
    shell.privileged = False


def _nothing(shell: Shell, match: Match) -> None:
    del shell, match


def _length(shell: Shell, match: Match) -> None:
    shell.length = match.number("n")


def _width(shell: Shell, match: Match) -> None:
    shell.width = match.number("n")
