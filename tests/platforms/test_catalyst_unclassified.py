"""What no class takes on a 2950: CoS 0 "without modifying the packets" (guide 78-11380-10, p. 30-25)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qosforge.validation.packets import Packet, enter
from qoslab.packets import Packets

from .catalyst_support import (
    BOXES,
    PHONES,
    REST,
    WEB,
    booted,
    delta,
    intent,
    lowered,
    port,
    rendered,
    startup,
)

HOST, TRUNK = "FastEthernet0/1", "GigabitEthernet0/1"
ZERO = REST | {"mark": {"dscp": "default"}}
POLICED = ZERO | {"treatment": {"police": {"rate": "1 Mb/s", "burst": "8192 B", "direction": "input"}}}


@pytest.mark.parametrize(("into", "tagged"), [(HOST, False), (TRUNK, True)])
@pytest.mark.parametrize("dscp", [8, 50])
def test_the_plan_and_the_switch_agree(into: str, tagged: bool, dscp: int, tmp_path: Path) -> None:
    before = startup("s2950")
    request, result = lowered("s2950", intent(PHONES, WEB, REST), before)
    lines, _ = delta(BOXES["s2950"].grammar, before, rendered("s2950", request, result))
    assert not any("dscp-cos" in line and " 50" in line for line in lines)
    box = booted("s2950", tmp_path, before)
    assert box.configure(lines) == []
    (seen,) = box.offer(into, "GigabitEthernet0/2", [Packets(1, 64, dscp=dscp, cos=6, tagged=tagged)], 0)
    planned = enter(
        result.plan.system,
        port(result.plan, into).ingress,
        Packet("192.0.2.1", "192.0.2.2", dscp=dscp, cos=6),
        tagged=tagged,
    )
    assert (planned.dscp, planned.cos) == (seen.dscp_in, seen.cos_in)
    # The trunk trusts the DSCP: that of no row has CoS 0, too (command reference OL-10102-01, p. 2-215).
    assert (seen.dscp_in, seen.cos_in) == (dscp, 1 if (into, dscp) == (TRUNK, 8) else 0)


@pytest.mark.parametrize(
    ("default", "code", "severity"),
    [(ZERO, "default-mark-unsupported", "warning"), (REST, "default-marked-down", "info"),
     (REST | {"mark": {"dscp": "cs1"}}, "default-mark-unsupported", "error")],
)  # fmt: skip
def test_that_the_dscp_stays_is_told(default: dict[str, Any], code: str, severity: str) -> None:
    _, result = lowered("s2950", intent(PHONES, WEB, default))
    (found,) = [f for f in result.findings if f.code == code]
    assert found.severity.value == severity
    assert "DSCP" in found.message
    assert found.applied in ("DSCP as received, CoS 0", "CoS 0")
    _, other = lowered("s2970", intent(PHONES, WEB, default))
    assert not any("keeps its DSCP" in f.message or "leaves its DSCP" in f.message for f in other.findings)


def test_a_policed_default_class_is_marked() -> None:
    """Its class-map takes every IP packet, and writes DSCP 0."""
    _, result = lowered("s2950", intent(PHONES, WEB, POLICED))
    assert "default-mark-unsupported" not in {f.code for f in result.findings}
