"""QoS commands of FTOS on an interface: port-based ones, and the attachment of policy maps.

The two exclude each other on one interface (S4820T reference p. 642).
"""

from __future__ import annotations

from qoslab.boxes.force10_e300.names import listed, short
from qoslab.boxes.force10_e300.qos import METER, SHAPE, chassis, existing, item, layer2_of, meter, shape
from qoslab.boxes.force10_e300.state import POLICY_FAMILIES, PREDEFINED_WRED, Interface
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell
from qoslab.typed import row

MAX_METERS = 6
"""Rates of one kind on one interface of an E-Series (Z9000 reference p. 1184)."""


def layer2_users(interface: Interface) -> str:
    """What on the interface works in layer 2 mode only; "" when nothing does."""
    if interface.layer2_policy:
        return "Layer2 service-policy"
    meters = [*interface.port_qos.police, *interface.port_qos.limit]
    return "A rate of a VLAN" if any(vlan is not None for vlan in meters) else ""


def _port_based(shell: Shell, *, channel: bool = False) -> Interface:
    """The interface in whose mode a port-based command is typed. Raises Refused where it takes none."""
    edited = item(shell, Interface)
    if edited.family == "ManagementEthernet" or not (
        edited.physical or (channel and edited.family == "Port-channel")
    ):
        raise Refused(f"% Error: Port-based QoS is not supported on {edited.family} interfaces.")
    if edited.policies:
        raise Refused("% Error: Policy-based QoS is configured on this interface.")
    return edited


def _dot1p(shell: Shell, match: Match) -> None:
    if match.negated:
        item(shell, Interface).port_qos.dot1p = None
        return
    edited = _port_based(shell, channel=True)
    owner = chassis(shell).channel_of(edited.name)
    if owner:
        raise Refused(f"% Error: {short(edited.name)} is a member of {owner}.")
    edited.port_qos.dot1p = match.number("priority")


def _check_vlan(shell: Shell, edited: Interface, kind: str, vlan: int) -> None:
    if "switchport" not in edited.options:
        raise Refused(f"% Error: Port is not in Layer 2 mode {short(edited.name)}.")
    state = chassis(shell)
    network = state.interfaces.get(f"Vlan {vlan}")
    tagged = [name for member in (network.members.get("tagged", []) if network else []) for name in listed(member)]
    # In a listing the VLANs come after the ports.
    if not shell.loading and edited.name not in tagged:
        raise Refused(f"% Error: {short(edited.name)} is not a tagged member of VLAN {vlan}.")
    other = "limit" if kind == "police" else "police"
    if any(vlan in interface.port_qos.meters(other) for interface in state.interfaces.values()):
        raise Refused("%Error: Specified VLANs overlap with existing config.")


def _meter(shell: Shell, match: Match) -> None:
    kind, vlan = match["kind"], match.number("vlan") if "vlan" in match else None
    if match.negated:
        held = item(shell, Interface).port_qos.meters(kind)
        if held.pop(vlan, None) is None:
            raise Refused(f"% Error: Rate {kind} is not configured on this interface.")
        return
    edited, made = _port_based(shell), meter(shell, match)
    if vlan is not None:
        _check_vlan(shell, edited, kind, vlan)
    held = edited.port_qos.meters(kind)
    if vlan not in held and len(held) >= MAX_METERS:
        raise Refused(f"% Error: Only {MAX_METERS} rate {kind} commands allowed on an interface.")
    held[vlan] = made


def _shape(shell: Shell, match: Match) -> None:
    if match.negated:
        item(shell, Interface).port_qos.shape = None
    else:
        _port_based(shell).port_qos.shape = shape(shell, match)


def _storm_control(shell: Shell, match: Match) -> None:
    edited = item(shell, Interface)
    if match.negated:
        edited.options.pop("storm-control", None)
        return
    if not edited.physical:
        raise Refused(f"% Error: Storm control is not supported on {edited.family} interfaces.")
    if match["profile"] not in PREDEFINED_WRED:
        existing(chassis(shell).wred, match["profile"], "WRED profile")
    edited.options["storm-control"] = match.text


def _service_policy(shell: Shell, match: Match) -> None:
    edited, direction = item(shell, Interface), match["direction"]
    if match.negated:
        if edited.policies.get(direction) is None or match.get("name") not in {"", edited.policies[direction]}:
            raise Refused("% Error: Service-policy is not configured on this interface.")
        del edited.policies[direction]
        edited.layer2_policy = edited.layer2_policy and direction != "input"
        return
    if edited.family not in POLICY_FAMILIES:
        raise Refused(f"% Error: Service-policy is not supported on {edited.family} interfaces.")
    layer2 = layer2_of(shell, match)
    policy = existing(chassis(shell).policy_maps[direction], match["name"], "Policy-map")
    if edited.port_qos.configured:
        raise Refused("% Error: Port-based QoS is configured on this interface.")
    if policy.layer2 != layer2:
        raise Refused(f"% Error: Policy-map {policy.name} is of another layer.")
    if policy.layer2 and "switchport" not in edited.options:
        raise Refused(f"% Error: Port is not in Layer 2 mode {short(edited.name)}.")
    if policy.layer2 and edited.options.get("vlan-stack") == "vlan-stack access":
        raise Refused("% Error: vlan-stack access is configured on this interface.")
    edited.policies[direction] = policy.name
    if direction == "input":
        edited.layer2_policy = policy.layer2


def _undone(kind: str) -> str:
    """Pattern of the undoing of a rate: the keywords, with or without the rate, and the VLAN."""
    return f"rate {kind}:kind [{METER}] [vlan <1-4094>:vlan]"


PORT_QOS_ROWS: list[Row] = [
    row("dot1p-priority <0-7>:priority", _dot1p, no="dot1p-priority [<0-7>]"),
    row(f"rate police:kind {METER} [vlan <1-4094>:vlan]", _meter, no=_undone("police")),
    row(f"rate limit:kind {METER} [vlan <1-4094>:vlan]", _meter, no=_undone("limit")),
    row(f"rate shape {SHAPE}", _shape, no="rate shape [LINE]"),
    row("storm-control broadcast <0-100> out wred-profile WORD:profile", _storm_control,
        no="storm-control broadcast [LINE]"),
    row("service-policy {input:direction WORD:name [layer2:layer2]|output:direction WORD:name}",
        _service_policy, no="service-policy {input|output}:direction [WORD:name] [layer2]"),
]  # fmt: skip
