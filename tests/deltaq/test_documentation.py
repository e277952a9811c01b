"""The page on ΔQ: its example runs, and its tables are those of the data."""

from __future__ import annotations

import re
from pathlib import Path

from qosforge.deltaq.presets import Preset, presets, service_classes
from qosforge.units import format_ratio, format_seconds

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "deltaq.md").read_text(encoding="utf-8")


def rows() -> dict[str, list[str]]:
    """The cells of every row of a table that names presets, by preset."""
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line[:2] == "| "
    ]
    return {name: row[1:] for row in cells for name in re.findall(r"`((?:y1541|g114|rfc4594)[a-z0-9-]*)`", row[0])}


def figures(each: Preset) -> list[str]:
    variation = each.variation
    return [
        format_seconds(each.mean.bound) if each.mean else "–",
        f"{format_seconds(variation.bound)} ({variation.quantile})" if variation else "–",
        format_ratio(each.loss.bound) if each.loss else "–",
    ]


def test_the_example_holds() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    assert all("assert" in block for block in blocks)
    exec(compile("\n".join(blocks), "docs/deltaq.md", "exec"), {})


def test_every_preset_stands_there_with_its_figures() -> None:
    named = rows()
    assert named.keys() == presets().keys()
    for name, each in presets().items():
        if name.startswith("y1541"):
            assert named[name][:3] == figures(each), name
    assert named["g114"][0] == "150 ms, 400 ms"


def test_every_service_class_stands_there_with_its_pair() -> None:
    for name, each in service_classes().items():
        tolerance, pair = rows()[name]
        assert pair == f"`{each.objective}`", name
        said = f"{each.tolerance.loss}, {each.tolerance.delay}, {each.tolerance.jitter}"
        assert tolerance == said or each.objective == "y1541-5", name
