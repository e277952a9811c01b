"""The routers of the campus, intents made on the fly, and emulated routers without a network."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.intent.loader import LoadedIntent, load_intent, parse_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage

ROOT = Path(__file__).resolve().parents[2]
CAMPUS = ROOT / "inventories" / "campus"
ROUTERS = ("r1", "r2", "r3", "b256", "b56")
POLICIES = ("itesm-paper", "campus-collaboration")


@cache
def routers() -> Network:
    """The campus with its routers alone."""
    network = load_network(CAMPUS)
    return network.model_copy(update={"devices": tuple(network.device(name) for name in ROUTERS)})


@cache
def startup(name: str) -> str:
    """What a router boots with."""
    return (CAMPUS / f"startup/{name}.cfg").read_text(encoding="utf-8")


def running() -> dict[str, str]:
    """What every router runs before the first push."""
    return {name: startup(name) for name in ROUTERS}


@cache
def policy(name: str) -> LoadedIntent:
    """A shipped intent."""
    return load_intent(ROOT / "policies" / f"{name}.yaml")


@cache
def compiled(name: str) -> Compilation:
    """A shipped intent on the routers, against what they boot with."""
    return compile_intent(policy(name), routers(), running())


def device(compilation: Compilation, name: str) -> CompiledDevice:
    """One device of a compilation."""
    return next(d for d in compilation.devices if d.name == name)


def emulated(name: str, text: str | None = None) -> Box:
    """An emulated router of the campus that has booted, without a network."""
    with tempfile.TemporaryDirectory() as folder:
        here = routers().device(name)
        features = dict.fromkeys(here.features, True)
        spec = BoxSpec(
            name=name, platform=here.platform, image=here.image, features=features, username="u", password="p"
        )
        box = make_box(spec, Storage(Path(folder), startup(name) if text is None else text), Clock())
        box.boot()
    assert not box.boot_messages
    return box


def made_text(classes: list[dict[str, Any]], **more: Any) -> str:
    """The text of an intent of these classes for the WAN output and LAN input of the routers."""
    document = {
        "version": 1,
        "intent": "made",
        "classes": classes,
        "apply": [
            {"role": ["edge", "middle"], "interfaces": "wan", "direction": "output"},
            {"role": "edge", "interfaces": "lan", "direction": "input"},
        ],
        **more,
    }
    return json.dumps(document)


def made(classes: list[dict[str, Any]], **more: Any) -> LoadedIntent:
    """An intent of these classes for the WAN output and LAN input of the routers."""
    return parse_intent(made_text(classes, **more), "made.yaml")


def a_class(name: str = "gold", **more: Any) -> dict[str, Any]:
    """A class that matches web traffic, with a share of 20 % of what is left."""
    plain = {
        "name": name,
        "match": {"any": [{"application": "http"}]},
        "treatment": {"bandwidth": {"remaining_percent": 20}},
    }
    return {**plain, **more}


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,39}", fullmatch=True).filter(lambda name: name != "default")
"""Names as the intent language takes them, long ones and words of the devices among them."""
ODD_NAMES = st.sampled_from(
    ["class-default", "no", "exit", "end", "input", "match-any", "interface", "A" * 40, "bandwidth"]
)
TERMS = st.one_of(
    st.fixed_dictionaries(
        {"application": st.lists(st.sampled_from(["http", "ftp", "rtp-audio", "sip"]), min_size=1)}
    ),
    st.fixed_dictionaries({"dscp": st.lists(st.integers(0, 63), min_size=1, max_size=20)}),
    st.fixed_dictionaries({"precedence": st.lists(st.integers(0, 7), min_size=1, max_size=8)}),
    st.fixed_dictionaries({"input_interface": st.just("FastEthernet0/0")}),
    st.fixed_dictionaries({"mpls_experimental": st.lists(st.integers(0, 7), min_size=1, max_size=8)}),
    st.fixed_dictionaries({"qos_group": st.lists(st.integers(0, 99), min_size=1, max_size=3)}),
    st.fixed_dictionaries({"source_mac": st.sampled_from(["00:1b:54:aa:bb:cc", "001b.54aa.bbcd"])}),
    st.fixed_dictionaries({"destination_mac": st.just(["00-1B-54-AA-BB-CC", "001b.54aa.bbcd"])}),
)
PREFIXES = st.builds(
    lambda address, length: str(ip_network((address, length), strict=False)),
    st.integers(0, 2**32 - 1),
    st.integers(1, 32),
)
PORTS = st.one_of(
    st.integers(0, 65535),
    st.sampled_from([21, 69, 80, 514]),
    st.builds(lambda a, b: f"{min(a, b)}-{max(a, b)}", st.integers(0, 65535), st.integers(0, 65535)),
)


@st.composite
def flows(draw: st.DrawFn) -> dict[str, Any]:
    """Terms that access lists hold: protocols, prefixes and ports, sometimes with a mark beside."""
    term: dict[str, Any] = {"protocol": draw(st.sampled_from(["tcp", "udp", ["tcp", "udp"], 47, 103, 200]))}
    for side in ("source", "destination"):
        if draw(st.booleans()):
            term[side] = draw(st.lists(PREFIXES, min_size=1, max_size=2))
        if term["protocol"] not in (47, 103, 200) and draw(st.booleans()):
            term[f"{side}_port"] = draw(st.lists(PORTS, min_size=1, max_size=2))
    mark = draw(st.sampled_from(["", "", "dscp", "precedence"]))
    if mark:
        term[mark] = draw(st.lists(st.integers(0, 63 if mark == "dscp" else 7), min_size=1, max_size=2))
    return term


@st.composite
def matches(draw: st.DrawFn) -> dict[str, Any]:
    """Matches in every form that one class-map holds."""
    form = draw(st.sampled_from(["any", "any", "flows", "joined"]))
    if form == "any":
        return {"any": draw(st.lists(st.one_of(TERMS, flows()), min_size=1, max_size=3))}
    if form == "flows":
        marks = st.fixed_dictionaries({"dscp": st.lists(st.integers(0, 63), min_size=1, max_size=9)})
        parts = {"any": draw(st.lists(st.one_of(flows(), marks), min_size=1, max_size=2))}
    else:
        one = draw(st.sampled_from([{"application": "http"}, {"input_interface": "FastEthernet0/0"}]))
        parts = {"all": [one, *draw(st.lists(flows(), max_size=1))]}
    if draw(st.booleans()):
        parts["none"] = draw(st.lists(st.one_of(TERMS, flows()), min_size=1, max_size=2))
    return parts


@st.composite
def extras(draw: st.DrawFn, sides: tuple[str, ...]) -> dict[str, Any]:
    """Policers and shapes as 12.4 takes them."""
    more: dict[str, Any] = {}
    if draw(st.booleans()):
        more["police"] = {
            "rate": f"{draw(st.integers(8, 1000))} kb/s",
            "burst": f"{draw(st.integers(1000, 9000))} B",
            "exceed": draw(st.sampled_from(["drop", {"remark": "af13"}])),
            "direction": draw(st.sampled_from(sides)),
        }
    return more


UNITS = ("percent", "remaining_percent", "rate")


@st.composite
def intents(draw: st.DrawFn) -> str:
    """Texts of intents that the loader takes; shares stay within what 12.4 lets classes reserve of every line."""
    names = draw(st.lists(st.one_of(NAMES, ODD_NAMES), min_size=1, max_size=4, unique=True))
    unit = draw(st.sampled_from(UNITS))
    left = {"percent": 70, "remaining_percent": 100, "rate": 70}
    classes: list[dict[str, Any]] = []
    for name in [*names, *(["default"] if draw(st.booleans()) else [])]:
        entry: dict[str, Any] = {"name": name}
        if name != "default":
            entry["match"] = draw(matches())
        if draw(st.booleans()):
            entry["mark"] = {"dscp": draw(st.integers(0, 63))}
        kind = draw(st.sampled_from(["priority", unit, unit, "none"])) if name != "default" else unit
        amount = draw(st.integers(15, 40))
        pool = "percent" if kind == "priority" else kind
        if kind != "none" and amount <= left[pool]:
            for key in {pool, *({"percent", "rate"} if pool != "remaining_percent" else ())}:
                left[key] -= amount
            value: Any = f"{amount * 560} b/s" if kind == "rate" else amount
            key = "percent" if kind == "priority" else kind
            entry["treatment"] = {"priority" if kind == "priority" else "bandwidth": {key: value}}
            if kind != "priority" and draw(st.booleans()):
                entry["treatment"]["wred"] = {"prefer": draw(st.booleans())}
            elif kind != "priority" and draw(st.booleans()):
                entry["treatment"]["queue_limit"] = {"packets": draw(st.integers(1, 512))}
        if kind != "priority" and draw(st.booleans()):
            entry.setdefault("treatment", {})["shape"] = {"rate": f"{draw(st.integers(8, 2000))} kb/s"}
        if name != "default" or draw(st.booleans()):
            entry.setdefault("treatment", {}).update(
                draw(extras(("input", "output") if name != "default" else ("input",)))
            )
        classes.append(entry)
    rules = [
        {"when": {"rate_below": "768 kb/s"}, "header_compression": "rtp", "fragment": {"blocking_delay": "16 ms"}}
    ]
    more: Mapping[str, Any] = {"link_efficiency": rules} if draw(st.booleans()) else {}
    return made_text(classes, **more)
