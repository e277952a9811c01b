"""The two ends of a link."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qosforge.compiler.compile import CompiledDevice
from qosforge.findings import Severity
from qosforge.plan.model import Efficiency, Queue, Share, ShareUnit
from qosforge.validation.context import ValidationContext
from qosforge.validation.links import check_efficiency, check_ends
from tests.validation.support import RUNNING, compiled, with_device, with_interface, without_device


def efficiency(compilation, running=None):
    return list(check_efficiency(ValidationContext(compilation, running or {})))


def test_both_ends_compress_and_fragment() -> None:
    assert compiled().devices[1].plan.interface("Multilink1").efficiency.header_compression
    assert efficiency(compiled()) == []


@pytest.mark.parametrize(
    ("kept", "missing"),
    [
        (Efficiency(multilink=True, header_compression=True), "fragmentation"),
        (Efficiency(multilink=True, fragment_delay_ms=16, fragment_bytes=512), "header compression"),
    ],
)
def test_one_end_alone_is_an_error(kept: Efficiency, missing: str) -> None:
    found = efficiency(with_interface(compiled(), "r3", "Multilink1", efficiency=kept))
    assert [(f.code, f.severity) for f in found] == [("one-sided-efficiency", Severity.ERROR)]
    assert (found[0].device, found[0].interface) == ("r2", "Multilink1")
    assert found[0].message.startswith(missing)
    assert "missing at the other end, r3 Multilink1" in found[0].message


def test_an_end_the_intent_leaves_alone_is_read_from_its_configuration() -> None:
    alone = without_device(compiled(), "r3")
    assert {f.severity for f in efficiency(alone, RUNNING)} == {Severity.ERROR}
    does = RUNNING["r3"].replace(
        " ppp multilink\n", " ppp multilink\n ppp multilink fragment delay 16\n ip rtp header-compression\n"
    )
    assert efficiency(alone, {**RUNNING, "r3": does}) == []


def test_an_end_of_which_nothing_is_known_is_a_warning() -> None:
    found = efficiency(without_device(compiled(), "r3"))
    assert {f.severity for f in found} == {Severity.WARNING}
    assert len(found) == 2


def _priority(percent: int, *, capped: bool = True):
    def change(device: CompiledDevice) -> CompiledDevice:
        plan = device.plan.interface("Serial0/0")
        scheduler = plan.egress.scheduler
        queues = tuple(_with_share(q, percent, capped) if q.priority else q for q in scheduler.queues)
        egress = plan.egress.model_copy(update={"scheduler": scheduler.model_copy(update={"queues": queues})})
        interfaces = tuple(
            i.model_copy(update={"egress": egress}) if i.name == "Serial0/0" else i for i in device.plan.interfaces
        )
        return replace(device, plan=device.plan.model_copy(update={"interfaces": interfaces}))

    return with_device(compiled(), "r1", change)


def _with_share(queue: Queue, percent: int, capped: bool) -> Queue:
    share = Share(unit=ShareUnit.PERCENT, value=percent)
    return queue.model_copy(update={"share": share, "capped": capped})


@pytest.mark.parametrize(("percent", "capped", "differs"), [(30, True, False), (34, True, False), (60, True, True),
                                                           (30, False, True)])  # fmt: skip
def test_ends_serve_priority_alike(percent: int, capped: bool, differs: bool) -> None:
    found = list(check_ends(ValidationContext(_priority(percent, capped=capped), {})))
    assert bool(found) is differs
    if found:
        assert (found[0].code, found[0].severity) == ("link-ends-differ", Severity.WARNING)
        assert (found[0].applied, found[0].requested) == ("60 %" if capped else "100 %", "30 %")


def test_an_end_that_is_not_asked_to_serve_is_not_compared() -> None:
    assert list(check_ends(ValidationContext(without_device(_priority(60), "r2"), {}))) == []
