"""Port counters as Cisco's IOS and IOS-XE show them.

The form is that of the answers that ntc-templates records (``tests/cisco_ios/show_interfaces``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qosforge.platforms.port_counters import PORT, PortCount, PortCounterForm

_INPUT = re.compile(r" +(\d+) packets input, (\d+) bytes\b.*")
_OUTPUT = re.compile(r" +(\d+) packets output, (\d+) bytes\b.*")


def _counts(lines: Sequence[str]) -> Iterator[PortCount]:
    port = ""
    for line in lines:
        if match := PORT.match(line):
            port = match["port"]
        elif port and (match := _INPUT.fullmatch(line.rstrip())):
            yield PortCount(port, "input", int(match[1]), int(match[2]))
        elif port and (match := _OUTPUT.fullmatch(line.rstrip())):
            yield PortCount(port, "output", int(match[1]), int(match[2]))


IOS_PORT_COUNTERS = PortCounterForm("show interfaces", _counts)
