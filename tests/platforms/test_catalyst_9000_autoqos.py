"""What AutoQoS enters on a Catalyst 9000 (its release 4.0, as public running configurations show it), imported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.findings import Severity
from qosforge.importing import import_configurations, read_configuration
from qosforge.inventory.loader import load_network
from qosforge.plan.model import Ingress, Trust
from qosforge.platforms.catalyst_9000 import PLATFORM

AUTO_QOS = """\
version 16.12
hostname sw
table-map AutoQos-4.0-Trust-Dscp-Table
 default copy
table-map policed-dscp
 map from  0 to 8
 map from  10 to 8
 map from  18 to 8
 map from  24 to 8
 map from  46 to 8
 default copy
class-map match-any AutoQos-4.0-Output-Multimedia-Conf-Queue
 match dscp af41  af42  af43
 match cos  4
class-map match-any AutoQos-4.0-Output-Bulk-Data-Queue
 match dscp af11  af12  af13
 match cos  1
class-map match-any AutoQos-4.0-Output-Priority-Queue
 match dscp cs4  cs5  ef
 match cos  5
class-map match-any AutoQos-4.0-Output-Multimedia-Strm-Queue
 match dscp af31  af32  af33
class-map match-any AutoQos-4.0-Voip-Data-CiscoPhone-Class
 match cos  5
class-map match-any AutoQos-4.0-Voip-Signal-CiscoPhone-Class
 match cos  3
class-map match-any AutoQos-4.0-Default-Class
 match access-group name AutoQos-4.0-Acl-Default
class-map match-any AutoQos-4.0-Output-Trans-Data-Queue
 match dscp af21  af22  af23
 match cos  2
class-map match-any AutoQos-4.0-Output-Scavenger-Queue
 match dscp cs1
class-map match-any AutoQos-4.0-Output-Control-Mgmt-Queue
 match dscp cs2  cs3  cs6  cs7
 match cos  3
policy-map AutoQos-4.0-Output-Policy
 class AutoQos-4.0-Output-Priority-Queue
  priority level 1 percent 30
 class AutoQos-4.0-Output-Control-Mgmt-Queue
  bandwidth remaining percent 10
  queue-limit dscp cs2 percent 80
  queue-limit dscp cs3 percent 90
  queue-limit dscp cs6 percent 100
  queue-limit dscp cs7 percent 100
  queue-buffers ratio 10
 class AutoQos-4.0-Output-Multimedia-Conf-Queue
  bandwidth remaining percent 10
  queue-buffers ratio 10
 class AutoQos-4.0-Output-Trans-Data-Queue
  bandwidth remaining percent 10
  queue-buffers ratio 10
 class AutoQos-4.0-Output-Bulk-Data-Queue
  bandwidth remaining percent 4
  queue-buffers ratio 10
 class AutoQos-4.0-Output-Scavenger-Queue
  bandwidth remaining percent 1
  queue-buffers ratio 10
 class AutoQos-4.0-Output-Multimedia-Strm-Queue
  bandwidth remaining percent 10
  queue-buffers ratio 10
 class class-default
  bandwidth remaining percent 25
  queue-buffers ratio 25
policy-map system-cpp-policy
policy-map AutoQos-4.0-Trust-Dscp-Input-Policy
 class class-default
  set dscp dscp table AutoQos-4.0-Trust-Dscp-Table
policy-map AutoQos-4.0-CiscoPhone-Input-Policy
 class AutoQos-4.0-Voip-Data-CiscoPhone-Class
  set dscp ef
  police cir 128000 bc 8000
   conform-action transmit
   exceed-action set-dscp-transmit dscp table policed-dscp
 class AutoQos-4.0-Voip-Signal-CiscoPhone-Class
  set dscp cs3
  police cir 32000 bc 8000
   conform-action transmit
   exceed-action set-dscp-transmit dscp table policed-dscp
 class AutoQos-4.0-Default-Class
  set dscp default
interface GigabitEthernet1/0/1
 switchport access vlan 12
 switchport mode access
 switchport voice vlan 20
 trust device cisco-phone
 auto qos voip cisco-phone
 service-policy input AutoQos-4.0-CiscoPhone-Input-Policy
 service-policy output AutoQos-4.0-Output-Policy
interface GigabitEthernet1/0/24
 switchport mode trunk
 auto qos trust dscp
 service-policy input AutoQos-4.0-Trust-Dscp-Input-Policy
 service-policy output AutoQos-4.0-Output-Policy
ip access-list extended AutoQos-4.0-Acl-Default
 permit ip any any
control-plane
 service-policy input system-cpp-policy
"""


def test_every_line_is_understood() -> None:
    assert PLATFORM.parse(AUTO_QOS, "sw", "16.12").unknown == ()


def test_it_is_imported_as_it_is_but_for_names() -> None:
    imported = import_configurations([read_configuration(AUTO_QOS, "sw.cfg")], "auto")
    assert {f.variant for f in imported.findings if f.severity is not Severity.INFO} == {"versions"}
    queues, phones = (entry.loaded.intent for entry in imported.intents)
    assert [(s.ports, s.direction, s.requires_phone) for s in (*queues.apply, *phones.apply)] == [
        (("GigabitEthernet1/0/1", "GigabitEthernet1/0/24"), "output", False),
        (("GigabitEthernet1/0/1",), "input", True),
    ]
    control = next(c for c in queues.classes if c.name.endswith("Control-Mgmt-Queue"))
    assert control.treatment.queue_limit is not None
    assert [t.percent for t in control.treatment.queue_limit.thresholds] == [80, 90, 100]
    assert [c.treatment.police.rate for c in phones.classes if c.treatment.police] == [128_000, 32_000]


def test_what_the_device_has_for_its_own_cpu_is_nothing_unattached() -> None:
    own = "class-map match-any system-cpp-default\npolicy-map system-cpp-policy\nclass-map match-any IDLE\n"
    imported = import_configurations([read_configuration(AUTO_QOS + own, "sw.cfg")], "auto")
    unattached = [f.message for f in imported.findings if f.variant == "unattached"]
    assert unattached == ["no interface has 'class-map match-any IDLE', as far as it is understood"]


def test_the_tables_of_auto_qos_are_read_as_what_they_do() -> None:
    plan = PLATFORM.parse(AUTO_QOS, "sw", "16.12")
    phone, trusted = plan.interfaces
    policed = [(r.set_dscp, r.police and r.police.exceed.set_dscp) for r in phone.ingress.rules]
    assert policed == [(46, 8), (24, 8), (0, None)]
    # A table that copies.
    assert trusted.ingress == Ingress(policy="AutoQos-4.0-Trust-Dscp-Input-Policy")
    assert (phone.ingress.trust, trusted.ingress.trust) == (Trust.PHONE, Trust.KEEP)


@pytest.mark.parametrize("beside", [" service-policy input AutoQos-4.0-CiscoPhone-Input-Policy\n", ""])
def test_an_intent_for_outputs_leaves_the_inputs_of_its_ports(beside: str, tmp_path: Path) -> None:
    policy = " service-policy input AutoQos-4.0-CiscoPhone-Input-Policy\n"
    assert policy in AUTO_QOS
    text = AUTO_QOS.replace(policy, beside)
    imported = import_configurations([read_configuration(text, "sw.cfg", device="sw")], "auto")
    for name, content in imported.files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    loaded = imported.intents[0].loaded
    outputs = tuple(scope for scope in loaded.intent.apply if scope.direction == "output")
    intent = replace(loaded, intent=loaded.intent.model_copy(update={"apply": outputs}))
    (device,) = compile_intent(intent, load_network(tmp_path), {"sw": text}).devices
    delta = make_candidate(device, text).delta
    assert " no service-policy output AutoQos-4.0-Output-Policy" in delta
    assert [line for line in delta if "trust device" in line or "service-policy input" in line] == []
    left = [(f.interface, f.variant) for f in device.findings if f.code == "policy-left"]
    kept = "default" if beside else "trust"
    assert left == [("GigabitEthernet1/0/1", kept), ("GigabitEthernet1/0/24", "default")]


@pytest.mark.parametrize(
    ("line", "instead", "marks"),
    [
        ("default copy", "default 0", {(tuple(range(1, 64)), 0)}),
        ("default copy", "map from 46 to 34", {((46,), 34)}),
        (
            "set dscp dscp table AutoQos-4.0-Trust-Dscp-Table",
            "set cos dscp table AutoQos-4.0-Trust-Dscp-Table",
            {((mark,), mark) for mark in range(8)},
        ),
    ],
)
def test_a_table_that_changes_marks_is_a_class_for_each(
    line: str, instead: str, marks: set[tuple[tuple[int, ...], int]]
) -> None:
    plan = PLATFORM.parse(AUTO_QOS.replace(line, instead, 1), "sw", "16.12")
    assert plan.unknown == ()
    rules = [rule for interface in plan.interfaces for rule in interface.ingress.rules if "Table" in rule.name]
    assert {(rule.any_of[0].dscp, rule.set_cos if "cos" in instead else rule.set_dscp) for rule in rules} == marks


def test_a_table_that_is_not_there_is_named() -> None:
    text = AUTO_QOS.replace("set dscp dscp table AutoQos-4.0-Trust-Dscp-Table", "set dscp dscp table ABSENT", 1)
    unknown = PLATFORM.parse(text, "sw", "16.12").unknown
    assert [(u.context, u.text.split()[0]) for u in unknown] == [("class class-default", "set")]


def test_a_policer_whose_table_makes_many_marks_is_not_understood() -> None:
    text = AUTO_QOS.replace("  set dscp ef\n", "").replace("match cos  5", "match dscp ef cs5")
    unknown = PLATFORM.parse(text, "sw", "16.12").unknown
    assert [u.text for u in unknown] == ["police cir 128000 bc 8000"]
