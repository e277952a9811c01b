"""Read policy-maps: what they do to packets on input, and how they queue them on output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Protocol

from qosforge.commands import PlacedLine, ReadConfiguration, ReadLine
from qosforge.plan.model import (
    Discipline,
    Egress,
    Ingress,
    Policer,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    Term,
)
from qosforge.platforms.mqc.classes import MatchAlternatives
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.mqc.policers import read_policer
from qosforge.platforms.mqc.tables import TableMaps

_UNITS = {
    "percent": ShareUnit.PERCENT,
    "remaining_percent": ShareUnit.REMAINING_PERCENT,
    "ratio": ShareUnit.WEIGHT,
    "kbps": ShareUnit.KBPS,
}


_ON_INPUT = ("set_qos_group", "set_mpls_imposition")
"""Marks that an input alone sets: an output comes too late for the one, and labels are on before the other."""


class QueueReader(Protocol):
    """Collects the lines of one class that say how long its queue is and what it drops."""

    def take(self, line: ReadLine) -> bool:
        """Take a line; False where it is not understood."""

    @property
    def fields(self) -> dict[str, object]:
        """What the lines taken say of a queue."""


class PolicyReader:
    """Reads the policy-maps of one configuration.

    ``queue_reader`` makes what reads a class's own queue. ``polices_output`` tells whether classes are policed and
    marked on output, ``level`` is that of a priority which says none, ``default_burst`` gives the bytes of a
    policer's bucket without a size, by its rate, where that is known. ``divides_guarantees`` is that of the
    schedulers that have policies inside their classes.
    """

    def __init__(
        self,
        reading: ReadConfiguration,
        class_maps: Mapping[str, MatchAlternatives],
        queue_reader: Callable[[], QueueReader],
        *,
        polices_output: bool = True,
        level: int | None = None,
        default_burst: Callable[[int], int] | None = None,
        divides_guarantees: bool = False,
    ) -> None:
        self._reading = reading
        self._policies = reading.objects("policy-map")
        self._class_maps = class_maps
        self._queue_reader = queue_reader
        self._polices_output = polices_output
        self._level = level
        self._default_burst = default_burst
        self._divides_guarantees = divides_guarantees
        self._tables = TableMaps(reading)
        self._miss: Callable[..., None] = reading.miss
        # A policy stands on many interfaces, and is read once.
        self._inputs: dict[str, Ingress] = {}
        self._outputs: dict[str, Egress] = {}

    def input(self, attached: ReadLine) -> Ingress:
        """What the policy of a ``service-policy input`` line does."""
        name = attached.name
        if name not in self._policies:
            self._miss(attached, undefined=f"policy-map {name}")
            return Ingress(policy=name)
        if name not in self._inputs:
            self._inputs[name] = self._input(name)
        return self._inputs[name]

    def does_nothing(self, attached: ReadLine) -> bool:
        """Whether the policy of a ``service-policy input`` line leaves all packets as they are."""
        lines = (line for entry in self._classes(attached.name) for line in entry.below)
        return attached.name in self._policies and all(map(self._keeps, lines))

    def _keeps(self, line: ReadLine) -> bool:
        own = line.id == "set-table" and line["field"] == line["source"]
        return own and ("table" not in line or self._tables.keeps_all(line["table"]))

    def output(self, attached: ReadLine) -> Egress:
        """How the policy of a ``service-policy output`` line queues packets."""
        name = attached.name
        if name not in self._policies:
            self._miss(attached, undefined=f"policy-map {name}")
        if name not in self._outputs:
            self._outputs[name] = self._output(name, ())
        return self._outputs[name]

    def read_unattached(self) -> None:
        """Keep what is understood on neither side of policies that no interface has."""
        for name in self._policies:
            if name in self._inputs or name in self._outputs:
                continue
            on_input = self._missed(partial(self._input, name))
            for key in on_input.keys() & self._missed(partial(self._output, name, ())).keys():
                self._reading.miss(*on_input[key])

    def _missed(self, read: Callable[[], object]) -> dict[tuple[int, str], tuple[ReadLine, str, str | None]]:
        missed: dict[tuple[int, str], tuple[ReadLine, str, str | None]] = {}

        def keep(line: ReadLine, context: str = "", undefined: str | None = None) -> None:
            missed[line.line.number, context] = (line, context, undefined)

        self._miss = keep
        read()
        self._miss = self._reading.miss
        return missed

    def _classes(self, policy: str) -> Iterator[ReadLine]:
        if policy not in self._policies:
            return
        body = self._policies[policy]
        for line in body.below:
            if line.id == "class":
                if line.name not in self._class_maps and line.name != CLASS_DEFAULT:
                    self._miss(line, body.line.text, undefined=f"class-map {line.name}")
                yield line

    def _rule(self, entry: ReadLine, **values: object) -> Rule:
        taken = self._class_maps.get(entry.name, MatchAlternatives())
        any_of = (Term(),) if entry.name == CLASS_DEFAULT else taken.any_of
        told = {"any_of": any_of, "none_of": taken.none_of, "ipv4": taken.ipv4}
        return Rule.model_validate({"name": entry.name, **told, **values})

    def _input(self, policy: str) -> Ingress:
        rules: list[Rule] = []
        for entry in self._classes(policy):
            rule = self._rule(entry, **_marks(entry))
            tabled = partial(self._tables.action, rule=rule)
            taken: list[ReadLine] = []
            for line in entry.below:
                match line.id:
                    case "set":
                        pass
                    case "police" if policer := read_policer(line, self._default_burst, tabled):
                        rule = rule.model_copy(update={"police": policer})
                    case "set-table" if "table" in line and line["table"] not in self._tables:
                        self._miss(line, entry.line.text, undefined=f"table-map {line['table']}")
                    case "set-table" if self._keeps(line):
                        pass
                    case "set-table":
                        taken.append(line)
                    case _:
                        self._miss(line, entry.line.text)
            rules.extend(self._by_marks(entry, rule, taken))
        return Ingress(policy=policy, rules=tuple(rules))

    def _by_marks(self, entry: ReadLine, rule: Rule, taken: list[ReadLine]) -> tuple[Rule, ...]:
        """The rules of an input's class; several where it takes a mark from another one."""
        tables = (line["table"] for line in taken if "table" in line)
        name = next(tables, "copied") if entry.name == CLASS_DEFAULT else entry.name
        found = self._tables.rules(rule, taken[0], name) if len(taken) == 1 else None
        if found is None:
            for line in taken:
                self._miss(line, entry.line.text)
        # What is left of the class of everything else has no rule where nothing is done to it.
        idle = found is not None and entry.name == CLASS_DEFAULT and not rule.writes
        return (rule,) if found is None else found[:-1] if idle else found

    def _output(self, policy: str, above: tuple[str, ...]) -> Egress:
        """A policy at an output, or inside a class of the policies ``above``."""
        rules: list[Rule] = []
        queues: list[Queue] = []
        default = Queue.model_validate({"number": 0, "name": CLASS_DEFAULT, **self._queue_reader().fields})
        acts: Rule | None = None
        for entry in self._classes(policy):
            queue, police = self._queue(entry, len(queues), (*above, policy))
            held = _marks(entry) if self._polices_output else {}
            marks = {name: value for name, value in held.items() if name not in _ON_INPUT}
            if entry.name == CLASS_DEFAULT:
                default = queue
                acts = self._rule(entry, police=police, **marks) if police or marks else None
                continue
            rules.append(self._rule(entry, police=police, queue=queue.number, **marks))
            queues.append(queue)
        if acts is not None:
            # What no rule takes has a rule only where something is done to it.
            rules.append(acts.model_copy(update={"queue": len(queues)}))
        queues.append(default.model_copy(update={"number": len(queues)}))
        scheduler = weighted(queues, divides_guarantees=self._divides_guarantees)
        return Egress(policy=policy, rules=tuple(rules), default_queue=len(queues) - 1, scheduler=scheduler)

    def _queue(self, entry: ReadLine, number: int, above: tuple[str, ...]) -> tuple[Queue, Policer | None]:
        police: Policer | None = None
        values: dict[str, object] = {}
        drops = self._queue_reader()
        # Some devices print what is inside a class one blank further in than the line before it.
        for line in (inner for outer in entry.below for inner in (outer, *_further_in(outer))):
            match line.id:
                case "priority":
                    values |= {"level": self._level, **read_guarantee(line)}
                case "bandwidth":
                    values |= read_guarantee(line)
                case "police" if self._polices_output and (policer := read_policer(line, self._default_burst)):
                    police = policer
                case "set" if self._polices_output and not any(name in line for name in _ON_INPUT):
                    pass
                case "shape":
                    values |= {name: value for name, value in line.values.items() if name != "kind"}
                case "child" if line.name not in above:
                    if line.name not in self._policies:
                        self._miss(line, undefined=f"policy-map {line.name}")
                    values["child"] = self._output(line.name, above)
                case _ if not drops.take(line):
                    self._miss(line, entry.line.text)
        queue = Queue.model_validate({"number": number, "name": entry.name, **drops.fields, **values})
        return queue, police


def weighted(queues: Iterable[Queue], *, divides_guarantees: bool) -> Scheduler:
    """Class-based queueing among classes; only where one of several has a policy inside it does the flag say
    anything."""
    held = tuple(queues)
    inside = divides_guarantees and len(held) > 1 and any(queue.child is not None for queue in held)
    return Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=held, divides_guarantees=inside)


def _marks(entry: ReadLine) -> dict[str, object]:
    """What a class writes into its packets."""
    lines = (line.values.items() for line in entry.below if line.id == "set")
    return {name: value for values in lines for name, value in values if name != "field"}


def _further_in(line: ReadLine) -> tuple[ReadLine, ...]:
    return () if line.id == "police" else line.below


def read_guarantee(line: ReadLine | PlacedLine) -> dict[str, object]:
    """The fields of a queue that a ``priority`` or ``bandwidth`` line says; priority is uncapped without a rate."""
    values: dict[str, object] = {name: line.values[name] for name in ("level", "burst") if name in line.values}
    first = line.id == "priority"
    if first:
        values["priority"] = True
    for name, unit in _UNITS.items():
        if name in line.values:
            values |= {"share": Share(unit=unit, value=line.values[name]), **({"capped": True} if first else {})}
    return values
