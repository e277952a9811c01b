"""Random intents over the whole language: every kind of match, mark, treatment, scope and rule.

A `Dialect` narrows them to what a platform declares, so that most of its intents are ones that it can have; with
`WHOLE` nothing is left out, and most devices refuse most intents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from ipaddress import IPv6Address, ip_network
from typing import Any

from hypothesis import strategies as st

from qosforge.plan.request import Feature
from qosforge.platforms.base import platform

from .devices import Site, sites

AF = (10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38)
SWITCH_DSCPS = (8, 10, 16, 18, 24, 26, 32, 34, 40, 46, 48, 56)
APPLICATIONS = ("rtp-audio", "rtp-video", "sip", "http", "ftp", "ssh", "dns", "own-app")
OWN_APPLICATIONS = [{"name": "own-app", "protocol": "tcp", "ports": [502, "2404-2405"]}]
NAMES = st.one_of(
    st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,39}", fullmatch=True).filter(lambda name: name != "default"),
    st.sampled_from(
        ["class-default", "no", "exit", "end", "input", "match-any", "interface", "A" * 40, "bandwidth"]
    ),
    st.sampled_from(["voice", "Voice", "VOICE", "web", "bulk", "gold", "silver"]),
)


# What is drawn from a strategy made anew for each draw costs more to make and to check than to draw.
BOOLEANS = st.booleans()
integers = cache(st.integers)


@cache
def names(most: int) -> st.SearchStrategy[list[str]]:
    """One name or more, each once."""
    return st.lists(NAMES, min_size=1, max_size=most, unique=True)


@cache
def sampled_from(*values: Any) -> st.SearchStrategy[Any]:
    """One of these."""
    return st.sampled_from(values)


@dataclass(frozen=True)
class Dialect:
    """What intents are made of: features of the language, code points, and whether every class has marks of its own
    (as devices want that choose queues by marks)."""

    features: frozenset[Feature] = frozenset(Feature)
    dscps: tuple[int, ...] = tuple(range(64))
    marked: bool = False
    by_rate: bool = True
    cos_matches: bool = True
    classes: int = 5
    deep: int = 3

    def has(self, feature: Feature) -> bool:
        """Whether intents may ask for this."""
        return feature in self.features


WHOLE = Dialect()


def dialect(name: str) -> Dialect:
    """That of a platform."""
    features = platform(name).features
    if name == "cisco_ios":
        return Dialect(features=features, deep=2)
    if name == "linux_tc":
        return Dialect(features=features, cos_matches=False)
    dscps = SWITCH_DSCPS if name == "catalyst_2950" else tuple(range(64))
    weighted = 3 if name in ("catalyst_2950", "catalyst_2970") else 5
    return Dialect(features, dscps, marked=True, by_rate=False, cos_matches=False, classes=weighted)


PREFIXES = st.builds(
    lambda address, length: str(ip_network((address, length), strict=False)),
    st.integers(0, 2**32 - 1),
    st.integers(1, 32),
)
PREFIXES_6 = st.builds(
    lambda address, length: str(ip_network((IPv6Address(address), length), strict=False)),
    st.integers(0, 2**128 - 1),
    st.sampled_from((1, 32, 48, 64, 127, 128)),
)
PORTS = st.one_of(
    st.integers(0, 65535),
    st.sampled_from([21, 69, 80, 514]),
    st.builds(lambda a, b: f"{min(a, b)}-{max(a, b)}", st.integers(0, 65535), st.integers(0, 65535)),
    st.sampled_from(["16384-32767", "1024-2047", "0-65535"]),
)
MACS = st.sampled_from(["00:1b:54:aa:bb:cc", "001b.54aa.bbcd", "00-1B-54-AA-BB-CE"])


def several(values: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[Any]:
    """One value or a list of them."""
    return st.one_of(values, st.lists(values, min_size=1, max_size=most))


@st.composite
def flows(draw: st.DrawFn, version: int = 4) -> dict[str, Any]:
    """Terms of protocols, prefixes and ports."""
    prefixes = PREFIXES if version == 4 else PREFIXES_6
    term: dict[str, Any] = {}
    protocol = draw(st.sampled_from(["tcp", "udp", ["tcp", "udp"], "gre", 103, 200, None]))
    if protocol is not None:
        term["protocol"] = protocol
    for side in ("source", "destination"):
        if draw(BOOLEANS) or (protocol is None and side == "destination" and not term) or version == 6:
            term[side] = draw(several(prefixes, 2))
        if protocol in ("tcp", "udp", ["tcp", "udp"]) and draw(BOOLEANS):
            term[f"{side}_port"] = draw(several(PORTS, 2))
    return term


FLOWS = flows()


@dataclass(frozen=True)
class _Terms:
    """Alternatives of a match: one, one or two, and up to three."""

    one: st.SearchStrategy[dict[str, Any]]

    @cached_property
    def two(self) -> st.SearchStrategy[list[dict[str, Any]]]:
        return st.lists(self.one, min_size=1, max_size=2)

    @cached_property
    def three(self) -> st.SearchStrategy[list[dict[str, Any]]]:
        return st.lists(self.one, min_size=1, max_size=3)


def terms(words: Dialect, site: Site) -> _Terms:
    """Alternatives of a match."""
    interfaces = site.device.interfaces
    return _terms(words, any(i.voice_vlan for i in interfaces), tuple(i.name for i in interfaces))


@lru_cache(256)
def _terms(words: Dialect, voice: bool, names: tuple[str, ...]) -> _Terms:
    # To check a strategy that is made anew for each draw takes longer than to draw.
    found = [
        st.fixed_dictionaries({"application": several(st.sampled_from(APPLICATIONS), 2)}),
        st.fixed_dictionaries({"dscp": several(st.sampled_from(words.dscps), 9)}),
    ]
    if words.cos_matches:
        found.append(st.fixed_dictionaries({"cos": several(integers(0, 7), 5)}))
    if words.has(Feature.MATCH_PRECEDENCE):
        found.append(st.fixed_dictionaries({"precedence": several(integers(0, 7), 5)}))
    if words.has(Feature.MATCH_FLOW):
        found += [flows(), flows()]  # of two alike that are one, one_of takes it once
        marks = st.fixed_dictionaries({"dscp": several(st.sampled_from(words.dscps), 2)})
        found.append(st.builds(lambda a, b: a | b, flows(), marks))
    if words.has(Feature.MATCH_IPV6):
        found.append(flows(6))
    if words.has(Feature.MATCH_MAC):
        side = st.sampled_from(["source_mac", "destination_mac"])
        found.append(st.builds(lambda s, m: {s: m}, side, several(MACS, 2)))
    if words.has(Feature.MATCH_VLAN):
        found.append(st.fixed_dictionaries({"vlan": several(st.sampled_from([3, 5, 10, 4094]), 2)}))
        if voice:
            found.append(st.just({"vlan": "voice"}))
    if words.has(Feature.MATCH_INPUT_INTERFACE):
        found.append(st.fixed_dictionaries({"input_interface": st.sampled_from(names)}))
    return _Terms(st.one_of(found))


@st.composite
def matches(draw: st.DrawFn, words: Dialect, site: Site) -> dict[str, Any]:
    """Matches in every form."""
    found = terms(words, site)
    form = draw(sampled_from("any", "any", "any", "all", "both", "none"))
    if form == "none" and words.has(Feature.MATCH_NONE):
        made = {"none": draw(found.two)}
        return made | ({"any": draw(found.two)} if draw(BOOLEANS) else {})
    if form == "all":
        return {"all": [draw(found.one)]}
    if form == "both" and words.has(Feature.MATCH_FLOW):
        app = {"application": draw(sampled_from(*APPLICATIONS))}
        return {"any": [app], "all": [draw(FLOWS)]}
    return {"any": draw(found.three)}


@st.composite
def marks(draw: st.DrawFn, words: Dialect, position: int) -> dict[str, Any]:
    """A mark; of devices that choose queues by it, each class has its own."""
    if words.marked:
        dscp = words.dscps[(position * 2 + 1) % len(words.dscps)] if len(words.dscps) < 64 else AF[2 * position]
        if draw(integers(0, 4)) == 0:
            dscp = draw(sampled_from(*words.dscps))
        made: dict[str, Any] = {"dscp": dscp}
        if draw(BOOLEANS):
            made["cos"] = dscp >> 3
        return made
    made = {}
    kind = draw(sampled_from("dscp", "dscp", "dscp", "precedence", "none"))
    if kind == "dscp":
        made["dscp"] = draw(sampled_from(*words.dscps))
    elif kind == "precedence" and words.has(Feature.MARK_PRECEDENCE):
        made["precedence"] = draw(integers(0, 7))
    if draw(BOOLEANS):
        made["cos"] = draw(integers(0, 7))
    if words.has(Feature.MARK_DROP_PRECEDENCE) and "dscp" not in made and draw(integers(0, 3)) == 0:
        made["drop_precedence"] = draw(sampled_from("low", "medium", "high"))
    return made


RATES = st.one_of(
    integers(8, 2000).map(lambda n: f"{n} kb/s"),
    integers(1, 90).map(lambda n: f"{n} Mb/s"),
    integers(1, 250).map(lambda n: f"{n * 8} kb/s"),
)


@cache
def actions(words: Dialect) -> st.SearchStrategy[Any]:
    """What happens to packets beyond a bucket."""
    plain = st.sampled_from(["drop", "drop", "transmit"])
    if not words.has(Feature.POLICE_REMARK):
        return plain
    remark = st.sampled_from(words.dscps).map(lambda d: {"remark": d})
    others = integers(0, 7).flatmap(lambda n: st.sampled_from([{"precedence": n}, {"cos": n}]))
    return st.one_of(plain, remark, remark, others)


@st.composite
def percentages(draw: st.DrawFn, words: Dialect, side: str) -> dict[str, Any]:
    """Policers at a percentage of the rate, with bursts as times."""
    made: dict[str, Any] = {"percent": draw(integers(1, 60)), "direction": side, "exceed": draw(actions(words))}
    if draw(BOOLEANS):
        made["burst_time"] = f"{draw(integers(1, 2000))} ms"
    if draw(BOOLEANS):
        made["peak_percent"] = draw(integers(60, 100))
    return made


@st.composite
def policers(draw: st.DrawFn, words: Dialect, sides: list[str]) -> dict[str, Any]:
    """Policers in all forms."""
    made: dict[str, Any] = {"rate": draw(RATES), "direction": draw(sampled_from(*sides))}
    if words.has(Feature.POLICE_PERCENT) and draw(integers(0, 3)) == 0:
        return draw(percentages(words, made["direction"]))
    if draw(BOOLEANS):
        made["burst"] = f"{draw(integers(1000, 99_000))} B"
    if words.has(Feature.POLICE_TWO_BUCKETS) and draw(integers(0, 2)) == 0:
        if draw(BOOLEANS):
            made["peak_rate"] = "100 Mb/s"
        else:
            made["excess_burst"] = f"{draw(integers(1000, 99_000))} B"
        made["exceed"] = draw(actions(words))
        if made["exceed"] != "drop" and draw(BOOLEANS):
            made["violate"] = draw(actions(words))
    elif draw(BOOLEANS):
        made["exceed"] = draw(actions(words))
    if words.has(Feature.POLICE_CONFORM) and draw(integers(0, 3)) == 0:
        made["conform"] = {"remark": draw(sampled_from(*words.dscps))}
    if draw(BOOLEANS):
        made["prefer"] = True
    return made


@st.composite
def shapers(draw: st.DrawFn, words: Dialect) -> dict[str, Any]:
    """Rates of shapers, and bursts."""
    bursts = words.has(Feature.SHAPE_BURST) and draw(BOOLEANS)
    if words.has(Feature.SHAPE_PERCENT) and draw(integers(0, 3)) == 0:
        return {"percent": draw(integers(5, 100)), **({"burst_time": "20 ms"} if bursts else {})}
    made: dict[str, Any] = {"rate": draw(RATES)}
    if bursts:
        made["burst"] = f"{draw(integers(32, 20_000))} B"
        if draw(BOOLEANS):
            made["excess_burst"] = f"{draw(integers(0, 20_000))} B"
    return made


@st.composite
def early_detection(draw: st.DrawFn, words: Dialect) -> Any:
    """WRED: plain, or with profiles of one kind."""
    units = {"packets": Feature.WRED_PROFILES, "kB": Feature.WRED_PROFILES, "ms": Feature.WRED_PROFILES}
    units["%"] = Feature.WRED_PERCENT
    known = [unit for unit, feature in units.items() if words.has(feature)]
    if not known or draw(BOOLEANS):
        return draw(st.sampled_from([True, {"prefer": True}]))
    kind = draw(sampled_from("dscp", "dscp", "precedence", "colour"))
    keys: dict[str, list[Any]] = {
        "dscp": list(words.dscps),
        "precedence": [*range(8)],
        "colour": ["green", "yellow", "red"],
    }
    chosen = draw(st.lists(st.sampled_from(keys[kind]), min_size=1, max_size=3, unique=True))
    unit = draw(sampled_from(*known[:1], *known))
    profiles = []
    for value in chosen:
        low = draw(integers(1, 50))
        made = {kind: value, "minimum": f"{low} {unit}", "maximum": f"{low + draw(integers(1, 50))} {unit}"}
        if draw(BOOLEANS):
            made["probability"] = f"{draw(integers(1, 100))} %"
        profiles.append(made)
    wred: dict[str, Any] = {"profiles": profiles, "prefer": draw(BOOLEANS)}
    if words.has(Feature.WRED_WEIGHT) and draw(BOOLEANS):
        wred["weight_exponent"] = draw(integers(1, 16))
    if words.has(Feature.ECN) and draw(BOOLEANS):
        wred["ecn"] = True
    return wred


@cache
def tail_thresholds(words: Dialect) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Parts of a queue by code point."""
    chosen = st.dictionaries(st.sampled_from(words.dscps), integers(1, 100), min_size=1, max_size=4)
    return chosen.map(lambda parts: [{"dscp": point, "percent": part} for point, part in parts.items()])


@st.composite
def limits(draw: st.DrawFn, words: Dialect) -> dict[str, Any]:
    """A queue limit in any unit."""
    units = {
        Feature.QUEUE_LIMIT: ("packets", integers(1, 512)),
        Feature.QUEUE_LIMIT_BYTES: ("bytes", integers(1, 200).map(lambda n: f"{n} kB")),
        Feature.QUEUE_LIMIT_TIME: ("time", integers(1, 200).map(lambda n: f"{n} ms")),
        Feature.QUEUE_LIMIT_PERCENT: ("percent", integers(1, 100)),
    }
    known = [pair for feature, pair in units.items() if words.has(feature)]
    if words.has(Feature.QUEUE_LIMIT_PERCENT):
        known.append(("thresholds", tail_thresholds(words)))
    unit, values = draw(st.sampled_from(known))
    return {unit: draw(values), **({"prefer": True} if draw(BOOLEANS) else {})}


LIMITS = {
    Feature.QUEUE_LIMIT,
    Feature.QUEUE_LIMIT_BYTES,
    Feature.QUEUE_LIMIT_TIME,
    Feature.QUEUE_LIMIT_PERCENT,
}


@dataclass
class _Left:
    """What the classes of one level may still ask for, in per cent; rates are taken of the slowest line."""

    unit: str
    slowest: int
    percent: int = 72
    remaining: int = 100


@st.composite
def treatments(
    draw: st.DrawFn, words: Dialect, left: _Left, sides: list[str], *, first: bool, default: bool
) -> dict[str, Any]:
    """How one class is served; children aside."""
    slowest = left.slowest
    made: dict[str, Any] = {}
    amount = draw(integers(1, 40))
    if first and not default:
        left.percent -= amount
        kinds = ["percent", "percent", *(["rate"] if words.by_rate else [])]
        kind = draw(sampled_from(*kinds, *(["strict"] if words.has(Feature.STRICT) else [])))
        if kind == "strict":
            made["priority"] = True
        else:
            value = amount if kind == "percent" else f"{max(8000, slowest * amount // 100)} b/s"
            made["priority"] = {kind: value}
            if words.has(Feature.PRIORITY_BURST) and draw(integers(0, 3)) == 0:
                made["priority"]["burst"] = f"{draw(integers(32, 20_000))} B"
        if words.has(Feature.BOUNDED) and draw(integers(0, 5)) == 0:
            made["bounded"] = True
    elif draw(integers(0, 5)) > 0:
        pool = "remaining" if left.unit == "remaining_percent" else "percent"
        room = getattr(left, pool)
        amount = min(amount, room)
        if left.unit == "weight":
            made["bandwidth"] = {"weight": draw(integers(1, 50))}
        elif amount > 0:
            setattr(left, pool, room - amount)
            value = f"{max(8000, slowest * amount // 100)} b/s" if left.unit == "rate" else amount
            made["bandwidth"] = {left.unit: value}
        if made and words.has(Feature.BOUNDED) and draw(integers(0, 5)) == 0:
            made["bounded"] = True
        if draw(integers(0, 3)) == 0:
            made["wred"] = draw(early_detection(words))
        if words.has(Feature.FAIR_QUEUE) and draw(integers(0, 4)) == 0:
            made["fair_queue"] = draw(st.sampled_from([True, {"flows": 64}, {"prefer": True}]))
        if LIMITS & words.features and draw(integers(0, 3)) == 0:
            made["queue_limit"] = draw(limits(words))
        if words.has(Feature.BUFFERS) and draw(integers(0, 3)) == 0:
            made["buffers"] = {"percent": draw(integers(1, 20)), "prefer": draw(BOOLEANS)}
    if "priority" not in made and words.has(Feature.SHAPE) and draw(integers(0, 4)) == 0:
        made["shape"] = {**draw(shapers(words)), **({"prefer": True} if draw(BOOLEANS) else {})}
    if words.has(Feature.MARK_OUTPUT) and draw(integers(0, 4)) == 0:
        made["mark"] = draw(st.sampled_from([{"dscp": 46}, {"precedence": 3}, {"dscp": 8, "prefer": True}]))
    if sides and draw(integers(0, 3)) == 0:
        made["police"] = draw(policers(words, sides))
    if words.has(Feature.LEVEL) and draw(integers(0, 4)) == 0:
        made["level"] = draw(integers(1, 8))
    return made


@st.composite
def class_lists(
    draw: st.DrawFn, words: Dialect, site: Site, slowest: int, *, depth: int = 1, used: set[str] | None = None
) -> list[dict[str, Any]]:
    """The classes of one level, with those below them."""
    used = set() if used is None else used
    units = ["percent", "remaining_percent", "remaining_percent"]
    units += ["rate"] if words.by_rate else []
    units += ["weight"] if words.has(Feature.WEIGHT) else []
    left = _Left(draw(sampled_from(*units)), slowest)
    most = words.classes if depth == 1 else 2
    named = [name for name in draw(names(most)) if name not in used] or [f"extra{depth}{len(used)}"]
    used |= set(named)
    sides = [
        side
        for side, feature in (("input", Feature.POLICE_INPUT), ("output", Feature.POLICE_OUTPUT))
        if words.has(feature) and (side == "input" or words.marked is False)
    ]
    classes = []
    priority = draw(integers(0, 2)) > 0
    for position, name in enumerate([*named, *(["default"] if draw(BOOLEANS) else [])]):
        default = name == "default"
        entry: dict[str, Any] = {"name": name}
        if draw(BOOLEANS):
            entry["description"] = "Some text, (of) people's: a & b"
        if not default:
            entry["match"] = draw(matches(words, site))
        if draw(integers(0, 3)) > 0 or (words.marked and not default):
            mark = draw(marks(words, position))
            if mark and not default:
                entry["mark"] = mark
        if default and depth == 1 and words.has(Feature.KEEP_MARK) and draw(integers(0, 3)) == 0:
            entry["mark"] = {"keep": True}
        first = priority and position == 0
        treatment = draw(treatments(words, left, sides, first=first, default=default))
        below = (
            words.has(Feature.CHILDREN) and depth < words.deep and not treatment.keys() & {"wred", "queue_limit"}
        )
        if below and not default and draw(integers(0, 5)) == 0:
            share = max(slowest // 8, 64_000)
            treatment["children"] = draw(class_lists(words, site, share, depth=depth + 1, used=used))
        if treatment:
            entry["treatment"] = treatment
        classes.append(entry)
    return classes


@st.composite
def scopes(draw: st.DrawFn, words: Dialect, site: Site) -> list[dict[str, Any]]:
    """Where an intent applies: outputs and inputs, by every kind of selector."""
    device = site.device
    tags = sorted({tag for i in device.interfaces for tag in i.tags})
    made: list[dict[str, Any]] = []
    for direction in draw(sampled_from(("output",), ("output", "input"), ("output", "input"), ("input",))):
        kind = draw(sampled_from("role", "tags", "devices", "ports", "vlan", "all"))
        scope: dict[str, Any] = {"direction": direction}
        if kind == "ports":
            ports = [n for i in device.interfaces for n in (i.name, i.lag) if n]
            scope["ports"] = draw(st.lists(st.sampled_from(ports), min_size=1, max_size=3))
        elif kind == "vlan":
            scope["vlan"] = draw(several(st.sampled_from([3, 5, 10]), 2))
        elif kind == "tags":
            scope["interfaces"] = draw(st.lists(st.sampled_from(tags), min_size=1, max_size=2))
        elif kind == "devices":
            scope["devices"] = device.name
        else:
            scope["role"] = device.role.value
            if kind == "all":
                scope["interfaces"] = tags
        if direction == "output":
            if draw(integers(0, 3)) == 0:
                scope["recognise_by"] = "mark"
            if words.has(Feature.SHAPE_PORT) and draw(integers(0, 4)) == 0:
                scope["shape"] = {"rate": draw(RATES), "prefer": draw(BOOLEANS)}
        elif words.has(Feature.TRUST) and draw(integers(0, 2)) == 0:
            phone = ["phone"] if words.has(Feature.TRUST_PHONE) else []
            scope["trust"] = draw(sampled_from("dscp", "cos", "none", *phone))
        elif words.has(Feature.REQUIRES_PHONE) and draw(integers(0, 4)) == 0:
            scope["requires_phone"] = True
        if draw(integers(0, 2)) == 0:
            scope["policy"] = (
                f"{draw(sampled_from('P', 'no', 'exit', 'Q' * 39))}{'O' if direction == 'output' else 'I'}"
            )
        made.append(scope)
    return made


@st.composite
def efficiency_rules(draw: st.DrawFn, words: Dialect) -> dict[str, Any]:
    """A rule of link efficiency."""
    when: dict[str, Any] = {}
    if draw(BOOLEANS):
        when["rate_below"] = draw(sampled_from("768 kb/s", "3 Mb/s", "1 Gb/s"))
    if not when or draw(BOOLEANS):
        framings = ["ethernet", "hdlc", "ppp", "mlppp", "frame-relay", "atm"]
        when["framing"] = draw(st.lists(st.sampled_from(framings), min_size=1, max_size=4, unique=True))
    rule: dict[str, Any] = {"when": when}
    if draw(BOOLEANS):
        rule["header_compression"] = "rtp"
    if draw(BOOLEANS):
        rule["fragment"] = draw(
            st.sampled_from(
                [
                    {"blocking_delay": "16 ms"},
                    {"packetisation": "20 ms"},
                    {"size": "300 B"},
                    {"blocking_delay": "0.5 ms"},
                ]
            )
        )
        if draw(integers(0, 2)) == 0:
            methods = st.sampled_from(["frf12", "multilink", "ip-mtu"])
            rule["fragment"] = rule["fragment"] | {"by": draw(st.lists(methods, min_size=1, unique=True))}
    if words.has(Feature.TRANSMIT_RING) and draw(integers(0, 2)) == 0:
        rule["transmit_ring"] = {"packets": draw(integers(1, 64)), "prefer": draw(BOOLEANS)}
    if draw(BOOLEANS):
        rule["prefer"] = draw(BOOLEANS)
    return rule


@st.composite
def intents(draw: st.DrawFn, words: Dialect, site: Site) -> dict[str, Any]:
    """Intents for a device, as a file holds them."""
    lines = [i.usable for i in site.device.interfaces if "lan" not in i.tags] or [10**8]
    document: dict[str, Any] = {
        "version": 1,
        "intent": "made",
        "tolerance": draw(sampled_from("5 %", "20 %", "100 %")),
        "applications": OWN_APPLICATIONS,
        "classes": draw(class_lists(words, site, min(lines))),
        "apply": draw(scopes(words, site)),
    }
    if draw(BOOLEANS):
        document["link_efficiency"] = draw(st.lists(efficiency_rules(words), min_size=1, max_size=2))
    return document


Case = tuple[Site, dict[str, Any], dict[str, Any]]


@st.composite
def cases(draw: st.DrawFn, platform: str, words: Dialect) -> Case:
    """A device and two intents for it."""
    site = draw(sites(platform))
    return site, draw(intents(words, site)), draw(intents(words, site))
