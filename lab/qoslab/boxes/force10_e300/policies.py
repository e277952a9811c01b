"""Commands of FTOS for QoS policies (what one queue or class gets) and WRED profiles."""

from __future__ import annotations

from qoslab.boxes.force10_e300.qos import (
    METER,
    SHAPE,
    chassis,
    checked,
    existing,
    item,
    layer2_of,
    meter,
    shape,
    unused,
)
from qoslab.boxes.force10_e300.state import (
    MAX_USER_WRED,
    PREDEFINED_WRED,
    InputPolicy,
    OutputPolicy,
    WredProfile,
)
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell
from qoslab.typed import Held, row

# -- QoS policies -------------------------------------------------------------------------------------


def _input_policy(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).input_policies, match["name"]
    if match.negated:
        existing(held, name, "QoS policy")
        unused(chassis(shell).users_of_policy("input", name), "QoS policy")
        del held[name]
        return
    layer2 = layer2_of(shell, match)
    present = held.setdefault(checked(shell, name), InputPolicy(name, layer2))
    if present.layer2 != layer2:
        raise Refused(f"% Error: QoS policy {name} already exists with another layer.")
    shell.enter("qos-policy-input", Held(name, present))


def _rate_police(shell: Shell, match: Match) -> None:
    item(shell, InputPolicy).police = None if match.negated else meter(shell, match)


def _set_dscp(shell: Shell, match: Match) -> str | None:
    """Says which queue the mark belongs to, as S4810P configuration manual p. 829 and C150 p. 861 show."""
    edited = item(shell, InputPolicy)
    if edited.layer2:
        raise Refused("% Error: ip-dscp can be set in a layer3 QoS policy only.")
    edited.set_dscp = None if match.negated else match.number("dscp")
    if edited.set_dscp is None or shell.loading:
        return None
    queue, low = divmod(edited.set_dscp, 8)
    return (
        f"% Info: To set the specified DSCP value {edited.set_dscp} ({queue:03b}-{low:03b} b) the QoS policy must"
        f" be mapped to queue {queue} ({queue:03b} b)."
    )


def _set_dot1p(shell: Shell, match: Match) -> None:
    edited = item(shell, InputPolicy)
    if not edited.layer2:
        raise Refused("% Error: mac-dot1p can be set in a layer2 QoS policy only.")
    edited.set_dot1p = None if match.negated else match.number("priority")


INPUT_POLICY_ROWS: list[Row] = [
    row(f"rate-police {METER}", _rate_police, no="rate-police [LINE]"),
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
    item(shell, OutputPolicy).limit = None if match.negated else meter(shell, match)


def _rate_shape(shell: Shell, match: Match) -> None:
    item(shell, OutputPolicy).shape = None if match.negated else shape(shell, match)


def _wred(shell: Shell, match: Match) -> None:
    edited, colour = item(shell, OutputPolicy), match["colour"]
    if match.negated:
        edited.wred.pop(colour, None)
        return
    if match["profile"] not in PREDEFINED_WRED:
        existing(chassis(shell).wred, match["profile"], "WRED profile")
    edited.wred[colour] = match["profile"]


OUTPUT_POLICY_ROWS: list[Row] = [
    row("bandwidth-percentage <0-100>:percent", _percentage, no="bandwidth-percentage [<0-100>]"),
    row(f"rate-limit {METER}", _rate_limit, no="rate-limit [LINE]"),
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

POLICY_ROWS: list[Row] = [
    row("qos-policy-input WORD:name [layer2:layer2]", _input_policy, no=True),
    row("qos-policy-output WORD:name", _output_policy, no=True),
    row("wred-profile WORD:name", _wred_profile, no=True),
]
"""What configuration mode offers; each opens a mode of its own."""
