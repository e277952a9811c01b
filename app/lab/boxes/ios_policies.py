"""Policy maps: the lines of their classes and what the box refuses."""

from __future__ import annotations

from app.lab.boxes import ios_refusals as refusals
from app.lab.boxes import ios_wred
from app.lab.boxes.ios_attach import Attachments
from app.lab.boxes.ios_base import IosBox
from app.lab.boxes.ios_classes import POLICY_RANK, policies
from app.lab.boxes.ios_police import Policers
from app.lab.boxes.ios_rows import leaving, row, setting
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.shell import Row, Shell

_KBPS = "<1-2000000>"
_LAST = 99
MOST_CLASSES = 64


class PolicyMaps:
    """Rows of policy-map and policy-class configuration."""

    def __init__(self, box: IosBox, attachments: Attachments) -> None:
        self._box = box
        self._attachments = attachments
        self._policers = Policers(box)

    def tables(self) -> dict[str, list[Row]]:
        """The modes ``pmap``, ``pmap-c`` and ``police``."""
        return {
            "pmap": [
                *leaving(),
                setting("description LINE", rank=0),
                row("class WORD:name [insert-before WORD:before]", self._class, "class WORD:name"),
            ],
            "pmap-c": [
                *leaving(),
                row(f"bandwidth {_KBPS}:kbps", self._bandwidth, "bandwidth [LINE]"),
                row("bandwidth percent <1-100>:percent", self._bandwidth),
                row("bandwidth remaining percent <1-100>:remaining", self._bandwidth),
                row("priority <8-2000000>:kbps [<32-2000000>:burst]", self._priority, "priority [LINE]"),
                row("priority percent <1-100>:percent [<32-2000000>:burst]", self._priority),
                row("fair-queue [<16-4096>:queues]", self._fair_queue, "fair-queue [<16-4096>]"),
                row("queue-limit <1-512>:n", self._queue_limit, "queue-limit [<1-512>]"),
                *ios_wred.rows(),
                *self._policers.rows(),
                *_shape_rows(),
                *self._set_rows(),
                row("service-policy [output] WORD:name", self._child, "service-policy [output] [WORD]"),
                setting("compression header ip [rtp|tcp]", rank=45),
            ],
            "police": self._policers.submode_rows(),
        }

    def global_rows(self) -> list[Row]:
        """``policy-map``."""
        return [row("policy-map WORD:name", self._policy_map, True)]

    # -- sections ----------------------------------------------------------------------------------------
    def _policy_map(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"policy-map {name}"
        if match.undone:
            children = [line.text for policy in policies(self._box) for line in policy.walk()]
            if self._attachments.of(name) or f"service-policy {name}" in children:
                raise Refused(refusals.policy_in_use(name))
            shell.section.remove(key)
            return
        held = shell.section.get(key) or shell.store(Section(key, rank=POLICY_RANK, mode="pmap"))
        shell.enter("pmap", held)

    def _class(self, shell: Shell, match: Match) -> None:
        name = match["name"]
        key = f"class {name}"
        if match.undone:
            shell.section.remove(key)
            return
        if name != "class-default" and f"class-map {name}" not in self._box.running:
            raise Refused(refusals.unknown_class(name))
        held = shell.section.get(key)
        if held is None:
            if len(shell.section) >= MOST_CLASSES:
                raise Refused("% Maximum number of classes reached")
            before = f"class {match['before']}" if "before" in match else ""
            if before and before not in shell.section:
                raise Refused(refusals.unknown_class(match["before"]))
            rank = _LAST if name == "class-default" else 50
            held = shell.store(Section(key, rank=rank, mode="pmap-c"), before=before)
        shell.enter("pmap-c", held)

    # -- scheduling --------------------------------------------------------------------------------------
    def _attempt(self, shell: Shell, child: Section) -> None:
        """Store a line; take it back when an interface that has the policy cannot carry it."""
        section = shell.section
        present = section.get(child.key)
        old = present.copy() if present is not None else None
        shell.store(child)
        trouble = self._attachments.overbooked(section.parent)
        if trouble:
            section.remove(child.key)
            if old is not None:
                section.put(old)
            raise Refused(trouble)

    def _bandwidth(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            for needy in ("random-detect", "queue-limit"):
                if needy in section and not _default(section) and "shape" not in section:
                    raise Refused(refusals.deconfigure(needy, "no bandwidth"))
            section.remove("bandwidth")
            return
        if "priority" in section:
            raise Refused(refusals.deconfigure("priority", "bandwidth"))
        if "fair-queue" in section and _default(section):
            raise Refused(refusals.deconfigure("fair-queue", "bandwidth"))
        others = [line for line in _others(section, "bandwidth") if line]
        unit = _unit(match.text)
        if any(_unit(line) != unit for line in others):
            raise Refused(refusals.MIXED_UNITS)
        if unit != "kbps":
            taken = [*others, *(_others(section, "priority") if unit == "percent" else [])]
            total = sum(int(line.split()[-1]) for line in taken if unit in {_unit(line), "remaining"})
            if total + int(match.words[-1]) > 100:
                raise Refused(refusals.SUM_OVER_100)
        self._attempt(shell, Section(match.text, key="bandwidth", rank=10))

    def _priority(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove("priority")
            return
        for other in ("bandwidth", "queue-limit", "random-detect", "fair-queue"):
            if other in section:
                raise Refused(refusals.deconfigure(other, "priority"))
        if _default(section):
            raise Refused("% priority is not supported in class-default")
        if "percent" in match:
            booked = [*_others(section, "bandwidth"), *_others(section, "priority")]
            total = sum(int(line.split()[2]) for line in booked if _unit(line) == "percent")
            if total + match.number("percent") > 100:
                raise Refused(refusals.SUM_OVER_100)
        self._attempt(shell, Section(match.text, key="priority", rank=10))

    def _fair_queue(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove("fair-queue")
            return
        queues = match.number("queues", 16)
        if queues & (queues - 1):
            raise Refused("% Number of dynamic queues must be a power of 2")
        if not _default(section) and not self._box.feature("hqf", default=False):
            raise Refused("% fair-queue is supported only in class-default")
        if "bandwidth" in section:
            raise Refused(refusals.deconfigure("bandwidth", "fair-queue"))
        shell.store(Section(match.text, key="fair-queue", rank=15))

    def _queue_limit(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove("queue-limit")
            return
        if "priority" in section:
            raise Refused(refusals.deconfigure("priority", "queue-limit"))
        if "random-detect" in section:
            raise Refused(refusals.deconfigure("random-detect", "queue-limit"))
        if not _default(section) and not {"bandwidth", "shape"} & {line.key for line in section}:
            raise Refused(refusals.QUEUE_LIMIT_ALONE)
        shell.store(Section(match.text, key="queue-limit", rank=25))

    def _child(self, shell: Shell, match: Match) -> None:
        section = shell.section
        if match.undone:
            section.remove("service-policy")
            return
        name = match["name"]
        child = self._box.running.get(f"policy-map {name}")
        if child is None and not shell.loading:
            raise Refused(refusals.unknown_policy(name))
        if child is not None and child is section.parent:
            raise Refused(f"% policy map {name} cannot contain itself")
        shell.store(Section(f"service-policy {name}", key="service-policy", rank=50))

    # -- marking -----------------------------------------------------------------------------------------
    def _set_rows(self) -> list[Row]:
        forms = {
            "[ip] dscp DSCP": "layer 3", "[ip] precedence PREC": "layer 3", "cos <0-7>": "cos",
            "qos-group <0-99>": "qos-group", "fr-de": "fr-de", "atm-clp": "atm-clp",
            "discard-class <0-7>": "discard-class", "mpls experimental [imposition|topmost] <0-7>": "mpls",
        }  # fmt: skip
        return [row(f"set {form}", self._set, f"set {_optional(form)}") for form in forms]

    def _set(self, shell: Shell, match: Match) -> None:
        words = [word for word in match.words if word != "ip"]
        key = f"set {words[1]}"
        if match.undone:
            shell.section.remove(key)
            return
        rival = {"dscp": "set precedence", "precedence": "set dscp"}.get(words[1])
        if rival is not None and rival in shell.section:
            raise Refused(refusals.TWO_MARKS)
        shell.store(Section(match.text, key=key, rank=40))


def _optional(form: str) -> str:
    """A ``set`` form whose value may be left out in the negated line."""
    words = form.split()
    last = words[-1]
    return form if last in {"fr-de", "atm-clp"} else " ".join([*words[:-1], f"[{last}]"])


def _shape_rows() -> list[Row]:
    bc = "[<256-154400000> [<0-154400000>]]"
    return [
        setting(f"shape {{average|peak}} <8000-154400000> {bc}", key="shape", rank=35),
        setting("shape {average|peak} percent <1-100> [<10-2000> ms [<10-2000> ms]]", key="shape", rank=35),
        setting("shape adaptive <8000-154400000>", rank=36),
        setting("shape max-buffers <1-4096>", rank=36, defaults=["shape max-buffers 1000"]),
    ]


def _default(section: Section) -> bool:
    return section.text == "class class-default"


def _unit(line: str) -> str:
    words = line.split()
    if words[0] == "":
        return ""
    return words[1] if words[1] in {"percent", "remaining"} else "kbps"


def _others(section: Section, key: str) -> list[str]:
    """The ``key`` lines of the other classes of the same policy."""
    policy = section.parent
    if policy is None:
        return []
    return [child.value(key) for child in policy if child is not section and key in child]
