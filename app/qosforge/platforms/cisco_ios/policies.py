"""Read policy-maps: what they do to packets on input, and how they queue them on output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qosforge.configtree import ConfigLine
from qosforge.dscp import parse_dscp
from qosforge.plan.model import Discipline, Egress, Ingress, Policer, Queue, Rule, Scheduler, Term
from qosforge.platforms.abbreviations import is_number
from qosforge.platforms.cisco_ios.capabilities import capabilities
from qosforge.platforms.cisco_ios.grammar import CLASS_DEFAULT
from qosforge.platforms.cisco_ios.red import RedReader
from qosforge.platforms.mqc.access_lists import Miss
from qosforge.platforms.mqc.classes import MatchAlternatives
from qosforge.platforms.mqc.policers import read_policer, read_precedence
from qosforge.platforms.mqc.shares import read_priority, read_share

_LIMITS = {"packets": "limit_packets", "bytes": "limit_bytes", "ms": "limit_ms"}


class PolicyReader:
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
            values: dict[str, int] = {}
            police: Policer | None = None
            for action in entry.children:
                match action.text.split():
                    case ["set", "dscp", value] | ["set", "ip", "dscp", value] if _is_dscp(value):
                        values["set_dscp"] = parse_dscp(value)
                    case ["set", "precedence", value] | ["set", "ip", "precedence", value] if (
                        precedence := read_precedence(value)
                    ) is not None:
                        values["set_precedence"] = precedence
                    case ["set", "cos", value] if is_number(value, 0, 7):
                        values["set_cos"] = int(value)
                    case ["police", *_] if policer := read_policer(action):
                        police = policer
                    case _:
                        self._miss(action, entry.text)
            taken = self._taken(name)
            rules.append(Rule(name=name, any_of=taken.any_of, none_of=taken.none_of, police=police, **values))
        return Ingress(policy=policy, rules=tuple(rules))

    def output(self, attach: ConfigLine, policy: str, above: tuple[str, ...] = ()) -> Egress:
        """How a policy attached to an output, or to a class of the policies ``above``, queues packets."""
        rules: list[Rule] = []
        queues: list[Queue] = []
        default: Queue | None = None
        policed: Policer | None = None
        for entry, name in self._classes(attach, policy):
            number = 0 if name == CLASS_DEFAULT else len(queues)
            queue, police = self._queue(entry, name, number, (*above, policy))
            if name == CLASS_DEFAULT:
                default, policed = queue, police
                continue
            taken = self._taken(name)
            rules.append(
                Rule(name=name, any_of=taken.any_of, none_of=taken.none_of, police=police, queue=queue.number)
            )
            queues.append(queue)
        if policed is not None:
            # What no rule takes has a rule only where something is done to it.
            rules.append(Rule(name=CLASS_DEFAULT, any_of=(Term(),), police=policed, queue=len(queues)))
        limit = capabilities()["class_queue_limit"]["value"]
        last = default or Queue(number=0, name=CLASS_DEFAULT, limit_packets=limit)
        queues.append(last.model_copy(update={"number": len(queues)}))
        return Egress(
            policy=policy,
            rules=tuple(rules),
            default_queue=len(queues) - 1,
            scheduler=Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=tuple(queues)),
        )

    def _classes(self, line: ConfigLine, policy: str) -> Iterator[tuple[ConfigLine, str]]:
        body = self._policies.get(policy)
        if body is None:
            self._miss(line, "")
            return
        for entry in body.children:
            match entry.text.split():
                case ["class", name]:
                    yield entry, name
                case _:
                    self._miss(entry, body.text)

    def _taken(self, name: str) -> MatchAlternatives:
        return (
            MatchAlternatives((Term(),))
            if name == CLASS_DEFAULT
            else self._class_maps.get(name, MatchAlternatives())
        )

    def _queue(
        self, entry: ConfigLine, name: str, number: int, above: tuple[str, ...]
    ) -> tuple[Queue, Policer | None]:
        police: Policer | None = None
        values: dict[str, object] = {"limit_packets": capabilities()["class_queue_limit"]["value"]}
        red = RedReader()
        for action in entry.children:
            match action.text.split():
                case ["priority", *rest] if (priority := read_priority(rest)) is not None:
                    values |= priority
                case ["bandwidth", *rest] if (share := read_share(rest)) is not None:
                    values["share"] = share
                case ["police", *_] if policer := read_policer(action):
                    police = policer
                case ["shape", "average", rate] if is_number(rate):
                    values["shape_rate"] = int(rate)
                case ["queue-limit", count] if is_number(count):
                    values["limit_packets"] = int(count)
                case ["queue-limit", count, unit] if is_number(count) and unit in _LIMITS:
                    values |= {"limit_packets": None, _LIMITS[unit]: int(count)}
                case ["fair-queue", *_]:
                    values["fair"] = True
                case ["random-detect", *_] if red.take(action):
                    pass
                case ["service-policy", child] | ["service-policy", "output", child] if child not in above:
                    values["child"] = self.output(action, child, above)
                case _:
                    self._miss(action, entry.text)
        return Queue.model_validate({"number": number, "name": name, "red": red.red, **values}), police


def _is_dscp(value: str) -> bool:
    try:
        parse_dscp(value)
    except ValueError:
        return False
    return True
