"""The catalogue of codes: what the code of ``app`` can emit is in it, and nothing else; the page is made of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from qosforge.errors import InputError
from qosforge.finding_codes import SOURCE, explain, load_codes, page
from qosforge.findings import Severity

ROOT = Path(__file__).resolve().parents[1]
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
CODES = load_codes().codes


@cache
def _trees() -> dict[Path, ast.Module]:
    """The source by file: read when a test asks, as every process of a test run imports this module."""
    return {
        path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "app").rglob("*.py"))
    }


def _texts(node: ast.expr) -> Iterator[str]:
    """Texts that an expression may come to: its own, or those of its branches."""
    if isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _names_severity(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and "severity" in part.id.lower() for part in ast.walk(node))


Takers = dict[str, set[int]]
"""Functions that take a code, by name: its position among the arguments of a call."""


def _takers(functions: Iterable[ast.AST]) -> Takers:
    found: Takers = {}
    for node in functions:
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]
            if "code" in names:
                found.setdefault(node.name, set()).add(names.index("code"))
    return found


def _methods(tree: ast.Module) -> list[ast.AST]:
    return [part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body]


@cache
def _all_methods() -> tuple[Takers, set[str]]:
    """Methods that take a code, and names that alone do not tell so."""
    methods = [part for tree in _trees().values() for part in _methods(tree)]
    others = {m.name for m in methods if isinstance(m, ast.FunctionDef) and not _takers([m])}
    return _takers(methods), others | {name for kind in (set, dict, list) for name in dir(kind)}


@cache
def _public() -> Takers:
    """Functions of the modules."""
    return _takers(part for tree in _trees().values() for part in tree.body)


def _functions(tree: ast.Module) -> Takers:
    """Functions that a module can call by their bare name."""
    methods = {id(method) for method in _methods(tree)}
    own = _takers(node for node in ast.walk(tree) if id(node) not in methods)
    imported = {a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names}
    return {"Finding": set(), **{name: at for name, at in _public().items() if name in imported}, **own}


def _arguments(node: ast.Call, functions: Takers, own: Takers) -> Iterator[ast.expr]:
    """What a call gives as a code; ``own`` are the methods of the module's classes that take one."""
    positions = None
    if isinstance(node.func, ast.Name):
        positions = functions.get(node.func.id)
    elif isinstance(node.func, ast.Attribute) and _is_self(node.func.value) and node.func.attr in own:
        positions = own[node.func.attr]
    elif isinstance(node.func, ast.Attribute):
        # One that notes findings is told their severity too.
        severe = any(map(_names_severity, (*node.args, *node.keywords)))
        methods, common = _all_methods()
        positions = methods.get(node.func.attr) if severe or node.func.attr not in common else None
    if positions is not None:
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "code")
        yield from (node.args[position] for position in positions if position < len(node.args))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


Given = tuple[Path, ast.Call | ast.Dict, ast.expr]


@cache
def _given() -> tuple[Given, ...]:
    """Calls, and documents of findings, with what they give as a code."""
    return tuple(_given_in_order())


def _given_in_order() -> Iterator[Given]:
    for path, tree in _trees().items():
        functions, own = _functions(tree), _takers(_methods(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield from ((path, node, argument) for argument in _arguments(node, functions, own))
            elif isinstance(node, ast.Dict) and _names_severity(node):
                yield from (
                    (path, node, value)
                    for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == "code"
                )


@cache
def _emitted() -> dict[str, str]:
    """Every code that the source can give to a finding, with a file that does."""
    return {text: str(path) for path, _, argument in _given() for text in _texts(argument) if CODE.fullmatch(text)}


def test_every_code_has_an_entry() -> None:
    lacking = {code: path for code, path in _emitted().items() if code not in CODES}

    assert not lacking, f"add to {SOURCE}: " + ", ".join(f"{code} (of {path})" for code, path in lacking.items())


def test_every_entry_is_of_a_code() -> None:
    idle = sorted(set(CODES) - set(_emitted()))

    assert not idle, f"nothing emits these codes of {SOURCE}: {', '.join(idle)}"


def test_the_scan_sees_codes_however_they_are_given() -> None:
    assert {
        "scope-empty",  # a keyword
        "share-out-of-tolerance",  # one branch of an expression
        "verify-no-path",  # the first argument of a function within a function
        "maps-unsupported",  # an argument of a method
    } <= _emitted().keys()
    assert len(_emitted()) > 100


def test_severities_are_those_of_the_source() -> None:
    """Where a severity stands beside a code, the catalogue has it."""
    wrong = {}
    for path, node, argument in _given():
        severities = {
            part.attr.lower()
            for part in ast.walk(node)
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "Severity"
        }
        if isinstance(argument, ast.Constant) and argument.value in CODES:
            missing = severities - {severity.value for severity in CODES[argument.value].severity}
            if missing:
                wrong[argument.value] = f"{', '.join(sorted(missing))} (in {path})"

    assert not wrong, f"severities that {SOURCE} lacks: {wrong}"


def _pattern(message: ast.expr | None) -> str | None:
    """What a message looks like, where it is written out: anything stands for what is put in."""
    match message:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(_pattern(part) or ".*" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_pattern(left) or ".*") + (_pattern(right) or ".*")
        case ast.IfExp(body=body, orelse=other):
            return f"({_pattern(body) or '.*'}|{_pattern(other) or '.*'})"
    return None


def _message(node: ast.Call | ast.Dict, code: ast.expr) -> ast.expr | None:
    """The message that is given with a code: by its name, or the first text behind the code."""
    if isinstance(node, ast.Dict):
        named = zip(node.keys, node.values, strict=True)
        return next((v for k, v in named if isinstance(k, ast.Constant) and k.value == "message"), None)
    for keyword in node.keywords:
        if keyword.arg == "message":
            return keyword.value
    behind = node.args[node.args.index(code) + 1 :] if code in node.args else []
    return next((argument for argument in behind if not _names_severity(argument)), None)


def test_an_example_is_a_message_of_the_source() -> None:
    """Where the source writes messages out beside a code, the example has the words of one of them."""
    patterns: dict[str, list[str | None]] = {}
    for _, node, argument in _given():
        for code in _texts(argument):
            patterns.setdefault(code, []).append(_pattern(_message(node, argument)))
    wrong = {
        code: written
        for code, entry in CODES.items()
        if (written := [pattern for pattern in patterns.get(code, ()) if pattern is not None])
        and len(written) == len(patterns[code])
        and not any(re.search(pattern, entry.example) for pattern in written)
    }

    assert not wrong, f"examples of {SOURCE} that are none of these messages: {wrong}"
    assert sum(None not in found for found in patterns.values()) > len(CODES) / 2


def test_a_code_stands_in_one_section() -> None:
    assert len(CODES) == sum(len(section.codes) for section in load_codes().sections)


@pytest.mark.parametrize("code", CODES)
def test_an_entry_says_more_than_its_table_row(code: str) -> None:
    entry = explain(code)

    assert CODE.fullmatch(code)
    assert len(set(entry.severity)) == len(entry.severity)
    assert entry.why.endswith(".")
    assert entry.why != entry.meaning
    assert "|" not in entry.meaning + entry.hint, "a table cell ends there"


def test_an_unknown_code_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        explain("mark-losst")

    assert "'mark-losst'" in caught.value.message
    assert caught.value.hint == "did you mean 'mark-lost'?"


def test_the_page_is_current() -> None:
    published = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")

    assert published == page(), "python -m qosforge.finding_codes > docs/findings.md"
    assert all(f"| `{code}` |" in published for code in CODES)
    assert Severity.ERROR in explain("round-trip").severity
