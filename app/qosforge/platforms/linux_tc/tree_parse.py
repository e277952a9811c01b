"""Read the classes of a tree, and the rules that choose them, as queues inside queues.

A class of packets has a chain, which goes on to the chains of classes below it; what none of these takes stays in
the queue that the class's own chain chose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from qosforge.commands.reading import ReadConfiguration, ReadLine
from qosforge.plan.model import Discipline, Egress, Queue, Rule, Scheduler
from qosforge.platforms.linux_tc.class_tree import Parents, every_queue, queues_in, rest_of
from qosforge.platforms.linux_tc.numbering import queue_of


def parents_of(entries: Collection[ReadLine], root: str | None) -> dict[int, int | None]:
    """The queue that each class is in, by their numbers; ``root`` is what those of the port itself are in.

    Left out are classes that no plan numbers, and those that are in none of the others. Without a root none is in
    another one.
    """
    parents: dict[int, int | None] = {}
    for entry in entries:
        number = queue_of(entry["id"])
        first = root is None or entry["parent"] == root
        above = None if first else queue_of(entry["parent"])
        if number is not None and (first or above in parents):
            parents[number] = above
    return parents


@dataclass(frozen=True)
class ReadTree:
    """The queues of an interface by their numbers, and the rules of chains, which choose innermost queues."""

    queues: Mapping[int, Queue]
    parents: Parents
    rules: Mapping[str, tuple[Rule, ...]]
    discipline: Discipline
    decoupled: bool

    def output(self, chain: str, default: int | None, above: int | None = None) -> Egress:
        """The output with the rules of a chain, or what divides the queue ``above``.

        ``default`` is the innermost queue of what no rule takes.
        """
        rules = self.rules.get(chain, ())
        chosen = {self._on_the_way(rule.queue, above): rule for rule in rules}
        queues = []
        for number in sorted(number for number, held in self.parents.items() if held == above):
            rule = chosen.get(number)
            name = "default" if rule is None else rule.name
            queue = self.queues[number].model_copy(update={"name": name})
            if number in self.parents.values():
                inside = self.output(f"{chain}/{name}" if rule else "", rule.queue if rule else None, number)
                queue = queue.model_copy(update={"child": inside})
            queues.append(queue)
        usual = self._on_the_way(default, above)
        if usual is None and above is not None:
            usual = queues[-1].number
        return Egress(
            rules=tuple(rule.model_copy(update={"queue": self._on_the_way(rule.queue, above)}) for rule in rules),
            default_queue=usual,
            scheduler=Scheduler(discipline=self.discipline, queues=tuple(queues), decoupled=self.decoupled),
        )

    def _on_the_way(self, number: int | None, above: int | None) -> int | None:
        """The queue in ``above`` that a queue is, or is in; the queue itself where it is in none."""
        at = number
        while at is not None and at in self.parents:
            if self.parents[at] == above:
                return at
            at = self.parents[at]
        return number


def miss_what_queues_elsewhere(reading: ReadConfiguration, dev: str, tree: ReadLine, egress: Egress) -> None:
    """Keep as not understood what chooses a class that is divided, and a default that is not that of rules."""
    queues = every_queue(egress.scheduler) if egress.scheduler else ()
    divided = {queue.number for queue in queues if queues_in(queue)}
    if not divided:
        return
    for entry in reading.all("choose"):
        if entry["chain"].startswith(f"out/{dev}/") and queue_of(entry["id"]) in divided:
            reading.miss(entry)
    usual = next((queue for queue in queues if queue.number == egress.default_queue), None)
    if usual is None or queue_of(f"1:{tree['default']:x}") != rest_of(usual):
        reading.miss(tree)
