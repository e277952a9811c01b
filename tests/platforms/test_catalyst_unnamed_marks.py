"""DSCPs that no class names are served as the default class on a 2950, whose queues are chosen by the CoS alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.findings import Severity
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES
from qoslab.box import Box
from qoslab.packets import Packets

from .catalyst_support import (
    BOXES,
    PHONES,
    REST,
    WEB,
    booted,
    campus,
    delta,
    found,
    intent,
    lowered,
    rendered,
    request_for,
    startup,
)

SUPPORTED = sorted(CAPABILITIES.supported_dscp.value)
EXPEDITE, WEB_SHARE, DEFAULT_SHARE, CONTROL_SHARE = "expedite", "weight 70", "weight 30", "weight 3"


def pushed(folder: Path) -> Box:
    """The campus's 2950 with the campus's intent in it."""
    request, result = lowered("s2950", campus(), startup("s2950"))
    box = booted("s2950", folder, startup("s2950"))
    lines, _ = delta(BOXES["s2950"].grammar, startup("s2950"), rendered("s2950", request, result))
    assert box.configure(lines) == []
    return box


@pytest.mark.parametrize("tagged", [False, True])
def test_every_supported_dscp_is_served_as_the_class_that_names_it(tagged: bool, tmp_path: Path) -> None:
    offered = [Packets(1, 64, dscp=dscp, cos=dscp >> 3 if tagged else 0, tagged=tagged) for dscp in SUPPORTED]
    outcomes = pushed(tmp_path).offer("GigabitEthernet0/2", "FastEthernet0/1", offered, 1.0)

    named = {34: EXPEDITE, 46: EXPEDITE, 18: WEB_SHARE, 48: CONTROL_SHARE, 56: CONTROL_SHARE}
    assert [o.egress_class for o in outcomes] == [named.get(dscp, DEFAULT_SHARE) for dscp in SUPPORTED]
    assert [o.dscp_out for o in outcomes] == SUPPORTED


def test_the_switch_tells_which_frames_change_their_cos() -> None:
    _, result = lowered("s2950", campus())
    told = found(result, "unnamed-dscp")

    assert told.severity is Severity.INFO
    assert told.requested == "cs2 as CoS 2, cs5 as CoS 5"
    assert told.applied == "CoS 0"


def test_nothing_is_told_where_no_class_has_the_cos_of_another_dscp() -> None:
    everything = PHONES | {"match": {"any": [{"dscp": ["ef", "af41", "cs5"]}]}}
    web = WEB | {"match": {"any": [{"dscp": ["af21", "cs2"]}]}}
    _, result = lowered("s2950", intent(everything, web, REST))

    assert "unnamed-dscp" not in {f.code for f in result.findings}


def test_a_standard_image_tells_which_dscps_a_class_takes() -> None:
    request = request_for("s2950", campus(), image="12.1EA-SI")
    told = found(BOXES["s2950"].lower(request, None), "unnamed-dscp")

    assert told.severity is Severity.WARNING
    assert told.applied == "served with voice-video, web-and-file"
