"""Compiling made fleets against Jinja2 rendering the same templates with the same values alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from unittest.mock import patch

from jinja2 import Template

from benchmarks.fleet import IMAGES, fleet, numbered_classes, recognised_classes
from benchmarks.timing import Ratio, alone_in_its_process, best, peak, seconds
from qosforge import templating
from qosforge.compiler.compile import compile_devices
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.memoise import forget

COUNTS = (100, 1_000, 10_000)
CLASSES = (6, 12, 24)
CLASSED = 1_000
"""Devices on which the classes grow."""
KINDS = 2 * len(IMAGES)
"""Every platform in both of its roles."""
SHAPES = 50
SAMPLE = 500
"""Devices of a fleet that Jinja2 renders: every platform and role has its part in any that follow one another."""


@dataclass(frozen=True)
class Growth:
    """What one device costs in fleets of several sizes: milliseconds, and kilobytes of peak memory."""

    name: str
    rows: tuple[tuple[int, float, float], ...]

    def __str__(self) -> str:
        told = [f"{count} devices {ms:.3f} ms and {kb:.1f} kB each" for count, ms, kb in self.rows]
        return f"{self.name}: {'; '.join(told)}"


@dataclass(frozen=True)
class Classes:
    """What several numbers of classes cost, in milliseconds: once for every kind of device, and for each one."""

    devices: int
    rows: tuple[tuple[int, float, float], ...]

    def __str__(self) -> str:
        told = [
            f"{count} classes {once:.0f} ms once and {ms:.3f} ms a device, {ms / count * 1e3:.1f} µs a class"
            for count, once, ms in self.rows
        ]
        return f"compile {self.devices} devices, all differ: {'; '.join(told)}"


def measure() -> Iterator[Ratio | Growth | Classes]:
    """Ratio and growth of a fleet of devices that all differ, and of one of few shapes; growth with the classes."""
    for title, shapes, bound in (("all differ", None, 5.0), (f"{SHAPES} shapes", SHAPES, 1.5)):
        rows = [alone_in_its_process(_row, count, shapes) for count in COUNTS]
        count, ours, _ = rows[-1]
        sample = fleet(shapes or SAMPLE, shapes=shapes)
        baseline = _jinja(recognised_classes(), sample) / len(sample.devices) * 1e3
        name = f"compile {count} devices × 12 classes, {title}"
        yield Ratio(f"{name} / Jinja2 alone, a device", ours / 1e3, baseline / 1e3, at_most=bound)
        yield Growth(name, tuple(rows))
    yield Classes(CLASSED, tuple(alone_in_its_process(_classes, classes) for classes in CLASSES))


def _row(count: int, shapes: int | None) -> tuple[int, float, float]:
    """A row of `Growth`, with what is made once for the classes."""
    _compile(recognised_classes(), fleet(KINDS))  # reads data and templates
    network = fleet(count, shapes=shapes)
    forget()
    before = peak()
    time = seconds(lambda: _compile(recognised_classes(), network))
    return count, time / count * 1e3, (peak() - before) / count


def _classes(count: int) -> tuple[int, float, float]:
    """A row of `Classes`."""
    _compile(recognised_classes(), fleet(KINDS))
    intent = numbered_classes(count)
    once = seconds(lambda: _compile(intent, fleet(KINDS)))
    network = fleet(CLASSED)
    return count, once * 1e3, seconds(lambda: _compile(intent, network)) / CLASSED * 1e3


def _compile(intent: LoadedIntent, network: Network) -> None:
    devices, _ = compile_devices(intent, network)
    # Every text is made and none is kept, as when it is written to a file.
    deque((len(device.text) for device in devices), maxlen=0)


def _jinja(intent: LoadedIntent, network: Network) -> float:
    """Seconds of Jinja2 for the templates of all configuration objects of a network, each once."""
    calls = list(renderings(intent, network))

    def render() -> None:
        for template, values in calls:
            template.render(values)

    return best(render)


def renderings(intent: LoadedIntent, network: Network) -> Iterator[tuple[Template, dict[str, object]]]:
    """The template of every configuration object that a compile makes, with its values.

    Raises:
        LookupError: an object was made without its template.
    """
    made: dict[str, tuple[Template, dict[str, object]]] = {}
    original = templating._text

    def recording(template: Template, values: dict[str, object]) -> str:
        text = original(template, values)
        made[text.rstrip("\n")] = (template, values)
        return text

    with patch.object(templating, "_text", recording):
        for device in compile_devices(intent, network)[0]:
            for block in device.blocks:
                if block.text.rstrip("\n") not in made:
                    raise LookupError(f"{device.name}: {block.kind} {block.name} is not the text of one template")
                yield made[block.text.rstrip("\n")]
            made.clear()
