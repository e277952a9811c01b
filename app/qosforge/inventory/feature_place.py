"""Where a word of a device's ``features``, or its driver, stands: in hosts.yaml, or in what it has it from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from qosforge.errors import Place
from qosforge.intent.yaml_source import Path_, YamlDocument, read_document

_WORDS = ("data", "features")


def feature_place(folder: Path, device: str, word: str) -> Place:
    """The place of a word of a device's features in the files of its network, which can be read."""
    for document, above in _described(folder, device):
        body = document.data
        for key in (*above, *_WORDS):
            body = body.get(key) if isinstance(body, dict) else None
        if isinstance(body, list) and word in body:
            return replace(document.place((*above, *_WORDS, body.index(word))), device=device)
    return Place(file=str(folder / "hosts.yaml"), device=device)


def driver_place(folder: Path, device: str) -> Place:
    """The place of a device's driver in the files of its network, which can be read."""
    for document, above in _described(folder, device):
        body = document.data
        for key in (*above, "data"):
            body = body.get(key) if isinstance(body, dict) else None
        if isinstance(body, dict) and "driver" in body:
            return replace(document.place((*above, "data", "driver")), device=device)
    return Place(file=str(folder / "hosts.yaml"), device=device)


def _described(folder: Path, device: str) -> Iterator[tuple[YamlDocument, Path_]]:
    """Where a device is described, what counts first in front: by itself, in its groups, and in the defaults."""
    hosts, groups, defaults = (
        read_document(path) if path.is_file() else YamlDocument(str(path), {})
        for path in (folder / name for name in ("hosts.yaml", "groups.yaml", "defaults.yaml"))
    )
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
