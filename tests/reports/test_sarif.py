"""SARIF: what the standard's schema and the code hosts ask of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from qosforge.finding_codes import load_codes
from qosforge.findings import Finding, FindingRow, Severity
from qosforge.reports.sarif import sarif

# The part of the standard's schema (SARIF 2.1.0, errata 01) that is in use, closed where the standard closes it.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_MESSAGE = {**_TEXT, "additionalProperties": False}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "additionalProperties": False,
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "additionalProperties": False,
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "additionalProperties": False,
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": _MESSAGE,
                                                "fullDescription": _MESSAGE,
                                                "help": _MESSAGE,
                                                "defaultConfiguration": {
                                                    "type": "object",
                                                    "additionalProperties": False,
                                                    "properties": {"level": _LEVEL},
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message", "locations"],
                            "additionalProperties": False,
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": _LEVEL,
                                "message": _MESSAGE,
                                "partialFingerprints": {
                                    "type": "object",
                                    "additionalProperties": {"type": "string"},
                                },
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "type": "object",
                                        "additionalProperties": False,
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "physicalLocation": {
                                                "type": "object",
                                                "additionalProperties": False,
                                                "required": ["artifactLocation", "region"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "type": "object",
                                                        "additionalProperties": False,
                                                        "required": ["uri"],
                                                        "properties": {
                                                            "uri": {"type": "string", "format": "uri-reference"},
                                                            "uriBaseId": {"type": "string"},
                                                        },
                                                    },
                                                    "region": {
                                                        "type": "object",
                                                        "additionalProperties": False,
                                                        "properties": {
                                                            "startLine": {"type": "integer", "minimum": 1}
                                                        },
                                                    },
                                                },
                                            },
                                            "logicalLocations": {
                                                "type": "array",
                                                "minItems": 1,
                                                "items": {
                                                    "type": "object",
                                                    "additionalProperties": False,
                                                    "properties": {
                                                        name: {"type": "string"}
                                                        for name in ("name", "fullyQualifiedName", "kind")
                                                    },
                                                },
                                            },
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}

FINDINGS = (
    Finding(
        code="scope-empty",
        severity=Severity.ERROR,
        message="no interface is in scope",
        file="policies/a b.yaml",
        line=12,
        hint="check the roles",
    ),
    Finding(
        code="class-replaced",
        severity=Severity.INFO,
        message="takes a place",
        device="r1",
        interface="Serial0",
        direction="output",
        traffic_class="voice",
        requested="50 %",
        applied="33 %",
    ),
    Finding(code="scope-empty", severity=Severity.ERROR, message="again", file="policies/a b.yaml", line=3),
    Finding(code="of-a-newer-service", severity=Severity.WARNING, message="new", file="/elsewhere/p.yaml"),
)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    return sarif(FINDINGS, "policies/mine.yaml", tmp_path)


def test_it_follows_the_standard(log: dict[str, Any]) -> None:
    validator = jsonschema_rs.Draft202012Validator(SCHEMA, validate_formats=True)
    assert [str(error) for error in validator.iter_errors(log)] == []


@pytest.mark.parametrize(
    ("file", "uri"),
    [("../p.yaml", "p.yaml"), ("../../p.yaml", "../../p.yaml"), ("a/../b.yaml", "sub/b.yaml")],
)
def test_paths_count_from_the_root(file: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    (result,) = sarif([FINDINGS[0].model_copy(update={"file": file})], "p", tmp_path)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_a_log_without_findings_is_whole(tmp_path: Path) -> None:
    log = sarif((), "p.yaml", tmp_path)
    assert log["runs"][0]["results"] == []
    assert jsonschema_rs.Draft202012Validator(SCHEMA).is_valid(log)


def test_every_result_has_its_rule_level_and_place(log: dict[str, Any]) -> None:
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[r["ruleIndex"]]["id"] for r in run["results"]] == [f.code for f in FINDINGS]
    assert [r["level"] for r in run["results"]] == ["error", "note", "error", "warning"]
    places = [r["locations"][0]["physicalLocation"] for r in run["results"]]
    assert [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places] == [
        ("policies/a%20b.yaml", 12),
        ("policies/mine.yaml", 1),
        ("policies/a%20b.yaml", 3),
        ("file:///elsewhere/p.yaml", 1),
    ]
    assert [p["artifactLocation"].get("uriBaseId") for p in places] == ["%SRCROOT%"] * 3 + [None]


def test_rules_are_those_of_the_catalogue(log: dict[str, Any]) -> None:
    rules = {rule["id"]: rule for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    entry = load_codes().codes["scope-empty"]
    assert rules["scope-empty"]["shortDescription"]["text"] == entry.meaning
    assert entry.hint in rules["scope-empty"]["help"]["text"]
    assert rules["of-a-newer-service"] == {"id": "of-a-newer-service"}


def test_the_message_says_whom_it_concerns_and_the_hint(log: dict[str, Any]) -> None:
    first, second, *_ = (r["message"]["text"] for r in log["runs"][0]["results"])
    assert first == "no interface is in scope. Hint: check the roles"
    assert second == "r1 Serial0 output, class voice: takes a place (requested 50 %, applied 33 %)"


def test_a_finding_that_moved_keeps_its_fingerprint(tmp_path: Path) -> None:
    moved = FINDINGS[0].model_copy(update={"line": 40})
    first, second = (
        sarif([finding], "p.yaml", tmp_path)["runs"][0]["results"][0]["partialFingerprints"]
        for finding in (FINDINGS[0], moved)
    )
    assert first == second


def test_a_finding_whose_rows_have_lines_is_a_result_at_each(tmp_path: Path) -> None:
    rows = (FindingRow(traffic_class="a", line=3, requested="44"), FindingRow(traffic_class="b", line=9))
    finding = Finding(code="dscp-unsupported", severity=Severity.ERROR, message="m", device="s1", rows=rows)
    results = sarif([finding], "p.yaml", tmp_path)["runs"][0]["results"]
    lines = [r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results]
    assert lines == [3, 9]
    assert [r["message"]["text"] for r in results] == ["s1, class a: m (requested 44)", "s1, class b: m"]
    bare = finding.model_copy(update={"rows": (FindingRow(text="one"), FindingRow(text="two"))})
    (result,) = sarif([bare], "p.yaml", tmp_path)["runs"][0]["results"]
    assert result["message"]["text"] == "s1: m: what one; what two"
