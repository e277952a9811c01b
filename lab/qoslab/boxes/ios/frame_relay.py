"""Frame Relay: circuits, map classes, traffic shaping, FRF.12 fragmentation and header compression."""

from __future__ import annotations

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.attach import Attachments
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import group, leaving, row, setting
from qoslab.boxes.ios.train import CIRCUIT_POLICY, FRAGMENT_END_TO_END
from qoslab.config import Section
from qoslab.grammar import Command, Match, Refused, SyntaxRefused
from qoslab.shell import Reply, Row, Run, Shell

_RANK = 22
_FRAGMENT = 53  # bytes, the default size
_BPS = "<1-45000000>"
_BITS = "<300-16000000>"
_COMPRESS = "rtp header-compression [active|passive] [connections <3-256>]"
_SHAPING = "frame-relay traffic-shaping"
_END_TO_END = "frame-relay fragment"


class FrameRelay:
    """The rows of interfaces, circuits and map classes."""

    def __init__(self, box: IosBox, attachments: Attachments) -> None:
        self._box = box
        self._attachments = attachments

    def global_rows(self) -> list[Row]:
        """``map-class frame-relay``."""
        return [group("map-class frame-relay WORD", "map-class", rank=89)]

    def interface_rows(self) -> list[Row]:
        """Interface mode; every line needs the encapsulation first."""
        inside = [
            row(_SHAPING, self._shaping, True),
            setting("frame-relay lmi-type {ansi|cisco|q933a}", rank=_RANK),
            setting("frame-relay class WORD", rank=_RANK),
            setting(
                "frame-relay map ip IP <16-1007> [broadcast]"
                f" [cisco|ietf|compress|nocompress|tcp header-compression [active|passive]|{_COMPRESS}]",
                rank=_RANK,
                many=True,
            ),
            group("frame-relay interface-dlci <16-1007>", "fr-dlci", rank=_RANK + 1),
            row(
                "frame-relay ip rtp header-compression [active|passive] [periodic-refresh]",
                self._compression,
                "frame-relay ip rtp header-compression [LINE]",
            ),
            setting("frame-relay ip tcp header-compression [passive]", rank=70),
        ]
        train = self._box.train
        if train.since("12.1"):
            inside.append(setting("frame-relay ip rtp compression-connections <3-256>", rank=71))
        if train.since(FRAGMENT_END_TO_END):
            inside.append(
                row(
                    f"{_END_TO_END} <16-1600> end-to-end",
                    self._end_to_end,
                    f"{_END_TO_END} [<16-1600>] [end-to-end]",
                )
            )
        return [
            *(Command(one.pattern, self._encapsulated(one.run), one.no) for one in inside),
        ]

    def submode_rows(self) -> dict[str, list[Row]]:
        """Circuit and map-class mode: rates in bit/s, bursts in bits, fragments in bytes.

        IOS in a Nutshell, frame-relay [bc | be]: both are 7000 bits unless they are said.
        """
        rated = [
            setting(f"frame-relay {name} {way} {values}".replace("  ", " "), rank=rank,
                    defaults=[f"frame-relay {name} {default}"] if default and not way else [])
            for name, values, rank, default in (
                ("cir", _BPS, 1, 56000), ("bc", _BITS, 2, 7000), ("be", "<0-16000000>", 3, 7000),
                ("mincir", _BPS, 4, None),
            )
            for way in ("", "in", "out")
        ]  # fmt: skip
        return {
            "fr-dlci": [*leaving(), self._rechecked(setting("class WORD"))],
            "map-class": [
                *leaving(),
                *map(self._rechecked, rated),
                setting("frame-relay adaptive-shaping [becn|foresight]", rank=5, off=True),
                row("frame-relay fragment [<16-1600>:n]", _fragment, True),
                setting("frame-relay fair-queue [QUEUES [QUEUES [<0-100> [<0-1024>]]]]", rank=7),
                setting("frame-relay custom-queue-list <1-16>", rank=7),
                setting("frame-relay priority-group <1-16>", rank=7),
                setting("frame-relay ip rtp priority <2000-65535> <0-16383> <0-2000>", rank=8),
                *(self._attachments.map_class_rows() if self._box.train.since(CIRCUIT_POLICY) else []),
            ],
        }

    def _main(self, section: Section) -> Section:
        """The interface a subinterface belongs to (an interface belongs to itself)."""
        return self._box.running.get(section.key.split(".")[0]) or section

    def _encapsulated(self, run: Run) -> Run:
        def checked(shell: Shell, match: Match) -> Reply | str | None:
            line = self._main(shell.section).value("encapsulation")
            if not line.startswith("encapsulation frame-relay") and not match.undone and not shell.loading:
                raise Refused(refusals.FRAME_RELAY_FIRST)
            return run(shell, match)

        return checked

    def _rechecked(self, one: Row) -> Row:
        """A rate or a class of a circuit that its policy does not fit into is refused."""

        def checked(shell: Shell, match: Match) -> Reply | str | None:
            held = shell.section
            before = held.copy()
            answer = one.run(shell, match)
            used = held.value("class").split()
            place = self._box.running.get(f"map-class frame-relay {used[1]}") if used else held
            trouble = self._attachments.trouble_at(place) if place is not None else ""
            if trouble and not match.undone:
                held.replace_with(before)
                raise Refused(trouble)
            return answer

        return Command(one.pattern, checked, one.no)

    def _shaping(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove(_SHAPING)
            return
        if section.mode == "subif":
            raise SyntaxRefused("invalid", match.line.index(match.line.split()[1]), match.line)
        name = section.text.split()[1]
        parts = [section, *self._box.running.starting(f"interface {name}.")]
        if any(_END_TO_END in part for part in parts):
            raise Refused(refusals.FRTS_OR_FRAGMENT)
        shell.store(Section(_SHAPING, rank=_RANK))

    def _compression(self, shell: Shell, match: Match) -> None:
        key = "frame-relay ip rtp header-compression"
        if match.undone:
            shell.section.remove(key)
            return
        if self._main(shell.section).value("encapsulation").endswith("ietf"):
            raise Refused(refusals.CISCO_FORMAT_ONLY)
        shell.store(Section(match.text, key=key, rank=71))

    def _end_to_end(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove(_END_TO_END)
            return
        if _SHAPING in self._main(shell.section):
            raise Refused(refusals.FRTS_OR_FRAGMENT)
        shell.store(Section(match.text, key=_END_TO_END, rank=_RANK + 2))


def _fragment(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove("frame-relay fragment")
        return
    text = f"frame-relay fragment {match.get('n', str(_FRAGMENT))}"
    shell.store(Section(text, key="frame-relay fragment", rank=6))
