"""Class maps: the lines, and which packets they match."""

from __future__ import annotations

import re
from collections.abc import Callable

from qoslab.boxes.ios import ipv6_acl, refusals
from qoslab.boxes.ios.acl import AccessList
from qoslab.boxes.ios.arguments import IF, LATER_APPLICATIONS, dscp_value
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import leaving, row, setting
from qoslab.boxes.ios.train import BOTH_FAMILIES, HQF, MARKING, NBAR, NBAR_RTP
from qoslab.config import Section
from qoslab.grammar import Match, Refused, SyntaxRefused
from qoslab.packets import Packets
from qoslab.shell import Row, Shell

CLASS_RANK = 60
POLICY_RANK = 61
_LONGEST_NAME = 40  # unconfirmed
_NUMERIC = ("precedence", "ip precedence", "cos")

# Well-known ports by which NBAR recognises applications without looking inside (IANA).
APPLICATION_PORTS: dict[str, tuple[tuple[int, int], ...]] = {
    "http": ((6, 80),),
    "secure-http": ((6, 443),),
    "ftp": ((6, 20), (6, 21)),
    "telnet": ((6, 23),),
    "smtp": ((6, 25),),
    "dns": ((6, 53), (17, 53)),
    "ssh": ((6, 22),),
    "pop3": ((6, 110),),
    "imap": ((6, 143),),
    "ntp": ((17, 123), (6, 123)),
    "snmp": ((17, 161), (17, 162)),
    "tftp": ((17, 69),),
    "sip": ((6, 5060), (17, 5060)),
    "h323": ((6, 1720),),
    "nntp": ((6, 119),),
    "bgp": ((6, 179),),
    "rtsp": ((6, 554),),
    "rip": ((17, 520),),
}

# Protocols of IP that NBAR knows by their number: "Classifying Network Traffic Using NBAR" (12.4T), NBAR-supported
# protocols, where they are of type IP.
IP_PROTOCOLS = {"icmp": 1, "ipinip": 4, "egp": 8, "gre": 47, "eigrp": 88, "ospf": 89}


class ClassMaps:
    """Rows of class-map configuration."""

    def __init__(self, box: IosBox) -> None:
        self._box = box

    def global_rows(self) -> list[Row]:
        """``class-map``."""
        how = "[match-all|match-any]:how " if self._modal else ""
        return [row(f"class-map {how}WORD:name", self._class_map, True)]

    @property
    def _modal(self) -> bool:
        """Whether class-maps say how their lines are joined; published configurations of 12.0 do not."""
        return self._box.train.since(MARKING)

    def rows(self) -> list[Row]:
        """Class-map mode."""
        inverse = "[not]:inverse " if self._modal else ""
        return [
            *leaving(),
            setting("description LINE", rank=0),
            *(row(f"match {inverse}{{{kind}}}:what", self._match, True) for kind in self._kinds()),
        ]

    def _kinds(self) -> list[str]:
        train = self._box.train
        values = 8 if train.since(HQF) else 4
        kinds = [
            "access-group {<1-2699>|name WORD}",
            "any",
            f"ip precedence PREC:v*{values}",
            "ip rtp <2000-65535> <0-16383>",
            f"input-interface {IF}",
            "qos-group <0-99>",
            "packet length {min <1-2000>:min [max <1-2000>:max]|max <1-2000>}",
            "fr-de",
            "fr-dlci <16-1007>",
            "mpls experimental <0-7>:v*8",
        ]
        if self._modal:
            kinds += ["class-map WORD", "{source-address|destination-address} mac MAC"]
        if train.since(MARKING):
            kinds += ["ip dscp DSCP:v*8", f"cos <0-7>:v*{values}"]  # match cos: 12.1(5)T, Cisco command reference
        if train.since(BOTH_FAMILIES):
            # ``topmost`` as the marks of 12.2(13)T have it: Cisco IOS MPLS Command Reference, January 2010.
            kinds += ["dscp DSCP:v*8", f"precedence PREC:v*{values}", "discard-class <0-7>",
                      "mpls experimental topmost <0-7>:v*8"]  # fmt: skip
        if train.since(NBAR):
            kinds += ["protocol APP", "protocol http {url|host|mime} WORD", "protocol citrix app WORD",
                      "protocol {gnutella|fasttrack} file-transfer WORD"]  # fmt: skip
        if train.since(NBAR_RTP):
            kinds.append("protocol rtp {audio|video|payload-type PAYLOAD}")
        return kinds

    def _class_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"class-map {name}"
        if match.undone:
            if self._used(name):
                raise Refused(refusals.class_in_use(name))
            shell.section.remove(key)
            return
        if len(name) > _LONGEST_NAME or name == "class-default":
            raise Refused(f"% Invalid class-map name {name}")
        held = shell.section.get(key)
        before = held.text if held is not None else f"class-map match-all {name}" if self._modal else key
        text = f"class-map {match['how']} {name}" if "how" in match else before
        if held is None or held.text != text:
            held = shell.store(Section(text, key=key, rank=CLASS_RANK, mode="cmap"))
        shell.enter("cmap", held)

    def _used(self, name: str) -> bool:
        """True when a policy or another class names the class."""
        named = (self._nested(held) for held in self._box.running.starting("class-map "))
        return any(name in class_names(policy) for policy in policies(self._box)) or any(
            name in names for names in named
        )

    @staticmethod
    def _nested(held: Section) -> list[str]:
        """The classes that a class names."""
        words = [line.text.split() for line in held.starting("match ")]
        return [line[-1] for line in words if "class-map" in line[1:3]]

    def _reaches(self, start: str, name: str) -> bool:
        """True when a class is the other, or names it over whatever number of steps."""
        if start == name:
            return True
        held = self._box.running.get(f"class-map {start}")
        return held is not None and any(self._reaches(child, name) for child in self._nested(held))

    def _match(self, shell: Shell, match: Match) -> None:
        what = match["what"]
        values = match.values("v")
        if values:
            head = what[: len(what) - len(" ".join(values))].strip()
            if head in _NUMERIC:
                # IOS pads numbers with two blanks; after "cos" even in front of the first one.
                what = f"{head} {' ' if head == 'cos' else ''}{'  '.join(values)}"
            else:
                # 12.4 leaves a blank behind the last DSCP.
                blank = " " if head.endswith("dscp") and self._box.train.since("12.4") else ""
                what = f"{head} {'  '.join(values)}{blank}"
        text = f"match {'not ' if 'inverse' in match else ''}{what}"
        if match.undone:
            shell.section.remove(text)
            return
        release = LATER_APPLICATIONS.get(match.words[-1]) if "protocol" in match.words[1:3] else None
        if release is not None and not self._box.train.since(release):
            raise SyntaxRefused("invalid", match.line.rindex(match.line.split()[-1]), match.line)
        if match.number("max", match.number("min")) < match.number("min"):
            raise SyntaxRefused("invalid", match.line.rindex(match["max"]), match.line)
        if "class-map" in match.words[1:3]:
            self._check_nested(shell, match.words[-1])
        shell.store(Section(text, rank=10))

    def _check_nested(self, shell: Shell, name: str) -> None:
        if not shell.loading and f"class-map {name}" not in self._box.running:
            raise Refused(refusals.unknown_class(name))
        if self._reaches(name, shell.section.text.split()[-1]):
            raise Refused(f"% Class-map {name} would contain itself")


def policies(box: IosBox) -> list[Section]:
    """All policy maps in printing order."""
    return box.running.starting("policy-map ")


def class_names(policy: Section) -> list[str]:
    """The classes of a policy in matching order."""
    return [child.text.split()[1] for child in policy.starting("class ")]


def match_mode(class_map: Section | None) -> str:
    """``match-any`` or ``match-all``: class-default has no class-map; one that does not say is ``match-all``."""
    if class_map is None:
        return "match-any"
    words = class_map.text.split()
    return words[1] if len(words) > 2 else "match-all"


def in_class(box: IosBox, name: str, packets: Packets, into: str) -> bool:
    """True when a class of the running configuration takes the packets."""
    if name == "class-default":
        return True
    held = box.running.get(f"class-map {name}")
    if held is None:
        return False
    lines = [child.text.split() for child in held.starting("match ")]
    found = (_line_matches(box, words[1:], packets, into) for words in lines)
    # A class-map without a match line takes nothing.
    return bool(lines) and (any(found) if match_mode(held) == "match-any" else all(found))


def _line_matches(box: IosBox, words: list[str], packets: Packets, into: str) -> bool:
    inverse = words[0] == "not"
    if inverse:
        words = words[1:]
    if words[0] == "ip" and words[1] in {"dscp", "precedence", "rtp"}:
        # Cisco IOS QoS Command Reference, ``match dscp``: with ``ip`` the match is for IPv4 packets only.
        if packets.ip_version != 4:
            return inverse
        words = words[1:]
    test = _TESTS.get(words[0])
    # What the lab's packets do not carry (DLCI, MAC addresses ...) is never there.
    taken = test(box, words[1:], packets, into) if test is not None else False
    return taken != inverse


def _payload_applications(listed: str) -> set[str]:
    """``"0, 4-8"`` -> rtp-0, rtp-4 ... rtp-8."""
    ranges = [part.strip().split("-") for part in listed.strip('"').split(",")]
    return {f"rtp-{kind}" for ends in ranges for kind in range(int(ends[0]), int(ends[-1]) + 1)}


def _application(box: IosBox, words: list[str], packets: Packets) -> bool:
    if "ip cef" not in box.running or box.running.value("ip cef").startswith("no "):
        return False  # NBAR sees only what CEF switches
    name = words[0]
    if name == "ip":
        return True
    if name == "rtp":
        if packets.protocol != 17:
            return False
        kinds = {"audio": ("rtp-audio",), "video": ("rtp-video",)}
        if len(words) == 1:
            return packets.application.startswith("rtp")
        if words[1] == "payload-type":
            return packets.application in _payload_applications(" ".join(words[2:]))
        return packets.application in kinds[words[1]]
    if len(words) > 1:
        return False  # what stands inside a request is not carried by the lab's packets
    if name in IP_PROTOCOLS:
        return packets.protocol == IP_PROTOCOLS[name]
    if packets.application:
        return packets.application == name
    ports = APPLICATION_PORTS.get(name, ())
    return any(
        packets.protocol == protocol and port in {packets.src_port, packets.dst_port} for protocol, port in ports
    )


def _acl(box: IosBox, words: list[str], packets: Packets) -> bool:
    ipv6 = box.running.get(f"ipv6 access-list {words[-1]}")
    if ipv6 is not None and words[0] == "name":
        return ipv6_acl.permits(ipv6, packets)
    try:
        return AccessList(box.running, words[-1]).permits(packets)
    except KeyError:
        return False  # a list without entries takes nothing into a class


def _rtp_ports(words: list[str], packets: Packets) -> bool:
    low, span = int(words[0]), int(words[1])
    port = packets.dst_port
    return packets.protocol == 17 and low <= port <= low + span and port % 2 == 0


def _length(words: list[str], packets: Packets) -> bool:
    limits = dict(re.findall(r"(min|max) (\d+)", " ".join(words)))
    return int(limits.get("min", 0)) <= packets.bytes <= int(limits.get("max", 65535))


_TESTS: dict[str, Callable[[IosBox, list[str], Packets, str], bool]] = {
    "any": lambda box, words, packets, into: True,
    "dscp": lambda box, words, packets, into: packets.dscp in map(dscp_value, words),
    "precedence": lambda box, words, packets, into: packets.dscp >> 3 in map(int, words),
    "qos-group": lambda box, words, packets, into: packets.qos_group == int(words[0]),
    "mpls": lambda box, words, packets, into: packets.exp in map(int, filter(str.isdigit, words)),
    "cos": lambda box, words, packets, into: packets.tagged and packets.cos in map(int, words),
    "access-group": lambda box, words, packets, into: _acl(box, words, packets),
    "class-map": lambda box, words, packets, into: in_class(box, words[0], packets, into),
    "protocol": lambda box, words, packets, into: _application(box, words, packets),
    "rtp": lambda box, words, packets, into: _rtp_ports(words, packets),
    "input-interface": lambda box, words, packets, into: into == "".join(words),
    "packet": lambda box, words, packets, into: _length(words[1:], packets),
}
