"""Read the lines of a Linux router into a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from napalm_linux_tc.red import denominator_of, weight_of

from qosforge.commands.reading import ReadConfiguration, ReadLine
from qosforge.plan.early_drop import RedProfile
from qosforge.plan.model import (
    DROP,
    Discipline,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Policer,
    PortRange,
    Queue,
    Rule,
    Share,
    ShareUnit,
    Term,
)
from qosforge.platforms.linux_tc.available import in_use
from qosforge.platforms.linux_tc.band_lines import band_count, band_numbers, banded_queues, is_ours
from qosforge.platforms.linux_tc.early_drops import red_of
from qosforge.platforms.linux_tc.lines import TABLE
from qosforge.platforms.linux_tc.numbering import BANDS, band_of, queue_of
from qosforge.platforms.linux_tc.sharing import burst_of
from qosforge.platforms.linux_tc.tree_parse import ReadTree, miss_what_queues_elsewhere, parents_of
from qosforge.platforms.linux_tc.trees import burst
from qosforge.platforms.linux_tc.turns import default_turn, turn_queues

_TRANSPORTS = {"tcp": 6, "udp": 17}
_EVERYTHING = {"ip": "0.0.0.0/0", "ip6": "::/0"}
"""All addresses of each family, by its word in nft."""


_KBPS = 1000


def parse(text: str, device: str, image: str = "") -> Plan:
    """The plan that the lines of a router amount to; what is not understood is kept in ``unknown``."""
    del image
    reading = TABLE.read(text)
    banded = {entry["dev"] for entry in reading.all("ets", "prio", "turns")}
    rules = _rules(reading, banded)
    names = dict.fromkeys(entry["dev"] for entry in reading.all("link"))
    names |= dict.fromkeys(entry["dev"] for entry in reading.all("tree", "holder", "side"))
    hooked = {entry["side"] for entry in reading.all("hook")}
    jumped = {entry["target"]: entry["dev"] for entry in reading.all("side") if entry["chain"] in hooked}
    interfaces = tuple(
        InterfacePlan(
            name=name,
            ingress=Ingress(rules=rules.get(f"in/{name}", ()) if jumped.get(f"in/{name}") == name else ()),
            egress=_egress(reading, name, rules if jumped.get(f"out/{name}") == name else {}),
        )
        for name in names
    )
    return Plan(
        device=device,
        platform="linux_tc",
        interfaces=interfaces,
        unknown=reading.unknown,
        schedulers=tuple(entry["module"].removeprefix("sch_") for entry in reading.all("scheduler")),
        schedulers_in_use=in_use(text),
        filtered_inputs=tuple(entry["dev"] for entry in reading.all("input")),
        mtus=tuple((entry["dev"], entry["mtu"]) for entry in reading.all("link") if "mtu" in entry),
    )


def _rules(reading: ReadConfiguration, banded: Collection[str]) -> dict[str, tuple[Rule, ...]]:
    """The rules of each chain that refers to chains of classes, in their order; ``banded`` are interfaces."""
    actions: dict[str, dict[str, Any]] = {}
    for entry in reading.all("counter", "police", "choose"):
        held = actions.setdefault(entry["chain"], {})
        match entry.id:
            case "police":
                held["police"] = Policer(rate=8 * entry["rate"], burst=entry["burst"], exceed=DROP)
            case "choose":
                dev = entry["chain"].split("/")[1] if "/" in entry["chain"] else ""
                band = band_of(entry["id"]) if dev in banded else None
                held["queue"] = queue_of(entry["id"]) if band is None else band
    for chain, mark in _marks(reading).items():
        actions.setdefault(chain, {})["set_dscp"] = mark
    terms: dict[str, dict[str, dict[Term, set[str]]]] = {}
    for entry in reading.all("match"):
        told = terms.setdefault(entry["chain"], {}).setdefault(entry["target"], {})
        told.setdefault(_term(entry), set()).add(entry.get("family", ""))
    return {
        chain: tuple(
            Rule(name=target.removeprefix(f"{chain}/"), any_of=tuple(_of_families(told)), **actions.get(target, {}))
            for target, told in targets.items()
        )
        for chain, targets in terms.items()
    }


def _marks(reading: ReadConfiguration) -> dict[str, int]:
    """The mark that each chain writes into packets of both families; others are kept as not understood."""
    written: dict[str, dict[str, ReadLine]] = {}
    for entry in reading.all("mark"):
        written.setdefault(entry["chain"], {})[entry["family"]] = entry
    found = {}
    for chain, families in written.items():
        marks = {entry["dscp"] for entry in families.values()}
        if len(families) == len(_EVERYTHING) and len(marks) == 1:
            found[chain] = marks.pop()
        else:
            for entry in families.values():
                reading.miss(entry)
    return found


def _of_families(told: dict[Term, set[str]]) -> Iterator[Term]:
    """Terms; one that is asked of one family alone, and has no address that tells it, gets all of that family's."""
    for term, families in told.items():
        alone = families.copy().pop() if len(families) == 1 else ""
        if alone and term.source is None and term.destination is None:
            yield term.model_copy(update={"source": _EVERYTHING[alone]})
        else:
            yield term


def _term(entry: ReadLine) -> Term:
    transport = entry.get("transport") or entry.get("source_transport")
    return Term(
        dscp=(entry["dscp"],) if "dscp" in entry else (),
        protocol=_TRANSPORTS[transport] if transport else entry.get("protocol"),
        source=_prefix(entry.get("source")),
        destination=_prefix(entry.get("destination")),
        source_ports=tuple(_ports(entry.get("source_ports"))),
        destination_ports=tuple(_ports(entry.get("destination_ports"))),
        input_interface=entry.get("from"),
    )


def _prefix(word: str | None) -> str | None:
    """A prefix with its length, which nft leaves out of one address."""
    if word is None or "/" in word:
        return word
    return f"{word}/128" if ":" in word else f"{word}/32"


def _ports(word: str | None) -> Iterator[PortRange]:
    if word:
        first, _, last = word.partition("-")
        yield PortRange(first=int(first), last=int(last or first))


def _egress(reading: ReadConfiguration, dev: str, rules: Mapping[str, tuple[Rule, ...]]) -> Egress:
    whole = _whole(reading, dev)
    if whole is None:
        return Egress()
    bands, sharing = (_inside(reading, dev, whole.id, kinds) for kinds in (("ets", "prio"), ("sharing",)))
    last = whole.id if bands is None else f"{BANDS}:{band_count(bands):x}"
    turns = _inside(reading, dev, last, ("turns",))
    if whole.tree is None and bands is None and sharing is None and turns is None:
        reading.miss(whole.line)  # a rate, and nothing that tells classes apart
        return Egress()
    tree = sharing or whole.tree
    if bands is not None:
        tree = _inside(reading, dev, last, ("inner",))
    leaves, marks = _leaves(reading, dev), _directed(reading, dev)

    def limits_of(class_id: str) -> dict[str, Any]:
        return _leaf_limits(reading, leaves.get(class_id), marks)

    queues = _banded(bands, tree or turns, limits_of)
    queues |= {q.number: q for q in turn_queues(reading, dev, limits_of) if turns is not None}
    parents: dict[int, int | None] = dict.fromkeys(queues)
    has_classes = turns is None and (bands is None or tree is not None)
    entries = [e for e in reading.all("class" if sharing is None else "shared") if has_classes and e["dev"] == dev]
    parents |= parents_of(entries, sharing["handle"] if sharing is not None else None)
    for entry in entries:
        number = queue_of(entry["id"])
        if number is None or number not in parents:
            reading.miss(entry)
            continue
        leaf = leaves.get(entry["id"])
        if leaf is not None and number in parents.values():
            reading.miss(leaf)
            leaf = None
        leaf_limits = _leaf_limits(reading, leaf, marks)
        if sharing is not None and not _is_ours(entry, whole.rate):
            reading.miss(entry)
        read = _queue if sharing is None else _shared_queue
        queue = read(entry, number, leaf_limits, whole.rate)
        level = len(band_numbers(bands, tree)) + 1 if bands is not None and queue.priority else None
        queues[number] = queue.model_copy(update={"level": level})
    default = band_count(bands) - 1 if bands is not None and tree is None else None
    if default is None and tree is not None:
        default = queue_of(f"1:{tree['default']:x}")
    discipline = Discipline.WFQ if bands is not None and tree is None else Discipline.LLQ_CBWFQ
    if turns is not None:
        default, discipline = default_turn(reading, turns), Discipline.DRR
    if bands is not None and not is_ours(bands, inner=(tree or turns) is not None):
        reading.miss(bands)
        default = None
    read_tree = ReadTree(queues, parents, rules, discipline, decoupled=sharing is not None)
    egress = read_tree.output(f"out/{dev}", default)
    if sharing is not None:
        miss_what_queues_elsewhere(reading, dev, sharing, egress)
    held = whole.line["burst"] if whole.line.id == "holder" else None
    return egress.model_copy(update={"shape_rate": whole.rate, "shape_burst": held})


def _banded(
    bands: ReadLine | None, inner: ReadLine | None, limits_of: Callable[[str], dict[str, Any]]
) -> dict[int, Queue]:
    """The queues in bands by their numbers; ``inner`` is in the last band, and ``limits_of`` bounds a class."""
    if bands is None:
        return {}
    limits = {number: limits_of(number) for number in band_numbers(bands, inner)}
    return {queue.number: queue for queue in banded_queues(bands, limits, inner=inner)}


@dataclass(frozen=True)
class _Whole:
    """What holds an interface's rate (b/s): its class, and the line that says where packets of no class go."""

    id: str
    rate: int
    line: ReadLine
    tree: ReadLine | None


def _whole(reading: ReadConfiguration, dev: str) -> _Whole | None:
    """What holds the rate of an interface; None where nothing of ours does."""
    for entry in reading.all("holder"):
        if entry["dev"] == dev:
            return _Whole(f"{entry['handle']}1", entry["rate"], entry, None)
    tree = next((entry for entry in reading.all("tree") if entry["dev"] == dev), None)
    whole = next((entry for entry in reading.all("above", "whole") if entry["dev"] == dev), None)
    return None if tree is None or whole is None else _Whole(whole["id"], whole["rate"], whole, tree)


def _inside(reading: ReadConfiguration, dev: str, parent: str, kinds: Collection[str]) -> ReadLine | None:
    """The scheduler of some kind in a class of an interface."""
    return next((e for e in reading.all(*kinds) if (e["dev"], e["parent"]) == (dev, parent)), None)


def _leaves(reading: ReadConfiguration, dev: str) -> dict[str, ReadLine]:
    """The queues of an interface, by the classes that they are in."""
    return {entry["parent"]: entry for entry in reading.all("queue", "fair", "red", "gred") if entry["dev"] == dev}


def _leaf_limits(
    reading: ReadConfiguration, leaf: ReadLine | None, marks: Mapping[int, tuple[int, ...]]
) -> dict[str, Any]:
    """What bounds the queue of a class; one whose average is not known is kept as not understood."""
    limits = {} if leaf is None else _limits(reading, leaf, marks)
    if leaf is not None and not limits:
        reading.miss(leaf)
    return limits


def _directed(reading: ReadConfiguration, dev: str) -> dict[int, tuple[int, ...]]:
    """The DSCPs whose packets are in each virtual queue of an interface, whichever version of IP they are of."""
    found: dict[tuple[int, int], list[ReadLine]] = {}
    for entry in reading.all("direct"):
        if entry["dev"] == dev:
            found.setdefault((entry["number"], entry["dscp"]), []).append(entry)
    marks: dict[int, tuple[int, ...]] = {}
    for (number, dscp), entries in sorted(found.items()):
        if len(entries) == len(_EVERYTHING):
            marks[number] = (*marks.get(number, ()), dscp)
        else:
            for entry in entries:
                reading.miss(entry)
    return marks


def _limits(reading: ReadConfiguration, leaf: ReadLine, marks: Mapping[int, tuple[int, ...]]) -> dict[str, Any]:
    """How long a queue may be, and what it drops before; nothing where its average has no weight that is known.

    ``marks`` are the DSCPs of virtual queues.
    """
    if leaf.id == "queue":
        return {"limit_packets" if leaf["kind"] == "pfifo" else "limit_bytes": leaf["limit"]}
    if leaf.id == "fair":
        return {"limit_packets": leaf["limit"], "fair": True, "flows": leaf["flows"]}
    if leaf.id == "red":
        entries = [leaf]
    else:
        held = (e for e in reading.all("virtual") if (e["dev"], e["handle"]) == (leaf["dev"], leaf["handle"]))
        entries = sorted(held, key=lambda entry: entry["number"])
    known = [weight_of(e["minimum"], e["burst"], e["packet"]) if e["packet"] else None for e in entries]
    profiles = [_profile(entry, marks.get(entry.get("number", 0), ())) for entry in entries]
    alike = {(weight, e["limit"], "ecn" in e) for weight, e in zip(known, entries, strict=True)}
    if len(alike) != 1 or None in known or None in profiles:
        return {}
    weight, limit, ecn = alike.pop()
    named = tuple(p for p in profiles if p is not None and (p.dscp or leaf.id == "red"))
    if not named or limit != leaf["limit"]:
        return {}
    return {"limit_bytes": limit, "red": red_of(named, weight or 0, ecn=ecn)}


def _profile(entry: ReadLine, dscp: tuple[int, ...]) -> RedProfile | None:
    """A profile for packets of these DSCPs; None where its probability is none that is entered."""
    denominator = denominator_of(float(entry["probability"]))
    if denominator is None:
        return None
    return RedProfile(dscp=dscp, minimum=entry["minimum"], maximum=entry["maximum"], denominator=denominator)


def _queue(entry: ReadLine, number: int, limits: dict[str, Any], link: int) -> Queue:
    first = entry["prio"] == 0
    shaped = entry["ceil"] < link or first
    return Queue(
        number=number,
        priority=first,
        capped=first,
        share=Share(unit=ShareUnit.KBPS, value=entry["rate"] // 1000),
        shape_rate=entry["ceil"] if shaped else None,
        shape_burst_bits=8 * entry["cburst"] if shaped else None,
        shape_excess_bits=0 if shaped else None,
        **limits,
    )


def _is_ours(entry: ReadLine, link: int) -> bool:
    """Whether a plan has words for the curves of a class.

    Rates are whole kb/s, and a real-time curve begins at the link's (b/s) and goes on at the class's share.
    """
    rates = {entry[name] for name in ("share", "guaranteed", "ceil") if name in entry}
    in_time = "burst_us" not in entry or (entry["burst_rate"], entry["guaranteed"]) == (link, entry["share"])
    return in_time and all(rate > 0 and rate % _KBPS == 0 for rate in rates)


def _shared_queue(entry: ReadLine, number: int, limits: dict[str, Any], link: int) -> Queue:
    """A class of HFSC; one with a real-time curve that does not begin below its rate has priority."""
    first = "burst_us" in entry and entry["burst_rate"] >= entry["guaranteed"]
    shaped = "ceil" in entry
    held = burst_of(entry["burst_us"], entry["guaranteed"], link) if first else None
    return Queue(
        number=number,
        priority=first,
        capped=first,
        share=Share(unit=ShareUnit.KBPS, value=entry["share"] // 1000),
        burst=held,
        shape_rate=entry["ceil"] if shaped else None,
        shape_burst_bits=8 * (held or burst(entry["ceil"])) if shaped else None,
        shape_excess_bits=0 if shaped else None,
        **limits,
    )
