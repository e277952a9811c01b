"""Merge the classes of several interface sides: by their names, or by the marks that one sets and another reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qosforge.importing.observed import LISTED
from qosforge.importing.to_intent import IntentData, same_match
from qosforge.intent.models import RESERVED_CLASS

Classes = tuple[IntentData, ...]
_MARKS = ("dscp", "precedence")


@dataclass(frozen=True)
class MergedClasses:
    """Classes in order; ``by_mark`` where outputs tell them by marks, ``guessed`` are those paired for want of any
    other."""

    classes: Classes
    by_mark: bool = False
    guessed: tuple[str, ...] = ()


def by_name(one: Classes, other: Classes) -> MergedClasses | None:
    """The classes of two sides where those of one name agree; None where they do not."""
    mine = {words["name"]: words for words in one}
    theirs = {words["name"]: words for words in other}
    order = [*mine, *(name for name in theirs if name not in mine)]
    if RESERVED_CLASS in order:
        order = [*(name for name in order if name != RESERVED_CLASS), RESERVED_CLASS]
    merged = []
    for name in order:
        words = _join_classes(mine.get(name), theirs.get(name))
        if words is None:
            return None
        merged.append(words)
    return MergedClasses(tuple(merged))


def _join_classes(one: IntentData | None, other: IntentData | None) -> IntentData | None:
    """Two views of a class; None where they contradict each other."""
    if one is None or other is None:
        return one or other
    if not same_match(one.get("match"), other.get("match")):
        return None
    words: IntentData = {**one}
    if "mark" in other:
        if one.get("mark", other["mark"]) != other["mark"]:
            return None
        words = _in_order({**words, "mark": other["mark"]})
    mine, theirs = one.get("treatment", {}), other.get("treatment", {})
    if any(mine[key] != theirs[key] for key in set(mine) & set(theirs)):
        return None
    if mine or theirs:
        words["treatment"] = {**mine, **theirs}
    return words


def _in_order(words: IntentData) -> IntentData:
    keys = ("name", "match", "mark", "treatment")
    return {key: words[key] for key in keys if key in words}


def by_mark(output: Classes, inputs: Classes) -> MergedClasses | None:
    """Classes that an output tells by one mark each, with what the input that sets that mark matches and polices.

    An output class that matches nothing is taken for the one whose mark no other class reads, where there is one
    of each. None where no class is found on both sides, or an input's class would be lost.
    """
    setting = {_set(words): words for words in inputs if _set(words) is not None}
    if len(setting) < sum(words["name"] != RESERVED_CLASS for words in inputs):
        return None
    guessed: list[str] = []
    merged: list[IntentData] = []
    unread = dict(setting)
    for words in output:
        unread.pop(_read(words), None)
    for words in output:
        mark = _read(words)
        found = setting.get(mark) if mark else None
        if found is None and "match" not in words and words["name"] != RESERVED_CLASS and len(unread) == 1:
            ((_, found),) = unread.items()
            unread.clear()
            guessed.append(words["name"])
        if found is None:
            merged.append(words)
            continue
        listed = found["name"].startswith(LISTED)
        name = words["name"] if listed else found["name"]
        treatment = {**words.get("treatment", {}), **found.get("treatment", {})}
        both = {"name": name, "match": found.get("match"), "mark": found["mark"], "treatment": treatment}
        merged.append({key: value for key, value in both.items() if value})
    if unread or len({words["name"] for words in merged}) < len(merged):
        return None
    for words in inputs:
        if words["name"] == RESERVED_CLASS:
            merged = [_join_classes(w, words) or w if w["name"] == RESERVED_CLASS else w for w in merged]
    return MergedClasses(tuple(merged), by_mark=True, guessed=tuple(guessed)) if setting else None


def _read(words: IntentData) -> tuple[str, object] | None:
    """The one mark by which a class is told."""
    terms = words.get("match", {}).get("any", ())
    if set(words.get("match", ())) != {"any"} or len(terms) != 1 or len(terms[0]) != 1:
        return None
    ((field, value),) = terms[0].items()
    return (field, value) if field in _MARKS and not isinstance(value, list) else None


def _set(words: IntentData) -> tuple[str, object] | None:
    """The mark that a class is given."""
    if words["name"] == RESERVED_CLASS:
        return None
    return next(((field, words["mark"][field]) for field in _MARKS if field in words.get("mark", {})), None)


def differing_classes(one: Sequence[IntentData], other: Sequence[IntentData]) -> tuple[str, ...]:
    """Names of the classes that two lists have and that do not agree."""
    theirs = {words["name"]: words for words in other}
    return tuple(w["name"] for w in one if w["name"] in theirs and _join_classes(w, theirs[w["name"]]) is None)
