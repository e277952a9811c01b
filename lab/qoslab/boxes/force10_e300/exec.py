"""Exec commands of the E300: logins, saving, ``show``, ``test`` and ``clear``."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from qoslab.boxes.force10_e300 import cam, lldp, show
from qoslab.boxes.force10_e300.names import NAMED
from qoslab.boxes.force10_e300.qos import existing, since
from qoslab.boxes.force10_e300.state import PREDEFINED_WRED, interface_order
from qoslab.boxes.force10_e300.system import BACKPLANE_DEFAULT, BACKPLANE_MULTICAST
from qoslab.grammar import Command, Match, Refused
from qoslab.shell import Question, Reply, Row, Shell
from qoslab.storage import FLASH_BYTES
from qoslab.wiring import heard

if TYPE_CHECKING:
    from qoslab.boxes.force10_e300 import Force10E300


def _box(shell: Shell) -> Force10E300:
    return cast("Force10E300", shell.box)


def _enable(shell: Shell, match: Match) -> Reply:
    del match
    if not shell.box.spec.secret or shell.privileged:
        shell.privileged = True
        return Reply()

    def check(answer: str) -> Reply:
        shell.privileged = answer == shell.box.spec.secret
        return Reply("" if shell.privileged else "% Error: Access denied.")

    return Reply(ask=Question("Password: ", check, echo=False))


def _disable(shell: Shell, match: Match) -> None:
    del match
    shell.privileged = False


def _terminal(shell: Shell, match: Match) -> None:
    if "length" in match:
        shell.length = match.number("length")
    else:
        shell.width = match.number("width")


def _configure(shell: Shell, match: Match) -> None:
    del match
    shell.enter("config", shell.box.running)


def _quit(shell: Shell, match: Match) -> Reply:
    del shell, match
    return Reply(close=True)


def _saved(shell: Shell) -> str:
    shell.box.save()
    return f"!\n{len(shell.box.running_text())} bytes successfully copied"


def _write(shell: Shell, match: Match) -> str:
    del match
    return _saved(shell)


def _copy(shell: Shell, match: Match) -> Reply:
    del match

    def decide(answer: str) -> Reply:
        return Reply(_saved(shell) if "yes".startswith(answer.strip().lower() or "no") else "")

    question = Question("Proceed to copy the file [confirm yes/no]: ", decide)
    return Reply("File with same name already exist.", ask=question)


def _reload(shell: Shell, match: Match) -> Reply:
    del match

    def decide(answer: str) -> Reply:
        if not "yes".startswith(answer.strip().lower() or "no"):
            return Reply()
        shell.box.reboot()
        return Reply(abort=True)

    return Reply(ask=Question("Proceed with reload [confirm yes/no]: ", decide))


def _show_running(shell: Shell, match: Match) -> str:
    box = _box(shell)
    if "part" not in match:
        return "\n".join(show.listing(box.state, box.changed_at))
    return "\n".join(show.part(box.state, match["part"], match.get("name")))


def _show_startup(shell: Shell, match: Match) -> str:
    del match
    return shell.box.storage.startup().rstrip("\n")


def _show_version(shell: Shell, match: Match) -> str:
    del match
    return "\n".join(show.version(_box(shell).state, shell.box.clock.seconds() - shell.box.booted_at))


def _show_policy_map(shell: Shell, match: Match) -> str:
    state = _box(shell).state
    if match["form"] == "summary":
        return "\n".join(show.policy_summary(state))
    return "\n".join(show.policy_detail(state, match.get("interface")))


def _show_statistics(shell: Shell, match: Match) -> str:
    box = _box(shell)
    only = match.get("interface")
    if "wred" in match:
        return "\n".join(show.wred_statistics(box.state, only))
    return "\n".join(show.qos_statistics(box.state, box.counters, only))


def _show_wred(shell: Shell, match: Match) -> str:
    state, name = _box(shell).state, match.get("name")
    if name and name not in {*PREDEFINED_WRED, *state.wred}:
        raise Refused(f"% Error: WRED profile {name} does not exist.")
    return "\n".join(show.wred_profiles(state, name))


def _show_object(shell: Shell, match: Match) -> str:
    return "\n".join(show.part(_box(shell).state, match["part"], match.get("name")))


def _show_map_input(shell: Shell, match: Match) -> str:
    wanted = (match.get("class"), match.get("policy"))
    return "\n".join(show.input_maps(_box(shell).state, match.get("name"), *wanted))


def _show_interface(shell: Shell, match: Match) -> str:
    box = _box(shell)
    if "interface" in match:
        held = [existing(box.state.interfaces, match["interface"], "Interface")]
    else:
        held = sorted(box.state.interfaces.values(), key=interface_order)
    return "\n".join(
        line
        for one in held
        for line in (
            *show.interface(one, box.cables, box.mac),
            *(show.passed(box.port_count(one.name)) if one.physical else ()),
        )
    )


def _show_neighbors(shell: Shell, match: Match) -> str:
    since(shell, match, "lldp", *lldp.SINCE)
    box = _box(shell)
    return lldp.neighbors(heard(box, "lldp"), box.clock.seconds())


def _show_clock(shell: Shell, match: Match) -> str:
    """As FTOS's command reference prints it: ``11:05:56.949 UTC Thu Oct 25 2001``."""
    del match
    return shell.box.clock.stamp("%H:%M:%S.000 UTC %a %b %d %Y")


def _dir(shell: Shell, match: Match) -> str:
    """The last line is that of published sessions: ``flash: 2056916992 bytes total (1864204288 bytes free)``."""
    del match
    storage = shell.box.storage
    stamp = shell.box.clock.stamp("%b %d %Y %H:%M:%S +00:00")
    lines = [f"{at:>3}  -rwx {size:>10}   {stamp} {name}" for at, (name, size) in enumerate(storage.files(), 1)]
    total = f"flash: {FLASH_BYTES} bytes total ({storage.free()} bytes free)"
    return "\n".join(["Directory of flash:", "", *lines, "", total])


def _show_rates(shell: Shell, match: Match) -> str:
    return "\n".join(show.rates(_box(shell).state, match.get("kind")))


def _show_queues(shell: Shell, match: Match) -> str:
    box = _box(shell)
    return "\n".join(show.queue_statistics(box.state, box.counters, match["direction"], match.get("interface")))


def _show_backplane(shell: Shell, match: Match) -> str:
    since(shell, match, "backplane", 7, 7, 1)
    percent = _box(shell).state.plain.value(BACKPLANE_MULTICAST, str(BACKPLANE_DEFAULT)).split()[-1]
    return f"Backplane multicast bandwidth-percent: {percent}"


def _show_cam(shell: Shell, match: Match) -> str:
    del match
    return "\n".join(cam.usage(_box(shell).state))


def _test_cam(shell: Shell, match: Match) -> str:
    since(shell, match, "cam-usage", 7, 3, 1)
    state = _box(shell).state
    policy = existing(state.policy_maps["input"], match["map"], "Policy-map")
    only = (match.number("card"), match.number("pipe")) if "card" in match else None
    if only is not None and only not in cam.pipes(state):
        raise Refused(f"% Error: Linecard {only[0]} is not present.")
    return "\n".join(cam.test_usage(state, policy, only))


def _show_log(shell: Shell, match: Match) -> str:
    del match
    return "\n".join(_box(shell).log)


def _clear(shell: Shell, match: Match) -> None:
    box = _box(shell)
    if "interface" in match:
        box.counters.pop(match["interface"], None)
    else:
        box.counters.clear()


_OBJECTS = (
    "{class-map|qos-policy-input|qos-policy-output|policy-map-input|policy-map-output|wred-profile}:part"
    " [WORD:name]"
)

EXEC_ROWS: list[Row] = [
    Command("enable", _enable),
    Command("exit", _quit),
    Command("logout", _quit),
    Command("quit", _quit),
    Command("terminal {length <0-512>:length|width <0-511>:width}", _terminal),
    Command("show version", _show_version),
    Command("show clock", _show_clock),
    Command("show privilege", lambda shell, match: f"Current privilege level is {15 if shell.privileged else 1}."),
]
"""What an unprivileged login can do."""

ENABLE_ROWS: list[Row] = [
    *EXEC_ROWS,
    Command("disable", _disable),
    Command("end", lambda shell, match: None),
    Command("configure [terminal]", _configure),
    Command("write [memory]", _write),
    Command("copy running-config startup-config", _copy),
    Command("reload", _reload),
    Command("dir", _dir),
    Command("show running-config", _show_running),
    Command(f"show running-config {_OBJECTS}", _show_running),
    Command(f"show running-config interface:part [{NAMED.replace(':interface', ':name')}]", _show_running),
    Command("show startup-config", _show_startup),
    Command("show qos policy-map {summary|detail}:form", _show_policy_map),
    Command(f"show qos policy-map detail:form {NAMED}", _show_policy_map),
    Command("show qos wred-profile [WORD:name]", _show_wred),
    Command(
        "show qos {class-map|qos-policy-input|qos-policy-output|policy-map-output}:part [WORD:name]", _show_object
    ),
    Command(
        "show qos policy-map-input [WORD:name] [class WORD:class] [qos-policy-input WORD:policy]", _show_map_input
    ),
    Command(f"show interfaces [{NAMED}]", _show_interface),
    Command("show lldp neighbors detail", _show_neighbors),
    Command("show interfaces rate [limit|police]:kind", _show_rates),
    Command(f"show queue statistics {{egress|ingress}}:direction [{NAMED}]", _show_queues),
    Command("show queue backplane multicast bandwidth-percent", _show_backplane),
    Command("show cam-usage", _show_cam),
    Command(
        "test cam-usage service-policy input WORD:map {linecard <0-5>:card port-set <0-1>:pipe|linecard all}",
        _test_cam,
    ),
    Command("show logging", _show_log),
    Command(f"show qos statistics [wred-profile:wred] [{NAMED}]", _show_statistics),
    Command(f"clear qos statistics [{NAMED}]", _clear),
]
"""What a privileged login can do."""
