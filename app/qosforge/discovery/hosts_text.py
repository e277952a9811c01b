"""Edit some devices in the text of ``hosts.yaml``; the lines of all others stay as they are."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from qosforge.errors import InputError, Place
from qosforge.importing.document import as_yaml
from qosforge.intent.yaml_source import YamlDocument

_EMPTY = re.compile(r"^\{[ \t]*\}[ \t]*$", re.MULTILINE)


def round_trip() -> YAML:
    """A reader and writer of YAML that keeps comments, quotes and order; it indents as shipped inventories do."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def by_hand(file: str) -> InputError:
    """That a file is laid out in a way in which commands do not change it."""
    return InputError("is not laid out so that this can be done", Place(file=file), "change it by hand")


def with_entries(text: str, entries: str) -> str:
    """The text of a mapping with entries at its end; they take the place of ``{}`` where it has had none."""
    if not entries:
        return text
    if _EMPTY.search(text):
        return _EMPTY.sub(lambda _: entries.rstrip("\n"), text, count=1)
    ending = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{ending}{entries}"


class HostsText:
    """The devices of a ``hosts.yaml``, each by its own lines; comments above a device are not among them."""

    def __init__(self, document: YamlDocument) -> None:
        """Nothing is changed yet.

        Raises:
            InputError: its devices do not stand in lines of their own.
        """
        self._file = document.file
        self._lines = document.text.splitlines(keepends=True)
        self._spans = self._spans_of(document)
        self._texts: dict[str, str] = {}
        self._added: list[str] = []

    def _spans_of(self, document: YamlDocument) -> dict[str, tuple[int, int]]:
        positions = {key[0]: place for key, place in document.keys.items() if len(key) == 1}
        starts = sorted(line - 1 for line, _ in positions.values())
        if len(set(starts)) < len(starts) or any(column != 1 for _, column in positions.values()):
            raise by_hand(self._file)
        ends = dict(pairwise([*starts, len(self._lines)]))
        spans = {}
        for name, (line, _) in positions.items():
            first, end = line - 1, ends[line - 1]
            while end > first + 1 and (not self._lines[end - 1].strip() or self._lines[end - 1].startswith("#")):
                end -= 1  # what stands there is about the next device, or about the file
            spans[str(name)] = first, end
        return spans

    def edit(self, name: str, change: Callable[[Any], None]) -> None:
        """Change what stands below a device's name; comments in it stay.

        Raises:
            InputError: its lines mean nothing without the rest of the file (an alias of another device's part).
        """
        first, end = self._spans[name]
        yaml = round_trip()
        try:
            entry = yaml.load("".join(self._lines[first:end]))
        except YAMLError:
            raise by_hand(self._file) from None
        change(entry[next(iter(entry))])
        stream = io.StringIO()
        yaml.dump(entry, stream)
        self._texts[name] = stream.getvalue()

    def remove(self, name: str) -> None:
        """Take a device out."""
        self._texts[name] = ""

    def append(self, name: str, words: Mapping[str, Any]) -> None:
        """Put a device at the end."""
        self._added.append(as_yaml({name: dict(words)}))

    def text(self) -> str:
        """The file's text as it is to be."""
        lines = list(self._lines)
        for name, text in self._texts.items():
            first, end = self._spans[name]
            lines[first:end] = [text, *[""] * (end - first - 1)]
        kept = "".join(lines)
        added = "".join(self._added)
        emptied = self._spans and not added and all(self._texts.get(name) == "" for name in self._spans)
        return with_entries(kept, "{}\n" if emptied else added)
