"""QoS commands of the 5510 that say what happens: actions, meters, policies, maps, queues, shapers."""

from __future__ import annotations

from collections.abc import Iterable

from qoslab.boxes.nortel_5510.arguments import (
    config,
    incomplete,
    new_name,
    number,
    parse_ports,
    refused,
    single,
)
from qoslab.boxes.nortel_5510.resources import fitting
from qoslab.boxes.nortel_5510.state import Action, Agent, Meter, Policy, QosConfig, Shaper
from qoslab.boxes.nortel_5510.tables import (
    MAX_SHAPED_RATE,
    QUEUE_SET_WEIGHTS,
    RATE_STEP,
    SERVICE_CLASSES,
    EgressRow,
    IngressRow,
    default_egress_row,
    default_ingress_row,
    default_queue,
)
from qoslab.grammar import Match
from qoslab.shell import Row, Shell
from qoslab.typed import TypedBox, row

FIRST_OUT_ACTION = 9
"""Predefined actions that mark are no out-of-profile actions: 1 (drop) and 9 and above are."""


def check_action(state: QosConfig, action: int | None) -> None:
    """Raises Refused when an action is named that the box does not have."""
    if action is not None and action not in SERVICE_CLASSES and action not in state.actions:
        raise refused(f"Action {action} does not exist")


def _action_in_use(state: QosConfig, action: int) -> None:
    users: Iterable[tuple[int | None, ...]] = (
        *((m.in_action, m.out_action) for m in state.meters.values()),
        *((p.action, p.other_action) for p in state.policies.values()),
        *((b.action,) for b in state.blocks.values()),
    )
    if any(action in used for used in users):
        raise refused("Action is referenced")


def _action(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if match.negated:
        if identity not in state.actions:
            raise refused(f"Action {identity} does not exist")
        _action_in_use(state, identity)
        del state.actions[identity]
        return
    single(match)
    if "extension" in match:
        raise refused(f"Action extension {match['extension']} does not exist")
    made = Action(
        identity,
        new_name(match),
        match.get("drop", "deferred-pass"),
        number(match, "dscp"),
        match.get("priority"),
        match.get("precedence", "low-drop"),
    )
    if state.actions.get(identity) != made:
        _action_in_use(state, identity)
        state.actions[identity] = made


def _named_action(state: QosConfig, match: Match, name: str) -> int | None:
    """An action given by number or by name."""
    if f"{name}_name" not in match:
        action = number(match, name)
        check_action(state, action)
        return action
    wanted = match[f"{name}_name"]
    known = [(a.name, i) for i, a in SERVICE_CLASSES.items()] + [(a.name, i) for i, a in state.actions.items()]
    found = next((identity for called, identity in known if called == wanted), None)
    if found is None:
        raise refused(f"Action {wanted} does not exist")
    return found


# -- meters and shapers -------------------------------------------------------------------------------


def _check_rate(match: Match) -> None:
    rate = match.number("rate")
    if rate % RATE_STEP or not RATE_STEP <= rate <= MAX_SHAPED_RATE:
        raise refused(f"Inappropriate value: rate must be {RATE_STEP}..{MAX_SHAPED_RATE} in steps of {RATE_STEP}")
    if match.number("burst") <= rate:
        raise refused("Inappropriate value: max-burst-rate must exceed the rate")


def _meter_in_use(state: QosConfig, meter: int) -> None:
    if any(p.meter == meter for p in state.policies.values()) or any(
        b.meter == meter for b in state.blocks.values()
    ):
        raise refused("Meter is referenced by a policy")


def _meter(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if match.negated:
        if identity not in state.meters:
            raise refused(f"Meter {identity} does not exist")
        _meter_in_use(state, identity)
        del state.meters[identity]
        return
    _check_rate(match)
    inside, outside = _named_action(state, match, "inside"), _named_action(state, match, "outside")
    if inside is None or outside is None:
        raise incomplete(match)
    if 1 < outside < FIRST_OUT_ACTION:
        raise refused(f"Action {outside} cannot be an out-of-profile action")
    made = Meter(
        identity,
        new_name(match),
        match.number("rate"),
        match.number("burst"),
        number(match, "duration"),
        inside,
        outside,
    )
    if state.meters.get(identity) != made:
        _meter_in_use(state, identity)
        state.meters[identity] = made


def _if_shaper(shell: Shell, match: Match) -> None:
    state, ports = config(shell), parse_ports(match["ports"]) or []
    if match.negated:
        missing = next((port for port in ports if port not in state.shapers), None)
        if missing is not None:
            raise refused(f"No shaper on port {missing}")
        for port in ports:
            del state.shapers[port]
        return
    _check_rate(match)
    for port in ports:
        state.shapers[port] = Shaper(
            port, new_name(match), match.number("rate"), match.number("burst"), number(match, "duration")
        )


# -- policies -----------------------------------------------------------------------------------------


def _classifier_id(state: QosConfig, match: Match) -> int:
    """Number of the classifier set or block that a policy names."""
    block = match["kind"] == "block"
    if "classifier" in match:
        identity = match.number("classifier")
        if not (state.members_of_block(identity) if block else state.members_of_set(identity)):
            raise refused(f"{'Classifier block' if block else 'Classifier'} {identity} does not exist")
        return identity
    name = match["classifier_name"]
    if block:
        found = next((member.block for member in state.blocks.values() if member.name == name), None)
    else:
        found = next((member.set_id for member in state.classifiers.values() if member.name == name), None)
    if found is None:
        raise refused(f"Classifier {name} does not exist")
    return found


def _meter_id(state: QosConfig, match: Match) -> int | None:
    if "meter_name" in match:
        found = next((i for i, held in state.meters.items() if held.name == match["meter_name"]), None)
        if found is None:
            raise refused(f"Meter {match['meter_name']} does not exist")
        return found
    meter = number(match, "meter")
    if meter is not None and meter not in state.meters:
        raise refused(f"Meter {meter} does not exist")
    return meter


def _check_policy(state: QosConfig, made: Policy) -> None:
    if made.port is None and made.group not in state.groups:
        raise refused("Interface group does not exist")
    own = made.kind == "block" and any(member.acts for member in state.members_of_block(made.classifier))
    given = [value for value in (made.action, made.meter) if value is not None]
    if own and given:
        raise refused("The members of the block have their own actions")
    if not own and len(given) != 1:
        raise refused("Either an in-profile action or a meter is needed")
    for other in state.policies.values():
        same = (other.group, other.port) == (made.group, made.port)
        if other.number != made.number and same and other.precedence == made.precedence:
            raise refused(f"Precedence {made.precedence} is already in use")


def _policy(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if match.negated:
        if state.policies.pop(identity, None) is None:
            raise refused(f"Policy {identity} does not exist")
        return
    single(match)
    if ("group" in match) == ("port" in match) or "kind" not in match or "precedence" not in match:
        raise incomplete(match)
    if ("classifier" in match) == ("classifier_name" in match):
        raise incomplete(match)
    made = Policy(
        identity,
        new_name(match),
        match.get("state") != "disable",
        match.get("group"),
        number(match, "port"),
        match["kind"],
        _classifier_id(state, match),
        _named_action(state, match, "inside"),
        _meter_id(state, match),
        _named_action(state, match, "other"),
        match.number("precedence"),
        match.get("statistics"),
    )
    _check_policy(state, made)
    if state.policies.get(identity, made) != made:
        raise refused(f"Policy {identity} already exists")
    with fitting(state):
        state.policies[identity] = made


def _policy_state(shell: Shell, match: Match) -> None:
    state, identity = config(shell), match.number("id")
    if identity not in state.policies:
        raise refused(f"Policy {identity} does not exist")
    with fitting(state):
        state.policies[identity] = state.policies[identity].switched(match["state"] == "enable")


# -- maps, queues, agent ------------------------------------------------------------------------------


def _egress_map(shell: Shell, match: Match) -> None:
    state = config(shell)
    if match.defaulted:
        for dscp in [match.number("ds")] if "ds" in match else range(64):
            state.egress_map[dscp] = default_egress_row(dscp)
        return
    dscp = match.number("ds")
    held = state.egress_map[dscp]
    state.egress_map[dscp] = EgressRow(
        new_name(match) or held.name,
        match.number("priority"),
        match["precedence"],
        match.number("new", held.new_dscp),
    )


def _ingress_map(shell: Shell, match: Match) -> None:
    state = config(shell)
    if match.defaulted:
        for priority in [match.number("priority")] if "priority" in match else range(8):
            state.ingress_map[priority] = default_ingress_row(priority)
        return
    priority = match.number("priority")
    state.ingress_map[priority] = IngressRow(
        new_name(match) or state.ingress_map[priority].name, match.number("ds")
    )


def _queue_assignment(shell: Shell, match: Match) -> None:
    state = config(shell)
    if match.defaulted:
        for queue_set, priority in state.queue_of:
            if "set" not in match or (queue_set, priority) == (match.number("set"), match.number("priority")):
                state.queue_of[(queue_set, priority)] = default_queue(queue_set, priority)
        return
    queue_set, queue = match.number("set"), match.number("queue")
    if queue > len(QUEUE_SET_WEIGHTS[queue_set]):
        raise refused(f"Queue set {queue_set} has no queue {queue}")
    state.queue_of[(queue_set, match.number("priority"))] = queue


def _agent(shell: Shell, match: Match) -> None:
    agent, what = config(shell).agent, match["what"].replace("-", "_")
    name = {"statistics_tracking": "statistics"}.get(what, what)
    value: int | str = match.get("value")
    if match.defaulted:
        value = getattr(Agent(), name)
    with fitting(config(shell)):
        setattr(agent, name, int(value) if isinstance(getattr(agent, name), int) else value)


def _reset_default(shell: Shell, match: Match) -> None:
    """QoS back to the factory's; the rest of the configuration stays."""
    del match
    box = shell.box
    assert isinstance(box, TypedBox)
    plain, box.state = config(shell).plain, box.factory_state()
    config(shell).plain = plain


_ID = "<1-55000>"
_RATES = "<64-10230000>:rate max-burst-rate <64-4294967295>:burst [max-burst-duration <1-4294967295>:duration]"

POLICY_ROWS: list[Row] = [
    row("qos action <10-55000>:id [{name NAME:name|drop-action {enable|disable|deferred-pass}:drop"
        "|update-dscp <0-63>:dscp|update-1p <0-7>:priority|{use-tos-prec|use-egress}:priority"
        "|set-drop-prec {low-drop|high-drop}:precedence"
        f"|action-ext {_ID}:extension|action-ext-name NAME:extension}}*7]", _action, no="qos action <10-55000>:id"),
    row(f"qos meter {_ID}:id [name NAME:name] committed-rate {_RATES}"
        f" {{in-profile-action {_ID}:inside|in-profile-action-name NAME:inside_name}}"
        " {out-profile-action {<1-1>|<9-55000>}:outside|out-profile-action-name NAME:outside_name}",
        _meter, no=f"qos meter {_ID}:id"),
    row(f"qos policy {_ID}:id {{enable|disable}}:state", _policy_state),
    row(f"qos policy {_ID}:id [enable|disable]:state {{name NAME:name|if-group NAME:group|port PORT:port"
        f"|clfr-type {{classifier|block}}:kind|clfr-id {_ID}:classifier|clfr-name NAME:classifier_name"
        f"|in-profile-action {_ID}:inside|in-profile-action-name NAME:inside_name"
        f"|meter {_ID}:meter|meter-name NAME:meter_name"
        f"|non-match-action {_ID}:other|non-match-action-name NAME:other_name"
        "|precedence <1-15>:precedence|track-statistics {individual|aggregate}:statistics}*9",
        _policy, no=f"qos policy {_ID}:id"),
    row("qos egressmap [name NAME:name] ds <0-63>:ds 1p <0-7>:priority dp {low-drop|high-drop}:precedence"
        " [ds-new <0-63>:new]", _egress_map, no="qos egressmap [ds <0-63>:ds]", forms=("default",)),
    row("qos ingressmap [name NAME:name] 1p <0-7>:priority ds <0-63>:ds", _ingress_map,
        no="qos ingressmap [1p <0-7>:priority]", forms=("default",)),
    row("qos queue-set-assignment queue-set <1-8>:set 1p <0-7>:priority queue <1-8>:queue", _queue_assignment,
        no="qos queue-set-assignment [queue-set <1-8>:set 1p <0-7>:priority]", forms=("default",)),
    row("qos agent queue-set:what <1-8>:value", _agent, no="qos agent queue-set:what", forms=("default",)),
    row("qos agent buffer:what {regular|large|maximum}:value", _agent, no="qos agent buffer:what",
        forms=("default",)),
    row("qos agent nvram-delay:what <0-604800>:value", _agent, no="qos agent nvram-delay:what", forms=("default",)),
    row("qos agent ubp:what {disable|epm|high-security-local|low-security-local}:value", _agent,
        no="qos agent ubp:what", forms=("default",)),
    row("qos agent statistics-tracking:what {disable|individual|aggregate}:value", _agent,
        no="qos agent statistics-tracking:what", forms=("default",)),
    row("qos agent reset-default", _reset_default),
]  # fmt: skip

SHAPER_ROWS: list[Row] = [
    row(f"qos if-shaper port PORTS:ports [name NAME:name] shape-rate {_RATES}", _if_shaper,
        no="qos if-shaper port PORTS:ports"),
]  # fmt: skip
"""The one QoS command of interface mode."""
