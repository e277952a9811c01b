"""The published JSON Schema is the models' own, and takes what the loader takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from qosforge.intent.schema import intent_schema, schema_text

ROOT = Path(__file__).resolve().parents[2]
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "null": type(None),
}  # fmt: skip


def accepts(node: dict[str, Any], value: Any, schema: dict[str, Any]) -> bool:
    """Whether a schema takes a value, by the keywords that the published one is made of."""
    if "$ref" in node:
        return accepts(schema["$defs"][node["$ref"].rpartition("/")[2]], value, schema)
    if "anyOf" in node:
        return any(accepts(branch, value, schema) for branch in node["anyOf"])
    if "const" in node or "enum" in node:
        return value in node.get("enum", [node.get("const")])
    kind = node["type"]
    if not isinstance(value, TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        return False
    if kind == "object":
        known = node.get("properties", {})
        others = node.get("additionalProperties", True)
        return set(node.get("required", ())) <= value.keys() and all(
            accepts(known[k], v, schema) if k in known else isinstance(others, dict) and accepts(others, v, schema)
            for k, v in value.items()
        )
    if kind == "array":
        return len(value) >= node.get("minItems", 0) and all(accepts(node["items"], v, schema) for v in value)
    if kind == "string":
        return re.search(node.get("pattern", ""), value) is not None
    if kind == "integer":
        return bool(node.get("minimum", value) <= value <= node.get("maximum", value))
    return True


def document(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def test_the_published_schema_is_current() -> None:
    published = (ROOT / "docs" / "intent.schema.json").read_text(encoding="utf-8")

    assert published == schema_text(), "python -m qosforge.intent.schema > docs/intent.schema.json"


@pytest.mark.parametrize("policy", sorted(p.name for p in (ROOT / "policies").glob("*.yaml")))
def test_every_shipped_policy_is_in_the_schema(policy: str) -> None:
    schema = intent_schema()

    assert accepts(schema, document((ROOT / "policies" / policy).read_text(encoding="utf-8")), schema)


FULL = """
version: 1
intent: full
include: [library.yaml]
parameters: {share: 30, tags: [wan, lan]}
classes:
  - name: a
    match:
      any:
        - {protocol: udp, source: 10.0.0.0/8, destination: [10.1.0.0/16], destination_port: [5060, 16384-32767]}
        - {precedence: 5, vlan: [10, 20], source_mac: "00:1b:54:aa:bb:cc", input_interface: FastEthernet0/0}
        - {mpls_experimental: [4, 5], qos_group: 3}
      none: [{dscp: [ef, 8]}]
    treatment:
      bandwidth: {percent: 20}
      queue_limit: {packets: 10, prefer: true}
      police: {rate: 64 kb/s, burst: 8000 B, exceed: {remark: af12}, direction: output}
      shape: {rate: 1 Mb/s}
  - name: tree
    match: {any: [{vlan: voice}]}
    mark: {precedence: 3, drop_precedence: medium, qos_group: 3, mpls_imposition: 5, mpls_topmost: 4}
    treatment:
      bandwidth: {percent: "${share}"}
      bounded: true
      level: 2
      children:
        - name: leaf
          match: {any: [{dscp: af31}]}
          treatment:
            bandwidth: {weight: 3}
            wred:
              profiles: [{dscp: af31, minimum: 20 packets, maximum: 40 packets, probability: 10 %}]
              weight_exponent: 8
              ecn: true
        - name: default
          treatment: {queue_limit: {time: 20 ms}}
  - name: two-rates
    match: {any: [{dscp: cs3}]}
    treatment:
      priority: {rate: 64 kb/s, burst: 3200 B}
      police: {rate: 64 kb/s, peak_rate: 1 Mb/s, excess_burst: 9 kB, conform: {precedence: 2}, violate: drop}
link_efficiency:
  - when: {framing: [frame-relay, atm]}
    fragment: {packetisation: 20 ms, by: [frf12, ip-mtu]}
    transmit_ring: {packets: 5}
apply:
  - {role: edge, interfaces: wan, direction: output, shape: {rate: 10 Mb/s, prefer: true}}
  - {role: edge, interfaces: "${tags}", direction: output}
  - {devices: s1, ports: ["1", GigabitEthernet 0/0], vlan: 10, direction: input, trust: phone}
verify:
  - {from: a, to: b, classes: [leaf], objective: {leaf: {loss: 1 %}}}
"""


def test_every_part_of_the_language_is_in_the_schema_and_wrong_ones_are_not() -> None:
    schema = intent_schema()

    assert accepts(schema, document(FULL), schema)
    for right, wrong in (
        ("precedence: 5", "precedence: 8"),
        ("vlan: [10, 20]", "vlan: 4095"),
        ("exceed: {remark: af12}", "exceed: pass"),
        ("packets: 10", "packets: 0"),
        ("rate: 64 kb/s", "rate: 64000"),
        ("none: [", "nobody: ["),
        ("none: [{dscp: [ef, 8]}]", "none: []"),
        ("role: edge", "role: []"),
        ("include: [library.yaml]", "include: {library: 1}"),
        ("parameters: {share: 30, tags: [wan, lan]}", "parameters: {share: {a: b}}"),
        ('percent: "${share}"', "percent: half"),
        ("vlan: voice", "vlan: video"),
        ("drop_precedence: medium", "drop_precedence: middle"),
        ("level: 2", "level: 9"),
        ("bounded: true", "bounded: 1"),
        ("weight: 3", "weight: 0"),
        ("weight_exponent: 8", "weight_exponent: 17"),
        ("minimum: 20 packets", "minimum: 20"),
        ("conform: {precedence: 2}", "conform: drop"),
        ("framing: [frame-relay, atm]", "framing: [x25]"),
        ("by: [frf12, ip-mtu]", "by: []"),
        ("transmit_ring: {packets: 5}", "transmit_ring: 5"),
        ("trust: phone", "trust: all"),
    ):
        assert right in FULL
        assert not accepts(schema, document(FULL.replace(right, wrong)), schema), wrong
