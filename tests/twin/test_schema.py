"""The models of scenarios and results have just the fields that the twin's own schema has, and of the same kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs
import msgspec
import pytest
import qosforge_twin

from qosforge.twin.report import TwinReport
from qosforge.twin.scenario import TwinScenario

Json = dict[str, Any]

TWIN: Json = json.loads(qosforge_twin.schema())
FILES = sorted((Path(__file__).parents[2] / "twin" / "tests" / "scenarios").glob("*.json"))
TAGS = {"kind", "mode"}
"""Keys that tell alternatives apart. The models always write them, the twin has a usual one where it can."""
UNIT = re.compile(r"_(ps|bps|bytes|packets|hz|cells|within)$")
COUNTS = {
    "the contract": {"version", "seed"},
    "header fields": {"dscp", "cos", "precedence", "group", "protocol", "src_port", "dst_port", "vlan"},
    "numbers of queues and places in an order": {"queue", "strict", "priority", "prio", "level"},
    "weights and parts of a whole": {"weight", "share", "alpha", "percent", "utilisation", "jain", "spread"},
    "packets": {
        *("packets", "out_of", "min", "max", "hold_queue", "congestive_discard_threshold", "sample_every"),
        *("sent", "delivered", "lost", "lost_input", "unfinished", "reordered", "exceeded", "conform", "exceed"),
        *("violate", "packets_in", "packets_out", "dropped", "dropped_input", "dropped_tail", "dropped_red"),
        *("dropped_police", "dropped_pool", "ecn_marked", "mean_length"),
    },
    "other things that are counted": {
        *("count", "sessions", "transactions", "failed", "timed_out", "connections", "aborted", "retransmits"),
        *("timeouts", "acks_sent", "acks_lost", "ecn_reductions", "retries", "flows", "dynamic_queues"),
        *("initial_window", "ack_every", "quick_ack", "group_frames", "class_visits"),
    },
    "bytes by their common names": {"bytes", "mss", "ip_mtu", "bytes_delivered", "bytes_out"},
    "exponents, denominators and factors": {
        *("weight_exponent", "gain_exponent", "mark_denominator", "intra_ratio", "ppm", "frame_rate"),
        "frame_bytes_mean",
        "frame_bytes_sd",
    },
    "of the part that they stand in": {
        *("mean", "sd", "p50", "p90", "p95", "p99", "p999", "smallest", "largest", "ip", "frame", "wire", "size"),
        "max_depth",
    },
}
"""Numbers whose unit their name does not end with."""


class Shape(NamedTuple):
    """One of the kinds of JSON that a value may be: its type or constant, its members and what they are."""

    kind: str
    fields: tuple[tuple[str, bool, Any, Json], ...] = ()
    items: tuple[Json, ...] = ()


def shapes(schema: Json, root: Json) -> Iterator[Shape]:
    """The alternatives of a schema."""
    if "$ref" in schema:
        yield from shapes(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    elif alternatives := schema.get("anyOf") or schema.get("oneOf"):
        for each in alternatives:
            yield from shapes(each, root)
    elif "const" in schema or "enum" in schema:
        yield from (Shape(f"constant {value}") for value in schema.get("enum") or [schema["const"]])
    else:
        kinds = schema["type"]
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            yield shape(kind, schema)


def shape(kind: str, schema: Json) -> Shape:
    if kind == "array":
        parts = schema.get("prefixItems")
        return Shape("tuple", items=tuple(parts)) if parts else Shape("list", items=(schema["items"],))
    if kind != "object":
        return Shape(kind)
    if isinstance(values := schema.get("additionalProperties"), dict):
        return Shape("map", items=(values,))
    members: Mapping[str, Json] = schema["properties"]
    tags = [f" {value.get('const') or value['enum'][0]}" for name, value in members.items() if is_tag(name, value)]
    fields = tuple(
        (name, name in schema.get("required", ()), value.get("default", ...), value)
        for name, value in sorted(members.items())
    )
    return Shape("object" + "".join(tags), fields=fields)


def is_tag(name: str, schema: Json) -> bool:
    return name in TAGS and ("const" in schema or len(schema.get("enum", ())) == 1)


def differences(ours: Json, twins: Json, our_root: Json, twin_root: Json) -> list[str]:
    """Where two schemas differ: names, types, constants, which fields are required, and their defaults."""
    found: list[str] = []
    seen: set[str] = set()
    waiting = [("", ours, twins)]
    while waiting:
        path, one, other = waiting.pop()
        pair = json.dumps([one, other], sort_keys=True)
        if pair in seen:
            continue
        seen.add(pair)
        by_kind = {each.kind: each for each in shapes(one, our_root)}
        theirs = {each.kind: each for each in shapes(other, twin_root)}
        found += [f"{path}: {kind}" for kind in sorted(by_kind.keys() ^ theirs.keys())]
        for kind in by_kind.keys() & theirs.keys():
            mine, its = by_kind[kind], theirs[kind]
            waiting += [(f"{path}[]", *pair) for pair in zip(mine.items, its.items, strict=True)]
            own, known = ({name: rest for name, *rest in each.fields} for each in (mine, its))
            found += [f"{path}.{name}: only one has it" for name in sorted(own.keys() ^ known.keys())]
            for name in own.keys() & known.keys():
                (needed, usual, value), (must, default, meant) = own[name], known[name]
                if needed != must and not is_tag(name, value):
                    found.append(f"{path}.{name}: required of one")
                if default is not ... and usual != default:
                    found.append(f"{path}.{name}: {usual} is not {default}")
                waiting.append((f"{path}.{name}", value, meant))
    return found


def model(kind: type[msgspec.Struct]) -> tuple[Json, Json]:
    """The schema of a model with those that it refers to, as JSON has them: defaults that are tuples are lists."""
    (schema,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    found: tuple[Json, Json] = tuple(json.loads(json.dumps([schema, {"$defs": definitions}])))
    return found


@pytest.mark.parametrize(("kind", "side"), [(TwinScenario, "scenario"), (TwinReport, "result")])
def test_the_models_are_what_the_twin_says(kind: type[msgspec.Struct], side: str) -> None:
    schema, root = model(kind)
    assert differences(schema, TWIN[side], root, TWIN[side]) == []


def test_a_field_that_one_side_lacks_is_found() -> None:
    for name, change in (
        ("duration_ps", {"type": "string"}),
        ("warmup_ps", {"type": "integer", "default": 1}),
        ("new_ps", {"type": "integer"}),
    ):
        schema, root = model(TwinScenario)
        other = json.loads(json.dumps(TWIN["scenario"]))
        other["properties"][name] = change
        assert differences(schema, other, root, other), name
    other = json.loads(json.dumps(TWIN["scenario"]))
    other["required"].remove("nodes")
    other["$defs"]["Colour"]["enum"].append("blue")
    found = differences(schema, other, root, other)
    assert ".nodes: required of one" in found
    assert any(each.endswith("colour[]: constant blue") for each in found)


def numbers(schema: Json) -> Iterator[str]:
    """Names of all fields that are numbers."""
    for one in (schema, *schema["$defs"].values()):
        for each in (one, *one.get("oneOf", ())):
            for name, value in each.get("properties", {}).items():
                kinds = value.get("type", ())
                if {"integer", "number"} & set([kinds] if isinstance(kinds, str) else kinds):
                    yield name


@pytest.mark.parametrize("side", ["scenario", "result"])
def test_every_number_has_its_unit_in_its_name(side: str) -> None:
    known = {name for names in COUNTS.values() for name in names}
    assert {name for name in numbers(TWIN[side]) if not UNIT.search(name)} - known == set()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scenarios_and_their_results_are_of_the_schema(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    jsonschema_rs.validate(TWIN["scenario"], json.loads(text))
    jsonschema_rs.validate(TWIN["result"], json.loads(qosforge_twin.run(text, 1)))
    spoilt = json.loads(text)
    del spoilt["nodes"][0]["name"]
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(TWIN["scenario"], spoilt)


@pytest.mark.parametrize("file", [file for file in FILES if file.stem != "boxes"], ids=lambda file: file.stem)
def test_what_the_models_write_is_what_they_read(file: Path) -> None:
    """A scenario and its result come through the models as they were."""
    text = file.read_text(encoding="utf-8")
    written = msgspec.json.decode(text, type=TwinScenario).json()
    answer = qosforge_twin.run(text, 1)
    assert qosforge_twin.run(written, 1) == answer
    again = json.loads(msgspec.json.encode(msgspec.json.decode(answer, type=TwinReport)))
    expected = json.loads(answer)
    for flow in expected["flows"]:
        # What is left out is None.
        if flow["transactions"] is not None:
            flow["transactions"] = {"rtt_without_timeout_ps": None, "total_ps": None} | flow["transactions"]
    for port in expected["ports"]:
        port.setdefault("class_visits", None)
    assert again == expected
