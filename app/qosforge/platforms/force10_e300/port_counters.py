"""Port counters as FTOS shows them, in the form of recorded answers of its later releases in public exporters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qosforge.platforms.port_counters import PORT, PortCount, PortCounterForm

_INPUT = re.compile(r"\s*Input [Ss]tatistics: *")
_OUTPUT = re.compile(r"\s*Output [Ss]tatistics: *")
_COUNT = re.compile(r" +(\d+) packets, (\d+) bytes\b.*")


def _counts(lines: Sequence[str]) -> Iterator[PortCount]:
    port, section = "", None
    for line in lines:
        if match := PORT.match(line):
            port, section = match["port"], None
        elif _INPUT.fullmatch(line):
            section = "input"
        elif _OUTPUT.fullmatch(line):
            section = "output"
        elif port and section is not None and (match := _COUNT.fullmatch(line.rstrip())):
            yield PortCount(port, "input" if section == "input" else "output", int(match[1]), int(match[2]))
            section = None


PORT_COUNTERS = PortCounterForm("show interfaces", _counts)
