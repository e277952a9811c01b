"""What coverage was measured: a row for each case, the whole table, and the worst of each promise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

OUT = Path("docs") / "coverage.md"
PROMISES = Path("docs") / "deltaq.md"
BEGIN, END = "<!-- coverage: written by make coverage -->", "<!-- end of coverage -->"


@dataclass(frozen=True)
class Promise:
    """What is promised, and how often it may not hold."""

    name: str
    allowed: float


INDEPENDENT = Promise("limits of quantiles and variation, independent packets", 0.05)
QUEUES = Promise(
    "limits of quantiles and variation, autoregressive, M/M/1 and M/D/1 up to a load of 0.9, Markov on/off", 0.05
)
HARD = Promise("limits of quantiles and variation, a load of 0.95, on/off with a tail of 1.5", 0.08)
LOSS = Promise("limits of loss, independent packets", 0.05)
MEANS = Promise("limits of means, all of these", 0.08)
DECISIONS = Promise("false verdicts over all looks, the truth 3 and 10 % beside the bound", 0.05)
TOGETHER = Promise("verdicts on a run of many bounds, all of which are exactly kept", 0.05)
BURSTS = Promise("false `met` where loss and lateness come in bursts of 1 to 1,000 packets", 0.05)
POLICIES = Promise("limits of quantiles and variation in shipped policies, over seeds", 0.05)
POWER = Promise("shipped policies, the objective 10 % beside the truth: a wrong verdict, or none", 0.0)


@dataclass(frozen=True)
class Row:
    """One cell: what was drawn, how often limits missed the truth from either side, and what may be."""

    promise: Promise
    name: str
    what: str
    wrong: tuple[float, ...]
    open: float
    trials: int

    @property
    def met(self) -> bool:
        """Whether no side misses more often than it may, two standard errors aside; for power, whether all are
        decided rightly."""
        if self.promise is POWER:
            return max(self.wrong) == self.open == 0
        allowed = self.promise.allowed
        return max(self.wrong) <= allowed + 2 * math.sqrt(allowed * (1 - allowed) / self.trials)

    def __str__(self) -> str:
        verdict = "met" if self.met else "**MISSED**"
        return (
            f"| {self.name} | {self.what} | {_percent(self.wrong)} | {self.open * 100:.0f} | {self.trials:,} "
            f"| {verdict} |"
        )


def _percent(wrong: Sequence[float]) -> str:
    return " / ".join(f"{each * 100:.1f}" for each in wrong)


HEAD = """\
# How often limits and verdicts are wrong

Written by `make coverage`: {trials} trials a row, {seeds} seeds of a policy, against known truth (closed forms,
or four million packets). A limit at 95 % may miss in 5 % of all trials, and two standard errors more for luck;
means, a load of 0.95 and heavy tails in 8 %. Of so many rows one in forty would miss by luck alone: one that does
is measured again with other draws (a policy with other seeds), {again} times as many, and those stand here.
*wrong*: upper limits below the truth / lower limits above it, or false verdicts; *open*: no upper limit, or
inconclusive. Replications begin empty; single realisations are stationary.

| drawn | what | wrong % | open % | trials | |
|---|---|---|---|---|---|
"""


def write(rows: Sequence[Row], trials: int, seeds: int, again: int) -> None:
    """Write the whole table, and the worst of each promise beside the promises."""
    head = HEAD.format(trials=trials, seeds=seeds, again=again)
    OUT.write_text(head + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    text = PROMISES.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PROMISES.write_text(f"{before}{BEGIN}\n{summary(rows)}{END}{after}", encoding="utf-8")


def summary(rows: Iterable[Row]) -> str:
    """A Markdown table: of each promise the cells, the worst of them, and how many miss."""
    by_promise: dict[Promise, list[Row]] = {}
    for row in rows:
        by_promise.setdefault(row.promise, []).append(row)
    lines = [
        "| promise | may be wrong | cells | worst cell | wrong there | cells that miss |\n",
        "|---|---|---|---|---|---|\n",
    ]
    for promise, of_it in by_promise.items():
        worst = max(of_it, key=lambda row: max(row.wrong))
        lines.append(
            f"| {promise.name} | {promise.allowed * 100:g} % | {len(of_it)} | {worst.name}: {worst.what} "
            f"| {max(worst.wrong) * 100:.1f} % of {worst.trials:,} | {sum(not row.met for row in of_it)} |\n"
        )
    return "".join(lines)
