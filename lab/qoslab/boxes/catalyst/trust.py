"""Trust, default CoS and its override on a port: one grammar for both families."""

from __future__ import annotations

from collections.abc import Callable

from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Shell

TRUST = "mls qos trust"
DEVICE = "mls qos trust device"
COS = "mls qos cos"
OVERRIDE = "mls qos cos override"


def rows(
    kinds: str, taken: Callable[[Section], None], boundary: Callable[[Section], None] = lambda port: None
) -> list[Row]:
    """The rows of interface mode.

    ``kinds`` are the marks that can be trusted; ``taken`` is called with the port when it gets a trust or an
    override of its own, and clears what cannot stand beside it. ``boundary`` refuses that a phone is looked for.
    """

    def trust(shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove(TRUST)
            return
        taken(shell.section)
        # The bare command trusts the DSCP.
        shell.store(Section(f"{TRUST} {match.get('kind', 'dscp')}", key=TRUST, rank=71))

    def device(shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove(DEVICE)
            return
        if not shell.loading:
            boundary(shell.section)
        taken(shell.section)
        shell.store(Section(f"{DEVICE} cisco-phone", key=DEVICE, rank=70))

    def override(shell: Shell, match: Match) -> None:
        if match.undone:
            shell.section.remove(OVERRIDE)
            return
        taken(shell.section)
        shell.store(Section(OVERRIDE, rank=73))

    return [
        row(f"{TRUST} [{kinds}]:kind", trust, True),
        row(f"{DEVICE} cisco-phone", device, f"{DEVICE} [cisco-phone]"),
        row(f"{COS} <0-7>:cos", _default_cos, f"{COS} [<0-7>:cos]"),
        row(OVERRIDE, override, True),
    ]


def _default_cos(shell: Shell, match: Match) -> None:
    """``no mls qos cos`` takes the override back with the value."""
    if match.undone and "cos" not in match:
        shell.section.remove(OVERRIDE)
    if match.undone or match["cos"] == "0":
        shell.section.remove(COS)
    else:
        shell.store(Section(match.text, key=COS, rank=72))


def trusted(port: Section) -> list[str]:
    """The words behind ``mls qos trust`` of a port; none when it trusts nothing."""
    return port.value(TRUST).split()[3:]


def default_cos(port: Section) -> int:
    """The CoS of frames without a tag."""
    return int(port.value(COS, f"{COS} 0").split()[-1])
