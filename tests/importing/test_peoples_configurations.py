"""Configurations as people have and write them: rates that a device is told, names, policies beside ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.findings import has_errors
from qosforge.importing import read_configuration

from .support import compiled_again, imported, told

SHAPED = """\
version 15.6
hostname R
class-map match-any V
 match dscp ef
policy-map Q
 class V
  priority
  police cir percent 10
policy-map WAN
 class class-default
  shape average {}
  service-policy Q
interface {}
 bandwidth {}
 service-policy output WAN
"""
NAMED = """\
version 16.12
hostname C9
class-map match-any V
 match dscp ef
policy-map 2P6Q3T.new
 class V
  priority level 1 percent 20
 class class-default
  bandwidth remaining percent 100
interface GigabitEthernet1/0/1
 service-policy output 2P6Q3T.new
"""
RESERVED = """\
version 12.4
hostname R
class-map match-any V
 match dscp ef
policy-map OUT
 class V
  priority percent 10
 class class-default
  bandwidth percent 85
interface Serial0/0
 bandwidth 800
 max-reserved-bandwidth 100
 service-policy output OUT
"""
EVERY = """\
version 15.1
hostname R
class-map match-any V
 match dscp ef
class-map match-all ALL
 match any
policy-map Q
 class V
  priority 48
policy-map S
 class ALL
  shape average 1000000
  service-policy Q
interface FastEthernet0/0
 service-policy output S
"""
NEVER = """\
version 12.4
hostname R
class-map match-all never
 match ip dscp default
 match ip dscp af33
class-map match-all video
 match ip dscp af41 af42
policy-map Q
 class video
  bandwidth percent 10
  random-detect dscp-based
  random-detect exponential-weighting-constant 1
  random-detect dscp 34 24 32 16
 class never
  bandwidth percent 1
interface FastEthernet0/0
 service-policy output Q
"""
OWN_SET = """\
hostname S
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos srr-queue output cos-map queue 1 threshold 3 4 5
mls qos srr-queue output dscp-map queue 1 threshold 3 32 33 40 41 42 43 44 45
mls qos srr-queue output dscp-map queue 3 threshold 3 0 1 2 3 4 5 6 7
mls qos queue-set output 1 threshold 2 125 125 100 400
mls qos queue-set output 1 buffers 15 25 40 20
mls qos
interface GigabitEthernet1/0/1
 switchport mode access
interface GigabitEthernet1/0/14
 srr-queue bandwidth share 1 30 35 5
 priority-queue out
 mls qos trust cos
"""


@pytest.mark.parametrize(
    ("port", "kbps", "shape"),
    [
        ("GigabitEthernet0/0", 100000, 100000000),
        ("GigabitEthernet0/0", 100000, 120000000),
        ("Serial0/0", 512, 512000),
    ],
)
def test_a_shaper_at_the_rate_that_the_device_is_told_stays(
    port: str, kbps: int, shape: int, tmp_path: Path
) -> None:
    """``bandwidth`` is what is bought; the line is faster, so that the shaper is what keeps to it."""
    found = imported(SHAPED.format(shape, port, kbps))
    assert not has_errors(found.findings), told(found)
    (device,) = compiled_again(found, tmp_path)
    (entry,) = device.plan.interfaces
    assert entry.egress.scheduler is not None
    (whole,) = entry.egress.scheduler.queues
    assert whole.shape_rate == shape
    assert whole.child is not None
    (rule,) = whole.child.rules
    assert rule.police is not None
    assert rule.police.percent == 10


@pytest.mark.parametrize(
    ("platform", "said", "name"),
    [
        ("cisco_ios", "f0/0", "FastEthernet0/0"), ("cisco_ios", "s0/0/0", "Serial0/0/0"),
        ("cisco_ios", "g0/1", "GigabitEthernet0/1"), ("catalyst_2970", "g1/0/7", "GigabitEthernet1/0/7"),
        ("cisco_ios", "t1/1", "t1/1"),
    ],
)  # fmt: skip
def test_an_interface_is_told_by_one_letter_where_that_is_unique(platform: str, said: str, name: str) -> None:
    """Tunnel and TenGigabitEthernet begin with the same letter: such a line is not taken for either."""
    text = f"policy-map P\n class class-default\n  set dscp ef\nint {said}\n service-policy input P\n"
    read = read_configuration(text, "box.cfg", platform_id=platform, device="box")
    assert [entry.name for entry in read.plan.interfaces] == [name]


def test_policies_that_get_another_name_are_told() -> None:
    """The names of AutoQoS have dots; a push puts other policies beside them."""
    found = imported(NAMED)
    (finding,) = (f for f in found.findings if f.variant == "renamed")
    assert (finding.interface, finding.applied) == ("GigabitEthernet1/0/1", "c-2P6Q3T-new")
    assert "2P6Q3T.new" in finding.message
    assert told(found) == []


def test_policies_of_wireless_networks_are_told_and_a_port_without_its_policy_is_not_switched_off() -> None:
    """Catalyst 9000s serve classes without being told to: a policy that is not there is just that."""
    text = (
        NAMED + "interface GigabitEthernet1/0/2\n service-policy input GONE\nwlan a 1 a\n service-policy output P\n"
    )
    said = "\n".join(told(imported(text)))
    assert "'service-policy output P' (in wlan a 1 a) is not understood" in said
    assert "the device has no policy-map GONE" in said
    assert "switched off" not in said


def test_an_intent_that_compiles_beside_what_the_device_states_is_no_error() -> None:
    """Old images reserve 75 % but where the port says otherwise; a push knows what it says."""
    found = imported(RESERVED)
    assert not has_errors(found.findings), told(found)
    (finding,) = (f for f in found.findings if f.code == "import-does-not-compile")
    assert (finding.variant, finding.severity) == ("beside-running", "info")
    bare = imported(RESERVED.replace(" max-reserved-bandwidth 100\n", ""))
    assert [f.variant for f in bare.findings if f.code == "import-does-not-compile"] == ["default"]


def test_a_last_class_that_takes_every_packet_is_the_default_class(tmp_path: Path) -> None:
    """The way in which many shape a whole port."""
    found = imported(EVERY)
    assert told(found) == []
    assert [f.traffic_class for f in found.findings if f.variant == "catch-all"] == ["ALL"]
    (device,) = compiled_again(found, tmp_path)
    (entry,) = device.plan.interfaces
    assert entry.egress.scheduler is not None
    (whole,) = entry.egress.scheduler.queues
    assert whole.shape_rate == 1_000_000
    assert whole.child is not None
    assert [rule.name for rule in whole.child.rules] == ["V"]


def test_a_class_that_takes_every_packet_before_a_default_class_that_is_served_is_told() -> None:
    text = EVERY.replace("interface Fast", " class class-default\n  bandwidth 8\ninterface Fast")
    assert has_errors(imported(text).findings)


def test_what_classes_are_served_with_stays_beside_a_class_that_cannot_be_said() -> None:
    """A class that no packet is in has no words; those of the others were taken for what makes no difference."""
    found = imported(NEVER)
    assert has_errors(found.findings)
    (intent,) = found.intents
    video = next(entry for entry in intent.loaded.intent.classes if entry.name == "video")
    assert video.treatment.wred is not None
    assert "weight_exponent: 1" in intent.text
    assert "minimum: 24 packets" in intent.text


def test_an_intent_that_compiles_in_neither_way_is_an_error() -> None:
    """Ports with a queue set of their own tell queues by maps that are the switch's."""
    found = imported(OWN_SET, platform_id="catalyst_2970")
    assert any(f.code == "import-does-not-compile" and f.severity == "error" for f in found.findings)


QUEUES = "interface GigabitEthernet1/0/1\n srr-queue bandwidth share 1 30 35 5\n priority-queue out\n"


def test_queues_of_a_switch_whose_qos_is_switched_off_are_named() -> None:
    text = f"hostname S1\nmls qos map cos-dscp 0 8 16 24 32 46 48 56\n{QUEUES} mls qos trust cos\n"
    text += " service-policy input P\n"
    found = imported(text, platform_id="catalyst_2970")

    waiting = [f for f in found.findings if f.variant == "waiting"]
    assert found.intents == ()
    assert [f.line for f in waiting] == [2, 4, 5, 6, 7]
    assert {f.severity for f in waiting} == {"warning"}


def test_a_reserved_part_of_a_queue_is_told() -> None:
    row = "mls qos queue-set output 1 threshold 3 100 100 {} 400\n"
    told = [imported(f"hostname S1\nmls qos\n{row.format(reserved)}{QUEUES}").findings for reserved in (50, 90)]

    assert [[f.line for f in findings if f.variant == "stays"] for findings in told] == [[], [3]]
