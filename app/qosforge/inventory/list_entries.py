"""Append entries to a list in an inventory's file; the rest of the file stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qosforge.intent.yaml_source import YamlDocument, read_document
from qosforge.inventory.editing import FileBefore, replace_file
from qosforge.inventory.loader import BOUNDS, load_network
from qosforge.inventory.models import Network

_ENTRY = re.compile(r"^( *)- ", re.MULTILINE)


@dataclass(frozen=True)
class ListEntry:
    """An entry of a list: what it says, and its lines below ``- ``; ``above`` are the lines of a comment."""

    words: Mapping[str, Any]
    lines: Sequence[str]
    above: Sequence[str] = ()


def append_entries(folder: Path, name: str, key: str, entries: Sequence[ListEntry]) -> Network:
    """Put entries at the end of the list ``key`` of a file of a network's folder; the network as it is then.

    The file is made where there is none.

    Raises:
        InputError: the file is not laid out so that this can be done, was changed meanwhile or cannot be written.
        InputErrors: it would not be a network any more; nothing is written then.
    """
    load_network(folder)  # what is wrong already is told as it is
    path = folder / name
    if not path.exists():
        text = "\n".join([f"{key}:", *_lines(entries, "  ")]) + "\n"
        return replace_file(folder, FileBefore(path, None, {}), text, {key: [one.words for one in entries]})
    document = read_document(path, bounds=BOUNDS)
    data = document.data or {}
    meant = {**data, key: [*(data.get(key) or ()), *(one.words for one in entries)]}
    return replace_file(folder, FileBefore(path, document.text, data), _with(document, key, entries), meant)


def _with(document: YamlDocument, key: str, entries: Sequence[ListEntry]) -> str:
    lines = document.text.splitlines()
    if (key,) not in document.keys:
        return "\n".join([*lines, f"{key}:", *_lines(entries, "  ")]) + "\n"
    first = document.keys[key,][0] - 1
    later = [line - 1 for path, (line, _) in document.keys.items() if len(path) == 1 and line - 1 > first]
    end = min(later, default=len(lines))
    while end > first + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1  # what stands there is about the next key, or about the file
    if not document.data[key]:
        head, rest = f"{key}:", lines[first + 1 : end]
        return "\n".join([*lines[:first], head, *rest, *_lines(entries, "  "), *lines[end:]]) + "\n"
    found = _ENTRY.search("\n".join(lines[first + 1 : end]))
    indent = found[1] if found else "  "
    return "\n".join([*lines[:end], *_lines(entries, indent), *lines[end:]]) + "\n"


def _lines(entries: Sequence[ListEntry], indent: str) -> list[str]:
    found = []
    for entry in entries:
        found += [f"{indent}# {line}".rstrip() for line in entry.above]
        found += [f"{indent}{'  ' if at else '- '}{line}" for at, line in enumerate(entry.lines)]
    return found
