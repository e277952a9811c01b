"""Bands of a Linux router on the twin: it gives what a kernel gave (`tests.platforms.test_linux_bands`)."""

from __future__ import annotations

import pytest

from tests.platforms.test_linux_bands import LIMITED, SHARES, WEB, kernel
from tests.platforms.test_linux_sharing import DSCPS, lowered

from .measured import RATE as LINE
from .measured import Load, measure


@pytest.mark.parametrize("schedulers", [("htb", "ets"), ("tbf", "ets"), ("htb", "prio"), ("tbf", "prio", "drr")])
def test_priority_gets_what_it_sends_and_the_rest_is_divided(schedulers: tuple[str, ...]) -> None:
    interface = lowered(running=kernel(*schedulers), classes=SHARES).plan.interface("out")
    assert interface is not None
    sent = {"voice": 0.25, "bulk": 0.15, "web": 1.2, "default": 1.2}
    seen = measure(interface, *(Load(DSCPS[name], round(part * LINE)) for name, part in sent.items()), seconds=10)
    got = dict(zip(sent, (rate / LINE for rate in seen.frame_rates()), strict=True))
    assert got["voice"] == pytest.approx(0.25, abs=0.015)
    assert got["bulk"] == pytest.approx(0.15, abs=0.015)
    left = got["web"] + got["default"]
    assert left > 0.54, "less the preambles and gaps of Ethernet"
    assert got["web"] == pytest.approx(0.3 * left, abs=0.005)

    voice, web = measure(
        interface, Load(DSCPS["voice"], 2 * LINE), Load(DSCPS["web"], LINE), seconds=10
    ).frame_rates()
    assert voice > 0.9 * LINE
    assert web < 0.01 * LINE, "nothing keeps it from starving the others"


def test_a_bounded_class_behind_priority_stays_at_its_rate() -> None:
    interface = lowered("ets", classes=LIMITED).plan.interface("out")
    assert interface is not None
    loads = [
        Load(DSCPS[name], round(part * LINE)) for name, part in (("voice", 0.25), ("web", 1.2), ("bound", 1.2))
    ]
    voice, web, bound = (rate / LINE for rate in measure(interface, *loads, seconds=10).frame_rates())
    assert bound == pytest.approx(0.1, abs=0.01)
    assert web == pytest.approx(1 - voice - bound, abs=0.04)


def test_turns_alone_are_in_the_ratio_of_the_shares() -> None:
    interface = lowered(running=kernel("tbf", "drr"), classes=[WEB]).plan.interface("out")
    assert interface is not None
    loads = [Load(DSCPS[name], round(1.2 * LINE)) for name in ("web", "default")]
    web, other = measure(interface, *loads, seconds=10).frame_rates()
    assert web == pytest.approx(0.3 * (web + other), rel=0.01)
    assert web + other > 0.9 * LINE
