"""Exec commands of the 5510, and those that move between its modes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from qoslab.boxes.nortel_5510 import show
from qoslab.boxes.nortel_5510.arguments import config, number, parse_ports
from qoslab.boxes.nortel_5510.plane import action_of
from qoslab.boxes.nortel_5510.state import Printed
from qoslab.boxes.nortel_5510.tables import PORTS, SERVICE_CLASSES
from qoslab.grammar import Command, Match, Refused
from qoslab.shell import Question, Reply, Row, Shell
from qoslab.wiring import heard

if TYPE_CHECKING:
    from qoslab.boxes.nortel_5510 import Nortel5510


def _box(shell: Shell) -> Nortel5510:
    return cast("Nortel5510", shell.box)


def _ports(match: Match) -> list[int]:
    return (parse_ports(match["ports"]) or []) if "ports" in match else list(range(1, PORTS + 1))


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)


# -- moving about -------------------------------------------------------------------------------------


def _enable(shell: Shell, match: Match) -> Reply:
    del match
    secret = shell.box.spec.secret
    if not secret or shell.privileged:
        shell.privileged = True
        return Reply()

    def check(answer: str) -> Reply:
        shell.privileged = answer == secret
        return Reply("" if shell.privileged else "% Bad password")

    return Reply(ask=Question("Enter Password: ", check, echo=False))


def _disable(shell: Shell, match: Match) -> None:
    del match
    shell.privileged = False


def _logout(shell: Shell, match: Match) -> Reply:
    del shell, match
    return Reply(close=True)


def _terminal(shell: Shell, match: Match) -> None:
    if "length" in match:
        shell.length = match.number("length")
    else:
        shell.width = match.number("width")


def _configure(shell: Shell, match: Match) -> None:
    del match
    shell.enter("config", shell.box.running)


def _interface(shell: Shell, match: Match) -> None:
    del match
    if len(shell.levels) > 1:
        shell.leave()
    shell.enter("interface", shell.section)


def _exit(shell: Shell, match: Match) -> None:
    del match
    if len(shell.levels) == 1:
        shell.end()
    else:
        shell.leave()


def _end(shell: Shell, match: Match) -> None:
    del match
    shell.end()


# -- saving and resetting -----------------------------------------------------------------------------


def _save(shell: Shell, match: Match) -> None:
    del match
    shell.box.save()


def _boot(shell: Shell, match: Match) -> Reply:
    fresh = "default" in match

    def decide(answer: str) -> Reply:
        if not answer.strip().lower().startswith("y"):
            return Reply()
        if fresh:
            shell.box.storage.save_startup("")
        shell.box.reboot()
        return Reply(abort=True)

    what = "Reset to factory defaults and reboot" if fresh else "Reboot"
    return Reply(ask=Question(f"{what} the unit (y/n) ? ", decide))


# -- show ---------------------------------------------------------------------------------------------


def _running(shell: Shell, match: Match) -> str:
    return _text(show.listing(_box(shell).state, everything="verbose" in match))


def _agent(shell: Shell, match: Match) -> str:
    del match
    return _text(show.agent(_box(shell).state.agent, _box(shell).in_force))


def _queue_set(shell: Shell, match: Match) -> str:
    return _text(show.queue_sets(number(match, "set"), _box(shell).in_force.buffer))


def _queue_assignment(shell: Shell, match: Match) -> str:
    return _text(show.queue_assignment(_box(shell).state, number(match, "set")))


def _groups(shell: Shell, match: Match) -> str:
    del match
    return _text(show.groups(_box(shell).state))


def _assignment(shell: Shell, match: Match) -> str:
    return _text(show.assignment(_box(shell).state, _ports(match)))


def _egress_map(shell: Shell, match: Match) -> str:
    return _text(show.egress_map(_box(shell).state, number(match, "ds")))


def _ingress_map(shell: Shell, match: Match) -> str:
    del match
    return _text(show.ingress_map(_box(shell).state))


def _action(shell: Shell, match: Match) -> str:
    del match
    state = _box(shell).state
    listed = [(action_of(state, identity), "ReadOnly") for identity in SERVICE_CLASSES]
    return _text(show.actions([*listed, *((held, "NonVol") for _, held in sorted(state.actions.items()))]))


def _shaper(shell: Shell, match: Match) -> str:
    return _text(show.shapers(_box(shell).state, _ports(match)))


def _objects(shell: Shell, match: Match) -> str:
    state = _box(shell).state
    tables: dict[str, Mapping[int, Printed]] = {
        "ip-element": state.ip_elements,
        "l2-element": state.l2_elements,
        "classifier": state.classifiers,
        "classifier-block": state.blocks,
        "meter": state.meters,
        "policy": state.policies,
        "ip-acl": state.acls["ip"],
        "l2-acl": state.acls["l2"],
    }
    return _text(show.objects(match["what"], tables[match["what"]]))


def _statistics(shell: Shell, match: Match) -> str:
    box, identity = _box(shell), match.number("policy")
    policy = box.state.policies.get(identity)
    if policy is None:
        raise Refused(f"% Policy {identity} does not exist")
    counted = box.counted.get(identity, Counter())
    return _text(show.statistics(identity, policy.name, (counted["in"], counted["out"])))


def _diag(shell: Shell, match: Match) -> str:
    del match
    return _text(show.diag(_box(shell).state, range(1, PORTS + 1)))


def _acl_assignment(shell: Shell, match: Match) -> str:
    del match
    return _text(show.acl_assignment(_box(shell).state))


def _capability(shell: Shell, match: Match) -> str:
    del match
    return _text(show.capability(_box(shell).state))


def _system(shell: Shell, match: Match) -> str:
    del match
    sntp = "sntp enable" in config(shell).plain.get("CORE (Phase 1)", ())
    now = shell.box.clock.stamp("%Y-%m-%d %H:%M:%S GMT+00:00") if sntp else ""
    return _text(show.system(shell.box.hostname, shell.box.clock.seconds() - shell.box.booted_at, now))


def _show_ports(shell: Shell, match: Match) -> str:
    box = _box(shell)
    return _text(show.ports((port, box.is_up(port), box.speed(port)) for port in _ports(match)))


def _topology(shell: Shell, match: Match) -> str:
    del match
    box = _box(shell)
    found = sorted((int(port), told) for port, told in heard(box, "sonmp"))
    return _text(show.topology((box.address, box.mac), found))


def _autosave(shell: Shell, match: Match) -> str:
    del match
    return show.autosave(_box(shell).autosaves)


EXEC_ROWS: list[Row] = [
    Command("enable", _enable),
    Command("exit", _logout),
    Command("logout", _logout),
    Command("terminal {length <0-132>:length|width <1-132>:width}", _terminal),
    Command("show sys-info", _system),
    Command("show interfaces [PORTS:ports]", _show_ports),
    Command("show autotopology nmm-table", _topology),
    Command("show autosave", _autosave),
]
"""What an unprivileged login can do."""

_SHOW_QOS: list[Row] = [
    Command("show qos agent", _agent),
    Command("show qos queue-set [<1-8>:set]", _queue_set),
    Command("show qos queue-set-assignment [queue-set <1-8>:set]", _queue_assignment),
    Command("show qos if-group", _groups),
    Command("show qos if-assign [port PORTS:ports]", _assignment),
    Command("show qos egressmap [ds <0-63>:ds]", _egress_map),
    Command("show qos ingressmap", _ingress_map),
    Command("show qos action", _action),
    Command("show qos {ip-element|l2-element|classifier|classifier-block|meter|policy|ip-acl|l2-acl}:what",
            _objects),
    Command("show qos acl-assign", _acl_assignment),
    Command("show qos capability", _capability),
    Command("show qos if-shaper [port PORTS:ports]", _shaper),
    Command("show qos statistics <1-55000>:policy", _statistics),
    Command("show qos diag [unit <1-1>]", _diag),
]  # fmt: skip

_BOTH: list[Row] = [
    *_SHOW_QOS,
    Command("show running-config [verbose:verbose]", _running),
    Command("copy config nvram", _save),
    Command("save config", _save),
    Command("write memory", _save),
]
"""What works in exec and in configuration mode alike."""

ENABLE_ROWS: list[Row] = [
    *EXEC_ROWS,
    *_BOTH,
    Command("disable", _disable),
    Command("end", _end),
    Command("configure [terminal]", _configure),
    Command("boot [default:default]", _boot),
    Command("reset", _boot),
]
"""What a privileged login can do."""


def mode_rows(rows: Iterable[Row]) -> list[Row]:
    """The table of a configuration mode: its own commands and the ones every mode has."""
    return [
        Command("exit", _exit),
        Command("end", _end),
        Command("interface {FastEthernet|Ethernet} PORTS", _interface),
        *_BOTH,
        *rows,
    ]
