"""Lines of services the lab does not emulate but real startup configurations carry: kept and printed back."""

from __future__ import annotations

from qoslab.boxes.ios.rows import group, leaving, setting
from qoslab.shell import Row


def global_rows() -> list[Row]:
    """Rows of global configuration mode."""
    kept = {
        7: ("spd LINE", "login LINE"),
        11: ("memory LINE", "network-clock-participate LINE"),
        13: ("ip wccp LINE", "ip dhcp use LINE", "ip telnet LINE", "ip sap LINE", "ipv6 LINE"),
        16: ("ip inspect LINE", "ip ips LINE", "ip audit LINE", "ip accounting-threshold <0-4294967295>"),
        23: ("vpdn LINE", "dot11 LINE", "voice LINE", "call LINE"),
        85: ("ip bgp-community LINE", "ip ospf name-lookup", "ip prefix-list LINE", "ip as-path LINE"),
        92: ("cdp log LINE",),
        96: ("dial-peer cor custom", "mgcp LINE", "rtr LINE"),
    }
    return [
        *(
            setting(pattern, rank=rank, many=True, off=True)
            for rank, patterns in kept.items()
            for pattern in patterns
        ),
        group("ip sla monitor <1-2147483647>", "service", rank=23),
        group("bba-group pppoe WORD", "service", rank=62),
        group("route-map WORD [permit|deny] [<0-65535>]", "service", rank=94),
    ]


def interface_rows() -> list[Row]:
    """Rows of interface mode."""
    kept = {
        14: ("ip inspect LINE", "ip accounting LINE", "ip policy LINE", "ip igmp LINE", "ipv6 LINE"),
        31: ("carrier-delay LINE",),
        64: ("dialer LINE", "dialer-group <1-10>", "ppp pap LINE", "ppp ipcp LINE", "ppp quality <0-100>"),
        90: ("cdp log LINE",),
    }
    return [
        setting(pattern, rank=rank, many=True, off=True) for rank, patterns in kept.items() for pattern in patterns
    ]


def submode_rows() -> dict[str, list[Row]]:
    """What stands inside the groups above is not looked into."""
    inside = ("type", "timeout", "frequency", "match", "set", "virtual-template", "sessions", "description")
    return {"service": [*leaving(), *(setting(f"{word} LINE", many=True) for word in inside)]}
