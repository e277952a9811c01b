"""Configurations of Catalysts as people have them: what is read, what stays, and what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.compiler.candidate import find_plan_differences, make_candidate
from qosforge.compiler.compile import CompiledDevice, compile_intent
from qosforge.findings import Severity
from qosforge.importing import import_configurations
from qosforge.importing.running_configuration import read_configuration, recognise_platform
from qosforge.intent.loader import LoadedIntent
from qosforge.plan.model import DROP, Policer, Trust

from .catalyst_support import BOXES, REST, booted, intent, lowered, network, port, startup

POLICED = {
    "name": "voice",
    "match": {"any": [{"dscp": ["ef"]}]},
    "mark": {"dscp": "ef"},
    "treatment": {"priority": {"percent": 20}, "police": {"rate": "8 Mb/s", "burst": "16384 B"}},
}


def compiled(device: str, loaded: LoadedIntent, running: str) -> CompiledDevice:
    return next(d for d in compile_intent(loaded, network(), {device: running}).devices if d.name == device)


@pytest.mark.parametrize("device", ["s2950", "s2970"])
def test_a_policer_printed_below_its_mark_is_read_and_needs_no_change(device: str, tmp_path: Path) -> None:
    box = booted(device, tmp_path, startup(device))
    loaded = intent(POLICED, REST)
    result = compiled(device, loaded, box.running_text())
    assert box.configure(make_candidate(result, box.running_text()).delta) == []
    flat = box.running_text()
    deeper = flat.replace("\n  set ", "\n   set ").replace("\n  police ", "\n    police ")
    assert deeper != flat
    held = BOXES[device].parse(deeper, device, result.request.image)
    assert held == BOXES[device].parse(flat, device, result.request.image)
    host = "FastEthernet0/1" if device == "s2950" else "GigabitEthernet0/5"
    assert [r.police for r in port(held, host).ingress.rules] == [Policer(rate=8_000_000, burst=16384, exceed=DROP)]
    assert make_candidate(compiled(device, loaded, deeper), deeper).delta == ()


@pytest.mark.parametrize("weight", [1, 3, 7, 15, 75, 1000, 65535])
@pytest.mark.parametrize("rate", [100_000_000, 1_000_000_000])
def test_a_shape_that_was_read_is_the_same_weight_again(weight: int, rate: int) -> None:
    shaped = {
        "name": "data",
        "match": {"any": [{"dscp": ["af21"]}]},
        "mark": {"dscp": "af21"},
        "treatment": {"shape": {"rate": f"{rate // weight} b/s"}},
    }
    _, result = lowered("s2970", intent(shaped, REST))
    name = {100_000_000: "GigabitEthernet0/5", 1_000_000_000: "GigabitEthernet0/6"}[rate]
    scheduler = port(result.plan, name).egress.scheduler
    assert scheduler is not None
    assert [q.shape_weight for q in scheduler.queues if q.shape_weight] == ([weight] if weight > 1 else [])
    assert not [f for f in result.findings if f.code == "shape-approximate" and f.interface == name]


MAPPED = "mls qos map cos-dscp 0 8 16 26 32 46 48 56\n"


@pytest.mark.parametrize("device", ["s2950", "s2970"])
def test_the_map_of_cos_stays_where_no_class_says_otherwise(device: str, tmp_path: Path) -> None:
    text = startup(device).replace("!\nend\n", f"{MAPPED}{'mls qos' if device == 's2970' else '!'}\nend\n")
    box = booted(device, tmp_path, text)
    before = box.running_text()
    voice = {"name": "voice", "match": {"any": [{"dscp": ["ef"]}]}, "treatment": {"priority": {"percent": 20}}}
    result = compiled(device, intent(voice, REST), before)
    assert result.plan.system.cos_to_dscp == (0, 8, 16, 26, 32, 46, 48, 56)
    assert box.configure(make_candidate(result, before).delta) == []
    running = box.running_text()
    assert MAPPED in running
    assert find_plan_differences(result.plan, BOXES[device].parse(running, device, "12.1EA-EI")) == ()
    # A class with CoS 5 of its own has its mark there, and no other CoS leads into it.
    marked = voice | {"name": "calls", "match": {"any": [{"dscp": ["af31"]}]}, "mark": {"dscp": "af31", "cos": 5}}
    assert compiled(device, intent(marked, REST), before).plan.system.cos_to_dscp == (0, 8, 16, 24, 32, 26, 48, 56)


PLAIN = """\
hostname S1
mls qos
class-map match-all V
 match access-group name VVLAN
ip access-list standard VVLAN
 permit 10.1.110.0 0.0.0.255
policy-map P
 class V
  set ip dscp 46
interface FastEthernet0/1
 service-policy input P
"""


def test_mls_qos_alone_tells_a_2970_and_standard_lists_are_read() -> None:
    assert recognise_platform(PLAIN, "s1.cfg") == "catalyst_2970"
    plan = BOXES["s2970"].parse(PLAIN, "s1", "12.2")
    assert plan.unknown == ()
    (rule,) = port(plan, "FastEthernet0/1").ingress.rules
    assert (rule.any_of[0].source, rule.set_dscp) == ("10.1.110.0/24", 46)


def test_trust_beside_a_policy_of_a_2970_is_told() -> None:
    trusting = " mls qos trust cos\n mls qos trust device cisco-phone\n"
    plan = BOXES["s2970"].parse(PLAIN + trusting, "s1", "12.2")
    assert [line.text for line in plan.unknown] == ["mls qos trust cos", "mls qos trust device cisco-phone"]
    # A policy of a 2950 supersedes the trust of its port, so nothing is lost.
    superseded = BOXES["s2950"].parse(PLAIN.replace("mls qos\n", "", 1) + trusting, "s1", "12.1EA-EI")
    assert superseded.unknown == ()
    assert port(superseded, "FastEthernet0/1").ingress.trust is Trust.NONE


def test_a_2950_looks_for_no_phone_where_it_recognises_classes(tmp_path: Path) -> None:
    box = booted("s2950", tmp_path, startup("s2950"))
    assert box.configure(["interface FastEthernet0/1", " mls qos trust device cisco-phone"]) == []
    before = box.running_text()
    candidate = make_candidate(compiled("s2950", intent(POLICED, REST), before), before)
    assert box.configure(candidate.delta) == []
    assert "cisco-phone" not in box.running_text()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before


def test_the_cos_of_ports_is_told_on_import() -> None:
    text = (
        "hostname S1\nmls qos\ninterface GigabitEthernet2/0/3\n mls qos cos 6\n"
        "interface GigabitEthernet2/0/4\n switchport mode trunk\n mls qos trust cos\n"
    )
    result = import_configurations([read_configuration(text, "s1.cfg")], "imported")
    told = [f for f in result.findings if f.interface == "GigabitEthernet2/0/3"]
    assert [(f.code, f.severity) for f in told] == [("import-not-expressed", "warning")]
    assert "CoS 6" in told[0].message


def test_a_mutation_is_taken_off_with_its_name(tmp_path: Path) -> None:
    """The switch refuses ``no mls qos dscp-mutation`` without the name, which the running configuration has."""
    text = startup("s2970").replace(
        "interface GigabitEthernet0/5\n",
        "interface GigabitEthernet0/5\n mls qos trust dscp\n mls qos dscp-mutation OLD\n",
    )
    box = booted("s2970", tmp_path, text)
    before = box.running_text()
    assert " mls qos dscp-mutation OLD\n" in before
    result = compiled("s2970", intent(POLICED, REST), before)
    assert not [b.name for b in result.blocks if "mutation" in b.text]
    told = [(f.variant, f.severity) for f in result.findings if f.code == "not-understood-affected"]
    assert told == [("giving-way", Severity.WARNING)]
    candidate = make_candidate(result, before)
    assert [line for line in candidate.delta if "mutation" in line] == [" no mls qos dscp-mutation OLD"]
    assert box.configure(candidate.delta) == []
    assert "dscp-mutation OLD" not in box.running_text()
    assert box.configure(candidate.inverse) == []
    assert box.running_text() == before
