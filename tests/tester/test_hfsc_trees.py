"""Trees of HFSC on the twin's D-CBQ: classes have the rates that the router holds, whatever the line is."""

from __future__ import annotations

import pytest

from qosforge.plan.model import InterfacePlan, Plan
from qosforge.platforms.base import platform
from qosforge.tester.scenario.ports import twin_port
from qosforge.twin.schedulers import DcbqScheduler
from tests.platforms.test_linux_sharing import BOUNDED, DSCPS, RATE, lowered

from .measured import RATE as LINE
from .measured import Load, measure

LINUX = platform("linux_tc")


def out(plan: Plan) -> InterfacePlan:
    """The one interface of such a plan."""
    interface = plan.interface("out")
    assert interface is not None
    return interface


def served(plan: Plan, line: int) -> DcbqScheduler:
    """What serves the port in the twin, on a line of ``line`` b/s."""
    egress = twin_port(plan, out(plan), None, line, LINUX.profile).egress
    assert egress is not None
    assert isinstance(egress.scheduler, DcbqScheduler)
    return egress.scheduler


def test_shares_of_a_shaped_port_are_of_what_its_shaper_leaves() -> None:
    """The twin multiplies them by the shaper's rate, and so gets the rates that the router holds."""
    shaped = LINE // 2
    plan = lowered("hfsc", classes=BOUNDED, shape=shaped).plan
    held = out(plan).egress
    assert (held.shape_rate, RATE) == (shaped, LINE)
    assert held.scheduler is not None
    made = served(plan, LINE)
    assert [round(c.share * shaped / 1000) for c in made.classes] == [
        q.share.value for q in held.scheduler.queues if q.share
    ]
    assert [c.borrow for c in made.classes] == [False, True, True, False, True]

    (bound,) = measure(out(plan), Load(DSCPS["bound"], LINE), seconds=5).frame_rates()
    assert bound == pytest.approx(0.1 * shaped, rel=0.05)
    voice, web = measure(out(plan), Load(DSCPS["voice"], LINE), Load(DSCPS["web"], LINE), seconds=5).frame_rates()
    assert voice == pytest.approx(0.3 * shaped, rel=0.05)
    assert web == pytest.approx(0.7 * shaped, rel=0.05)


def test_a_tree_for_more_than_the_line_has_is_simulated_with_its_rates_as_weights() -> None:
    """A router holds such a tree from when its contract is lowered to the next push."""
    made = served(lowered("hfsc").plan, RATE // 2)
    assert [c.share for c in made.classes] == pytest.approx([0.3, 0.3, 0.2, 0.1, 0.1])
    assert all(c.borrow for c in made.classes), "what bounds a class is its shaper"
    assert made.shapes is not None
    assert {number: shape.rate_bps for number, shape in made.shapes.items()} == {2: 800_000, 3: 200_000}


@pytest.mark.parametrize(("share", "part"), [("ls m2 500bit", 0.0), ("ls m2 9000kbit", 9 / 9.6)])
def test_a_class_of_any_rate_is_simulated(share: str, part: float) -> None:
    """Somebody else's shares may be mere weights, or less than the least rate of ours."""
    text = lowered("hfsc").text.replace("hfsc ls m2 200kbit\n", f"hfsc {share}\n")
    assert share in text
    plan = LINUX.parse(text, "r", "")
    web, other = measure(out(plan), Load(DSCPS["web"], LINE), Load(0, 2 * LINE), seconds=5).frame_rates()
    assert other / (web + other) == pytest.approx(part, abs=0.03)
