"""Where a device's platform, driver or a word of its ``features`` stands: in hosts.yaml, or in what gives it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from qosforge.errors import Place
from qosforge.intent.yaml_source import Path_, YamlDocument, read_document

_WORDS = ("data", "features")


class DescribedPlaces:
    """Places in the files of a network, which can be read; they are read once, where a place is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def feature(self, device: str, word: str) -> Place:
        """The place of a word of a device's features."""
        for document, above in self._described(device):
            body = _value(document, (*above, *_WORDS))
            if isinstance(body, list) and word in body:
                return replace(document.place((*above, *_WORDS, body.index(word))), device=device)
        return self._anywhere(device)

    def value(self, device: str, *path: str) -> Place:
        """The place of what a device has at ``path``."""
        for document, above in self._described(device):
            if _value(document, (*above, *path)):
                return replace(document.place((*above, *path)), device=device)
        return self._anywhere(device)

    def _anywhere(self, device: str) -> Place:
        return Place(file=str(self._folder / "hosts.yaml"), device=device)

    @cached_property
    def _documents(self) -> tuple[YamlDocument, ...]:
        return tuple(
            read_document(path) if path.is_file() else YamlDocument(str(path), {})
            for path in (self._folder / name for name in ("hosts.yaml", "groups.yaml", "defaults.yaml"))
        )

    def _described(self, device: str) -> Iterator[tuple[YamlDocument, Path_]]:
        """Where a device is described, what counts first in front: by itself, in its groups, in the defaults."""
        hosts, groups, defaults = self._documents
        yield hosts, (device,)
        waiting = list((hosts.data.get(device) or {}).get("groups") or ())
        met: set[str] = set()
        while waiting:
            group = waiting.pop(0)
            if group not in met:
                met.add(group)
                yield groups, (group,)
                waiting[:0] = ((groups.data or {}).get(group) or {}).get("groups") or ()
        yield defaults, ()


def _value(document: YamlDocument, path: Path_) -> object:
    """What stands at ``path``; ``None`` where nothing does."""
    body: object = document.data
    for key in path:
        body = body.get(key) if isinstance(body, dict) else None
    return body
