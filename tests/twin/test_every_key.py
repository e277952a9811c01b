"""The scenarios that the fuzz test spoils have every key of the contract between them."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import qosforge_twin

FOLDER = Path(__file__).parents[2] / "twin" / "tests" / "scenarios"
FILES = sorted(FOLDER.glob("*.json"))
# Maps from queue numbers: their keys are no words of the contract.
NUMBERED = {"weights", "shapes", "quantum_bytes", "order"}
# What may be an object or something else.
SHAPES = (".leak", ".leak[0]", ".conform", ".exceed", ".violate")


def objects(value: Any, name: str = "") -> Iterator[dict[str, Any]]:
    """Every object whose keys are words."""
    if isinstance(value, dict):
        if not all(key.isdigit() for key in value) or (not value and name not in NUMBERED):
            yield value
        for key, inner in value.items():
            yield from objects(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner, name)


def test_every_key_is_there() -> None:
    """An unknown key is refused with the list of those that the object may have: all of them occur."""
    used: dict[str, set[str]] = defaultdict(set)
    for file in FILES:
        scenario = json.loads(file.read_text())
        for found in objects(scenario):
            keys = set(found)
            found["typo"] = 1
            with pytest.raises(qosforge_twin.ScenarioError) as caught:
                qosforge_twin.run(json.dumps(scenario), 1)
            del found["typo"]
            # An object that is one of several shapes is refused as a whole.
            if "unknown field `typo`" not in caught.value.problem:
                assert caught.value.path.endswith(SHAPES), caught.value
                continue
            told = caught.value.problem.split(" at line ")[0]
            used[told] |= keys
    assert len(used) > 30
    missing = {}
    for told, keys in used.items():
        expected = set(re.findall(r"`([a-z0-9_]+)`", told)) - {"typo"}
        assert expected or "there are no fields" in told, told
        if expected - keys:
            missing[told] = sorted(expected - keys)
    assert missing == {}
