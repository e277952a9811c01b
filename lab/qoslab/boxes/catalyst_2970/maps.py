"""The 2970's global maps between CoS, precedence and DSCP. Defaults as published."""

from __future__ import annotations

import re

from qoslab.boxes.catalyst.maps import TableMap
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Run, Shell

COS_DSCP = (0, 8, 16, 24, 32, 40, 48, 56)
"""The default of the CoS to DSCP map, and of the precedence to DSCP map."""
DSCPS = tuple(range(64))
COSES = tuple(range(8))

# Real boxes print the policed map first, then the CoS map, then the queues; the rest is unconfirmed.
POLICED_RANK, COS_RANK, OTHER_RANK = 29, 30, 31

NUMBER = "<0-63>"
"""A DSCP in a map: a number, without the names that class maps know."""

DSCP_COS = TableMap(
    DSCPS,
    lambda dscp: str(dscp // 8),
    lambda cos, values: f"mls qos map dscp-cos {values} to {cos}",
    re.compile(r"mls qos map dscp-cos (?P<values>[\d ]+) to (?P<target>\d)"),
    OTHER_RANK,
)
POLICED = TableMap(
    DSCPS,
    str,
    # Real boxes print two blanks here.
    lambda dscp, values: f"mls qos map policed-dscp  {values} to {dscp}",
    re.compile(r"mls qos map policed-dscp  (?P<values>[\d ]+) to (?P<target>\d+)"),
    POLICED_RANK,
)
_MUTATION = "mls qos map dscp-mutation"
_EIGHT = " ".join([f"{NUMBER}:v"] * 8)
_DSCP_TO_DSCP = f"{NUMBER}:v*8 to {NUMBER}:to"


def mutation(name: str) -> TableMap:
    """The DSCP mutation map of a name."""
    return TableMap(
        DSCPS,
        str,
        lambda dscp, values: f"{_MUTATION} {name} {values} to {dscp}",
        re.compile(rf"{_MUTATION} {re.escape(name)} (?P<values>[\d ]+) to (?P<target>\d+)"),
        OTHER_RANK,
    )


def mutation_names(running: Section) -> list[str]:
    """The mutation maps that are configured."""
    return list(dict.fromkeys(line.text.split()[4] for line in running.starting(f"{_MUTATION} ")))


def rows() -> list[Row]:
    """``mls qos map``."""
    to_cos = f"{NUMBER}:v*8 to <0-7>:to"
    return [
        *(
            row(f"mls qos map {name} {_EIGHT}", _eight(rank), f"mls qos map {name} [{_EIGHT}]")
            for name, rank in (("cos-dscp", COS_RANK), ("ip-prec-dscp", OTHER_RANK))
        ),
        row(f"mls qos map dscp-cos {to_cos}", _table(DSCP_COS), f"mls qos map dscp-cos [{to_cos}]"),
        row(
            f"mls qos map policed-dscp {_DSCP_TO_DSCP}",
            _table(POLICED),
            f"mls qos map policed-dscp [{_DSCP_TO_DSCP}]",
        ),
        row(f"{_MUTATION} WORD:name {_DSCP_TO_DSCP}", _mutation, f"{_MUTATION} WORD:name [{_DSCP_TO_DSCP}]"),
    ]


def _eight(rank: int) -> Run:
    def run(shell: Shell, match: Match) -> None:
        key = " ".join(match.words[:4])
        if match.undone or tuple(map(int, match.values("v"))) == COS_DSCP:
            shell.section.remove(key)
        else:
            shell.store(Section(match.text, key=key, rank=rank))

    return run


def _table(table: TableMap) -> Run:
    def run(shell: Shell, match: Match) -> None:
        if match.undone:
            table.reset(shell)
        else:
            table.assign(shell, [int(value) for value in match.values("v")], match["to"])

    return run


def _mutation(shell: Shell, match: Match) -> None:
    _table(mutation(match["name"]))(shell, match)
