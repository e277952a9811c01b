"""``docs/findings.md`` names every finding that the code can make, and no other."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from qosforge.resources import root

ROW = re.compile(r"\| `([a-z0-9-]+)` \| (error|warning|info)(?:, (?:error|warning|info))* \| [^|]+ \| [^|]+ \|")
CODE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")


def _functions(tree: ast.AST) -> dict[str, int]:
    """Positions of the parameter ``code`` of every function below a node that has one."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            if "code" in names:
                found[node.name] = names.index("code") - (names[0] in ("self", "cls"))
    return found


def _imported(tree: ast.Module) -> set[str]:
    return {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}


def _expressions(tree: ast.Module, functions: dict[str, int]) -> Iterator[ast.expr]:
    """What is given as ``code``, by name or by position."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "code")
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        position = functions.get(name)
        if position is not None and position < len(node.args):
            yield node.args[position]


def _trees() -> list[ast.Module]:
    folder: Path = root() / "app"
    return [ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in sorted(folder.rglob("*.py"))]


@cache
def in_code() -> frozenset[str]:
    trees = _trees()
    # What a module offers to others: its functions, and its classes with their methods.
    # Two modules may use one name: then either's count.
    offered: dict[str, dict[str, int]] = {}
    for tree in trees:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                offered.setdefault(node.name, {}).update(_functions(node))
    found = set()
    for tree in trees:
        known = _functions(tree)
        for name in _imported(tree) & offered.keys():
            known |= offered[name]
        for expression in _expressions(tree, known):
            values = (p.value for p in ast.walk(expression) if isinstance(p, ast.Constant))
            found.update(v for v in values if isinstance(v, str) and CODE.fullmatch(v))
    return frozenset(found)


def documented() -> Counter[str]:
    lines = (root() / "docs" / "findings.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert [row for row in rows if not ROW.fullmatch(row)] == []
    return Counter(match[1] for row in rows if (match := ROW.fullmatch(row)))


def test_codes_are_found_by_name_by_position_and_in_methods() -> None:
    assert {"scope-empty", "verify-no-path", "share-out-of-range", "dscp-unsupported"} <= in_code()


def test_every_code_is_documented_once() -> None:
    assert {code for code, times in documented().items() if times > 1} == set()
    assert in_code() - set(documented()) == set()


def test_nothing_else_is_documented() -> None:
    assert set(documented()) - in_code() == set()
