"""Policies inside classes and around ports: bounded classes, link-sharing trees, shaped ports, subinterfaces."""

from __future__ import annotations

import pytest

from qosforge.findings import Fidelity, Severity
from qosforge.inventory.models import DeviceRole, Framing
from qosforge.plan.model import Egress, Share, ShareUnit, Term
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.plan.shares import expected_shares
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.platforms.line_rules import ConfigurationLines
from qosforge.tester.scenario.schedulers import twin_scheduler
from qosforge.twin.schedulers import TreeScheduler

from .ios_support import (
    BEFORE_LLQ,
    FAST,
    LIBRARY,
    MODERN,
    OLD,
    PHYSICS,
    TRAINS,
    a_class,
    booted,
    errors,
    lan,
    line,
    lowered,
    of,
    port,
    pushed,
    queues,
    requested,
    rest,
    text_of,
)

SHAPING = [image for image in TRAINS if image not in {BEFORE_LLQ, "12.0(7)T"}]


def child(egress: Egress, position: int = 0) -> Egress:
    assert egress.scheduler is not None
    found = egress.scheduler.queues[position].child
    assert found is not None
    return found


@pytest.mark.parametrize("image", SHAPING)
def test_a_bounded_class_is_shaped_to_its_share(image: str) -> None:
    wanted = a_class("a", 3, treatment={"bandwidth": {"percent": 40}, "bounded": True})

    result, box = pushed(requested(wanted, image=image))

    assert queues(result)[0].shape_rate == 800_000
    assert "  shape average 800000\n" in box.running_text()
    (finding,) = of(result, "bounded-by-shape")
    assert (finding.severity, finding.requested, finding.applied) == (
        Severity.INFO,
        "at most 40 % of 2 Mb/s",
        "shape average 800000",
    )


def test_the_oldest_trains_shape_to_multiples_of_8000() -> None:
    wanted = a_class("a", 3, treatment={"bandwidth": {"percent": 33}, "bounded": True})

    result, _ = pushed(requested(wanted, image="12.1(5)T"))

    assert queues(result)[0].shape_rate == 656_000
    (finding,) = of(result, "shape-approximate")
    assert (finding.requested, finding.applied) == ("660000 b/s", "656000 b/s")


def test_a_class_is_shaped_to_the_lower_of_its_share_and_its_shape() -> None:
    wanted = {"bandwidth": {"percent": 40}, "bounded": True, "shape": {"rate": "500 kb/s"}}

    assert queues(lowered(requested(a_class("a", 3, treatment=wanted))))[0].shape_rate == 500_000


def test_a_bounded_priority_class_is_told_when_it_is_bounded() -> None:
    wanted = a_class("a", 5, treatment={"priority": {"percent": 20}, "bounded": True})

    result, _ = pushed(requested(wanted))

    assert [f.severity for f in of(result, "bounded-under-congestion")] == [Severity.WARNING]


@pytest.mark.parametrize("image", SHAPING)
def test_children_are_a_policy_inside_their_class(image: str) -> None:
    result, box = pushed(requested(PHYSICS, LIBRARY, image=image))

    inside = child(port(result).egress)
    assert inside.policy == "QOSFORGE-OUT-physics"
    assert [rule.name for rule in inside.rules] == ["physics-voice", "physics-data"]
    assert [q.name for q in inside.scheduler.queues] == ["physics-voice", "physics-data", "class-default"]  # type: ignore[union-attr]
    assert child(port(result).egress, 1).policy == "QOSFORGE-OUT-library"
    text = box.running_text()
    assert text.index("policy-map QOSFORGE-OUT-library\n") < text.index("policy-map QOSFORGE-OUT\n")
    assert "  service-policy QOSFORGE-OUT-physics\n" in text
    assert errors(result) == []


def test_shares_of_a_tree_are_parts_of_the_link() -> None:
    result = lowered(requested(PHYSICS, LIBRARY))

    near = {f.traffic_class: f for f in result.fidelity if f.traffic_class != "default"}
    assert {name: round(f.applied_percent or 0, 4) for name, f in near.items()} == {
        "physics": 40,
        "physics-voice": 8,
        "physics-data": 20,
        "library": 30,
        "library-web": 18,
    }
    assert all(f.requested_percent == pytest.approx(f.applied_percent) for f in near.values())
    assert near["physics"].fidelity is Fidelity.EXACT
    assert near["library"].fidelity is Fidelity.APPROXIMATE


def test_a_class_that_may_borrow_is_bounded_by_the_policy_inside_it() -> None:
    (finding,) = of(lowered(requested(LIBRARY)), "parent-bounded")

    assert (finding.severity, finding.requested, finding.applied) == (
        Severity.WARNING,
        "30 % of 2 Mb/s and what others leave",
        "at most 600 kb/s (shape average 600000)",
    )


def test_a_child_takes_its_share_of_what_its_parent_is_shaped_to() -> None:
    result = lowered(requested(PHYSICS, image="12.1(5)T"))

    inside = child(port(result).egress).scheduler
    assert inside is not None
    assert [q.share for q in inside.queues] == [
        Share(unit=ShareUnit.KBPS, value=160),
        Share(unit=ShareUnit.KBPS, value=400),
        None,
    ]


def test_children_need_shaping_and_no_priority() -> None:
    first = PHYSICS.model_copy(update={"treatment": a_class("x", treatment={"priority": {"percent": 9}}).treatment})

    assert "shape-unsupported" in errors(lowered(requested(PHYSICS, image=BEFORE_LLQ)))
    result = lowered(requested(first))
    assert errors(result) == ["children-unsupported"]
    assert queues(result)[0].child is None


# -- ports -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("image", SHAPING)
def test_a_shaped_port_has_the_policy_inside_the_one_that_shapes(image: str) -> None:
    wanted = a_class("a", 3, treatment={"bandwidth": {"percent": 40}})

    result, box = pushed(requested(wanted, image=image, interfaces=(FAST,)))

    egress = port(result, "FastEthernet0/1").egress
    assert (egress.policy, child(egress).policy) == ("QOSFORGE-OUT-PORT", "QOSFORGE-OUT-SHAPED")
    assert (
        "policy-map QOSFORGE-OUT-PORT\n class class-default\n"
        "  shape average 8000000\n  service-policy QOSFORGE-OUT-SHAPED\n"
    ) in box.running_text()
    assert [f.applied for f in of(result, "port-shaped")] == ["shape average 8000000"]
    assert [f.applied_percent for f in result.fidelity] == pytest.approx([40, 60])
    assert port(result, "FastEthernet0/1").bandwidth_kbps == 100_000


def test_shares_of_a_shaped_port_are_of_the_shaped_rate() -> None:
    wanted = a_class("a", 3, treatment={"bandwidth": {"percent": 40}})

    result = lowered(requested(wanted, image="12.1(5)T", interfaces=(FAST,)))

    inside = child(port(result, "FastEthernet0/1").egress).scheduler
    assert inside is not None
    assert inside.queues[0].share == Share(unit=ShareUnit.KBPS, value=3200)


@pytest.mark.parametrize("image", [OLD, MODERN])
def test_a_subinterface_is_shaped_so_that_its_policy_works(image: str) -> None:
    below = line("FastEthernet0/1.7", 100_000_000, framing=Framing.ETHERNET)

    result, box = pushed(
        requested(a_class("a", 3, treatment={"priority": {"percent": 30}}), image=image, interfaces=(below,))
    )

    assert child(port(result, "FastEthernet0/1.7").egress).policy == "QOSFORGE-OUT-SHAPED"
    assert f"  shape average 100000000{' 1000000 0' if image == OLD else ''}\n" in box.running_text()


@pytest.mark.parametrize(("image", "deep"), [(OLD, False), ("12.4(24)T", True), (MODERN, True)])
def test_policies_nest_as_deep_as_the_image_lets_them(image: str, deep: bool) -> None:
    request = requested(PHYSICS, image=image, interfaces=(FAST,))

    result = lowered(request)

    inside = child(port(result, "FastEthernet0/1").egress).scheduler
    assert inside is not None
    assert (inside.queues[0].child is not None) is deep
    assert errors(result) == ([] if deep else ["policy-too-deep"])
    if deep:
        pushed(request)
    else:
        (finding,) = of(result, "policy-too-deep")
        assert "2 deep" in finding.message
        assert finding.requested == "3 levels"


def test_a_port_that_cannot_be_shaped_is_served_without() -> None:
    wanted = line("FastEthernet0/1", 100_000_000, usable=7_000, shape=7_000, framing=Framing.ETHERNET)

    result = lowered(requested(interfaces=(wanted,)))

    assert errors(result) == ["shape-unsupported"]
    assert port(result, "FastEthernet0/1").egress.policy == "QOSFORGE-OUT"


@pytest.mark.parametrize(("rate", "burst"), [(8_000_000, "80000 0"), (64_000, "640 0"), (16_000, "256 0")])
def test_priority_inside_a_shaper_waits_for_a_hundredth_of_a_second(rate: int, burst: str) -> None:
    """Before HQF a shaper lets go what it holds every 25 ms, and below 320 kb/s every 125 ms, of itself."""
    fast = FAST.model_copy(update={"usable": rate, "shape": rate})
    served = a_class("a", 3, treatment={"priority": {"percent": 30}})
    shared = a_class("a", 3, treatment={"bandwidth": {"percent": 30}})

    for classes, image, line_of in (
        ((served,), OLD, f"  shape average {rate} {burst}\n"),
        ((shared,), OLD, f"  shape average {rate}\n"),
        ((served,), MODERN, f"  shape average {rate}\n"),
    ):
        assert line_of in pushed(requested(*classes, image=image, interfaces=(fast,)))[1].running_text()


def test_a_tree_with_priority_below_is_shaped_in_short_intervals() -> None:
    _, box = pushed(requested(PHYSICS, LIBRARY))

    shapes = [text.strip() for text in box.running_text().splitlines() if "shape average" in text]
    assert shapes == ["shape average 800000 8000 0", "shape average 600000"]


@pytest.mark.parametrize("prefer", [False, True])
def test_a_port_that_sends_faster_than_its_contract_must_be_shaped(prefer: bool) -> None:
    """Before 12.1(2)T nothing shapes a policy: the queues of the port would never fill at the contracted rate."""
    wanted = FAST.model_copy(update={"shape_prefer": prefer, "below_rate": True})

    result = lowered(requested(image="12.0(7)T", interfaces=(wanted,)))

    (finding,) = of(result, "shape-unsupported")
    assert finding.severity is Severity.ERROR
    assert "never fill" in finding.message
    assert errors(lowered(requested(image="12.1(2)T", interfaces=(wanted,)))) == []


# -- names -------------------------------------------------------------------------------------------------


def test_one_name_stands_for_one_content() -> None:
    wanted = a_class("a", 3, treatment={"bandwidth": {"percent": 33}})
    slow, alike = line("Serial0/1", 1_000_000), line("Serial0/2", 2_000_000)

    result = lowered(requested(wanted, image="12.1", interfaces=(line(), slow, alike)))

    names = [port(result, name).egress.policy for name in ("Serial0/0", "Serial0/1", "Serial0/2")]
    assert names == ["QOSFORGE-OUT", "QOSFORGE-OUT-Serial0-1", "QOSFORGE-OUT"]
    pushed(requested(wanted, image="12.1", interfaces=(line(), slow)))


def test_names_of_generated_policies_fit() -> None:
    long = "n" * 40
    wanted = PHYSICS.model_copy(update={"name": long})
    fast = FAST.model_copy(update={"output_policy": "P" * 40})

    result, _ = pushed(requested(wanted, image=MODERN, interfaces=(fast, line(output_policy="P" * 39))))

    egress = port(result, "FastEthernet0/1").egress
    policies = [egress.policy, child(egress).policy, child(child(egress)).policy]
    policies += [port(result).egress.policy, child(port(result).egress).policy]
    assert len(set(policies)) == len(policies)
    assert all(name and len(name) <= 40 for name in policies)


# -- what children match -----------------------------------------------------------------------------------


def test_a_marked_child_is_told_on_input_as_part_of_its_parent() -> None:
    inner = a_class("inner", 5, mark={"dscp": "ef"}, treatment={"bandwidth": {"percent": 20}})
    outer = a_class(
        "outer",
        mark={"dscp": "cs2"},
        terms=(Alternative(source=("10.1.0.0/16",)),),
        treatment={"bandwidth": {"percent": 40}, "bounded": True},
        children=(inner, rest()),
    )

    result, _ = pushed(requested(outer, interfaces=(line(), lan())))

    rules = port(result, "FastEthernet0/0").ingress.rules
    assert [(r.name, r.any_of, r.set_dscp) for r in rules] == [
        ("inner", (Term(source="10.1.0.0/16", precedence=(5,)),), 46),
        ("outer", (Term(source="10.1.0.0/16"),), 16),
    ]


def test_the_rest_of_a_class_takes_the_mark_of_its_default() -> None:
    outer = LIBRARY.model_copy(update={"children": (LIBRARY.children[0], a_class("default", mark={"dscp": "cs1"}))})

    result = lowered(requested(outer, interfaces=(line(), lan())))

    assert [(r.name, r.set_dscp) for r in port(result, "FastEthernet0/0").ingress.rules] == [("library", 8)]


def test_behind_the_edge_a_class_is_told_by_all_marks_below_it() -> None:
    inner = a_class("inner", 5, mark={"dscp": "ef"})
    outer = LIBRARY.model_copy(
        update={"mark": a_class("x", mark={"precedence": 2}).mark, "children": (inner, rest())}
    )

    result, _ = pushed(requested(outer, role=DeviceRole.MIDDLE))

    assert port(result).egress.rules[0].any_of == (Term(precedence=(2,)), Term(dscp=(46,)))
    assert child(port(result).egress).rules[0].any_of == (Term(dscp=(46,)),)


@pytest.mark.parametrize(
    ("outer", "inner", "told"),
    [
        (Alternative(precedence=(1, 2)), Alternative(precedence=(2, 3)), None),
        (Alternative(precedence=(1,)), Alternative(precedence=(2,)), "no packet of the class above it can match"),
        (
            Alternative(source=("10.0.0.0/8",)),
            Alternative(source=("10.1.0.0/16",)),
            "its match and that of the class above it ask for one field in ways that no line joins",
        ),
    ],
)
def test_a_child_that_cannot_be_told_on_input_is_refused(
    outer: Alternative, inner: Alternative, told: str | None
) -> None:
    below = a_class("inner", terms=(inner,), mark={"dscp": "ef"})
    above = a_class("outer", terms=(outer,), treatment={"bandwidth": {"percent": 20}}, children=(below, rest()))

    result = lowered(requested(above, interfaces=(line(), lan())))

    assert [f.message for f in of(result, "match-combination-unsupported")] == ([told] if told else [])
    if told is None:
        assert port(result, "FastEthernet0/0").ingress.rules[0].any_of == (Term(precedence=(2,)),)


# -- reading -----------------------------------------------------------------------------------------------

BY_HAND = """\
policy-map INNER
 class class-default
  fair-queue
policy-map LOOP
 class class-default
  shape average 256000 2560 2560
  service-policy LOOP
policy-map OUTER
 class class-default
  shape average 256000 2560 0
  service-policy output INNER
interface Serial0/0
 service-policy output OUTER
interface Serial0/1
 service-policy output LOOP
"""


def test_policies_inside_classes_are_read_and_a_loop_is_reported() -> None:
    plan = PLATFORM.parse(BY_HAND, "r9", OLD)

    outer = plan.interface("Serial0/0")
    assert outer is not None
    inner = child(outer.egress)
    assert (inner.policy, inner.scheduler and inner.scheduler.queues[0].fair) == ("INNER", True)
    assert outer.egress.scheduler is not None
    assert outer.egress.scheduler.queues[0].shape_burst_bits == 2560
    assert sorted(u.text for u in plan.unknown) == ["service-policy LOOP"]


def test_blocks_name_the_class_and_stand_before_what_refers_to_them() -> None:
    request = requested(PHYSICS)
    result = lowered(request)

    made = PLATFORM.blocks(result.plan, result, request)

    order = [(b.kind, b.name) for b in made]
    assert order.index(("policy-map", "QOSFORGE-OUT-physics")) < order.index(("policy-map", "QOSFORGE-OUT"))
    assert next(b.traffic_class for b in made if b.name == "physics-voice") == "physics-voice"
    assert text_of(request).count("class-map match-any") == 3


@pytest.mark.parametrize(
    ("interface", "classes"),
    [
        (FAST, ["physics", "physics-voice", "physics-data", "class-default"]),
        (line(), ["physics", "physics-voice", "physics-data", "class-default"]),
    ],
)
def test_counters_are_those_of_the_classes_at_every_depth(interface: InterfaceRequest, classes: list[str]) -> None:
    result, box = pushed(requested(PHYSICS, image=MODERN, interfaces=(interface,)))
    (command,) = PLATFORM.counter_commands(result.plan)

    counts = PLATFORM.read_counters({command: box.new_shell("u").feed(command).text}, result.plan)

    assert [(c.interface, c.queue) for c in counts] == [(interface.name, name) for name in classes]
    assert [c.queue for c in counts if c.priority] == ["physics-voice"]


# -- what a policy inside a class divides with HQF -----------------------------------------------------------

# Every class has 20 % of 2 Mb/s for sure, and a third of it where all have traffic.
HELD, BESIDE = {"bandwidth": {"percent": 20}}, a_class("beside", 1, treatment={"bandwidth": {"percent": 20}})


def divided(*children: ClassRequest, image: str = MODERN) -> DeviceRequest:
    """A class that is shaped to 666 kb/s and has 400 for sure, with these in it."""
    return requested(
        a_class("top", 2, treatment=HELD, children=(*children, rest())), BESIDE, rest(**HELD), image=image
    )


def test_hqf_takes_per_cents_inside_a_class_of_its_guarantee_so_they_are_given_in_kbps() -> None:
    """20 % of a class that is shaped to 666 kb/s would be 80 kb/s, as 400 are what it has for sure."""
    voice, data = (a_class("voice", 5, treatment={"priority": {"percent": 20}}),
                   a_class("data", 4, treatment={"bandwidth": {"percent": 30}}))  # fmt: skip

    result, box = pushed(divided(voice, data))

    text = box.running_text()
    assert (" class voice\n  priority 133\n" in text, " class data\n  bandwidth 199\n" in text) == (True, True)
    assert "  bandwidth percent 20\n  shape average 666666\n" in text
    assert errors(result) == []
    assert {(f.traffic_class, f.requested, f.applied) for f in of(result, "share-in-kbps")} == {
        ("voice", "20 % of 666 kb/s = 133.2 kb/s", "133 kb/s"),
        ("data", "30 % of 666 kb/s = 199.8 kb/s", "199 kb/s"),
    }
    assert "would be of 400 kb/s" in of(result, "share-in-kbps")[0].message


def test_before_hqf_they_are_of_what_the_class_is_shaped_to() -> None:
    data = a_class("data", 4, treatment={"bandwidth": {"percent": 80}})

    result, box = pushed(divided(data, image=OLD))

    assert " class data\n  bandwidth percent 80\n" in box.running_text()
    assert of(result, "share-in-kbps") == []


def test_shares_above_the_guarantee_of_their_class_become_ratios() -> None:
    one = a_class("one", 5, treatment={"bandwidth": {"percent": 60}})
    other = a_class("other", 4, treatment={"bandwidth": {"percent": 30}})

    result, box = pushed(divided(one, other))

    assert [q.share for q in child(port(result).egress).scheduler.queues] == [  # type: ignore[union-attr]
        Share(unit=ShareUnit.WEIGHT, value=798),
        Share(unit=ShareUnit.WEIGHT, value=398),
        Share(unit=ShareUnit.WEIGHT, value=136),
    ]
    assert "bandwidth remaining ratio 136" in box.running_text()
    assert of(result, "share-in-kbps") == []


def test_priority_above_the_guarantee_of_its_class_is_an_error() -> None:
    """A router says so, too: "requested bandwidth 466 (kbps), available only 396 (kbps)"."""
    request = divided(a_class("voice", 5, treatment={"priority": {"percent": 70}}))
    result = lowered(request)

    (finding,) = of(result, "reserved-bandwidth-exceeded")
    assert finding.applied == "at most 395 kb/s"
    answers = booted(MODERN).configure([line for line in text_of(request, result).splitlines() if line != "!"])
    assert "available only 396 (kbps)" in "\n".join(map(str, answers))


def test_a_class_without_a_bandwidth_has_an_equal_part_of_what_the_others_leave() -> None:
    first = a_class("first", 3, treatment={"bandwidth": {"percent": 50}, "shape": {"rate": "200 kb/s"}})
    data = a_class("data", 4, treatment={"bandwidth": {"percent": 40}})
    top = a_class("top", 2, children=(data, rest()))

    _, box = pushed(requested(first, top, image=MODERN))

    # Shaped to half of what is left of 2 Mb/s beside 200 kb/s; for sure it has half of what is not booked.
    assert "  shape average 900000\n" in box.running_text()
    assert " class data\n  bandwidth 360\n" in box.running_text()


@pytest.mark.parametrize(("image", "percent"), [(MODERN, 20), (OLD, 30)])
def test_the_twin_caps_priority_inside_a_class_by_what_the_class_divides(image: str, percent: int) -> None:
    """30 % of a class that is shaped to 600 kb/s: of its 400 with HQF, of its shaper before."""
    text = (
        "policy-map KID\n class voice\n  priority percent 30\n"
        "policy-map TOP\n class top\n  bandwidth percent 20\n  shape average 600000\n  service-policy KID\n"
        "interface Serial0/0\n bandwidth 2000\n service-policy output TOP\n"
    )
    plan = PLATFORM.parse(text, "r9", image)
    scheduler = plan.interfaces[0].egress.scheduler
    assert scheduler is not None

    spec = twin_scheduler(scheduler, 2_000_000)

    assert isinstance(spec, TreeScheduler)
    police = spec.children[0].children[0].police
    assert police is not None
    assert police.rate_bps == percent * 6_000


@pytest.mark.parametrize(
    ("image", "guarantee", "free"),
    [
        # networklessons.com, "QoS HQF shaper and bandwidth inheritance", in tenths: half of the interface if none.
        (MODERN, "", 49_500),
        (MODERN, "  bandwidth 70000\n", 69_300),
        (MODERN, "  bandwidth percent 20\n", 19_800),
        (MODERN, "  bandwidth remaining percent 30\n", 29_700),
        (OLD, "  bandwidth percent 20\n", 70_000),
    ],
)
def test_lines_that_reserve_more_than_the_class_around_them_divides_are_told(
    image: str, guarantee: str, free: int
) -> None:
    def told(booked: int) -> list[str]:
        text = (
            f"policy-map KID\n class voice\n  bandwidth {booked}\n"
            f"policy-map TOP\n class top\n  shape average 70000000\n{guarantee}  service-policy KID\n"
            "interface FastEthernet0/1\n service-policy output TOP\n"
        )
        lines = ConfigurationLines(PLATFORM.commands.place(text), image)
        return [fault.line.text for rule in PLATFORM.line_rules for fault in rule(lines)]

    assert (told(free), told(free + 1)) == ([], [f"bandwidth {free + 1}"])


def test_a_class_that_has_nothing_for_sure_has_shares_all_the_same() -> None:
    text = (
        "policy-map KID\n class voice\n  bandwidth 100\n"
        "policy-map TOP\n class top\n  bandwidth remaining percent 100\n"
        " class class-default\n  shape average 600000\n  service-policy KID\n"
        "interface Serial0/0\n bandwidth 2000\n service-policy output TOP\n"
    )
    scheduler = PLATFORM.parse(text, "r9", MODERN).interfaces[0].egress.scheduler
    assert scheduler is not None

    assert expected_shares(scheduler, 2_000_000) == pytest.approx((1, 0))
