"""Commands of FTOS for interfaces outside QoS: addresses, layer, members, several at once."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from qoslab.boxes.force10_e300.lists import network
from qoslab.boxes.force10_e300.names import NAMED, listed, ranged, short
from qoslab.boxes.force10_e300.port_qos import PORT_QOS_ROWS, layer2_users
from qoslab.boxes.force10_e300.qos import chassis, existing, item
from qoslab.boxes.force10_e300.state import Interface
from qoslab.grammar import Match, Refused, SyntaxRefused
from qoslab.shell import Level, Reply, Row, Run, Shell
from qoslab.typed import Held, Stored, row


@dataclass(frozen=True)
class InterfaceRange:
    """The interfaces that one mode edits together; ``text`` is what the prompt shows."""

    text: str
    interfaces: tuple[Interface, ...]


def _held(shell: Shell, name: str) -> Interface:
    family, _, number = name.partition(" ")
    return chassis(shell).interfaces.setdefault(name, Interface(family, number))


def _interface(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).interfaces, match["interface"]
    if match.negated:
        if existing(held, name, "Interface").physical:
            raise Refused("% Error: A physical interface cannot be removed.")
        del held[name]
        return
    shell.enter("interface", Held(name, _held(shell, name)))


def _interface_range(shell: Shell, match: Match) -> None:
    names = ranged(match["names"])
    if not names:
        raise SyntaxRefused("invalid", match.line.lower().rfind(match["names"].lower()), match.line)
    text = "".join(match["names"].split()).lower()
    shell.enter("interface-range", Held(text, InterfaceRange(text, tuple(_held(shell, name) for name in names))))


def _address(shell: Shell, match: Match) -> None:
    edited = item(shell, Interface)
    if match.negated:
        edited.address = ""
        return
    if "switchport" in edited.options:
        raise Refused(f"% Error: Port is in Layer 2 mode {short(edited.name)}.")
    words = match.values("address")
    mask = network(words)
    assert mask is not None
    edited.address = f"{ipaddress.IPv4Address(words[0].partition('/')[0])}/{mask.prefixlen}"


def _shutdown(shell: Shell, match: Match) -> None:
    item(shell, Interface).shutdown = not match.negated


def _option(shell: Shell, match: Match) -> None:
    edited, key = item(shell, Interface), match.words[0]
    if match.negated:
        edited.options.pop(key, None)
    else:
        edited.options[key] = match.text


def _switchport(shell: Shell, match: Match) -> None:
    edited = item(shell, Interface)
    if match.negated:
        users = layer2_users(edited)
        if users:
            raise Refused(f"% Error: {users} on {short(edited.name)} needs Layer 2 mode.")
        edited.options.pop("switchport", None)
        return
    if edited.address:
        raise Refused(f"% Error: Port is in Layer 3 mode {short(edited.name)}.")
    edited.options["switchport"] = match.text


def _stack(shell: Shell, match: Match) -> None:
    edited = item(shell, Interface)
    if not match.negated and edited.layer2_policy:
        raise Refused("% Error: Layer2 policy-based QoS is configured on this interface.")
    _option(shell, match)


def _member(shell: Shell, match: Match) -> None:
    edited, how, ports = item(shell, Interface), match["how"], match["ports"]
    channel = how == "channel-member"
    if edited.family != ("Port-channel" if channel else "Vlan"):
        raise Refused(f"% Error: Only a {'port-channel' if channel else 'VLAN'} has member ports.")
    held = edited.members.setdefault(how, [])
    if match.negated:
        if ports not in held:
            raise Refused(f"% Error: Port is not a member of this {'port-channel' if channel else 'VLAN'}.")
        held.remove(ports)
        return
    if channel:
        _free_for_channel(shell, edited, listed(ports))
    if ports not in held:
        held.append(ports)


def _free_for_channel(shell: Shell, channel: Interface, ports: list[str]) -> None:
    state = chassis(shell)
    for port in ports:
        owner = state.channel_of(port)
        if owner not in {"", channel.name}:
            raise Refused(f"% Error: {short(port)} is already a member of {owner}.")
        if port in state.interfaces and state.interfaces[port].port_qos.dot1p is not None:
            raise Refused(f"% Error: dot1p-priority is configured on {short(port)}.")


def _each(run: Run) -> Run:
    """A command of interface mode for every interface of a range, up to the first that refuses it."""

    def applied(shell: Shell, match: Match) -> Reply | str | None:
        held = shell.section
        assert isinstance(held, Held)
        assert isinstance(held.item, InterfaceRange)
        answer: Reply | str | None = None
        for interface in held.item.interfaces:
            shell.levels.append(Level(shell.box.modes["interface"], Held(interface.name, interface)))
            try:
                answer = run(shell, match)
            finally:
                shell.levels.pop()
        return answer

    return applied


_PORTS = "{GigabitEthernet|TenGigabitEthernet} PORTLIST"

INTERFACE_ROWS: list[Row] = [
    row("ip address {PREFIXED|IP LENGTH|IP IP}:address", _address, no="ip address [LINE]"),
    row("shutdown", _shutdown, no=True),
    row("description LINE", _option, no="description [LINE]"),
    row("mtu <592-9252>", _option, no="mtu [<592-9252>]"),
    row("speed {10|100|1000|auto}", _option, no="speed [LINE]"),
    row("duplex {full|half}", _option, no="duplex [LINE]"),
    row("negotiation auto", _option, no=True),
    row("keepalive [<1-32767>]", _option, no=True),
    row("portmode hybrid", _option, no=True),
    row("switchport", _switchport, no=True),
    row("vlan-stack {access|trunk}", _stack, no="vlan-stack {access|trunk}"),
    row("bandwidth <1-10000000>", _option, no="bandwidth [LINE]"),
    row("name LINE", _option, no="name [LINE]"),
    row("isis password LINE", _option, no="isis password [LINE]"),
    row("ip ospf message-digest-key LINE", _option, no="ip ospf message-digest-key [LINE]"),
    row(f"channel-member:how {{{_PORTS}}}:ports", _member, no=True),
    row(f"{{tagged|untagged}}:how {{{_PORTS}|Port-channel <1-255>}}:ports", _member, no=True),
    *PORT_QOS_ROWS,
]  # fmt: skip

RANGE_ROWS: list[Row] = [
    row(command.pattern, _each(command.run.run), no=command.no)
    for command in INTERFACE_ROWS
    if isinstance(command.run, Stored)
]
"""The same commands in ``interface range``."""

OPEN_ROWS: list[Row] = [
    row(f"interface {NAMED}", _interface, no=True),
    row("interface range LINE:names", _interface_range),
]
"""What configuration mode offers; each opens a mode of its own."""
