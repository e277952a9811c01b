"""QoS commands of FTOS: class maps, QoS policies, WRED profiles, policy maps.

Texts of refusals: FTOS starts them with ``% Error:``; only few are published word for word, the
rest keep that form and are the lab's assumption.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar, cast

from app.lab.boxes.force10_e300_state import (
    MAX_USER_WRED,
    PREDEFINED_WRED,
    Chassis,
    ClassMap,
    InputPolicy,
    OutputPolicy,
    PolicyMap,
    Service,
    WredProfile,
)
from app.lab.boxes.force10_e300_state import Match as MatchLine
from app.lab.grammar import Match, Refused
from app.lab.patterns import ArgumentType
from app.lab.shell import Row, Shell
from app.lab.typed import Held, TypedBox, row

MATCH_ANY_ACLS, MATCH_ALL_ACLS = 5, 1
"""Access-lists a class map may refer to (S4820T reference p. 647)."""

Direction = Literal["input", "output"]
Item = TypeVar("Item")


def chassis(shell: Shell) -> Chassis:
    """The configuration that a login edits."""
    return cast("TypedBox[Chassis]", shell.box).state


def item(shell: Shell, kind: type[Item]) -> Item:
    """The object that the current mode edits."""
    held = shell.section
    assert isinstance(held, Held)
    assert isinstance(held.item, kind)
    return held.item


def checked(shell: Shell, name: str) -> str:
    """A name for a new object. Raises Refused when it is too long."""
    longest = chassis(shell).name_length
    if len(name) > longest:
        raise Refused(f"% Error: Name must not exceed {longest} characters.")
    return name


def existing(table: Mapping[str, Item], name: str, what: str) -> Item:
    """The object called ``name``. Raises Refused when there is none."""
    if name not in table:
        raise Refused(f"% Error: {what} {name} does not exist.")
    return table[name]


def unused(users: list[str], what: str) -> None:
    """Raises Refused while anything refers to the object."""
    if users:
        raise Refused(f"% Error: {what} is in use.")


def _numbers(high: int, name: str) -> ArgumentType:
    def parse(token: str) -> str | None:
        parts = token.split(",")
        if not all(part.isascii() and part.isdigit() and len(part) < 5 and int(part) <= high for part in parts):
            return None
        return ",".join(str(int(part)) for part in parts)

    return ArgumentType(name, parse)


TYPES = {"DSCPS": _numbers(63, "DSCPS"), "PRIORITIES": _numbers(7, "PRIORITIES")}
"""Comma-separated lists of values."""


# -- class maps ---------------------------------------------------------------------------------------


def _class_map(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).class_maps, match["name"]
    if match.negated:
        existing(held, name, "Class-map")
        unused(chassis(shell).users_of_class(name), "Class-map")
        del held[name]
        return
    mode, layer2 = match["mode"], "layer2" in match
    present = held.setdefault(checked(shell, name), ClassMap(name, mode, layer2))
    if (present.mode, present.layer2) != (mode, layer2):
        raise Refused(f"% Error: Class-map {name} already exists with another type.")
    shell.enter("class-map", Held(name, present))


def _match(shell: Shell, match: Match) -> None:
    edited = item(shell, ClassMap)
    acl = match.get("acl")
    values = ",".join(match.values("values")).split(",") if "values" in match else []
    mark = match.number("mark") if "mark" in match else None
    line = MatchLine(match["kind"], tuple(map(int, values)), acl, mark)
    same = [held for held in edited.matches if (held.kind, held.values, held.acl) == (line.kind, line.values, acl)]
    if match.negated:
        if not same:
            raise Refused("% Error: Match criteria does not exist.")
        edited.matches.remove(same[0])
        return
    if edited.layer2 != line.kind.startswith("mac"):
        raise Refused(f"% Error: Class-map {edited.name} is a {'layer2' if edited.layer2 else 'layer3'} class-map.")
    if mark is not None and edited.mode == "match-all":
        raise Refused("% Error: set-ip-dscp is allowed in match-any class-maps only.")
    if acl:
        existing(chassis(shell).acls, acl, "Access-list")
        limit = MATCH_ALL_ACLS if edited.mode == "match-all" else MATCH_ANY_ACLS
        if not same and sum(1 for held in edited.matches if held.acl) >= limit:
            raise Refused(f"% Error: Only {limit} access-list(s) allowed in a {edited.mode} class-map.")
    if same:
        edited.matches[edited.matches.index(same[0])] = line
    else:
        edited.matches.append(line)


CLASS_MAP_ROWS: list[Row] = [
    row("match {ip access-group}:kind WORD:acl [set-ip-dscp <0-63>:mark]", _match, no=True),
    row("match {ip dscp}:kind DSCPS:values*8 [set-ip-dscp <0-63>:mark]", _match, no=True),
    row("match {ip precedence}:kind PRIORITIES:values*8 [set-ip-dscp <0-63>:mark]", _match, no=True),
    row("match {ip vlan}:kind <1-4094>:values", _match, no=True),
    row("match {mac dot1p}:kind PRIORITIES:values*8", _match, no=True),
    row("match {mac vlan}:kind <1-4094>:values", _match, no=True),
]


# -- QoS policies -------------------------------------------------------------------------------------

_RATE = "{kbps <512-10000000>|<0-10000>}"
METER = f"{_RATE} [<16-200000>] [peak {_RATE} [<16-200000>]]"
"""Rate in Mb/s, or kb/s (an E-Series wants 512 and more), burst in KB."""


def _input_policy(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).input_policies, match["name"]
    if match.negated:
        existing(held, name, "QoS policy")
        unused(chassis(shell).users_of_policy("input", name), "QoS policy")
        del held[name]
        return
    present = held.setdefault(checked(shell, name), InputPolicy(name, "layer2" in match))
    if present.layer2 != ("layer2" in match):
        raise Refused(f"% Error: QoS policy {name} already exists with another layer.")
    shell.enter("qos-policy-input", Held(name, present))


def _rate_police(shell: Shell, match: Match) -> None:
    item(shell, InputPolicy).police = "" if match.negated else match["rate"]


def _set_dscp(shell: Shell, match: Match) -> None:
    item(shell, InputPolicy).set_dscp = None if match.negated else match.number("dscp")


def _set_dot1p(shell: Shell, match: Match) -> None:
    edited = item(shell, InputPolicy)
    if not edited.layer2:
        raise Refused("% Error: mac-dot1p can be set in a layer2 QoS policy only.")
    edited.set_dot1p = None if match.negated else match.number("priority")


INPUT_POLICY_ROWS: list[Row] = [
    row(f"rate-police {{{METER}}}:rate", _rate_police, no="rate-police [LINE]"),
    row("set ip-dscp <0-63>:dscp", _set_dscp, no="set ip-dscp [<0-63>]"),
    row("set mac-dot1p <0-7>:priority", _set_dot1p, no="set mac-dot1p [<0-7>]"),
]


def _output_policy(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).output_policies, match["name"]
    if match.negated:
        existing(held, name, "QoS policy")
        unused(chassis(shell).users_of_policy("output", name), "QoS policy")
        del held[name]
        return
    shell.enter("qos-policy-output", Held(name, held.setdefault(checked(shell, name), OutputPolicy(name))))


def _percentage(shell: Shell, match: Match) -> None:
    item(shell, OutputPolicy).percentage = None if match.negated else match.number("percent")


def _rate_limit(shell: Shell, match: Match) -> None:
    item(shell, OutputPolicy).limit = "" if match.negated else match["rate"]


def checked_shape(match: Match) -> str:
    """A shaping rate and burst. Raises Refused unless the rate is a multiple of 10 Mb/s."""
    if match.number("amount") % (10_000 if "unit" in match else 10):
        raise Refused("% Error: Shape rate must be a multiple of 10 Mbps.")
    return match["rate"]


def _rate_shape(shell: Shell, match: Match) -> None:
    item(shell, OutputPolicy).shape = "" if match.negated else checked_shape(match)


def _wred(shell: Shell, match: Match) -> None:
    edited, colour = item(shell, OutputPolicy), match["colour"]
    if match.negated:
        edited.wred.pop(colour, None)
        return
    if match["profile"] not in PREDEFINED_WRED:
        existing(chassis(shell).wred, match["profile"], "WRED profile")
    edited.wred[colour] = match["profile"]


SHAPE = "{{kbps:unit <10000-10000000>:amount|<10-10000>:amount} [<0-10000>]}:rate"
"""Pattern of a shaping rate: Mb/s, or kb/s after the keyword; burst in KB."""

OUTPUT_POLICY_ROWS: list[Row] = [
    row("bandwidth-percentage <0-100>:percent", _percentage, no="bandwidth-percentage [<0-100>]"),
    row(f"rate-limit {{{METER}}}:rate", _rate_limit, no="rate-limit [LINE]"),
    row(f"rate-shape {SHAPE}", _rate_shape, no="rate-shape [LINE]"),
    row("wred {green|yellow}:colour WORD:profile", _wred, no="wred {green|yellow}:colour [WORD]"),
]


# -- WRED profiles ------------------------------------------------------------------------------------


def _wred_profile(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).wred, match["name"]
    if name in PREDEFINED_WRED:
        raise Refused(f"% Error: WRED profile {name} is predefined and cannot be changed.")
    if match.negated:
        existing(held, name, "WRED profile")
        unused(chassis(shell).users_of_wred(name), "WRED profile")
        del held[name]
        return
    if name not in held and len(held) >= MAX_USER_WRED:
        raise Refused("% Error: Maximum number of WRED profiles reached.")
    shell.enter("wred-profile", Held(name, held.setdefault(checked(shell, name), WredProfile(name))))


def _threshold(shell: Shell, match: Match) -> None:
    edited = item(shell, WredProfile)
    fresh = WredProfile(edited.name)
    low, high = match.number("low", fresh.low), match.number("high", fresh.high)
    if low > high:
        raise Refused("% Error: Minimum threshold must not exceed the maximum threshold.")
    edited.low, edited.high = low, high


WRED_ROWS: list[Row] = [
    row("threshold min <0-65535>:low max <0-65535>:high", _threshold, no="threshold [LINE]"),
]
"""The upper end of the threshold range is not published; the hardware counts in 16 bits (assumed)."""


# -- policy maps --------------------------------------------------------------------------------------


def _policy_map(direction: Direction, shell: Shell, match: Match) -> None:
    held, name = chassis(shell).policy_maps[direction], match["name"]
    if match.negated:
        existing(held, name, "Policy-map")
        unused(chassis(shell).users_of_map(direction, name), "Policy-map")
        del held[name]
        return
    layer2 = "layer2" in match
    present = held.setdefault(checked(shell, name), PolicyMap(name, direction, layer2))
    if present.layer2 != layer2:
        raise Refused(f"% Error: Policy-map {name} already exists with another layer.")
    shell.enter(f"policy-map-{direction}", Held(name, present))


def _policy_map_input(shell: Shell, match: Match) -> None:
    _policy_map("input", shell, match)


def _policy_map_output(shell: Shell, match: Match) -> None:
    _policy_map("output", shell, match)


def _check_policy(shell: Shell, edited: PolicyMap, name: str) -> None:
    if edited.direction == "output":
        existing(chassis(shell).output_policies, name, "QoS policy")
    elif existing(chassis(shell).input_policies, name, "QoS policy").layer2 != edited.layer2:
        raise Refused(f"% Error: QoS policy {name} is of another layer.")


def _service_queue(shell: Shell, match: Match) -> None:
    edited, queue = item(shell, PolicyMap), match.number("queue")
    if match.negated:
        if edited.services.pop(queue, None) is None:
            raise Refused(f"% Error: Queue {queue} is not configured.")
        return
    service = Service(match.get("class"), match.get("policy"))
    if (
        service.class_map
        and existing(chassis(shell).class_maps, service.class_map, "Class-map").layer2 != edited.layer2
    ):
        raise Refused(f"% Error: Class-map {service.class_map} is of another layer.")
    if service.qos_policy:
        _check_policy(shell, edited, service.qos_policy)
    edited.services[queue] = service


def _aggregate(shell: Shell, match: Match) -> None:
    edited = item(shell, PolicyMap)
    if not match.negated:
        _check_policy(shell, edited, match["policy"])
    edited.aggregate = "" if match.negated else match["policy"]


def _trust(shell: Shell, match: Match) -> None:
    edited = item(shell, PolicyMap)
    edited.trust = "" if match.negated else match["what"]
    edited.fallback = not match.negated and "fallback" in match


POLICY_MAP_INPUT_ROWS: list[Row] = [
    row(
        "service-queue <0-7>:queue {class-map WORD:class [qos-policy WORD:policy]|qos-policy WORD:policy} [layer2]",
        _service_queue,
        no="service-queue <0-7>:queue [LINE]",
    ),
    row("policy-aggregate WORD:policy", _aggregate, no="policy-aggregate [WORD]"),
    row("trust {diffserv|dot1p}:what [fallback:fallback]", _trust, no="trust [LINE]"),
]

POLICY_MAP_OUTPUT_ROWS: list[Row] = [
    row(
        "service-queue <0-7>:queue qos-policy WORD:policy",
        _service_queue,
        no="service-queue <0-7>:queue [LINE]",
    ),
    row("policy-aggregate WORD:policy", _aggregate, no="policy-aggregate [WORD]"),
]


QOS_ROWS: list[Row] = [
    row(
        "class-map {match-any|match-all}:mode WORD:name [layer2:layer2]",
        _class_map,
        no="class-map [match-any|match-all] WORD:name [layer2]",
    ),
    row("qos-policy-input WORD:name [layer2:layer2]", _input_policy, no=True),
    row("qos-policy-output WORD:name", _output_policy, no=True),
    row("wred-profile WORD:name", _wred_profile, no=True),
    row("policy-map-input WORD:name [layer2:layer2]", _policy_map_input, no=True),
    row("policy-map-output WORD:name", _policy_map_output, no=True),
]
"""What configuration mode offers; each opens a mode of its own."""
