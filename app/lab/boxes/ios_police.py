"""The policer of a policy class: both spellings of ``police``, its printout, its verdict on packets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.lab.boxes import ios_refusals as refusals
from app.lab.boxes.ios_arguments import PRECEDENCE_NAMES, dscp_value
from app.lab.boxes.ios_base import IosBox
from app.lab.boxes.ios_rows import leaving, row
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.shell import Row, Shell

ACTION = (
    "{transmit|drop|set-dscp-transmit DSCP|set-prec-transmit PREC|set-qos-transmit <0-99>"
    "|set-cos-transmit <0-7>|set-clp-transmit|set-frde-transmit|set-mpls-exp-transmit <0-7>"
    "|set-mpls-exp-imposition-transmit <0-7>|set-discard-class-transmit <0-7>}"
)
_ACTIONS = f"[conform-action {ACTION}:conform] [exceed-action {ACTION}:exceed] [violate-action {ACTION}:violate]"
_BPS = "<8000-2000000000>"
_BYTES = "<1000-51200000>"
_ACTION_TEXT = re.compile(r"(conform|exceed|violate)-action (\S+(?: (?:\d+|[a-z]+\d+|ef|default)\b)?)")
_SMALLEST_BURST = 1500
_LARGEST_BURST = 51200000
_RANK = 30


class Policers:
    """Rows for ``police`` in a policy class and in its submode."""

    def __init__(self, box: IosBox) -> None:
        self._box = box

    def rows(self) -> list[Row]:
        """Policy class mode."""
        return [
            row(f"police {_BPS}:rate [{_BYTES}:bc [{_BYTES}:be]] {_ACTIONS}", self._one_line, "police [LINE]"),
            row(
                f"police cir {_BPS}:rate [bc {_BYTES}:bc] [pir {_BPS}:pir] [be {_BYTES}:be] {_ACTIONS}",
                self._cir,
            ),
            row(
                "police cir percent <1-100>:percent [bc <1-2000>:bc ms] [pir percent <1-100>:pir]"
                f" [be <1-2000>:be ms] {_ACTIONS}",
                self._percent,
            ),
        ]

    def submode_rows(self) -> list[Row]:
        """Police mode: one action per line."""
        return [
            *leaving(),
            *(
                row(f"{kind}-action {ACTION}:action", self._action, f"{kind}-action [LINE]")
                for kind in ("conform", "exceed", "violate")
            ),
        ]

    def _one_line(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("police")
            return
        rate = match.number("rate")
        burst = match.number("bc") or _default_burst(rate)
        text = f"police {rate} {burst}" + (f" {match['be']}" if "be" in match else "")
        self._put(shell, match, text, enter=self._box.version == "12.4" and "conform" not in match)

    def _cir(self, shell: Shell, match: Match) -> None:
        rate = match.number("rate")
        burst = match.number("bc") or _default_burst(rate)
        text = f"police cir {rate} bc {burst}"
        if "pir" in match:
            pir = match.number("pir")
            text += f" pir {pir} be {match.number('be') or _default_burst(pir)}"
        elif "be" in match:
            text += f" be {match['be']}"
        self._put(shell, match, text, enter="conform" not in match)

    def _percent(self, shell: Shell, match: Match) -> None:
        text = f"police cir percent {match['percent']}"
        text += f" bc {match['bc']} ms" if "bc" in match else ""
        text += f" pir percent {match['pir']}" if "pir" in match else ""
        text += f" be {match['be']} ms" if "be" in match else ""
        self._put(shell, match, text, enter="conform" not in match)

    def _put(self, shell: Shell, match: Match, text: str, *, enter: bool) -> None:
        actions = {
            "conform": match.get("conform", "transmit"),
            "exceed": match.get("exceed", "drop"),
            **({"violate": match["violate"]} if "violate" in match else {}),
        }
        _check(actions)
        shell.section.remove("police")
        if self._box.version != "12.4" and not text.startswith("police cir"):
            # The old trains print the whole policer in one line, actions two blanks apart.
            line = "  ".join(f"{kind}-action {action}" for kind, action in actions.items())
            shell.store(Section(f"{text} {line}", key="police", rank=_RANK))
            return
        held = shell.store(Section(text, key="police", rank=_RANK, mode="police"))
        for at, (kind, action) in enumerate(actions.items()):
            held.put(Section(f" {kind}-action {action} ", key=kind, rank=at))
        if enter:
            shell.enter("police", held)

    def _action(self, shell: Shell, match: Match) -> None:
        kind = match.words[0].removesuffix("-action")
        rank = ("conform", "exceed", "violate").index(kind)
        if match.undone:
            default = {"conform": "transmit", "exceed": "drop"}.get(kind)
            if default is None:
                shell.section.remove(kind)
                return
            action = default
        else:
            action = match["action"]
        held = {child.key: child.text.split(None, 1)[1].strip() for child in shell.section}
        _check({**held, kind: action})
        shell.store(Section(f" {kind}-action {action} ", key=kind, rank=rank))


def _default_burst(rate: int) -> int:
    """What IOS prints when no burst was given: a 32nd of the rate, in the range it accepts (unconfirmed)."""
    return min(max(_SMALLEST_BURST, rate // 32), _LARGEST_BURST)


def _check(actions: dict[str, str]) -> None:
    """The box's rules about actions. Raises Refused."""
    if actions.get("conform") == "drop" and actions.get("exceed") == "transmit":
        raise Refused("conform-action action can not be drop when exceed-action action is transmit")
    if actions.get("violate") == "transmit" and actions.get("exceed") != "transmit":
        raise Refused("exceed-action should be transmit when violate-action is transmit")
    marks = {action.split()[0] for action in actions.values()}
    if {"set-dscp-transmit", "set-prec-transmit"} <= marks:
        raise Refused(refusals.TWO_MARKS)


@dataclass(frozen=True)
class Policer:
    """A policer as data. ``rate`` in bit/s (None with ``percent``), ``burst`` in bytes."""

    rate: int | None
    percent: int | None
    burst: int
    actions: dict[str, str]

    @classmethod
    def read(cls, section: Section) -> Policer:
        """From the ``police`` line of a running configuration."""
        text = section.text
        whole = " ".join([text, *(child.text.strip() for child in section)])
        actions = {
            kind: action.strip()
            for kind, action in _ACTION_TEXT.findall(whole)
        }  # fmt: skip
        percent = re.match(r"police cir percent (\d+)", text)
        if percent:
            return cls(None, int(percent[1]), 0, actions)
        numbers = [int(number) for number in re.findall(r"\b\d+\b", text.split("conform")[0])]
        return cls(numbers[0], None, numbers[1] if len(numbers) > 1 else _SMALLEST_BURST, actions)

    def allowance(self, seconds: float, kbps: int) -> float:
        """Bytes that conform over ``seconds``: one burst and what the rate refills.

        ``kbps`` is what a percentage refers to.
        """
        rate = self.rate if self.rate is not None else kbps * 10 * (self.percent or 0)
        return (self.burst or _SMALLEST_BURST) + rate * seconds / 8


def remark(action: str) -> int | None:
    """The DSCP an action writes; None when it writes none."""
    words = action.split()
    if words[0] == "set-dscp-transmit":
        return dscp_value(words[1])
    if words[0] == "set-prec-transmit":
        return 8 * PRECEDENCE_NAMES.get(words[1], int(words[1]) if words[1].isdigit() else 0)
    return None
