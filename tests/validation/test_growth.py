"""What is checked of routers that run something is shared by those alike: calls are counted, and proofs."""

from __future__ import annotations

import cProfile
import pstats

import pytest

from qosforge import memoise
from qosforge.compiler.candidate import predict_configurations
from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.intent.loader import load_intent
from qosforge.packet_sets.space import PacketSpace
from qosforge.validation.checks import own_checks
from qosforge.validation.classification import check_classification
from qosforge.validation.context import ValidationContext
from tests.compiler.goldens import booted_with, every_platform
from tests.compiler.support import ROOT


def compiled(count: int) -> tuple[Compilation, dict[str, str]]:
    """Routers that differ in their names alone, and what they run."""
    network, text = every_platform(), booted_with()["ios-12-4"]
    router = next(d for d in network.devices if d.name == "ios-12-4")
    many = tuple(router.model_copy(update={"name": f"r{number}"}) for number in range(count))
    running = {device.name: text.replace("hostname IOS-12-4", f"hostname {device.name}") for device in many}
    assert text not in running.values()
    whole = load_intent(ROOT / "policies" / "rfc4594-8.yaml")
    return compile_intent(whole, network.model_copy(update={"devices": many}), running), running


def calls(count: int) -> int:
    """Python calls of our own checks of some routers, nothing being known before."""
    whole, running = compiled(count)
    predicted = predict_configurations(whole, running)
    memoise.forget()
    profile = cProfile.Profile()
    profile.enable()
    found = own_checks(whole, running, predicted)
    profile.disable()
    assert not any(finding.severity == "error" for finding in found)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_a_further_router_costs_less_than_two_thirds_of_the_first() -> None:
    calls(1)  # reads data and compiles patterns once
    one, some, more = calls(1), calls(4), calls(8)

    assert (more - some) / 4 < one * 2 / 3


def test_routers_that_run_something_are_proven_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spaces: list[PacketSpace] = []

    class Counted(PacketSpace):
        def __init__(self) -> None:
            super().__init__()
            spaces.append(self)

    monkeypatch.setattr("qosforge.packet_sets.exactness.PacketSpace", Counted)
    whole, running = compiled(8)
    memoise.forget()

    assert list(check_classification(ValidationContext(whole, running))) == []
    assert 0 < len(spaces) < 8
