"""Apply the single steps of a change to the text; each gives the whole text anew."""

from __future__ import annotations

from typing import Any

from qosforge.intent.editing import braces, lines
from qosforge.intent.editing.changes import Move
from qosforge.intent.editing.layout import Layout, flow, place_of_key
from qosforge.intent.editing.meaning import Drop, NewKey, Put, Step
from qosforge.intent.editing.nodes import YamlNode
from qosforge.intent.editing.scalars import scalar
from qosforge.intent.editing.source import SourceEntry, YamlText
from qosforge.intent.yaml_source import Path_


def stepped(source: YamlText, step: Step) -> str:
    """The text after one step.

    Raises:
        NotEditable: it is written in a way that only a person can change.
        ValueError: a value that a policy cannot hold.
    """
    if isinstance(step, Put):
        return _put(source, step.path, step.value)
    if isinstance(step, Drop):
        return _drop(source, step.path)
    node = source.node(step.path)
    if isinstance(step, Move):
        return _moved(source, node, step)
    if isinstance(step, NewKey):
        return _new_key(source, node, step)
    if node.flow:
        return braces.inserted(source, node, step.at, flow(step.value))
    neighbour = node.entries[max(step.at - 1, 0)][1]
    text = Layout.of(source.root).entry(
        step.value, (*step.path, step.at), node.column, neighbour.flow if neighbour.kind == "mapping" else None
    )
    return lines.inserted(source, node, step.at, f"- {text}")


def _new_key(source: YamlText, node: YamlNode, step: NewKey) -> str:
    at = place_of_key(step.path, source.keys(node), step.key)
    if node.flow:
        return braces.inserted(source, node, at, f"{scalar(step.key)}: {flow(step.value)}")
    text = Layout.of(source.root).pair(step.key, step.value, (*step.path, step.key), node.column)
    return lines.inserted(source, node, at, text)


def _moved(source: YamlText, node: YamlNode, move: Move) -> str:
    spans = [(e.start, e.end) for e in source.entries(node)] if node.flow else lines.spans(source, node)
    parts = [source.text[start:end] for start, end in spans]
    parts.insert(move.target, parts.pop(move.source))
    text = source.text
    for (start, end), part in reversed(list(zip(spans, parts, strict=True))):
        text = text[:start] + part + text[end:]
    return text


def _drop(source: YamlText, path: Path_) -> str:
    source.node(path)
    parent = source.node(path[:-1])
    if len(parent.entries) == 1:
        return _emptied(source, parent, path[:-1])
    dropped = braces.dropped if parent.flow else lines.dropped
    return dropped(source, parent, source.position(parent, path[-1]))


def _emptied(source: YamlText, node: YamlNode, path: Path_) -> str:
    """The text with nothing left in a collection that has one entry."""
    if not path:
        raise source.refused("is all that the policy has", node)
    text = "{}" if node.kind == "mapping" else "[]"
    if node.flow:
        return source.cut(node.start, node.end, text)
    entry = source.entry(path)
    if not _stands_below(source, entry):
        return source.cut(node.start, source.body_end(entry), text)
    start, end = lines.last_dropped(source, node)
    return source.text[: entry.after] + f" {text}" + source.text[entry.after : start] + source.text[end:]


def _put(source: YamlText, path: Path_, value: Any) -> str:
    old = source.node(path)
    if not path:
        raise source.refused("is the whole policy", old)
    parent = source.node(path[:-1])
    entry = source.entry(path)
    collection = isinstance(value, dict | list)
    text = flow(value) if collection else scalar(value, parent.flow, _quotes(old, parent.flow))
    if _holds_a_remark(source, old) and isinstance(value, dict if old.kind == "mapping" else list):
        return braces.inserted(source, old, 0, text[1:-1])
    if parent.flow or not collection or not value:
        return _put_inline(source, entry, text, parent)
    layout, column = Layout.of(source.root), source.column(entry.start)
    if parent.kind == "sequence":
        like = old.flow if old.entries else None
        return _put_inline(source, entry, layout.entry(value, path, column, like), parent)
    spread = bool(old.entries) and not old.flow
    if not spread and layout.stands_inline(value, path, entry.after + 1 - source.line_start(entry.start)):
        return _put_inline(source, entry, text, parent)
    at = layout.below(value, column)
    return _put_below(source, entry, f"\n{' ' * at}{layout.lines(value, path, at)}")


def _quotes(old: YamlNode, braces: bool) -> str:
    """The quotes that a person put around a value without need, or of the other kind than ours."""
    needed = old.style == '"' and scalar(old.name, braces).startswith('"')
    return old.style if old.style in ("'", '"') and not needed else ""


def _holds_a_remark(source: YamlText, old: YamlNode) -> bool:
    """Whether something stands between brackets that hold no value."""
    return old.flow and not old.entries and bool(source.text[old.start + 1 : old.end - 1].strip())


def _stands_below(source: YamlText, entry: SourceEntry) -> bool:
    return entry.span is not None and entry.span[0] > source.line_end(entry.after)


def _put_inline(source: YamlText, entry: SourceEntry, text: str, parent: YamlNode) -> str:
    if entry.span is None:
        colon = ":" if parent.kind == "mapping" and source.text[entry.after - 1] != ":" else ""
        return source.cut(entry.after, entry.after, f"{colon} {text}")
    start, end = entry.span
    if parent.flow or not _stands_below(source, entry):
        block = not parent.flow and entry.value.kind != "scalar" and not entry.value.flow
        return source.cut(start, source.body_end(entry) if block else end, text)
    return source.cut(entry.after, source.body_end(entry), f" {text}{_remark(source, entry)}")


def _remark(source: YamlText, entry: SourceEntry) -> str:
    """What stands behind a colon whose value stands below."""
    return source.text[entry.after : source.line_end(entry.after)].rstrip()


def _put_below(source: YamlText, entry: SourceEntry, text: str) -> str:
    end = source.line_end(entry.end)
    if _stands_below(source, entry):
        return source.cut(source.line_end(entry.after), source.body_end(entry), text)
    return source.text[: entry.after] + source.text[entry.end : end] + text + source.text[end:]
