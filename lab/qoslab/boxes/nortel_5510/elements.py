"""QoS commands of the 5510 that say which traffic: groups, elements, classifiers, blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from qoslab.boxes.nortel_5510.arguments import (
    config,
    new_name,
    number,
    parse_ports,
    refused,
    single,
)
from qoslab.boxes.nortel_5510.criteria import IP_OPTIONS, L2_OPTIONS, ip_fields, l2_fields
from qoslab.boxes.nortel_5510.policies import check_action
from qoslab.boxes.nortel_5510.resources import fitting
from qoslab.boxes.nortel_5510.state import BlockMember, Classifier, IpElement, L2Element, QosConfig
from qoslab.boxes.nortel_5510.tables import DEFAULT_GROUP
from qoslab.grammar import Match
from qoslab.shell import Row, Shell
from qoslab.typed import row

GROUP_NAME_LENGTH = 32
"""Longest name of an interface group."""

Item = TypeVar("Item")


def _existing(table: Mapping[int, Item], identity: int, what: str) -> Item:
    if identity not in table:
        raise refused(f"{what} {identity} does not exist")
    return table[identity]


# -- interface groups ---------------------------------------------------------------------------------


def _if_group(shell: Shell, match: Match) -> None:
    state, name = config(shell), match["name"]
    if not match.negated:
        if len(name) > GROUP_NAME_LENGTH:
            raise refused(f"Name must not exceed {GROUP_NAME_LENGTH} characters")
        if state.groups.setdefault(name, match["class"]) != match["class"]:
            raise refused("Interface group already exists")
        return
    if name not in state.groups:
        raise refused("Interface group does not exist")
    if name == DEFAULT_GROUP or name in state.assigned.values():
        raise refused("Interface group is in use")
    if any(policy.group == name for policy in state.policies.values()):
        raise refused("Interface group is referenced by a policy")
    del state.groups[name]


def _if_assign(shell: Shell, match: Match) -> None:
    state = config(shell)
    name = DEFAULT_GROUP if match.negated else match["name"]
    if name not in state.groups:
        raise refused("Interface group does not exist")
    with fitting(state):
        for port in parse_ports(match["ports"]) or []:
            if name == DEFAULT_GROUP:
                state.assigned.pop(port, None)
            else:
                state.assigned[port] = name


# -- elements -----------------------------------------------------------------------------------------


def _unreferenced(state: QosConfig, kind: str, identity: int) -> None:
    if any(c.kind == kind and c.element == identity for c in state.classifiers.values()):
        raise refused("Element is referenced by a classifier")


def _ip_element(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if match.negated:
        _existing(state.ip_elements, identity, "Element")
        _unreferenced(state, "ip", identity)
        del state.ip_elements[identity]
        return
    single(match)
    made = IpElement(identity, new_name(match), ip_fields(match))
    if state.ip_elements.get(identity) != made:
        _unreferenced(state, "ip", identity)
        state.ip_elements[identity] = made


def _l2_element(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if match.negated:
        _existing(state.l2_elements, identity, "Element")
        _unreferenced(state, "l2", identity)
        del state.l2_elements[identity]
        return
    single(match)
    made = L2Element(identity, new_name(match), l2_fields(match))
    if state.l2_elements.get(identity) != made:
        _unreferenced(state, "l2", identity)
        state.l2_elements[identity] = made


# -- classifiers and blocks ---------------------------------------------------------------------------


def _set_in_use(state: QosConfig, set_id: int) -> None:
    if any(p.kind == "classifier" and p.classifier == set_id for p in state.policies.values()):
        raise refused("Classifier is referenced by a policy")
    if any(member.set_id == set_id for member in state.blocks.values()):
        raise refused("Classifier is referenced by a classifier block")


def _classifier(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if match.negated:
        _set_in_use(state, _existing(state.classifiers, identity, "Classifier").set_id)
        del state.classifiers[identity]
        return
    kind = match["kind"]
    made = Classifier(identity, match.number("set"), new_name(match), kind, match.number("element"))
    elements: Mapping[int, object] = state.ip_elements if kind == "ip" else state.l2_elements
    _existing(elements, made.element, "Element")
    present = state.classifiers.get(identity)
    if present == made:
        return
    if present is not None:
        _set_in_use(state, present.set_id)
    _set_in_use(state, made.set_id)
    others = [member for member in state.members_of_set(made.set_id) if member.number != identity]
    if any(member.kind == kind for member in others):
        raise refused(f"Classifier set {made.set_id} already has an element of this type")
    state.classifiers[identity] = made


def _mask(state: QosConfig, set_id: int) -> tuple[object, ...]:
    """The bits that a classifier set looks at."""
    masks = [
        (state.ip_elements if member.kind == "ip" else state.l2_elements)[member.element].fields.mask()
        for member in state.members_of_set(set_id)
    ]
    return tuple(sorted(masks, key=lambda mask: str(mask[0])))


def _block_in_use(state: QosConfig, block: int) -> None:
    if any(p.kind == "block" and p.classifier == block for p in state.policies.values()):
        raise refused("Classifier block is referenced by a policy")


def _set_id(state: QosConfig, match: Match) -> int:
    if "set" in match:
        if not state.members_of_set(match.number("set")):
            raise refused(f"Classifier set {match['set']} does not exist")
        return match.number("set")
    found = next((c.set_id for c in state.classifiers.values() if c.name == match["set_name"]), None)
    if found is None:
        raise refused(f"Classifier {match['set_name']} does not exist")
    return found


def _classifier_block(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if match.negated:
        _block_in_use(state, _existing(state.blocks, identity, "Classifier block").block)
        del state.blocks[identity]
        return
    made = BlockMember(
        identity,
        match.number("block"),
        new_name(match),
        _set_id(state, match),
        number(match, "action"),
        number(match, "meter"),
    )
    present = state.blocks.get(identity)
    if present == made:
        return
    check_action(state, made.action)
    if made.meter is not None:
        _existing(state.meters, made.meter, "Meter")
    if present is not None:
        _block_in_use(state, present.block)
    _block_in_use(state, made.block)
    for other in state.members_of_block(made.block):
        if other.number == identity:
            continue
        if _mask(state, other.set_id) != _mask(state, made.set_id):
            raise refused("All members of a block must have the same mask")
        if made.name and other.name and other.name != made.name:
            # NTN-QOS-POLICY-EVOL-PIB, ntnClfrBlockLabel: members of the same block number have the same label.
            raise refused("All members of a block must have the same name")
        if other.acts != made.acts:
            raise refused("All or no members of a block must have an action or meter")
    state.blocks[identity] = made


_ID = "<1-55000>"

ELEMENT_ROWS: list[Row] = [
    row("qos if-group name NAME:name class {trusted|untrusted|unrestricted}:class", _if_group,
        no="qos if-group name NAME:name"),
    row("qos if-assign port PORTS:ports name NAME:name", _if_assign, no="qos if-assign port PORTS:ports"),
    row(f"qos ip-element {_ID}:id [{{name NAME:name|{IP_OPTIONS}}}*12]", _ip_element,
        no=f"qos ip-element {_ID}:id"),
    row(f"qos l2-element {_ID}:id [{{name NAME:name|{L2_OPTIONS}}}*10]", _l2_element,
        no=f"qos l2-element {_ID}:id"),
    row(f"qos classifier {_ID}:id set-id {_ID}:set [name NAME:name] element-type {{ip|l2}}:kind"
        f" element-id {_ID}:element", _classifier, no=f"qos classifier {_ID}:id"),
    row(f"qos classifier-block {_ID}:id block-number {_ID}:block [name NAME:name]"
        f" {{set-id {_ID}:set|set-name NAME:set_name}} [in-profile-action {_ID}:action] [meter {_ID}:meter]",
        _classifier_block, no=f"qos classifier-block {_ID}:id"),
]  # fmt: skip
