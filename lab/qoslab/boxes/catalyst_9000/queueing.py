"""Queueing in a policy class of a Catalyst 9000: priority levels, shares, buffers, thresholds, shapes.

Ranges and the texts without a mark are those of the published IOS-XE policy model; how lines exclude each other is
unconfirmed where marked (K).
"""

from __future__ import annotations

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

QUEUED = frozenset({"bandwidth", "priority", "queue-buffers", "queue-limit", "random-detect", "shape"})
"""Keys of the lines that make a policy one that queues."""
MOST_CLASSES = 8
"""Queues of an output port (2P6Q3T), one a class; class-default has one whether it is named or not."""
MOST_RED = 4  # K: classes with early detection
THRESHOLDS = 3
"""Thresholds of a queue."""
_KBPS = "<1-100000000>"
_PERCENT = "<1-100>"
_PART = "<0-100>"
_LIMITED = frozenset({"bandwidth", "priority", "shape"})
_LIMIT_RANK, _RED_RANK = 25, 20


def rows() -> list[Row]:
    """Policy class mode."""
    dscps = f"dscp {{DSCP:v|values DSCP:v*8}} percent {_PART}:percent"
    return [
        row("priority", _priority, "priority [LINE]"),
        row(f"priority level <1-2>:level [{_KBPS}:kbps [<32-2000000>]|percent {_PERCENT}:percent]", _priority),
        row(f"bandwidth {_KBPS}", _bandwidth, "bandwidth [LINE]"),
        row(f"bandwidth percent {_PERCENT}:percent", _bandwidth),
        row(f"bandwidth remaining percent {_PERCENT}:percent", _bandwidth),
        row("bandwidth remaining ratio <1-65536>", _bandwidth),
        row("queue-buffers ratio <0-100>:ratio", _buffers, "queue-buffers [ratio [<0-100>]]"),
        row(f"queue-limit {dscps}", _limit, "queue-limit [dscp {DSCP:v|values DSCP:v*8} [LINE]]"),
        row("random-detect dscp-based", _detect, "random-detect [dscp-based]"),
        row(
            f"random-detect dscp {{DSCP:v|values DSCP:v*8}} percent {_PART}:low {_PART}:high",
            _curve,
            "random-detect dscp {DSCP:v|values DSCP:v*8} [LINE]",
        ),
        row(f"police rate percent {_PERCENT}", _police),
        row("shape average <8000-100000000000>", _shape, "shape [average [LINE]]"),
        row(f"shape average percent {_PERCENT}", _shape),
    ]


def queues(policy: Section) -> bool:
    """Whether a policy queues."""
    return any(QUEUED & _keys(held) for held in policy.starting("class "))


def class_count(policy: Section) -> int:
    """Classes of a policy, the one of everything else among them."""
    return len({*(held.key for held in policy.starting("class ")), "class class-default"})


def policy_trouble(policy: Section) -> str:
    """What the box says to a policy that no port could queue by ("" when one can)."""
    if not queues(policy):
        return ""
    if class_count(policy) > MOST_CLASSES:
        return f"% Queueing policy has more than {MOST_CLASSES} classes"  # unconfirmed wording
    held = policy.starting("class ")
    shares = {_unit(line.value("bandwidth")) for line in held if "bandwidth" in line}
    if any("priority" in line for line in held) and shares & {"kbps", "percent"}:
        return "% Only bandwidth remaining is supported with priority"  # K
    if sum("random-detect" in line for line in held) > MOST_RED:
        return f"% random-detect is supported in {MOST_RED} classes only"  # K
    return ""


# -- scheduling ----------------------------------------------------------------------------------------------
def _priority(shell: Shell, match: Match) -> None:
    section = shell.section
    if match.undone:
        _release(section, "priority")
        return
    for other in ("bandwidth", "shape", "random-detect"):
        if other in _keys(section):
            raise Refused(refusals.deconfigure(other, "priority"))
    if _default(section):
        raise Refused("% priority is not supported in class-default")  # K
    if "police" in section and ("percent" in match or "kbps" in match):
        raise Refused(refusals.deconfigure("police", "priority"))
    level = match.get("level", "1")
    if any(priority_level(line) == level for line in _others(section, "priority")):
        raise Refused(f"% priority level {level} is used by another class")  # unconfirmed wording
    text = match.text if "level" in match else "priority level 1"
    shell.store(Section(text, key="priority", rank=10))


def priority_level(line: str) -> str:
    """The level of a ``priority`` line."""
    return line.split()[2]


def _bandwidth(shell: Shell, match: Match) -> None:
    section = shell.section
    if match.undone:
        _release(section, "bandwidth")
        return
    if "priority" in section:
        raise Refused(refusals.deconfigure("priority", "bandwidth"))
    others = _others(section, "bandwidth")
    if any(_unit(line) != _unit(match.text) for line in others):
        raise Refused(refusals.MIXED_UNITS_HQF)
    if "percent" in match and sum(int(line.split()[-1]) for line in others) + match.number("percent") > 100:
        raise Refused(refusals.SUM_OVER_100)
    shell.store(Section(match.text, key="bandwidth", rank=10))


def _buffers(shell: Shell, match: Match) -> None:
    section = shell.section
    if match.undone:
        section.remove("queue-buffers")
        return
    others = sum(int(line.split()[-1]) for line in _others(section, "queue-buffers"))
    if others + match.number("ratio") > 100:
        raise Refused("% Sum of queue-buffers ratio exceeds 100")  # K
    shell.store(Section(match.text, key="queue-buffers", rank=15))


def _shape(shell: Shell, match: Match) -> None:
    if match.undone:
        _release(shell.section, "shape")
        return
    if "priority" in shell.section:
        raise Refused(refusals.deconfigure("priority", "shape"))  # K
    shell.store(Section(match.text, key="shape", rank=12))


def _police(shell: Shell, match: Match) -> None:
    """The policer of a priority level; its actions do not print."""
    if len(shell.section.value("priority").split()) > 3:
        raise Refused(refusals.deconfigure("priority", "police"))
    shell.section.remove("police")
    shell.store(Section(match.text, key="police", rank=11))


# -- drops ---------------------------------------------------------------------------------------------------
def _limit(shell: Shell, match: Match) -> None:
    section = shell.section
    marks = match.values("v")
    if match.undone:
        for line in section.starting("queue-limit"):
            if not marks or line.key == _key("queue-limit", match):
                section.remove(line.key)
        return
    if "random-detect" in section:
        raise Refused(refusals.deconfigure("random-detect", "queue-limit"))  # K
    if not _default(section) and not _LIMITED & _keys(section):
        raise Refused(refusals.QUEUE_LIMIT_ALONE)
    _three(section, "queue-limit", _key("queue-limit", match), f"percent {match['percent']}")
    text = f"queue-limit {_marks(match)} percent {match['percent']}"
    shell.store(Section(text, key=_key("queue-limit", match), rank=_LIMIT_RANK))


def _detect(shell: Shell, match: Match) -> None:
    section = shell.section
    if match.undone:
        for line in section.starting("random-detect"):
            section.remove(line.key)
        return
    for other in ("priority", "queue-limit"):
        if other in _keys(section):
            raise Refused(refusals.deconfigure(other, "random-detect"))  # K
    if not _default(section) and not (_LIMITED - {"priority"}) & _keys(section):
        raise Refused(refusals.WRED_ALONE)
    shell.store(Section(match.text, key="random-detect", rank=_RED_RANK))


def _curve(shell: Shell, match: Match) -> None:
    section = shell.section
    key = _key("random-detect", match)
    if match.undone:
        section.remove(key)
        return
    if "random-detect" not in section:
        raise Refused(refusals.WRED_OFF)
    if match.number("low") > match.number("high"):
        raise Refused("% Minimum threshold is above the maximum")  # unconfirmed wording
    pair = f"percent {match['low']} {match['high']}"
    _three(section, "random-detect", key, pair)
    shell.store(Section(f"random-detect {_marks(match)} {pair}", key=key, rank=_RED_RANK + 1))


def _three(section: Section, command: str, key: str, wanted: str) -> None:
    """Refuses what would take a fourth threshold."""
    held = {
        line.text[line.text.index("percent") :] for line in section.starting(f"{command} dscp ") if line.key != key
    }
    if len(held | {wanted}) > THRESHOLDS:
        raise Refused(f"% A queue has {THRESHOLDS} thresholds")  # unconfirmed wording


def _marks(match: Match) -> str:
    """The marks as the box prints them: two blanks behind ``values``."""
    marks = " ".join(match.values("v"))
    return f"dscp values  {marks}" if "values" in match.words else f"dscp {marks}"


def _key(command: str, match: Match) -> str:
    return f"{command} {' '.join(match.values('v'))}"


# -- small ---------------------------------------------------------------------------------------------------
def _release(section: Section, key: str) -> None:
    """Take a scheduling line back. Raises Refused while another line of the class cannot be without it."""
    left = _LIMITED & _keys(section) - {key}
    if key in section and not _default(section) and not left:
        for needy in ("random-detect", "queue-limit"):
            if needy in _keys(section):
                raise Refused(refusals.deconfigure(needy, f"no {key}"))
    section.remove(key)


def _default(section: Section) -> bool:
    return section.text == "class class-default"


def _keys(section: Section) -> set[str]:
    return {line.text.split()[0] for line in section}


def _unit(line: str) -> str:
    words = line.split()[1:-1]
    return " ".join(words) or "kbps"


def _others(section: Section, key: str) -> list[str]:
    """The ``key`` lines of the other classes of the same policy."""
    policy = section.parent
    if policy is None:
        return []
    return [held.value(key) for held in policy.starting("class ") if held is not section and key in held]
