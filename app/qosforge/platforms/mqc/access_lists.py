"""Access lists of routers: named, numbered and IPv6 ones, to and from the plan's terms."""

from __future__ import annotations

import ipaddress
import re
from typing import Protocol

from qosforge.configtree import ConfigLine, Tree
from qosforge.plan.model import Term
from qosforge.platforms.ios_switch.acl import entries, read_entry

ACL_PREFIX = "QOSFORGE-"
_PRECEDENCES = ("routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network")
_STANDARD = (range(1, 100), range(1300, 2000))
_ICMP, _ICMP_6 = "1", "58"
_LOGGING = {"log", "log-input"}


class Miss(Protocol):
    """Keeps a line that is not understood, with its context and what it refers to in vain."""

    def __call__(self, line: ConfigLine, context: str, undefined: str | None = None) -> None:
        """Keep the line."""


def version(term: Term) -> int | None:
    """The IP version of a term's prefixes; None where it has none."""
    prefix = term.source or term.destination
    return ipaddress.ip_network(prefix).version if prefix else None


def ip_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The entry of every term, as a running configuration prints it: ports and precedences by name."""
    return tuple(re.sub(r"(?<= precedence )[0-7]$", _precedence, line) for line in entries(terms))


def _precedence(match: re.Match[str]) -> str:
    return _PRECEDENCES[int(match[0])]


def ipv6_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """As `ip_entries`, for terms with prefixes of IPv6 (in upper case, as the device prints them)."""
    lines = []
    for term in terms:
        for line in entries((term.model_copy(update={"source": None, "destination": None}),)):
            words = line.split()
            near = words.index("any")
            far = words.index("any", near + 1)
            words[near], words[far] = _ipv6_address(term.source), _ipv6_address(term.destination)
            words[1] = {"ip": "ipv6", "icmp": _ICMP, _ICMP_6: "icmp"}.get(words[1], words[1])
            lines.append(" ".join(words))
    return tuple(lines)


def _ipv6_address(prefix: str | None) -> str:
    if prefix is None:
        return "any"
    network = ipaddress.ip_network(prefix)
    if network.num_addresses == 1:
        return f"host {str(network.network_address).upper()}"
    return str(network).upper()


def _read_extended(text: str) -> Term:
    words = text.split()
    while words and words[-1] in _LOGGING:
        words.pop()
    if words[-2:-1] == ["precedence"] and words[-1] in _PRECEDENCES:
        words[-1] = str(_PRECEDENCES.index(words[-1]))
    return read_entry(" ".join(words))


def _read_standard(text: str) -> Term:
    """The term of an entry that says a source only.

    Raises:
        ValueError: it denies, or is no such entry.
    """
    match [w for w in text.split() if w not in _LOGGING]:
        case ["permit", "any"]:
            return Term()
        case ["permit", "host", address] | ["permit", address]:
            return Term(source=str(ipaddress.IPv4Network(address)))
        case ["permit", address, wildcard]:
            return Term(source=str(ipaddress.IPv4Network(f"{address}/{wildcard}", strict=False)))
    raise ValueError(f"not a permitting entry: {text}")


def _read_ipv6(text: str) -> Term:
    """The term of an IPv6 entry.

    Raises:
        ValueError: it denies, names no prefix (terms without one are of IPv4), or has what terms do not hold.
    """
    words = re.sub(r"^sequence \d+ | sequence \d+$", "", text).split()
    addresses: list[str | None] = []
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "any":
            addresses.append(None)
        elif word == "host":
            addresses.append(str(ipaddress.IPv6Network(next(rest, ""))))
        elif ":" in word:
            addresses.append(str(ipaddress.IPv6Network(word, strict=False)))
        else:
            plain.append(word)
            continue
        plain.append("any")
    if len(addresses) != 2 or not any(addresses):
        raise ValueError(f"no prefix of IPv6: {text}")
    if len(plain) > 1:
        plain[1] = {"ipv6": "ip", "icmp": _ICMP_6}.get(plain[1], plain[1])
    return _read_extended(" ".join(plain)).model_copy(update={"source": addresses[0], "destination": addresses[1]})


_READERS = {"extended": _read_extended, "standard": _read_standard, "ipv6": _read_ipv6}


class AccessLists:
    """The access lists of one configuration, by name or number."""

    def __init__(self, tree: Tree, miss: Miss) -> None:
        self._miss = miss
        self._lists: dict[str, tuple[str, list[ConfigLine]]] = {}
        for line in tree:
            match line.text.split():
                case ["ip", "access-list", "extended" | "standard" as kind, name]:
                    self._lists.setdefault(name, (kind, []))[1].extend(line.children)
                case ["ipv6", "access-list", name]:
                    self._lists.setdefault(name, ("ipv6", []))[1].extend(line.children)
                case ["access-list", number, *entry] if number.isdecimal() and entry:
                    kind = "standard" if any(int(number) in numbers for numbers in _STANDARD) else "extended"
                    below = ConfigLine(" ".join(entry), number=line.number)
                    self._lists.setdefault(number, (kind, []))[1].append(below)

    def __contains__(self, name: str) -> bool:
        return name in self._lists

    @property
    def foreign_numbers(self) -> tuple[int, ...]:
        """The numbers of lists that are not ours: ours begin with a remark that says so."""
        return tuple(
            int(name)
            for name, (_, lines) in self._lists.items()
            if name.isdecimal() and not any(line.text.startswith(f"remark {ACL_PREFIX}") for line in lines)
        )

    def terms(self, name: str) -> tuple[Term, ...]:
        """What a list permits; an entry that denies, or asks for more than terms hold, is kept apart.

        Raises:
            KeyError: there is no such list.
        """
        kind, lines = self._lists[name]
        found: list[Term] = []
        for line in lines:
            try:
                found.append(_READERS[kind](line.text))
            except (ValueError, IndexError):
                if not line.text.startswith("remark "):
                    self._miss(line, f"access list {name}")
        return tuple(found)
