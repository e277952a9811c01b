"""The face of validation, on the small network and on the campus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.findings import Finding, Severity, has_errors
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.plan.model import Efficiency, Ingress, Trust
from qosforge.resources import root
from qosforge.validation.checks import own_checks
from tests.batfish.support import check
from tests.validation.support import INTENT, RUNNING, compiled, with_device, with_interface


def test_sound_compilation_has_only_the_word_on_batfish() -> None:
    assert own_checks(compiled(running=RUNNING), RUNNING) == ()
    found = check(compiled(running=RUNNING), host=None)
    assert [(f.code, f.severity) for f in found] == [("batfish-not-checked", Severity.INFO)]


def test_requiring_batfish_refuses() -> None:
    assert has_errors(check(host=None, require=True))
    assert not has_errors(check(host=None))


def test_every_check_has_its_say() -> None:
    intent = INTENT.replace("[cs6]", "[cs1]").replace("percent: 30}", "percent: 60}")
    intent = intent.replace("p95: 100 ms", "p95: 1 ms").replace("beside: [web]", "beside: [web, control]")
    wrong = with_interface(compiled(intent), "r3", "Multilink1", efficiency=Efficiency(multilink=True))
    wrong = with_interface(wrong, "r2", "Serial0/1", ingress=Ingress(port_cos=3, trust=Trust.NONE))
    assert {f.code for f in own_checks(wrong, RUNNING)} == {
        "round-trip",
        "one-sided-efficiency",
        "mark-lost",
        "priority-above-third",
        "routing-unprotected",
        "verify-no-traffic",
        "objective-below-minimum",
    }


CAMPUS: Path = root() / "inventories" / "campus"


def _campus(policy: str, running: dict[str, str]) -> Compilation:
    return compile_intent(load_intent(root() / "policies" / f"{policy}.yaml"), load_network(CAMPUS), running)


def _startup() -> dict[str, str]:
    devices = load_network(CAMPUS).devices
    return {d.name: (CAMPUS / d.startup).read_text(encoding="utf-8") for d in devices if d.startup}


def _unanswered(finding: Finding) -> bool:
    """Whether it is what the campus has in any case: a 2950 does not tell answers (``acl-one-direction``)."""
    return (finding.code, finding.device, finding.traffic_class) == (
        "mark-lost",
        "s2950",
        "web-and-file",
    ) and "in the return direction, from vigo3 to traffic1" in finding.message


@pytest.mark.parametrize("policy", ["campus-collaboration", "itesm-paper", "impossible"])
@pytest.mark.parametrize("known", [True, False], ids=["running", "unknown"])
def test_campus_stands(policy: str, known: bool) -> None:
    running = _startup() if known else {}
    compilation = _campus(policy, running)
    found = own_checks(compilation, running)
    answers = [f for f in found if _unanswered(f)]
    assert len(answers) == (0 if policy == "itesm-paper" else 1)
    serious = {f.code for f in found if f.severity is not Severity.INFO and f not in answers}
    assert serious == ({"objective-below-minimum"} if policy == "impossible" else set()), found


@pytest.mark.parametrize(
    ("device", "interface", "told_at"),
    [
        # A 2950 leaves the DSCP, and gives CoS 0: outputs serve it from the wrong queue.
        ("s2950", "GigabitEthernet0/1", ("FastEthernet0/1", "FastEthernet0/24", "GigabitEthernet0/2")),
        ("r1", "FastEthernet0/0", ("FastEthernet0/0",)),
        ("e300", "GigabitEthernet 0/0", ("GigabitEthernet 0/0",)),
        ("ers5510", "48", ("48",)),
    ],
)
def test_untrusted_trunk_on_the_campus_loses_the_marks(
    device: str, interface: str, told_at: tuple[str, ...]
) -> None:
    running = _startup()
    wrong = with_interface(
        _campus("campus-collaboration", running), device, interface, ingress=Ingress(trust=Trust.NONE)
    )
    lost = [f for f in own_checks(wrong, running) if f.code == "mark-lost" and not _unanswered(f)]
    assert {(f.device, f.interface) for f in lost} == {(device, name) for name in told_at}
    assert {f.traffic_class for f in lost} == {"voice-video", "web-and-file"}


@pytest.mark.parametrize(
    ("device", "field"),
    [
        ("s2950", "cos_to_queue"),
        ("s2970", "dscp_to_queue"),
        ("ers5510", "cos_to_queue"),
    ],
)
def test_map_into_one_queue_on_the_campus_is_found(device: str, field: str) -> None:
    running = _startup()

    def flatten(result: CompiledDevice) -> CompiledDevice:
        table = getattr(result.plan.system, field)
        idle = result.plan.system.model_copy(update={field: (table[0],) * len(table)})
        return replace(result, plan=result.plan.model_copy(update={"system": idle}))

    found = own_checks(with_device(_campus("campus-collaboration", running), device, flatten), running)
    lost = [f for f in found if f.code == "mark-lost" and not _unanswered(f)]
    # Hosts of S2950 may send EF, which no input there marks anew: of that it is told where it comes in.
    told = [f for f in lost if "(packets sent with DSCP ef" not in f.message]
    assert {(f.device, f.direction) for f in told} == {(device, "output")}
    assert "voice-video" in {f.traffic_class for f in lost}


def test_a_setting_that_goes_back_to_its_default_is_no_line_that_gets_lost() -> None:
    in_force = compile_intent(load_intent(root() / "policies" / "campus-collaboration.yaml"), load_network(CAMPUS))
    held = next(device.text for device in in_force.devices if device.name == "s2970")
    assert "mls qos srr-queue input priority-queue 2 bandwidth 40" in held.splitlines()
    compilation = _campus("rfc4594-8", {"s2970": held})
    after = next(device.text for device in compilation.devices if device.name == "s2970")
    assert "no mls qos srr-queue input priority-queue 2" in after.splitlines()
    assert [f.message for f in own_checks(compilation, {"s2970": held}) if f.code == "foreign-line"] == []
