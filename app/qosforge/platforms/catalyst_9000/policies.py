"""Read policy-maps: what they do to packets on input, and how they queue them on output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qosforge.configtree import ConfigLine
from qosforge.dscp import parse_dscp
from qosforge.plan.model import Discipline, Egress, Ingress, Queue, Rule, Scheduler, Share, ShareUnit, Term
from qosforge.platforms.abbreviations import is_number
from qosforge.platforms.catalyst_9000.drops import DropReader
from qosforge.platforms.catalyst_9000.names import CLASS_DEFAULT
from qosforge.platforms.mqc.access_lists import Miss
from qosforge.platforms.mqc.classes import MatchAlternatives
from qosforge.platforms.mqc.policers import read_policer
from qosforge.platforms.mqc.shares import read_priority, read_share

BEST_EFFORT = Egress(default_queue=0, scheduler=Scheduler(discipline=Discipline.FIFO, queues=(Queue(number=0),)))
"""A port without an output policy: what its two own queues do beyond that is not known."""


class QueuingPolicyReader:
    """Reads the policy-maps of one configuration; what is not understood goes to ``miss``."""

    def __init__(
        self, policies: Mapping[str, ConfigLine], class_maps: Mapping[str, MatchAlternatives], miss: Miss
    ) -> None:
        self._policies = policies
        self._class_maps = class_maps
        self._miss = miss

    def input(self, attach: ConfigLine, policy: str) -> Ingress:
        """What a policy attached to an input does."""
        rules = []
        for entry, name in self._classes(attach, policy):
            values: dict[str, object] = {}
            for action in entry.children:
                match action.text.split():
                    case ["set", "dscp", value] if _is_dscp(value):
                        values["set_dscp"] = parse_dscp(value)
                    case ["set", "precedence", value] if is_number(value, 0, 7):
                        values["set_precedence"] = int(value)
                    case ["set", "cos", value] if is_number(value, 0, 7):
                        values["set_cos"] = int(value)
                    case ["police", *_] if policer := read_policer(action):
                        values["police"] = policer
                    case _:
                        self._miss(action, entry.text)
            rules.append(self._rule(name, **values))
        return Ingress(policy=policy, rules=tuple(rules))

    def output(self, attach: ConfigLine, policy: str, above: tuple[str, ...] = ()) -> Egress:
        """How a policy attached to an output, or to a class of the policies ``above``, queues packets."""
        rules: list[Rule] = []
        queues: list[Queue] = []
        default = Queue(number=0, name=CLASS_DEFAULT)
        for entry, name in self._classes(attach, policy):
            queue = self._queue(entry, name, len(queues), (*above, policy))
            if name == CLASS_DEFAULT:
                default = queue
                continue
            rules.append(self._rule(name, queue=queue.number))
            queues.append(queue)
        queues.append(default.model_copy(update={"number": len(queues)}))
        scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues))
        return Egress(policy=policy, rules=tuple(rules), default_queue=len(queues) - 1, scheduler=scheduler)

    def _classes(self, attach: ConfigLine, policy: str) -> Iterator[tuple[ConfigLine, str]]:
        body = self._policies.get(policy)
        if body is None:
            self._miss(attach, "", f"policy-map {policy}")
            return
        for entry in body.children:
            match entry.text.split():
                case ["class", name]:
                    yield entry, name
                case ["description", *_]:
                    pass
                case _:
                    self._miss(entry, body.text)

    def _rule(self, name: str, **values: object) -> Rule:
        taken = (
            MatchAlternatives((Term(),))
            if name == CLASS_DEFAULT
            else self._class_maps.get(name, MatchAlternatives())
        )
        return Rule.model_validate({"name": name, "any_of": taken.any_of, "none_of": taken.none_of, **values})

    def _queue(self, entry: ConfigLine, name: str, number: int, above: tuple[str, ...]) -> Queue:
        values: dict[str, object] = {}
        drops = DropReader()
        # What is inside a class is printed one blank further in than the line before it.
        inside = [below for action in entry.children for below in (action, *_nested(action))]
        for action in inside:
            match action.text.split():
                case ["priority", *rest] if (priority := read_priority(rest)) is not None:
                    values |= {"level": 1, **priority}
                case ["police", "rate", "percent", percent] if is_number(percent, 1, 100):
                    # The cap of a priority level, in the other way to say it.
                    values |= {"capped": True, "share": Share(unit=ShareUnit.PERCENT, value=int(percent))}
                case ["bandwidth", *rest] if (share := read_share(rest)) is not None:
                    values["share"] = share
                case ["queue-buffers", "ratio", ratio] if is_number(ratio, 0, 100):
                    values["buffer_percent"] = int(ratio)
                case ["shape", "average", rate] if is_number(rate):
                    values["shape_rate"] = int(rate)
                case ["service-policy", child] if child not in above:
                    values["child"] = self.output(action, child, above)
                case _ if drops.take(action):
                    pass
                case _:
                    self._miss(action, entry.text)
        return Queue.model_validate({"number": number, "name": name, **drops.fields, **values})


def _nested(action: ConfigLine) -> tuple[ConfigLine, ...]:
    return () if action.text.startswith("police ") else action.children


def _is_dscp(value: str) -> bool:
    try:
        parse_dscp(value)
    except ValueError:
        return False
    return True
