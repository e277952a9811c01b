"""The deletion test on each line of each golden configuration of E-Series and 5510 switches, wherever it stands.

A line that a device has without being told is altered instead: with another value it has to mean something else.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qosforge.importing import read_configuration
from qosforge.plan.model import Plan

from .test_deletion import GOLDEN, _known, _without

PLATFORMS = {
    "force10-e300": "force10_e300", "e300": "force10_e300", "nortel-5510": "nortel_5510", "ers5510": "nortel_5510",
}  # fmt: skip
CONFIGURATIONS = [path for path in GOLDEN if path.stem in PLATFORMS]
OTHER = (
    (r"bandwidth-percentage (\d+)", lambda value: str(int(value) + 1)),
    (r"wred (?:green|yellow) (\S+)", lambda _: "wred_drop"),
    (r"qos egressmap ds \d+ 1p (\d) .*", lambda value: str((int(value) + 1) % 8)),
    (r"qos ingressmap 1p \d ds (\d+)", lambda value: str((int(value) + 1) % 64)),
    (r"qos queue-set-assignment .* queue (\d)", lambda value: "2" if value == "1" else "1"),
)
"""Another value for each line that may be what a device does of itself."""


def _altered(line: str) -> str:
    for pattern, other in OTHER:
        if (found := re.fullmatch(rf"(\s*){pattern}", line)) is not None:
            return line[: found.start(2)] + other(found[2]) + line[found.end(2) :]
    raise AssertionError(f"{line}: no other value is known for it")


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_line_means_nothing(path: Path) -> None:
    platform, text = PLATFORMS[path.stem], path.read_text(encoding="utf-8")
    if (rows := re.search(r"queue-set-assignment queue-set (\d)", text)) is not None:
        text = f"qos agent queue-set {rows[1]}\n{text}"
    lines = text.splitlines()

    def plan(changed: str) -> Plan:
        return read_configuration(changed, path.name, platform_id=platform, device="box").plan

    whole, lost = plan(text), []
    for at, line in enumerate(lines):
        words = " ".join(line.split())
        if words in ("!", "exit") or (words.startswith("wred yellow") and "trust diffserv" not in text):
            continue  # nothing is yellow where no port trusts DSCPs
        if _known(platform, words, path.name):
            less = plan("\n".join([*lines[:at], _altered(line), *lines[at + 1 :]]) + "\n")
        else:
            less = plan(_without(lines, at))
        lost += [line] * (less == whole)
    assert lost == []
