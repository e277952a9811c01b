"""Packets of priority that are longer than the fragments of a link."""

from __future__ import annotations

import pytest

from qosforge.findings import Severity
from qosforge.plan.model import Efficiency
from qosforge.validation.context import ValidationContext
from qosforge.validation.fragments import check_fragments
from tests.validation.support import NETWORK, RUNNING, compiled, with_interface


def _calls_of(ip_bytes: int):
    """The small network whose calls send packets of so many bytes."""
    scenario = NETWORK.traffic[0]
    call, page = scenario.flows
    longer = call.model_copy(update={"source": call.source.model_copy(update={"ip_bytes": ip_bytes})})
    return NETWORK.model_copy(update={"traffic": (scenario.model_copy(update={"flows": (longer, page)}),)})


def _found(ip_bytes: int, efficiency: Efficiency):
    compilation = with_interface(
        compiled(network=_calls_of(ip_bytes), running=RUNNING), "r2", "Multilink1", efficiency=efficiency
    )
    return list(check_fragments(ValidationContext(compilation, RUNNING)))


def test_calls_that_fit_are_no_finding() -> None:
    compilation = compiled(running=RUNNING)
    assert list(check_fragments(ValidationContext(compilation, RUNNING))) == []


@pytest.mark.parametrize(
    ("efficiency", "variant"),
    [
        (Efficiency(multilink=True, interleave=True, fragment_delay_ms=16, fragment_bytes=512), "whole"),
        (Efficiency(frame_relay_fragment=512), "cut"),
        (Efficiency(ip_mtu=512), "cut"),
    ],
)
def test_longer_packets_of_priority_are_told_once_with_class_and_output(efficiency, variant) -> None:
    (found,) = _found(1000, efficiency)
    assert (found.code, found.variant, found.severity) == ("priority-above-fragment", variant, Severity.WARNING)
    assert (found.device, found.interface, found.direction) == ("r2", "Multilink1", "output")
    assert (found.traffic_class, found.file, found.line) == ("voice", "small.yaml", 4)
    assert found.facts["fragment"] == 512


def test_compressed_headers_count() -> None:
    whole = {"multilink": True, "interleave": True, "fragment_delay_ms": 16, "fragment_bytes": 512}
    assert _found(530, Efficiency(**whole))
    assert not _found(530, Efficiency(**whole, header_compression=True))
