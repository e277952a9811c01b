"""The policer of a policy class: the spellings of ``police``, its printout, its verdict on packets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.arguments import PRECEDENCE_NAMES, dscp_value
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import leaving, row
from qoslab.boxes.ios.train import LEVELS, PERCENTAGES, POLICE_SUBMODE, POLICING
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

ACTION = (
    "{transmit|drop|set-dscp-transmit DSCP|set-prec-transmit PREC|set-qos-transmit <0-99>"
    "|set-cos-transmit <0-7>|set-clp-transmit|set-frde-transmit|set-mpls-exp-transmit <0-7>"
    "|set-mpls-exp-imposition-transmit <0-7>|set-mpls-exp-topmost-transmit <0-7>"
    "|set-discard-class-transmit <0-7>}"
)
_KINDS = ("conform", "exceed", "violate")
_LEAST_RATE, _GREATEST_RATE = 8000, 2000000000  # b/s
_BPS = f"<{_LEAST_RATE}-{_GREATEST_RATE}>"
_BYTES = "<1000-51200000>"
_VALUE = r"(?:[a-z]+ table \S+|\d+|[a-z]+\d+|ef|default)"
_ACTION_TEXT = re.compile(rf"(conform|exceed|violate)-action (\S+(?: {_VALUE}(?!\S))?)")
_SMALLEST_BURST = 1500
_LARGEST_BURST = 51200000
_RANK = 30
_EVERYTHING = 1e15  # bytes: more than any offer


class Policers:
    """Rows for ``police`` in a policy class and in its submode, as the train has them.

    ``action`` is what may happen to a packet, in the grammar's words.
    """

    def __init__(self, box: IosBox, action: str = ACTION) -> None:
        self._train = box.train
        self._action_words = action

    def rows(self) -> list[Row]:
        """Policy class mode."""
        if not self._train.since(POLICING):
            return []
        actions = " ".join(f"[{kind}-action {self._action_words}:{kind}]" for kind in _KINDS)
        rows = [
            row(f"police {_BPS}:rate [{_BYTES}:bc [{_BYTES}:be]] {actions}", self._one_line, "police [LINE]"),
        ]
        if self._train.since(POLICE_SUBMODE):
            rows += [
                row(
                    f"police cir {_BPS}:rate [bc {_BYTES}:bc] [pir {_BPS}:pir] [be {_BYTES}:be] {actions}",
                    self._cir,
                ),
            ]
        if self._train.since(PERCENTAGES):
            rows.append(
                row(
                    "police cir percent <1-100>:percent [bc <1-2000>:bc ms] [pir percent <1-100>:pir]"
                    f" [be <1-2000>:be ms] {actions}",
                    self._percent,
                )
            )
        if self._train.since(LEVELS):
            rows.append(
                row(f"police rate {{{_BPS}:rate bps|<1-2000000>:pps pps|percent <1-100>:percent}} {actions}",
                    self._rate)
            )  # fmt: skip
        return rows

    def submode_rows(self) -> list[Row]:
        """Police mode: one action per line."""
        return [
            *leaving(),
            *(
                row(f"{kind}-action {self._action_words}:action", self._action, f"{kind}-action [LINE]")
                for kind in _KINDS
            ),
        ]  # fmt: skip

    def _one_line(self, shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove("police")
            return
        rate = match.number("rate")
        burst = match.number("bc") or _default_burst(rate)
        text = f"police {rate} {burst}" + (f" {match['be']}" if "be" in match else "")
        self._put(shell, match, text)

    def _cir(self, shell: Shell, match: Match) -> None:
        rate = match.number("rate")
        burst = match.number("bc") or _default_burst(rate)
        text = f"police cir {rate} bc {burst}"
        if "pir" in match:
            pir = match.number("pir")
            if pir < rate:
                raise Refused(refusals.SMALL_PIR)
            text += f" pir {pir} be {match.number('be') or _default_burst(pir)}"
        elif "be" in match:
            text += f" be {match['be']}"
        self._put(shell, match, text)

    def _percent(self, shell: Shell, match: Match) -> None:
        if match.number("pir", 100) < match.number("percent"):
            raise Refused(refusals.SMALL_PIR)
        text = f"police cir percent {match['percent']}"
        text += f" bc {match['bc']} ms" if "bc" in match else ""
        text += f" pir percent {match['pir']}" if "pir" in match else ""
        text += f" be {match['be']} ms" if "be" in match else ""
        self._put(shell, match, text)

    def _rate(self, shell: Shell, match: Match) -> None:
        if "rate" in match:
            text = f"police rate {match['rate']} bps"
        else:
            text = (
                f"police rate {match['pps']} pps" if "pps" in match else f"police rate percent {match['percent']}"
            )
        self._put(shell, match, text)

    def _put(self, shell: Shell, match: Match, text: str) -> None:
        actions = {
            "conform": match.get("conform", "transmit"),
            "exceed": match.get("exceed", "drop"),
            **({"violate": match["violate"]} if "violate" in match else {}),
        }
        _check(actions)
        shell.section.remove("police")
        if not self._train.since("12.4") and text.split()[1].isdigit():
            # The old trains print the whole policer in one line, actions two blanks apart.
            line = "  ".join(f"{kind}-action {action}" for kind, action in actions.items())
            shell.store(Section(f"{text} {line}", key="police", rank=_RANK))
            return
        held = shell.store(Section(text, key="police", rank=_RANK, mode="police"))
        for at, (kind, action) in enumerate(actions.items()):
            held.put(Section(f" {kind}-action {action} ", key=kind, rank=at))
        if not {"conform", "exceed", "violate"} & match.args.keys():
            shell.enter("police", held)

    def _action(self, shell: Shell, match: Match) -> None:
        kind = match.words[0].removesuffix("-action")
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
        shell.store(Section(f" {kind}-action {action} ", key=kind, rank=_KINDS.index(kind)))


def _default_burst(rate: int) -> int:
    """What IOS prints when no burst was given: a 32nd of the rate, in the range it accepts (unconfirmed)."""
    return min(max(_SMALLEST_BURST, rate // 32), _LARGEST_BURST)


def _bucket(rate: int, milliseconds: int) -> int:
    """Bytes of a bucket that is given as a time, or not at all."""
    return rate * milliseconds // 8000 if milliseconds else _default_burst(rate)


def rates_refused(policy: Section, kbps: int) -> bool:
    """True where a percentage comes to a rate that the box has not: it then refuses to attach the policy.

    Source: Cisco IOS command reference, police (percent): with rates outside the range "the associated policy map
    cannot be attached to the interface".
    """
    lines = [held.get("police") for held in policy.starting("class ")]
    percents = [part for line in lines if line is not None for part in re.findall(r"percent (\d+)", line.text)]
    return any(not _LEAST_RATE <= kbps * 10 * int(percent) <= _GREATEST_RATE for percent in percents)


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
    """A policer as data: rates in bit/s or percent of the link, bursts in bytes.

    ``peak`` and ``excess`` are the second rate and burst (0: none): what they still let through exceeds,
    the rest violates. ``burst_ms`` and ``excess_ms`` are bursts of a percentage.
    """

    rate: int | None
    percent: int | None
    burst: int
    actions: dict[str, str]
    peak: int = 0
    peak_percent: int = 0
    excess: int = 0
    burst_ms: int = 0
    excess_ms: int = 0

    @classmethod
    def read(cls, section: Section) -> Policer:
        """From the ``police`` line of a running configuration.

        A policer in packets/s has no rate in bit/s and lets everything through.
        """
        text = section.text.split(" conform")[0]
        whole = " ".join([section.text, *(child.text.strip() for child in section)])
        actions = {kind: action.strip() for kind, action in _ACTION_TEXT.findall(whole)}
        named = {name: int(value) for name, value in re.findall(r"(bc|pir|be) (?:percent )?(\d+)", text)}
        percent = re.search(r"(?:cir|rate) percent (\d+)", text)
        if percent:
            times = {"burst_ms": named.get("bc", 0), "excess_ms": named.get("be", 0)}
            return cls(None, int(percent[1]), 0, actions, peak_percent=named.get("pir", 0), **times)
        numbers = [int(number) for number in re.findall(r"\b\d+\b", text)]
        if text.endswith("pps"):
            return cls(None, None, 0, actions)
        if text.startswith("police cir"):
            burst = named.get("bc", _SMALLEST_BURST)
            return cls(numbers[0], None, burst, actions, peak=named.get("pir", 0), excess=named.get("be", 0))
        burst = numbers[1] if len(numbers) > 1 else _SMALLEST_BURST
        return cls(numbers[0], None, burst, actions, excess=numbers[2] if len(numbers) > 2 else 0)

    def allowance(self, seconds: float, kbps: int) -> float:
        """Bytes that conform over ``seconds``: one burst and what the rate refills.

        ``kbps`` is what a percentage refers to.
        """
        if self.rate is None and self.percent is None:
            return _EVERYTHING
        rate = self.rate if self.rate is not None else kbps * 10 * (self.percent or 0)
        burst = self.burst or _bucket(rate, self.burst_ms)
        return burst + rate * seconds / 8

    def excess_allowance(self, seconds: float, kbps: int) -> float:
        """Bytes over ``seconds`` that neither conform nor violate.

        A second rate refills its own bucket, which conforming packets use too; without one only the excess
        burst is there.
        """
        if "violate" not in self.actions:
            return _EVERYTHING
        peak = self.peak or kbps * 10 * self.peak_percent
        if not peak:
            rate = kbps * 10 * (self.percent or 0)
            return float(self.excess or (_bucket(rate, self.excess_ms) if self.excess_ms else 0))
        return max(
            0.0, (self.excess or _bucket(peak, self.excess_ms)) + peak * seconds / 8 - self.allowance(seconds, kbps)
        )


def remark(action: str) -> int | None:
    """The DSCP an action writes; None when it writes none."""
    words = action.split()
    if words[0] == "set-dscp-transmit":
        return dscp_value(words[1])
    if words[0] == "set-prec-transmit":
        return 8 * PRECEDENCE_NAMES.get(words[1], int(words[1]) if words[1].isdigit() else 0)
    return None
