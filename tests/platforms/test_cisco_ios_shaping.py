"""Shapers of classes and ports: rates, percentages and bursts, held by the emulated device as they are meant."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.intent.scope import PortShape
from qosforge.inventory.models import Framing
from qosforge.plan.request import ClassRequest
from qosforge.platforms.cisco_ios import PLATFORM
from qosforge.tester.scenario.schedulers import twin_scheduler
from qosforge.twin.schedulers import CbwfqScheduler

from .ios_support import MODERN, OLD, a_class, errors, line, lowered, of, port, pushed, queues, requested

PERCENTAGES = ["12.3", OLD, "12.4(24)T", MODERN]


def shaped(**shape: Any) -> ClassRequest:
    return a_class("a", 3, treatment={"bandwidth": {"percent": 20}, "shape": shape})


@pytest.mark.parametrize("image", ["12.2(8)T", *PERCENTAGES])
@pytest.mark.parametrize(
    ("bursts", "words"),
    [
        ({"burst": "1000 B"}, "shape average 256000 8000\n"),
        ({"burst": "320 B", "excess_burst": "0 B"}, "shape average 256000 2560 0\n"),
    ],
)
def test_bursts_are_bits_on_the_device(image: str, bursts: dict[str, Any], words: str) -> None:
    result, box = pushed(requested(shaped(rate="256 kb/s", **bursts), image=image))

    assert words in box.running_text()
    assert queues(result)[0].shape_rate == 256_000


@pytest.mark.parametrize("image", PERCENTAGES)
def test_one_policy_shapes_to_a_percentage_of_each_interface(image: str) -> None:
    wanted = shaped(percent=50, burst_time="20 ms", excess_burst_time="10 ms")

    result, box = pushed(requested(wanted, image=image, interfaces=(line(), line("Serial0/1", 1_000_000))))

    fast, slow = (queues(result, name)[0] for name in ("Serial0/0", "Serial0/1"))
    assert (fast.shape_rate, fast.shape_burst_bits, fast.shape_excess_bits) == (1_000_000, 20_000, 10_000)
    assert (slow.shape_rate, slow.shape_burst_bits, slow.shape_excess_bits) == (500_000, 10_000, 5000)
    assert port(result).egress.policy == port(result, "Serial0/1").egress.policy
    assert "shape average percent 50 20 ms 10 ms\n" in box.running_text()


def test_before_percentages_the_rate_that_it_comes_to_is_shaped() -> None:
    result, _ = pushed(requested(shaped(percent=50), image="12.2(8)T"))

    assert (queues(result)[0].shape_rate, queues(result)[0].shape_percent) == (1_000_000, None)
    assert [f.applied for f in of(result, "shape-approximate")] == ["1000000 b/s"]


def test_a_class_inside_a_shaped_port_has_its_percentage_of_that() -> None:
    whole = line(
        "FastEthernet0/1", 10**8, usable=8_000_000, shape=8_000_000, framing=Framing.ETHERNET,
        shaping=PortShape(percent=8, burst_time="20 ms"),
    )  # fmt: skip

    result, box = pushed(requested(shaped(percent=50), image=MODERN, interfaces=(whole,)))

    outer = queues(result, "FastEthernet0/1")[0]
    assert (outer.shape_percent, outer.shape_rate, outer.shape_burst_bits) == (8, 8_000_000, 160_000)
    assert outer.child is not None
    assert outer.child.scheduler is not None
    assert outer.child.scheduler.queues[0].shape_rate == 4_000_000
    assert "shape average percent 8 20 ms\n" in box.running_text()


def test_a_burst_that_the_device_does_not_take_is_left_out() -> None:
    result = lowered(requested(shaped(rate="256 kb/s", burst="31 B"), image=MODERN))

    assert errors(result) == ["shape-burst-unsupported"]
    assert (queues(result)[0].shape_rate, queues(result)[0].shape_burst_bits) == (256_000, None)


@pytest.mark.parametrize("words", ["shape peak 256000 8000", "shape average 256000 0", "shape adaptive 64000"])
def test_shapers_that_no_plan_holds_are_named(words: str) -> None:
    text = f"policy-map P\n class class-default\n  {words}\ninterface Serial0/0\n service-policy output P\n"

    assert [line.text for line in PLATFORM.parse(text, "r9").unknown] == [words]


@pytest.mark.parametrize(
    ("bursts", "bucket"), [("16000 0", 2000), ("16000 8000", 3000), ("16000", 4000), ("2560 0", 1000), ("", 1000)]
)
def test_the_twin_shapes_with_the_bucket_of_both_bursts(bursts: str, bucket: int) -> None:
    """An excess burst that is not stated is the committed one: `cir 614400 bc 6144 be 6144` (Cisco, 16.12)."""
    text = f"policy-map P\n class class-default\n  shape average 256000 {bursts}\n"
    plan = PLATFORM.parse(f"{text}interface Serial0/0\n bandwidth 512\n service-policy output P\n", "r9")
    held = plan.interface("Serial0/0")
    assert held is not None
    assert held.egress.scheduler is not None

    spec = twin_scheduler(held.egress.scheduler, 512_000)

    assert isinstance(spec, CbwfqScheduler)
    assert (spec.shapes or {})[0].burst_bytes == bucket


def test_bursts_of_a_percentage_that_is_no_percentage_on_the_device_are_bits() -> None:
    wanted = a_class(
        "a",
        3,
        treatment={"bandwidth": {"percent": 20}, "bounded": True, "shape": {"percent": 50, "burst_time": "20 ms"}},
    )

    result, box = pushed(requested(wanted, image=MODERN))

    assert (queues(result)[0].shape_rate, queues(result)[0].shape_percent) == (400_000, None)
    assert "shape average 400000 8000\n" in box.running_text()


@pytest.mark.parametrize(
    ("image", "rates", "told"),
    [
        (OLD, (10**8,), True),
        (OLD, (95 * 10**6,), False),
        (OLD, (60 * 10**6, 60 * 10**6), True),
        (OLD, (40 * 10**6, 50 * 10**6), False),
        (MODERN, (10**8,), False),
    ],
)
def test_subinterfaces_that_are_shaped_to_the_whole_port_never_hold_packets_back(
    image: str, rates: tuple[int, ...], told: bool
) -> None:
    facts: dict[str, Any] = {"framing": Framing.ETHERNET, "tagged": True}
    ports = [
        line(f"FastEthernet0/1.{n}", 10**8, usable=rate, shape=rate, **facts) for n, rate in enumerate(rates, 7)
    ]
    classes = a_class("a", 3, treatment={"bandwidth": {"percent": 20}})
    found = of(lowered(requested(classes, image=image, interfaces=tuple(ports))), "port-shaped")

    assert [(f.severity.value, f.variant) for f in found] == [
        ("warning", "line-fills-first") if told else ("info", "default")
    ] * len(rates)
