"""Intents of any size end within a bound of time and memory: with an error that says where, or with a result.

The suite tries a few, always the same ones; `QOSFORGE_PROPERTY_EXAMPLES=5000` tries a fifth of that many, and
`QOSFORGE_PROPERTY_SEED` others.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from qosforge.compiler.compile import compile_intent
from qosforge.compute import Compute
from qosforge.compute_process import Limits
from qosforge.errors import InputError
from qosforge.findings import Severity
from qosforge.intent.loader import parse_intent
from tests.counted import tried
from tests.properties.budget import EXAMPLES, SEED

from .test_size import everywhere, one_of_each

pytestmark = pytest.mark.hostile

LIMITS = Limits(megabytes=1024, cpu_seconds=30)
SECONDS = 10.0 * LIMITS.cpu_seconds
"""Wall-clock until a call that uses no processor time is given up; most take less than one second."""
TRIED = max(8, EXAMPLES // 5)
FIELDS = (
    "source_port",
    "destination_port",
    "dscp",
    "protocol",
    "source",
    "destination",
    "source_mac",
    "vlan",
    "cos",
)
SIZES = (1, 2, 5, 40, 300, 4000)
WHOLE = (20, 500, 5_000, 20_000, 60_000)
"""Values of a whole document: up to more than any may have."""


class Drawn:
    """What is drawn at random for one document; once it has as many values as it shall have, lists are short."""

    def __init__(self, number: int) -> None:
        self.draw = random.Random(f"{SEED or 0}:{number}")
        self.names = 0
        self._left = self.draw.choice(WHOLE)

    def values(self, field: str) -> Any:
        count = min(self.draw.choice(SIZES), max(1, self._left))
        found = self._values(field, count)
        self._left -= len(found)
        return found

    def _values(self, field: str, count: int) -> Any:
        if field.endswith("port"):
            step = self.draw.choice((1, 2, 3))
            return [min(65_535, 1 + n * step) for n in range(count)]
        if field == "dscp":
            return list(range(min(count, 64)))
        if field == "cos":
            return list(range(min(count, 8)))
        if field == "protocol":
            return ["tcp", "udp"]
        if field == "vlan":
            return list(range(1, 1 + min(count, 4094), self.draw.choice((1, 2))))
        if field == "source_mac":
            return [f"00:1b:54:00:{n // 256:02x}:{n % 256:02x}" for n in range(min(count, 1000))]
        return [f"10.{n // 256}.{n % 256}.0/24" for n in range(count)]

    def term(self) -> dict[str, Any]:
        fields = self.draw.sample(FIELDS, self.draw.randint(1, 5))
        found = {field: self.values(field) for field in fields}
        if any(field.endswith("port") for field in fields):
            found["protocol"] = ["tcp", "udp"]
        return found

    def tree(self, depth: int) -> dict[str, Any]:
        self.names += 1
        entry: dict[str, Any] = {"name": f"c{self.names}", "mark": {"dscp": self.names % 64}}
        entry["match"] = {"any": [self.term() for _ in range(self.draw.choice((1, 1, 2, 30)))]}
        if self.draw.random() < 0.3:
            entry["match"]["all"] = [self.term() for _ in range(self.draw.choice((1, 3)))]
        if self.draw.random() < 0.2:
            entry["match"]["none"] = [self.term()]
        if depth and self.draw.random() < 0.6:
            below = [self.tree(depth - 1) for _ in range(self.draw.choice((1, 2, 4)))]
            entry["treatment"] = {"bandwidth": {"percent": 5}, "children": below}
        return entry


def made(number: int) -> tuple[str, dict[str, str]]:
    """The text of an intent, and those of the files that it includes, one in the other."""
    drawn = Drawn(number)
    choice = drawn.draw.choice
    document: dict[str, Any] = {
        "version": 1,
        "intent": "any-size",
        "classes": [drawn.tree(choice((0, 1, 6))) for _ in range(choice((1, 2, 20)))],
        "apply": everywhere() * choice((1, 1, 50, 600)),
    }
    included: dict[str, str] = {}
    for level in range(choice((0, 1, 12))):
        library = {"classes": [drawn.tree(0)], "include": [f"l{level + 1}.yaml"]}
        included[f"l{level}.yaml"] = json.dumps(library)
        document["include"] = ["l0.yaml"]
    if included:
        included[f"l{len(included)}.yaml"] = json.dumps({"classes": [drawn.tree(0)]})
    return json.dumps(document), included


def ended(text: str, included: dict[str, str]) -> str:
    """How an intent ends, in a computing process: a ``result``, or ``refused`` with errors that say where."""
    try:
        loaded = parse_intent(text, "fuzz.yaml", (), included)
        compilation = compile_intent(loaded, one_of_each())
    except InputError as error:
        told = error.problems()
        # A text that is too large is not read, and has no line.
        said = all(p.where.file and (p.where.line or "is larger than" in p.message) for p in told)
        return "refused" if told and said else str(error)
    found = [f for f in compilation.findings if f.code == "match-too-large"]
    assert all(f.severity is Severity.ERROR and f.file and f.line and f.hint for f in found)
    return "too large" if found else "result"


def test_an_intent_of_any_size_ends_in_bounds() -> None:
    compute = Compute(1, limits=LIMITS)
    try:
        ends = {compute.call(ended, *made(number), timeout=SECONDS) for number in range(TRIED)}
    finally:
        compute.close()
    assert {"refused", "too large"} <= ends <= {"refused", "too large", "result"}
    tried("made-up intents of all sizes", TRIED)


def test_a_tree_of_joined_alternatives_ends_in_bounds() -> None:
    """Each level joins what it matches with all that stand above it."""
    entry: dict[str, Any] = {}
    for level in reversed(range(6)):
        below = [entry] if entry else []
        entry = {
            "name": f"c{level}",
            "mark": {"dscp": level},
            "match": {"any": [{"dscp": [n]} for n in range(60)]},
            "treatment": {"bandwidth": {"percent": 5}, **({"children": below} if below else {})},
        }
    text = json.dumps({"version": 1, "intent": "deep", "classes": [entry], "apply": everywhere()})
    found = compile_intent(parse_intent(text, "deep.yaml"), one_of_each()).findings
    assert any(f.code == "match-too-large" for f in found)
