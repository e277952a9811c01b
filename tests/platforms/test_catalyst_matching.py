"""How the Catalysts tell classes: precedences, MAC addresses, masks, thirteen code points; strict queues by CoS."""

from __future__ import annotations

import json

import pytest

from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.plan.model import Discipline, Rule, Term, Trust
from qosforge.platforms.base import LoweredDevice, platform
from qosforge.platforms.catalyst_2950 import PLATFORM as C2950
from qosforge.platforms.catalyst_2970 import PLATFORM as C2970
from qosforge.platforms.ios_switch.blocks import mac_entries

from .catalyst_support import (
    BOXES,
    REST,
    VOICE,
    a_class,
    as_config,
    codes,
    delta,
    found,
    intent,
    lowered,
    port,
    rendered,
    startup,
)

HOSTS = {"s2950": "FastEthernet0/1", "s2970": "GigabitEthernet0/5"}


def rules(device: str, result: LoweredDevice) -> dict[str, Rule]:
    return {r.name: r for r in port(result.plan, HOSTS[device]).ingress.rules}


def test_a_2970_matches_precedences_and_a_2950_the_dscps_it_knows_of_them() -> None:
    loaded = intent(a_class("gold", {"precedence": [3]}, dscp="cs3"), REST)
    _, new = lowered("s2970", loaded)
    assert rules("s2970", new)["gold-P"].any_of == (Term(precedence=(3,)),)
    assert "precedence-as-dscps" not in codes(new)
    _, old = lowered("s2950", loaded)
    assert rules("s2950", old)["gold-D"].any_of == (Term(dscp=(24, 26)),)
    told = found(old, "precedence-as-dscps")
    assert (told.severity, told.requested, told.applied) == (
        "warning",
        "precedence 3 (DSCP 24 to 31)",
        "DSCP 24, 26",
    )
    for result in (new, old):
        assert result.plan.system.dscp_to_cos is not None
        assert result.plan.system.dscp_to_cos[26] == 3


@pytest.mark.parametrize("device", ["s2950", "s2970"])
def test_a_precedence_is_marked_as_a_class_selector_and_served_whole(device: str) -> None:
    _, result = lowered(device, intent(a_class("gold", {"application": "http"}, precedence=4), REST))
    told = found(result, "precedence-carried-as-dscp")
    assert (told.severity, told.requested, told.applied) == ("info", "precedence 4", "DSCP cs4")
    assert rules(device, result)["gold-A"].set_dscp == 32
    if device == "s2970":
        table = result.plan.system.dscp_to_queue
        assert table is not None
        assert {table[d] for d in range(32, 40)} == {table[32]} != {table[0]}


@pytest.mark.parametrize("device", ["s2950", "s2970"])
def test_mac_addresses_have_lists_of_their_own_and_a_doubt(device: str) -> None:
    entry = a_class("phones", {"source_mac": ["00:1b:54:aa:bb:cc", "00:1b:54:aa:bb:cd"]}, {"dscp": "ef"}, dscp="ef")
    request, result = lowered(device, intent(entry, REST))
    assert rules(device, result)["phones-M"].any_of == (
        Term(source_mac="001b.54aa.bbcc"),
        Term(source_mac="001b.54aa.bbcd"),
    )
    assert "mac access-list extended QOSFORGE-phones-M\n permit host 001b.54aa.bbcc any\n" in rendered(
        device, request, result
    )
    assert found(result, "mac-match-without-ip").severity == "warning"


def _mac_terms(*lines: str) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """The terms of a MAC access list in a class-map, and the lines that are not understood."""
    text = "mac access-list extended L\n" + "".join(f" {line}\n" for line in lines)
    text += "class-map match-all C\n match access-group name L\npolicy-map P\n class C\n  set dscp 8\n"
    text += "mls qos\ninterface FastEthernet0/1\n service-policy input P\n"
    held = platform("catalyst_2970").parse(text, "s2970", "")
    (port,) = held.interfaces
    return port.ingress.rules[0].any_of, tuple(line.text for line in held.unknown)


@pytest.mark.parametrize(
    "line", ["deny any any", "permit any", "permit 001b.54aa.bbcc 0000.0000.00ff any", "permit any any netbios"]
)
def test_mac_entries_that_terms_do_not_hold(line: str) -> None:
    assert _mac_terms(line) == ((), (line,))


def test_mac_entries_read_back() -> None:
    terms = (Term(source_mac="001b.54aa.bbcc"), Term(destination_mac="001b.54aa.bbcc"), Term())
    assert _mac_terms(*mac_entries(terms)) == (terms, ())


def test_a_2950_rounds_a_mark_within_its_group_only() -> None:
    video = a_class("video", {"application": "rtp-video"}, dscp="af42")
    _, result = lowered("s2950", intent(video, REST))
    told = found(result, "dscp-rounded")
    assert (told.severity, told.requested, told.applied) == ("warning", "DSCP af42", "DSCP af41")
    assert rules("s2950", result)["video-A"].set_dscp == 34
    assert result.plan.system.cos_to_dscp is not None
    assert result.plan.system.cos_to_dscp[4] == 34

    _, taken = lowered("s2950", intent(VOICE, video, REST))
    assert found(taken, "dscp-rounded").severity == "error"
    _, other = lowered("s2950", intent(a_class("odd", {"application": "http"}, dscp=5), REST))
    assert (found(other, "dscp-rounded").severity, found(other, "dscp-rounded").applied) == (
        "error",
        "DSCP default",
    )


def by_cos(*priorities: tuple[str, list[int]]) -> LoadedIntent:
    classes = [{"name": n, "match": {"any": [{"cos": c}]}, "treatment": {"priority": True}} for n, c in priorities]
    where = {"role": "access", "interfaces": ["lan", "trunk"]}
    document = {
        "version": 1,
        "intent": "test",
        "classes": [*classes, {"name": "default"}],
        "apply": [{**where, "direction": "input", "trust": "cos"}, {**where, "direction": "output"}],
    }
    return parse_intent(json.dumps(document), "test.yaml")


def test_a_2950_serves_its_queues_in_order() -> None:
    loaded = by_cos(("q3", [6, 7]), ("q2", [4, 5]), ("q1", [2, 3]))
    running = startup("s2950").replace("!\nend", "wrr-queue bandwidth 1 2 3 4\nwrr-queue cos-map 1 7\n!\nend")
    request, result = lowered("s2950", loaded, running)
    system = result.plan.system
    assert system.cos_to_queue == (1, 1, 2, 2, 3, 3, 4, 4)
    assert system.scheduler is not None
    assert system.scheduler.discipline is Discipline.STRICT
    assert port(result.plan, HOSTS["s2950"]).ingress.trust is Trust.COS
    assert {f.fidelity.value for f in result.fidelity} == {"exact"}
    # Its ports have no tags, and so no packet a CoS.
    assert {code for code, severity in codes(result).items() if severity != "info"} == {"trust-unsupported"}
    lines, target = delta(BOXES["s2950"].grammar, running, rendered("s2950", request, result))
    assert {"no wrr-queue bandwidth", "no wrr-queue cos-map"} <= set(lines)
    held = BOXES["s2950"].parse(as_config(target), "s2950", request.image)
    assert held.system.scheduler == system.scheduler
    assert held.system.cos_to_queue == system.cos_to_queue


def test_a_2970_serves_one_queue_first() -> None:
    _, result = lowered("s2970", by_cos(("q3", [6, 7]), ("q2", [4, 5])))
    assert found(result, "priority-queues-exceeded").traffic_class == "q2"
    assert "priority-cap-not-enforced" not in codes(result)


READ = """\
mac access-list extended PHONES
 permit host 001b.54aa.bbcc any
 deny any any
mls qos aggregate-policer ALONE 1000000 8000 exceed-action drop
mls qos aggregate-policer SHARED 2000000 8000 exceed-action drop
mls qos map policed-dscp 26 to 8
mls qos
class-map match-all M
 match access-group name PHONES
class-map match-all D
 match ip dscp af31
class-map match-all P
 match ip precedence 5
policy-map IN
 class M
  police aggregate ALONE
 class D
  trust dscp
  police 3000000 9000 exceed-action policed-dscp-transmit
 class P
  set ip precedence 4
  police aggregate SHARED
 class class-default
  trust cos
  police aggregate SHARED
interface GigabitEthernet0/1
 mls qos cos 2
 mls qos cos override
interface GigabitEthernet0/2
 service-policy input IN
"""


def test_policies_that_people_write_on_a_2970() -> None:
    plan = C2970.parse(READ, "s", "12.2")
    (override,) = port(plan, "GigabitEthernet0/1").ingress.rules
    assert (override.any_of, override.set_dscp, override.set_cos) == ((Term(),), 16, 2)
    mac, dscp, precedence, rest = port(plan, "GigabitEthernet0/2").ingress.rules
    # A policy that says nothing of marks resets them, like any input that trusts nothing.
    assert (mac.any_of, mac.set_dscp, mac.police and mac.police.rate) == (
        (Term(source_mac="001b.54aa.bbcc"),),
        0,
        1_000_000,
    )
    assert dscp.set_dscp is None
    assert dscp.police is not None
    assert dscp.police.exceed.set_dscp == 8
    assert (precedence.set_precedence, precedence.set_dscp, precedence.police) == (4, None, None)
    assert rest.any_of == (Term(),)
    assert [(u.text, u.context) for u in plan.unknown] == [
        ("deny any any", "mac access-list extended PHONES"),
        ("police aggregate SHARED", "class P"),
        ("trust cos", "class class-default"),
        ("police aggregate SHARED", "class class-default"),
    ]


def test_trust_of_a_phone_on_a_2950() -> None:
    lines = " mls qos trust device cisco-phone\n"
    plan = C2950.parse(
        f"interface FastEthernet0/1\n{lines} mls qos trust cos\ninterface FastEthernet0/2\n{lines}"
        f"interface FastEthernet0/3\n{lines} mls qos trust dscp\n"
        "interface FastEthernet0/4\n mls qos cos override\n",
        "s",
        "12.1EA-EI",
    )
    assert [i.ingress.trust for i in plan.interfaces] == [Trust.PHONE, Trust.NONE, Trust.DSCP, Trust.NONE]
    assert [u.context for u in plan.unknown] == ["interface FastEthernet0/3"]
    assert port(plan, "FastEthernet0/4").ingress.rules[0].set_cos == 0


@pytest.mark.parametrize("device", ["s2950", "s2970"])
def test_fragments_are_told_where_a_list_tells_a_class(device: str) -> None:
    """Guides of both (78-11380-07, p. 27-17; 78-15462-03, p. 27-29): QoS lists see no fragments."""
    listed = a_class("gold", {"application": "http"}, dscp="cs3")
    marked = a_class("gold", {"dscp": ["cs3"]}, dscp="cs3")

    told = found(lowered(device, intent(listed, REST))[1], "fragments-unclassified")

    assert (told.severity, told.traffic_class) == ("info", "gold")
    assert "fragments-unclassified" not in codes(lowered(device, intent(marked, REST))[1])
