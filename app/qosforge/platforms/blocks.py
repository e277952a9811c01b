"""Render the configuration objects of a plan."""

from __future__ import annotations

from typing import Any

from qosforge.plan.request import DeviceRequest
from qosforge.platforms.base import Block, LoweredDevice
from qosforge.templating import render


class BlockWriter:
    """The blocks of a platform, in the order in which they are added."""

    def __init__(self, platform: str, lowered: LoweredDevice, request: DeviceRequest) -> None:
        self._platform = platform
        self._classes = lowered.classes
        self._lines = {c.name: c.line for c in request.classes}
        self._names: set[tuple[str, str]] = set()
        self.blocks: list[Block] = []

    def add(self, kind: str, name: str, template: str = "", /, *, of: str = "", **values: Any) -> None:
        """Render a template with ``values``: the platform's own of this kind, unless another one is named.

        ``of`` is what the device calls the class that the block comes from.
        """
        traffic_class = self._classes.get(of)
        text = render(f"{template or self._platform + '/' + kind.replace('-', '_')}.j2", **values)
        self.blocks.append(Block(kind, name, text, traffic_class, self._lines.get(traffic_class or "")))
        self._names.add((kind, name))

    def add_once(self, kind: str, name: str, /, **values: Any) -> None:
        """As `add`, unless there is a block of this kind and name."""
        if (kind, name) not in self._names:
            self.add(kind, name, **values)
