"""Extended MAC access lists: ``mac access-list extended NAME`` and its entries.

The lab's packets carry no MAC addresses, so these lists are held and shown, and take no packet.
"""

from __future__ import annotations

from qoslab.boxes.ios.rows import group, leaving, row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.patterns import ArgumentType
from qoslab.shell import Row, Shell

MODE = "mac-acl"
_RANK = 92
_PROTOCOLS = (
    "aarp|amber|appletalk|dec-spanning|decnet-iv|diagnostic|dsm|etype-6000|etype-8042|lat|lavc-sca|mop-console"
    "|mop-dump|msdos|mumps|netbios|vines-echo|vines-ip|xns-idp"
)  # the names of EtherTypes, Catalyst command references
HOSTS = "{any|host MAC}"
"""Addresses on a 2950: no wildcards (Catalyst 2950 on-line help, MAC extended entries)."""
WILDCARDS = "{any|host MAC|MAC MAC}"
NAMES = f"[{_PROTOCOLS}]"
"""What a 2950 tells apart behind the addresses."""
TYPES = f"[{_PROTOCOLS}|HEX16 HEX16|lsap HEX16 HEX16] [cos <0-7>]"


def _hexadecimal(token: str) -> str | None:
    low = token.lower()
    digits = low.removeprefix("0x")
    if not digits.isascii() or not digits.isalnum() or len(digits) > 4:
        return None
    try:
        value = int(digits, 16 if low.startswith("0x") else 10)
    except ValueError:
        return None
    return hex(value) if value <= 0xFFFF else None


ARGUMENTS = {"HEX16": ArgumentType("HEX16", _hexadecimal)}


def global_rows() -> list[Row]:
    """``mac access-list extended``."""
    return [group("mac access-list extended WORD:name", MODE, rank=_RANK)]


def submode_rows(addresses: str, options: str) -> dict[str, list[Row]]:
    """Rows inside a list; ``addresses`` and ``options`` are what the family can look at."""
    pattern = f"{{permit|deny}} {addresses}:who {addresses}:who {options}"
    return {MODE: [*leaving(), row(f"{{{pattern}}}:entry", _entry, True)]}


def _entry(shell: Shell, match: Match) -> None:
    words = match["entry"].split()
    text = " ".join([words[0].ljust(6) if words[0] == "deny" else words[0], *_printed(words[1:])])
    if match.undone:
        shell.section.remove(text)
    else:
        shell.store(Section(text))


def _printed(words: list[str]) -> list[str]:
    """Whole-address wildcards fold into ``host`` and ``any``."""
    done: list[str] = []
    rest = list(words)
    for _ in range(2):
        word = rest.pop(0)
        if word == "any":
            done.append(word)
            continue
        if word == "host":
            done += [word, rest.pop(0)]
            continue
        mask = rest.pop(0)
        folded = {"0000.0000.0000": ["host", word], "ffff.ffff.ffff": ["any"]}
        done += folded.get(mask, [word, mask])
    return [*done, *rest]
