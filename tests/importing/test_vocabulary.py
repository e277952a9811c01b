"""What real configurations of routers say: each comes back as an intent that compiles to the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from qosforge.platforms.base import platform

from .support import compiled_again, imported, told, unlike


def circular(text: str, folder: Path, **given: str) -> dict[str, Any]:
    """The one intent of a configuration, which compiles to what the configuration holds, and loses nothing."""
    found = imported(text, platform_id="cisco_ios", **given)
    assert told(found) == []
    (intent,) = found.intents
    (device,) = compiled_again(found, folder)
    held = platform("cisco_ios").parse(text, device.name, device.request.image)
    ports = {entry.name for entry in device.plan.interfaces}
    kept = held.model_copy(update={"interfaces": tuple(i for i in held.interfaces if i.name in ports)})
    # A policy that does nothing but shape a port has a name of its own, and so has the one inside it.
    # Classes are told in both versions of IP where the configuration had the words for one.
    told_apart = (".policy: ", ".ipv4: ")
    assert [text for text in unlike(device.plan, kept) if not any(part in text for part in told_apart)] == []
    words: dict[str, Any] = yaml.safe_load(intent.text)
    return words


def by_name(words: dict[str, Any]) -> dict[str, Any]:
    """The classes of an intent by their names."""
    return {entry["name"]: entry for entry in words["classes"]}


POLICERS = """\
version 15.1
hostname R1
ip cef
class-map match-any gold
 match ip dscp af21
class-map match-any bulk
 match ip dscp af11
policy-map OUT
 class gold
  police cir 64000
   conform-action transmit
   exceed-action drop
 class bulk
  police cir percent 10 bc 300 ms
   conform-action transmit
   exceed-action set-dscp-transmit cs1
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
interface Serial0/1
 bandwidth 1000
 service-policy output OUT
"""


def test_policers_without_a_burst_and_by_percentages(tmp_path: Path) -> None:
    classes = by_name(circular(POLICERS, tmp_path))

    assert classes["gold"]["treatment"]["police"]["rate"] == "64 kb/s"
    assert classes["bulk"]["treatment"]["police"] == {
        "percent": 10,
        "burst_time": "300 ms",
        "exceed": {"remark": "cs1"},
        "direction": "output",
    }


SHAPERS = """\
version 15.1
hostname R1
class-map match-any gold
 match ip dscp af21
policy-map CHILD
 class gold
  bandwidth percent 20
  shape average 256000 2560 0
policy-map PARENT
 class class-default
  shape average 5000000 50000 0
  service-policy CHILD
policy-map OUT
 class gold
  shape average percent 50 20 ms
interface FastEthernet0/0
 service-policy output PARENT
"""


def test_shapers_with_bursts_around_a_policy_and_inside(tmp_path: Path) -> None:
    words = circular(SHAPERS, tmp_path)

    assert words["apply"][0]["shape"] == {"rate": "5 Mb/s", "burst": "6250 B", "excess_burst": "0 B"}
    shape = by_name(words)["gold"]["treatment"]["shape"]
    assert shape == {"rate": "256 kb/s", "burst": "320 B", "excess_burst": "0 B"}


def test_shapers_at_a_percentage(tmp_path: Path) -> None:
    text = SHAPERS.replace(" service-policy output PARENT", " service-policy output OUT")

    classes = by_name(circular(text.replace("FastEthernet0/0", "Serial0/0\n bandwidth 2000"), tmp_path))

    assert classes["gold"]["treatment"]["shape"] == {"percent": 50, "burst_time": "20 ms"}


FLOWS = """\
version 12.4
hostname R1
class-map match-any gold
 match ip dscp af21
policy-map OUT
 class gold
  bandwidth percent 20
 class class-default
  fair-queue
  random-detect dscp-based
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
"""


def test_a_default_class_that_serves_its_flows_in_turn(tmp_path: Path) -> None:
    classes = by_name(circular(FLOWS, tmp_path))

    assert classes["default"]["treatment"]["fair_queue"] is True


def test_any_class_that_does_with_its_own_number_of_flows(tmp_path: Path) -> None:
    text = FLOWS.replace("12.4", "15.1").replace("percent 20\n", "percent 20\n  fair-queue 64\n")

    assert by_name(circular(text, tmp_path))["gold"]["treatment"]["fair_queue"] == {"flows": 64}


CONDITIONS = """\
version 15.1
hostname R1
ip access-list extended WEB
 deny tcp any any eq 8080
 permit tcp any any
class-map match-all gold
 match access-group name WEB
 match ip dscp af31
class-map match-any voice
 match ip dscp ef
class-map match-all calls
 match class-map voice
 match access-group name HOST
ip access-list extended HOST
 permit ip host 10.0.0.5 any
 permit ip host 10.0.0.6 any
class-map match-all other
 match not ip dscp ef
 match ip precedence 5
policy-map OUT
 class gold
  bandwidth percent 10
 class calls
  bandwidth percent 11
 class other
  bandwidth percent 12
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
"""


def test_classes_of_several_conditions_keep_all_of_them(tmp_path: Path) -> None:
    classes = by_name(circular(CONDITIONS, tmp_path))

    assert classes["gold"]["match"] == {
        "any": [{"dscp": "af31", "protocol": "tcp"}],
        "none": [{"protocol": "tcp", "destination_port": 8080}],
    }
    assert classes["calls"]["match"] == {
        "any": [{"dscp": "ef", "source": "10.0.0.5/32"}, {"dscp": "ef", "source": "10.0.0.6/32"}]
    }
    assert classes["other"]["match"] == {"any": [{"precedence": 5}], "none": [{"dscp": "ef"}]}


OUTPUT_MARKS = """\
version 15.1
hostname R1
class-map match-any gold
 match dscp af21
policy-map OUT
 class gold
  bandwidth percent 20
  set dscp af31
 class class-default
  set dscp default
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
"""


def test_marks_of_an_output(tmp_path: Path) -> None:
    classes = by_name(circular(OUTPUT_MARKS, tmp_path))

    assert classes["gold"]["treatment"]["mark"] == {"dscp": "af31"}
    assert classes["default"]["treatment"]["mark"] == {"dscp": 0}
    assert "mark" not in classes["gold"]


AUTOQOS = """\
hostname S
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos
interface GigabitEthernet0/1
 switchport mode access
 switchport voice vlan 10
 mls qos trust cos
 srr-queue bandwidth share 1 30 35 5
 priority-queue out
"""


def test_what_a_trusted_cos_stands_for_stays(tmp_path: Path) -> None:
    """AutoQoS of switches: CoS 5 is EF, not the DSCP 40 of its precedence."""
    found = imported(AUTOQOS, platform_id="catalyst_2970")

    (intent,) = found.intents
    assert yaml.safe_load(intent.text)["cos_to_dscp"] == [0, "cs1", "cs2", "cs3", "cs4", "ef", "cs6", "cs7"]
    assert not any("cos_to_dscp" in text for text in told(found))
    (device,) = compiled_again(found, tmp_path)
    assert device.plan.system.cos_to_dscp == (0, 8, 16, 24, 32, 46, 48, 56)
    assert "mls qos map cos-dscp 0 8 16 24 32 46 48 56" in device.text


TUNNELS = """\
version 15.1
hostname R1
class-map match-any gold
 match dscp af21
policy-map OUT
 class gold
  bandwidth percent 20
interface Tunnel0
 ip address 10.0.9.1 255.255.255.0
 qos pre-classify
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
"""


def test_tunnels_that_an_output_looks_into(tmp_path: Path) -> None:
    words = circular(TUNNELS, tmp_path)

    assert words["apply"][0]["tunnels"] == ["Tunnel0"]


LABELS = """\
version 15.1
hostname R1
class-map match-any core
 match mpls experimental topmost 4 5
policy-map CORE-IN
 class core
  set mpls experimental topmost 6
policy-map CORE
 class core
  priority percent 10
  set mpls experimental topmost 3
interface FastEthernet0/0
 service-policy input CORE-IN
interface Serial0/0
 bandwidth 2000
 service-policy output CORE
"""


def test_classes_of_labels_and_their_marks(tmp_path: Path) -> None:
    core = by_name(circular(LABELS, tmp_path))["core"]

    assert core["match"] == {"any": [{"mpls_experimental": [4, 5]}]}
    assert core["mark"] == {"mpls_topmost": 6}
    assert core["treatment"]["mark"] == {"mpls_topmost": 3}


GROUPS = """\
version 15.1
hostname R1
class-map match-any voice
 match dscp ef
class-map match-any grouped
 match qos-group 3
policy-map IN
 class voice
  set mpls experimental imposition 5
  set qos-group 3
policy-map OUT
 class grouped
  priority percent 10
interface FastEthernet0/0
 service-policy input IN
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
"""


def test_groups_that_an_input_gives_and_an_output_reads(tmp_path: Path) -> None:
    """The class-maps of either side have names of their own, so that each is an intent of its own."""
    found = imported(GROUPS, platform_id="cisco_ios")

    assert told(found) == []
    classes = [yaml.safe_load(intent.text)["classes"][0] for intent in found.intents]
    assert {entry["name"]: entry["match"] for entry in classes} == {
        "grouped": {"any": [{"qos_group": 3}]},
        "voice": {"any": [{"dscp": "ef"}]},
    }
    assert [entry["mark"] for entry in classes if "mark" in entry] == [{"qos_group": 3, "mpls_imposition": 5}]
    texts = [device.text for device in compiled_again(found, tmp_path)]
    inside = [line for line in GROUPS.splitlines() if line.startswith((" match", "  "))]
    assert all(any(line in text for text in texts) for line in inside)


TIMES = """\
version 17.9
hostname R1
class-map match-any gold
 match dscp af21
policy-map OUT
 class gold
  bandwidth percent 20
  queue-limit 100 ms
  random-detect dscp-based
  random-detect dscp 18 20 ms 50 ms
interface GigabitEthernet0/0/0
 service-policy output OUT
"""


def test_early_detection_in_times(tmp_path: Path) -> None:
    treatment = by_name(circular(TIMES, tmp_path))["gold"]["treatment"]

    assert treatment["wred"]["profiles"] == [{"dscp": ["af21"], "minimum": "20 ms", "maximum": "50 ms"}]
    assert treatment["queue_limit"] == {"time": "100 ms"}


PERCENTAGES = """\
version 17.9
hostname S
class-map match-any bulk
 match dscp af11
policy-map OUT
 class bulk
  bandwidth remaining percent 20
  shape average percent 40
 class class-default
  bandwidth remaining percent 80
policy-map PORT
 class class-default
  shape average percent 50
   service-policy OUT
interface TenGigabitEthernet1/1/1
 switchport mode trunk
 service-policy output PORT
"""


def test_shapers_of_a_switch_at_a_percentage(tmp_path: Path) -> None:
    found = imported(PERCENTAGES, platform_id="catalyst_9000")

    assert [text for text in told(found) if "assumed" not in text] == []
    (intent,) = found.intents
    words = yaml.safe_load(intent.text)
    assert words["apply"][0]["shape"] == {"percent": 50}
    (device,) = compiled_again(found, tmp_path)
    assert [line for line in PERCENTAGES.splitlines() if "shape" in line] == [
        line for line in device.text.splitlines() if "shape" in line
    ]


INSPECTED = """\
version 12.4
hostname R1
ip cef
class-map match-any routing
 match protocol ospf
 match protocol eigrp
 match protocol rip
class-map match-all echo
 match protocol icmp
policy-map OUT
 class routing
  bandwidth percent 10
 class echo
  bandwidth percent 5
interface Serial0/0
 bandwidth 2000
 service-policy output OUT
"""


def test_inspection_by_header_fields_is_those_fields(tmp_path: Path) -> None:
    classes = by_name(circular(INSPECTED, tmp_path))

    rip = [{"protocol": "udp", "destination_port": 520}, {"protocol": "udp", "source_port": 520}]
    assert classes["routing"]["match"] == {"any": [{"protocol": "ospf"}, {"protocol": 88}, *rip]}
    assert classes["echo"]["match"] == {"any": [{"protocol": "icmp"}]}
