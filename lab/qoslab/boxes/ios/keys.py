"""Lines with keys and passwords of services that the lab does not emulate: kept and printed back.

By the command references of IOS 12.4: security, IP routing protocols, first hop redundancy. A protocol's own mode
("routing") is not looked into, nor is what it says.
"""

from __future__ import annotations

from qoslab.boxes.ios.rows import group, leaving, setting
from qoslab.shell import Row


def global_rows() -> list[Row]:
    """Rows of global configuration mode."""
    return [
        setting("boot network LINE", rank=5),
        setting("enable password level LINE", rank=6, many=True),
        group("aaa server radius dynamic-author", "keys", rank=9),
        group("key chain WORD", "keys", rank=21),
        group("crypto keyring WORD", "keys", rank=21),
        group("router isis [WORD]", "routing", rank=81),
        group("crypto map WORD <1-65535> {ipsec-manual|ipsec-isakmp}", "keys", rank=30),
        setting("ip msdp LINE", rank=84, many=True),
        setting("mpls LINE", rank=92, many=True),
        setting("snmp mib LINE", rank=94, many=True),
        setting("rmon LINE", rank=94, many=True),
        group("radius server WORD", "keys", rank=94),
        setting("event manager environment LINE", rank=99, many=True),
    ]


def interface_rows() -> list[Row]:
    """Rows of interface mode."""
    kept = ("ip ospf authentication-key", "ip nhrp", "isis", "standby", "vrrp", "glbp", "tunnel")
    return [*(setting(f"{words} LINE", rank=32, many=True) for words in kept), group("cts manual", "keys", rank=33)]


def submode_rows() -> dict[str, list[Row]]:
    """Rows of the modes of what has keys, and of a protocol."""
    keys = ("client", "server-key", "key-string", "pre-shared-key", "sap", "set")
    routing = ("net", "is-type", "area-password", "domain-password")
    return {
        "keys": [
            *leaving(),
            *(setting(f"{word} LINE", many=True) for word in keys),
            setting("key {{0|6|7} WORD|<0-2147483647>}", many=True),
            # Of crypto maps: Cisco IOS in a Nutshell, qos pre-classify.
            setting("match address WORD"),
            setting("qos pre-classify"),
        ],
        "routing": [*leaving(), *(setting(f"{word} LINE", many=True) for word in routing)],
    }
