"""What of a plan reaches the twin: whatever changes a device's behaviour changes its port."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge import errors
from qosforge.inventory.models import Framing, Link
from qosforge.plan.model import (
    Action,
    Discipline,
    Efficiency,
    Egress,
    Ingress,
    InterfacePlan,
    Plan,
    Policer,
    Queue,
    Rule,
    Scheduler,
    Share,
    ShareUnit,
    System,
    Term,
    Trust,
)
from qosforge.platforms.profile import DeviceProfile
from qosforge.tester.scenario.ports import twin_port
from tests.twin.scenarios import wire

Json = dict[str, Any]

PROFILE = DeviceProfile(title="test", transmit_fifo=2, sources={"transmit_fifo": "the test's own"})
COS_TO_DSCP = (0, 8, 16, 24, 32, 40, 48, 56)
DSCP_TO_COS = tuple(d // 8 for d in range(64))
MAPS = System(cos_to_dscp=COS_TO_DSCP, dscp_to_cos=DSCP_TO_COS)


def link(framing: Framing = Framing.ETHERNET, *, tagged: bool = False) -> Link:
    return Link(a=("a", "1"), b=("b", "1"), rate=2_000_000, delay=0.001, framing=framing, tagged=tagged)


def made(
    interface: InterfacePlan,
    system: System = MAPS,
    line: Link | None = None,
    far: Efficiency | None = None,
) -> Json:
    plan = Plan(device="a", platform="p", system=system, interfaces=(interface,))
    """The port as the twin reads it, without what is as the twin has it anyway."""
    return wire(twin_port(plan, interface, line or link(), 2_000_000, PROFILE, far=far))


def marked(ingress: Ingress, *, dscp: int = 0, cos: int = 0, tagged: bool = False) -> Json:
    """Marks that the first rule for such a packet sets; every rule of these tests takes marks or everything."""
    told = made(InterfacePlan(name="1", ingress=ingress), line=link(tagged=tagged))["ingress"]
    for rule in told.get("rules", ()):
        terms = rule["match"].get("any", [rule["match"]])
        if any(dscp in t.get("dscp", [dscp]) and cos in t.get("cos", [cos]) for t in terms):
            return dict(rule["set"])
    return dict(told.get("otherwise", {}))


# -- marks ------------------------------------------------------------------------------------------------
def test_a_port_without_trust_clears_both_marks() -> None:
    assert marked(Ingress(trust=Trust.NONE), dscp=34, cos=5) == {"dscp": 0, "cos": 0}
    assert marked(Ingress(trust=Trust.NONE, port_cos=3), dscp=34) == {"dscp": 24, "cos": 3}


def test_a_port_without_trust_clears_what_a_rule_leaves_unset() -> None:
    policed = Rule(name="limited", any_of=(Term(dscp=(46,)),), police=Policer(rate=64_000, burst=8000))
    assert marked(Ingress(trust=Trust.NONE, rules=(policed,)), dscp=46) == {"dscp": 0, "cos": 0}
    assert marked(Ingress(trust=Trust.KEEP, rules=(policed,)), dscp=46) == {}
    assert marked(Ingress(trust=Trust.NONE, rules=(policed.model_copy(update={"set_dscp": 34}),)), dscp=46) == {
        "dscp": 34,
        "cos": 4,
    }


def test_trust_of_the_cos_with_the_default_map_rewrites_34_to_32() -> None:
    assert marked(Ingress(trust=Trust.COS), dscp=34, cos=4, tagged=True)["dscp"] == 32


def test_a_frame_without_tag_has_the_cos_of_its_port() -> None:
    assert marked(Ingress(trust=Trust.COS), dscp=34) == {"cos": 0, "dscp": 0}
    assert marked(Ingress(trust=Trust.COS, port_cos=5), dscp=34) == {"cos": 5, "dscp": 40}
    assert marked(Ingress(trust=Trust.COS, port_cos=5), dscp=34, cos=4, tagged=True)["dscp"] == 32


def test_a_port_that_trusts_a_phone_has_one() -> None:
    assert marked(Ingress(trust=Trust.PHONE), dscp=34, cos=4, tagged=True)["dscp"] == 32
    assert marked(Ingress(trust=Trust.PHONE), dscp=34) == {"cos": 0, "dscp": 0}


def test_trust_of_the_dscp_derives_the_cos() -> None:
    assert marked(Ingress(trust=Trust.DSCP), dscp=34) == {"cos": 4}


# -- shares and links -------------------------------------------------------------------------------------
def queueing(bandwidth_kbps: int | None) -> InterfacePlan:
    queues = (
        Queue(number=0, priority=True, capped=True, share=Share(unit=ShareUnit.PERCENT, value=50)),
        Queue(number=1, share=Share(unit=ShareUnit.REMAINING_PERCENT, value=100)),
    )
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=queues)
    return InterfacePlan(name="1", bandwidth_kbps=bandwidth_kbps, egress=Egress(scheduler=scheduler))


@pytest.mark.parametrize(("assumed_rate", "cap"), [(None, 1_000_000), (2000, 1_000_000), (1544, 772_000)])
def test_a_priority_cap_is_taken_of_the_rate_the_device_assumes(assumed_rate: int | None, cap: int) -> None:
    (entry,) = made(queueing(assumed_rate))["egress"]["scheduler"]["priority"]
    assert entry["rate_bps"] == cap


@pytest.mark.parametrize(("here", "there", "compressed"), [(1, 1, True), (1, 0, False), (0, 1, False)])
def test_headers_are_compressed_where_both_ends_do(here: int, there: int, compressed: bool) -> None:
    interface = InterfacePlan(name="1", efficiency=Efficiency(header_compression=bool(here)))
    serial = link(Framing.PPP)
    egress = made(interface, line=serial, far=Efficiency(header_compression=bool(there)))["egress"]
    assert egress.get("header_compression", False) is compressed
    assert "header_compression" not in made(interface, line=serial)["egress"]


def test_fragments_are_of_the_sending_end_and_of_bundles() -> None:
    cut = Efficiency(multilink=True, interleave=True, fragment_delay_ms=16, fragment_bytes=112)
    bundle = made(InterfacePlan(name="1", efficiency=cut), line=link(Framing.MLPPP))["egress"]
    assert (bundle["fragment_bytes"], bundle["interleave"]) == (112, True)
    other = made(InterfacePlan(name="1"), line=link(Framing.MLPPP), far=cut)["egress"]
    assert not other.get("fragment_bytes")


def test_a_device_that_counts_headers_in_its_fragments_carries_less_in_them() -> None:
    cut = InterfacePlan(name="1", efficiency=Efficiency(multilink=True, fragment_bytes=112))
    plan = Plan(device="a", platform="p", interfaces=(cut,))
    profile = DeviceProfile(title="test", fragment_header=8, sources={"fragment_header": "the test's own"})
    egress = twin_port(plan, cut, link(Framing.MLPPP), 56_000, profile).egress
    assert egress is not None
    assert egress.fragment_bytes == 112 - 8


def test_classes_of_a_bundle_are_told_apart_where_it_interleaves() -> None:
    for interleave in (True, False):
        cut = Efficiency(multilink=True, interleave=interleave, multiclass=True, fragment_bytes=112)
        egress = made(InterfacePlan(name="1", efficiency=cut), line=link(Framing.MLPPP))["egress"]
        assert egress.get("multiclass", False) is interleave


def test_frame_relay_fragments_are_made_to_interleave() -> None:
    cut = InterfacePlan(name="1", efficiency=Efficiency(frame_relay_fragment=80))
    egress = made(cut, line=link(Framing.FRAME_RELAY))["egress"]
    assert (egress["fragment_bytes"], egress["interleave"]) == (80, True)
    assert "fragment_bytes" not in made(cut, line=link(Framing.PPP))["egress"]


def test_the_ip_mtu_cuts_on_any_line() -> None:
    cut = InterfacePlan(name="1", efficiency=Efficiency(ip_mtu=512))
    assert made(cut)["egress"]["ip_mtu"] == 512
    assert "ip_mtu" not in made(InterfacePlan(name="1"))["egress"]


# -- what a rule asks, and what is beyond the twin -------------------------------------------------------------
def test_exceptions_and_remarks_reach_the_twin_on_both_sides() -> None:
    rule = Rule(
        name="limited",
        any_of=(Term(protocol=17, source="10.0.0.0/8"),),
        none_of=(Term(precedence=(1,)),),
        police=Policer(rate=64_000, burst=8000, exceed=Action(set_dscp=12)),
        queue=0,
    )
    scheduler = Scheduler(discipline=Discipline.LLQ_CBWFQ, queues=(Queue(number=0, name="limited"),))
    told = made(
        InterfacePlan(
            name="1",
            ingress=Ingress(rules=(rule,)),
            egress=Egress(policy="P", rules=(rule,), default_queue=0, scheduler=scheduler),
        )
    )

    for side in ("ingress", "egress"):
        (entry,) = told[side]["rules"]
        assert entry["match"] == {
            "any": [{"protocol": [17], "src": ["10.0.0.0/8"]}],
            "not": {"any": [{"precedence": [1]}]},
        }
        assert entry["police"]["exceed"] == {"dscp": 12}


@pytest.mark.parametrize("term", [Term(source_mac="001b.54aa.bbcc"), Term(destination_mac="001b.54aa.bbcc")])
def test_what_packets_of_the_twin_do_not_carry_is_refused(term: Term) -> None:
    for rule in (Rule(name="c", any_of=(term,)), Rule(name="c", any_of=(Term(),), none_of=(term,))):
        with pytest.raises(errors.TesterError, match="MAC address"):
            made(InterfacePlan(name="1", ingress=Ingress(rules=(rule,))))
