"""Doubts of the platforms' capability data: each names lines or numbers that there are, and can be reached."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from qosforge.commands.pattern import Item
from qosforge.commands.table import Form
from qosforge.finding_codes import load_codes
from qosforge.plan.model import Plan
from qosforge.platforms.base import installed
from qosforge.platforms.base import platform as platform_of
from qosforge.platforms.capability_data import Doubt, DoubtfulLine
from qosforge.resources import root

WORDS = ("46", "5", "x", "10.0.0.1", "10.0.0.0/8", "0000.0000.0001", "ff:ff:ff:ff:ff:ff", "::1", "FastEthernet0/1")
"""What arguments of patterns are: the first that one takes."""
PLATFORMS = sorted(installed())
DOUBTS = [
    pytest.param(name, doubt, id=f"{name}-{figure}")
    for name in PLATFORMS
    for figure, _, doubt in platform_of(name).capabilities.doubts()
]


def _items(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        for branch in item.branches:
            yield from _items(branch)


def _written(items: tuple[Item, ...], line: DoubtfulLine) -> Iterator[str]:
    """A line of this form, with the value that a doubt is about."""
    for item in items:
        wanted = {line.value} & {each.name for each in _items((item,))}
        if item.optional and not wanted:
            continue
        for _ in range(item.least):
            if item.branches:
                branches = [b for b in item.branches if wanted & {each.name for each in _items(b)}]
                branches = [b for b in item.branches if line.equal in {each.word for each in _items(b)}] or branches
                yield from _written((branches or item.branches)[0], line)
            elif item.word:
                yield item.word
            elif item.bounds:
                yield str(item.bounds[0])
            else:
                assert item.argument is not None
                yield next(word for word in WORDS if _is(item, word))


def _is(item: Item, word: str) -> bool:
    assert item.argument is not None
    try:
        item.argument.parse(word)
    except ValueError:
        return False
    return re.fullmatch(item.argument.regex, word) is not None


def _forms(name: str, line: DoubtfulLine) -> list[Form]:
    """The understood forms of the line, with its value where it names one."""
    return [
        form
        for form in platform_of(name).commands.forms
        if form.line.id == line.id
        and form.understood
        and (not line.value or line.value in {item.name for item in _items(form.pattern.items)})
        and (line.equal is None or line.equal in {item.word for item in _items(form.pattern.items)})
    ]


@pytest.mark.parametrize(("name", "doubt"), DOUBTS)
def test_the_lines_of_a_doubt_are_in_the_table_and_are_found_by_it(name: str, doubt: Doubt) -> None:
    for line in doubt.lines:
        forms = _forms(name, line)
        assert forms, f"the table of {name} has no line {line.id!r} with a value {line.value!r}"
        bare = DoubtfulLine(id=line.id, value=line.value, equal=line.equal)
        for form in forms:
            found = platform_of(name).commands.find(" ".join(_written(form.pattern.items, line)), form.line.mode)
            assert found is not None
            assert bare.concerns(found[0].line.id, found[1])
        value = [item for form in forms for item in _items(form.pattern.items) if item.name == line.value]
        if line.above is not None:
            assert any(line.above < (item.bounds or (0, 0))[1] for item in value)
            assert line.concerns(line.id, {line.value: line.above + 1})
            assert not line.concerns(line.id, {line.value: line.above})
        if line.longer is not None:
            assert all(item.argument is not None for item in value)
            assert line.concerns(line.id, {line.value: "x" * (line.longer + 1)})
            assert not line.concerns(line.id, {line.value: "x" * line.longer})
            assert line.concerns(line.id, {line.value: (1,) * (line.longer + 1)})
            assert line.concerns(line.id, {line.value: (",".join("1" * (line.longer + 1)),)})


@pytest.mark.parametrize(("name", "doubt"), DOUBTS)
def test_the_fields_of_a_doubt_are_those_of_plans(name: str, doubt: Doubt) -> None:
    schema = Plan.model_json_schema()
    for field in doubt.fields:
        node = schema
        for part in field.split("."):
            node = node.get("items", node)
            node = next((each for each in node.get("anyOf", ()) if each.get("type") != "null"), node)
            if "$ref" in node:
                node = schema["$defs"][node["$ref"].rpartition("/")[2]]
            assert part in node["properties"], f"{name}: a plan has no {field}"
            node = node["properties"][part]
            node = next((each for each in node.get("anyOf", ()) if each.get("type") != "null"), node)


@pytest.mark.parametrize(("name", "doubt"), DOUBTS)
def test_findings_that_tell_of_a_doubt_are_those_of_the_platform(name: str, doubt: Doubt) -> None:
    folder = root() / "app" / "qosforge" / "platforms"
    code = "".join(p.read_text() for part in (name, "ios_switch") for p in (folder / part).glob("*.py"))
    for told in doubt.told_by:
        assert told in load_codes().codes
        assert f'"{told}"' in code


def test_a_doubt_says_what_rests_on_it() -> None:
    with pytest.raises(ValidationError, match="a doubt names the `lines` or `fields`"):
        Doubt(confirm="show version")


def test_every_platform_keeps_its_doubts_where_it_keeps_its_figures() -> None:
    for name in PLATFORMS:
        text = (root() / "app" / "qosforge" / "platforms" / name / "capabilities.yaml").read_text()
        stated = sum("doubt: {" in line for line in text.splitlines())
        assert stated == len(platform_of(name).capabilities.doubts()), name
