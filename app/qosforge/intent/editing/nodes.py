"""The nodes of a YAML text with the spans that they cover."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ruamel.yaml import YAML

from qosforge.intent.plain_yaml import compose_plain

Kind = Literal["scalar", "sequence", "mapping"]


@dataclass(eq=False)
class YamlNode:
    """A value in the text from ``start`` to ``end``; ``name`` is what a scalar says, ``style`` what
    stands around it.

    ``entries`` are the values of a collection with their keys. A ``shared`` node stands in several places of the
    document: its span is that of the anchor, whichever place it was come to from.
    """

    kind: Kind
    start: int
    end: int
    column: int
    name: str = ""
    style: str = ""
    flow: bool = False
    entries: list[tuple[YamlNode | None, YamlNode]] = field(default_factory=list)
    shared: bool = False


def composed(text: str) -> YamlNode:
    """The outermost node of a text that `parse_document` has read without complaint."""
    plain = compose_plain(text)
    if plain is None:
        yaml = YAML(typ="safe", pure=True)
        yaml.composer.warn_double_anchors = False
        plain = yaml.compose(text)
    return _node(plain, {})


def _node(raw: Any, known: dict[int, YamlNode]) -> YamlNode:
    """A node of either reader as one of ours."""
    if id(raw) in known:
        known[id(raw)].shared = True
        return known[id(raw)]
    node = YamlNode(raw.id, raw.start_mark.index, raw.end_mark.index, raw.start_mark.column)
    known[id(raw)] = node
    if raw.id == "scalar":
        node.name, node.style = str(raw.value), raw.style or ""
        return node
    node.flow = bool(raw.flow_style)
    pairs = raw.value if raw.id == "mapping" else ((None, value) for value in raw.value)
    node.entries = [(_node(key, known) if key is not None else None, _node(value, known)) for key, value in pairs]
    return node
