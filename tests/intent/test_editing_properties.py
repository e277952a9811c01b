"""Changes of any kind to policies and to texts of any style: what was meant, nothing else, and back again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qosforge.intent.differences import meant_changes
from qosforge.intent.editing import Change, Insert, Move, NotEditable, Remove, Set, edited
from qosforge.intent.loader import parse_intent
from qosforge.intent.policy_source import shipped_policies, shipped_texts
from qosforge.intent.yaml_source import Path_, parse_document
from tests.properties.budget import tried

from .documents import Writer

SHIPPED = sorted(shipped_texts().values())
VALUES: tuple[Any, ...] = (
    "ef", 5, True, None, "50 ms", "a: b", "${x}", "yes", "", [], {}, [1, "x"], {"dscp": "ef", "cos": 5},
    [{"a": 1}, {"b": [1, 2]}], {"a": {"b": ["c", "d e"]}}, {"name": "new", "match": {"any": [{"dscp": ["ef"]}]}},
)  # fmt: skip
REMARK = re.compile(r"# remark \d+|^ *# [A-Z].*", re.MULTILINE)


def parts(data: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every value of a document with its path."""
    yield path, data
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield from parts(value, (*path, key))


def any_change(random: Random, data: Any) -> tuple[Change, Change | None, Any]:
    """A change that is possible, the one that takes it back (if there is one), and the data it must lead to."""
    path, value = random.choice(list(parts(data)))
    after = deepcopy(data)
    *way, last = path or (None,)
    outer = inner = after
    for part in way:
        outer = inner = outer[part]
    inner = outer[last] if path else after
    new = random.choice(VALUES)
    if isinstance(value, dict) and random.random() < 0.5:
        inner["new"] = new
        return Set((*path, "new"), new), Remove((*path, "new")) if value else None, after
    if isinstance(value, list) and len(value) > 1 and random.random() < 0.4:
        source, target = random.sample(range(len(value)), 2)
        inner.insert(target, inner.pop(source))
        return Move(path, source, target), Move(path, target, source), after
    if isinstance(value, list) and random.random() < 0.7:
        at = random.randint(0, len(value))
        inner.insert(at, new)
        return Insert(path, at, new), Remove((*path, at)) if value else None, after
    if not path:
        return Set((), data), Set((), data), data
    if len(outer) > 1 and random.random() < 0.5:
        del outer[last]
        return Remove(path), None, after
    outer[last] = new
    return Set(path, new), None, after


def check(text: str, random: Random) -> None:
    data = parse_document(text, "x").data
    change, back, meant = any_change(random, data)

    after = edited(text, "x", [change])

    assert parse_document(after, "x").data == meant
    if back is not None:
        assert edited(after, "x", [back]) == text
    if back is not None or (isinstance(change, Set) and on_one_line(data, change.path)):
        assert not Counter(REMARK.findall(text)) - Counter(REMARK.findall(after)), "a comment was lost"
        went = Counter(text.split("\n")) - Counter(after.split("\n"))
        assert isinstance(change, Move) or went.total() <= 1, "more than one line changed"


def on_one_line(data: Any, path: Path_) -> bool:
    """Whether a scalar stands at a path, and on one line."""
    found = dict(parts(data)).get(path, {})
    return not isinstance(found, dict | list) and "\n" not in str(found)


@tried(2)
@given(st.sampled_from(SHIPPED), st.integers(0, 10**9))
def test_changes_to_shipped_policies(text: str, seed: int) -> None:
    check(text, Random(seed))


@tried(2)
@given(st.integers(0, 10**9))
def test_changes_to_texts_of_any_style(seed: int) -> None:
    text, data = Writer(seed).document()
    assert parse_document(text, "x").data == data

    check(text, Random(seed))


@tried(1)
@given(st.sampled_from(SHIPPED), st.integers(0, 10**9))
def test_another_scalar_and_the_first_one_again(text: str, seed: int) -> None:
    random = Random(seed)
    scalars = [
        (path, value) for path, value in parts(parse_document(text, "x").data) if not isinstance(value, dict | list)
    ]
    path, value = random.choice(scalars)

    other = edited(text, "x", [Set(path, random.choice(["another", "10 kb/s", 12]))])

    assert edited(other, "x", [Set(path, value)]) in (text, text.replace(f'"{value}"', f"{value}"))


@tried(1)
@given(st.sampled_from(sorted(shipped_policies().values())), st.integers(0, 10**9))
def test_an_intent_changes_only_where_it_was_asked(text: str, seed: int) -> None:
    before = parse_intent(text, "x.yaml", included=shipped_texts())
    random = Random(seed)
    classes = before.document.data["classes"]
    own = parse_document(text, "x.yaml").data.get("classes") or []
    if not own:
        return
    at = random.randrange(len(own))
    name = own[at]["name"]
    assert name in {entry["name"] for entry in classes}

    after = edited(text, "x.yaml", [Set(("classes", at, "description"), "Said anew"), Set(("tolerance",), "7 %")])

    intent = parse_intent(after, "x.yaml", included=shipped_texts()).intent
    changes = {change.path for change in meant_changes(before.intent, intent)}
    assert changes == {f"classes.{name}.description", "tolerance"}


@tried(1)
@given(st.integers(0, 10**9), st.text("\n :-,[]{}'\"#a&*!|>?%\t\r~", max_size=6))
def test_a_text_with_faults_is_changed_as_meant_or_not_at_all(seed: int, fault: str) -> None:
    random = Random(seed)
    text = random.choice(SHIPPED)
    at = random.randrange(len(text))
    text = text[:at] + fault + text[at + random.randint(0, 3) :]
    change = random.choice([
        Set(("classes", 0, "mark", "dscp"), "ef"), Remove(("classes", 0)), Insert(("apply",), 0, {"role": "edge"}),
        Move(("classes",), 0, 1),
    ])  # fmt: skip
    try:
        after = edited(text, "x", [change])
    except NotEditable:
        return
    assert after == text or parse_document(after, "x").data != parse_document(text, "x").data
