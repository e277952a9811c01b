"""Configuration line by line, with the traffic class that each line is for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qosforge.reports.preview import DevicePreview

_NAMED = re.compile(r"\b(?:class|class-map|qos-policy) (?P<name>\S+)")
_QUEUE = re.compile(r"(?<![\w-])queue (?P<number>[0-9]+)\b")
_INGRESS = re.compile(r"\binput\b")


@dataclass(frozen=True)
class ClassLine:
    """One line, without its line end; ``traffic_class`` is the intent's class, ``None`` for a line of no class."""

    text: str
    traffic_class: str | None


def class_lines(device: DevicePreview) -> tuple[ClassLine, ...]:
    """The lines of a device's configuration, in its order."""
    lines: list[ClassLine] = []
    for block in device.blocks:
        if lines:
            lines.append(ClassLine("!", None))
        texts = block.text.splitlines()
        if block.traffic_class is not None:
            lines += [ClassLine(text, block.traffic_class) for text in texts]
        else:
            lines += _split_shared(texts, device.classes)
    return tuple(lines)


def _split_shared(texts: list[str], classes: Mapping[str, str]) -> Iterator[ClassLine]:
    """Lines of an object that serves several classes: what names one is for it, and what stands below that line."""
    within: list[tuple[int, str]] = []
    for text in texts:
        depth = len(text) - len(text.lstrip())
        while within and within[-1][0] >= depth:
            within.pop()
        named = _class_of(text, classes)
        if named is not None:
            within.append((depth, named))
        yield ClassLine(text, within[-1][1] if within else None)


def _class_of(text: str, classes: Mapping[str, str]) -> str | None:
    for found in _NAMED.finditer(text):
        if found["name"] in classes:
            return classes[found["name"]]
    # The queues that classes are known by are those of the output.
    queue = None if _INGRESS.search(text) else _QUEUE.search(text)
    return classes.get(f"queue {queue['number']}") if queue else None
