"""Lines that have nothing to do with QoS but stand in every router's or switch's startup configuration.

They are checked for their words and printed back; the lab gives them no further meaning.
"""

from __future__ import annotations

from qoslab.boxes.ios import services as ios_services
from qoslab.boxes.ios.arguments import IF, INTERFACE_KINDS
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import group, leaving, row, setting
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Question, Reply, Row, Shell

_SERVICES = (
    "nagle|pad|tcp-keepalives-in|tcp-keepalives-out|password-encryption|internal|dhcp|finger|config"
    "|udp-small-servers|tcp-small-servers|sequence-numbers|compress-config|unsupported-transceiver"
)
_MTU = 1500  # bytes, on every kind of interface the lab has


def global_rows(box: IosBox) -> list[Row]:
    """Rows of global configuration mode."""
    return [
        *leaving(),
        row("version WORD", _ignored),
        row("hostname WORD:name", lambda s, m: _hostname(box, s, m), "hostname [WORD]"),
        row(f"interface {IF} [point-to-point|multipoint]:kind", box.enter_interface, True),
        row("banner {motd|login|exec}:kind LINE:text", _banner, "banner {motd|login|exec}:kind"),
        *_services(),
        setting("boot-start-marker", rank=3),
        setting("boot-end-marker", rank=3),
        setting("boot system LINE", rank=3, many=True),
        setting("logging LINE", rank=5, many=True),
        setting("enable secret LINE", rank=6),
        setting("enable password LINE", rank=6),
        setting("security LINE", rank=6, many=True),
        setting("aaa LINE", rank=8, many=True),
        setting("clock timezone LINE", rank=10),
        setting("clock summer-time LINE", rank=10),
        setting("memory-size iomem <5-50>", rank=11),
        setting("mmi LINE", rank=11, many=True),
        setting("ip subnet-zero", rank=12, on=box.train.since("12.4")),
        setting("ip source-route", rank=13, on=True),
        setting("ip gratuitous-arps", rank=13, on=True),
        setting("ip cef [distributed]", key="ip cef", rank=14, off=True),
        setting("ip cef accounting LINE", rank=14, many=True),
        setting("ip domain lookup", key="ip domain lookup", rank=15, on=True),
        setting("ip domain-lookup", key="ip domain lookup", rank=15, on=True),
        setting("ip domain name WORD", key="ip domain name", rank=15),
        setting("ip domain-name WORD", key="ip domain name", rank=15),
        setting("ip host LINE", rank=15, many=True),
        setting("ip name-server IP", rank=15, many=True),
        setting("ip dhcp excluded-address IP [IP]", rank=16, many=True),
        group("ip dhcp pool WORD", "dhcp", rank=17),
        setting("ip multicast-routing", rank=18),
        setting("ip bootp server", rank=18, on=True),
        setting("ip finger", rank=18),
        setting("ip ssh {version <1-2>|time-out <1-120>|authentication-retries <0-5>}", rank=19, many=True),
        setting("ip tcp LINE", rank=19, many=True),
        setting("ip ftp LINE", rank=19, many=True),
        setting("vtp {mode {server|client|transparent|off}|domain WORD|password WORD}", rank=20, many=True),
        setting("udld LINE", rank=20, many=True),
        setting("crypto LINE", rank=21, many=True),
        setting("username LINE", rank=22, many=True),
        setting("frame-relay switching", rank=23),
        setting("spanning-tree LINE", rank=24, many=True),
        setting("errdisable LINE", rank=24, many=True),
        setting("vlan internal LINE", rank=25),
        group("vlan <1-4094>", "vlan", rank=26),
        setting("file prompt quiet", rank=27),
        setting("isdn LINE", rank=28, many=True),
        group("router {ospf <1-65535>|rip|eigrp <1-65535>|bgp <1-65535>}", "router", rank=80),
        setting("ip default-gateway IP", rank=83),
        setting("ip classless", rank=84, off=True),
        setting("ip forward-protocol LINE", rank=84, many=True),
        setting(f"ip route IP IP {{IP|{IF}}} [IP] [<1-255>] [name WORD] [permanent]", rank=85, many=True),
        setting("ip http server", rank=86, off=True),
        setting("ip http secure-server", rank=86, off=True),
        setting("ip http authentication LINE", rank=86),
        setting("ip http access-class <1-99>", rank=86),
        setting("ip nat LINE", rank=87, many=True),
        setting("ip scp server enable", rank=88),
        setting("cdp {run|timer <5-254>|holdtime <10-255>}", rank=92, many=True, off=True),
        setting("dialer-list LINE", rank=93, many=True),
        setting("snmp-server LINE", rank=94, many=True),
        setting("tftp-server LINE", rank=94, many=True),
        setting("tacacs-server LINE", rank=94, many=True),
        setting("radius-server LINE", rank=94, many=True),
        group("control-plane", "control-plane", rank=95),
        setting("privilege LINE", rank=96, many=True),
        setting("alias LINE", rank=96, many=True),
        group("line {con <0-0>|console <0-0>|aux <0-0>|vty <0-15> [<0-15>]|<0-1000> [<0-1000>]}", "line", rank=98),
        setting("scheduler LINE", rank=99, many=True),
        setting("ntp LINE", rank=99, many=True),
        *ios_services.global_rows(),
    ]


def interface_rows(*, routed: bool) -> list[Row]:
    """Rows of interface mode: ``routed`` boxes take addresses on every port."""
    rows = [
        *leaving(),
        setting("description LINE", rank=0),
        row("bandwidth <1-10000000>:kbps", _bandwidth, "bandwidth [<1-10000000>]"),
        row("mtu <64-18000>:n", _mtu, "mtu [<64-18000>]"),
        row("ip address IP:address IP:mask [secondary]:second", _address, "ip address [IP] [IP] [secondary]"),
        row("ip address {negotiated|dhcp|unnumbered}:how", _address),
        setting("shutdown", rank=95),
        setting("speed {10|100|1000|auto}", rank=60, defaults=["speed auto"]),
        setting("duplex {full|half|auto}", rank=60, defaults=["duplex auto"]),
        setting("load-interval <30-600>", rank=30, defaults=["load-interval 300"]),
        setting("keepalive [<0-32767>]", rank=61, off=True, defaults=["keepalive", "keepalive 10"]),
        setting("cdp enable", rank=90, on=True),
        setting("snmp trap link-status", rank=89, on=True),
        setting("logging event LINE", rank=29, many=True),
        setting("ip helper-address IP", rank=12, many=True),
        setting("hold-queue <0-4096> {in|out}", rank=91, many=True),
    ]
    if not routed:
        return [*rows, *_switchport()]
    return [*rows, *_routed()]


def _routed() -> list[Row]:
    return [
        setting("ip access-group {<1-2699>|WORD} in", key="ip access-group in", rank=11),
        setting("ip access-group {<1-2699>|WORD} out", key="ip access-group out", rank=11),
        setting("ip redirects", rank=13, on=True),
        setting("ip unreachables", rank=13, on=True),
        setting("ip proxy-arp", rank=13, on=True),
        setting("ip directed-broadcast", rank=13),
        setting("ip mroute-cache", rank=13, on=True),
        setting("ip route-cache [flow|cef|same-interface]", rank=13, off=True, defaults=["ip route-cache"]),
        setting("ip pim {sparse-mode|dense-mode|sparse-dense-mode}", rank=14),
        setting("ip nat {inside|outside}", rank=14),
        setting("ip ospf cost <1-65535>", rank=15),
        setting("ip ospf priority <0-255>", rank=15),
        setting("ip ospf hello-interval <1-65535>", rank=15),
        setting("ip ospf dead-interval <1-65535>", rank=15),
        setting("ip ospf network {broadcast|non-broadcast|point-to-point|point-to-multipoint}", rank=15),
        setting("ip ospf message-digest-key LINE", rank=15),
        setting("ip nbar protocol-discovery", rank=16),
        setting("ip virtual-reassembly", rank=16),
        setting("ip tcp adjust-mss <500-1460>", rank=16),
        setting("delay <1-16777215>", rank=21),
        setting("half-duplex", key="duplex", rank=60),
        setting("full-duplex", key="duplex", rank=60),
        setting("clock rate <300-8000000>", key="clock rate", rank=62),
        setting("clockrate <300-8000000>", key="clock rate", rank=62, form=lambda m: f"clock rate {m.words[1]}"),
        setting("dce-terminal-timing-enable", rank=62),
        setting("peer default ip address LINE", rank=63),
        setting("ppp authentication LINE", rank=64),
        setting("ppp chap LINE", rank=64, many=True),
        setting("serial restart-delay <0-900>", rank=62, off=True),
        setting("crypto map WORD", rank=65),
        *ios_services.interface_rows(),
    ]


def _switchport() -> list[Row]:
    return [
        setting("switchport mode {access|trunk|dynamic {auto|desirable}}", rank=5),
        setting("switchport access vlan <1-4094>", rank=5, defaults=["switchport access vlan 1"]),
        setting("switchport trunk encapsulation {dot1q|isl|negotiate}", rank=5),
        setting("switchport trunk native vlan <1-4094>", rank=5, defaults=["switchport trunk native vlan 1"]),
        setting("switchport trunk allowed vlan LINE", rank=5),
        setting("switchport voice vlan {<1-4094>|dot1p|none|untagged}", rank=6),
        setting("switchport priority extend {cos <0-7>|trust}", rank=6),
        setting("switchport nonegotiate", rank=6),
        setting("switchport port-security [LINE]", rank=6, many=True),
        setting("spanning-tree LINE", rank=80, many=True),
        setting("storm-control LINE", rank=81, many=True),
        setting("udld LINE", rank=81, many=True),
        setting("channel-group <1-48> mode {on|auto|desirable|active|passive}", rank=82),
        setting("flowcontrol {receive|send} {on|off|desired}", rank=83),
        setting("ip access-group {<1-2699>|WORD} in", key="ip access-group in", rank=11),
        setting("ip route-cache", rank=13, on=True),
    ]


def submode_rows() -> dict[str, list[Row]]:
    """Rows of the small modes: routing, lines, VLANs, address pools."""
    return {
        "router": [
            *leaving(),
            setting("router-id IP", rank=1),
            setting("log-adjacency-changes [detail]", rank=2, off=True),
            setting("auto-summary", rank=60, off=True),
            setting("synchronization", rank=2, off=True),
            setting("version <1-2>", rank=2),
            setting("redistribute LINE", rank=10, many=True),
            setting(f"passive-interface {{default|{IF}}}", rank=11, many=True, off=True),
            setting("network IP [IP area {IP|<0-4294967295>}|IP|mask IP]", rank=12, many=True),
            setting("area {IP|<0-4294967295>} LINE", rank=9, many=True),
            setting("neighbor LINE", rank=13, many=True),
            setting("default-information originate [LINE]", rank=14),
            setting("timers LINE", rank=5, many=True),
            setting("bgp LINE", rank=5, many=True),
            setting("distance LINE", rank=15, many=True),
            setting("auto-cost reference-bandwidth <1-4294967>", rank=3),
        ],
        "line": [
            *leaving(),
            setting("exec-timeout <0-35791> [<0-2147483>]", rank=1),
            setting("password LINE", rank=2),
            setting("login [local|authentication WORD]", rank=3, off=True),
            setting("logging synchronous", rank=4),
            setting("privilege level <0-15>", rank=4),
            setting("transport {input|output|preferred} LINE:what", rank=5, many=True),
            setting("access-class {<1-199>|WORD} {in|out}", rank=6, many=True),
            setting("exec", rank=7, on=True),
            setting("history size <0-256>", rank=8),
            setting("stopbits {1|1.5|2}", rank=9),
            setting("speed <0-4294967295>", rank=9),
            setting("flowcontrol {none|software|hardware}", rank=9),
            setting("length <0-512>", rank=9),
            setting("session-timeout <0-35791>", rank=9),
            setting("authorization LINE", rank=3, many=True),
            setting("exec prompt timestamp", rank=8),
            setting("logout-warning <0-4294967295>", rank=8),
        ],
        "vlan": [*leaving(), setting("name WORD"), setting("state {active|suspend}", defaults=["state active"])],
        "dhcp": [
            *leaving(),
            setting("network IP IP"),
            setting("default-router IP"),
            setting("dns-server IP [IP]"),
            setting("domain-name WORD"),
            setting("lease LINE"),
            setting("option LINE", many=True),
        ],
        "control-plane": leaving(),
        **ios_services.submode_rows(),
    }


def _services() -> list[Row]:
    return [
        setting(f"service {{{_SERVICES}}}", rank=1, many=True, off=True),
        setting("service timestamps {debug|log} {uptime|datetime [msec] [localtime] [show-timezone]}",
                rank=1, many=True, off=True),
    ]  # fmt: skip


def _ignored(shell: Shell, match: Match) -> None:
    """``version 12.4`` at the head of a startup file says nothing new."""
    del shell, match


def _hostname(box: IosBox, shell: Shell, match: Match) -> None:
    if match.undone:
        box.running.remove("hostname")
        box.hostname = "Router"
        return
    held = shell.store(Section(f"hostname {match['name']}", key="hostname", rank=2))
    box.hostname = held.text.split()[-1]


def _bandwidth(shell: Shell, match: Match) -> None:
    kind = shell.section.text.split()[1].rstrip("0123456789/.:")
    if match.undone or match.number("kbps") == INTERFACE_KINDS[kind]:
        shell.section.remove("bandwidth")
    else:
        shell.store(Section(match.text, key="bandwidth", rank=2))


def _address(shell: Shell, match: Match) -> None:
    if match.undone:
        if "secondary" in match.words:
            shell.section.remove(match.text)
        else:
            for held in shell.section.starting("ip address"):
                shell.section.remove(held.key)
            shell.store(Section("no ip address", key="ip address", rank=10))
    elif "second" in match:
        shell.store(Section(match.text, rank=10))
    else:
        shell.store(Section(match.text, key="ip address", rank=10))


def _mtu(shell: Shell, match: Match) -> None:
    """An IP MTU above the link's goes."""
    size = _MTU if match.undone else match.number("n")
    if size == _MTU:
        shell.section.remove("mtu")
    else:
        shell.store(Section(match.text, key="mtu", rank=4))
    if int(shell.section.value("ip mtu", "ip mtu 0").split()[2]) > size:
        shell.section.remove("ip mtu")


def _banner(shell: Shell, match: Match) -> Reply | None:
    key = f"banner {match['kind']}"
    if match.undone:
        shell.section.remove(key)
        return None
    text = match["text"]
    mark = "^C" if text.startswith("^C") else text[0]
    body = text[len(mark) :]

    def finish(lines: list[str]) -> None:
        shell.store(Section(f"{key} ^C" + "\n".join(lines) + "^C", key=key, rank=97))

    if mark in body:
        finish([body.split(mark)[0]])
        return None
    collected = [body]

    def more(line: str) -> Reply:
        head, found, _ = line.partition(mark)
        collected.append(head)
        if found:
            finish(collected)
            return Reply()
        return Reply(ask=Question("", more, multiline=True))

    opening = "" if shell.length == 0 else f"Enter TEXT message.  End with the character '{mark}'."
    return Reply(opening, ask=Question("", more, multiline=True))
