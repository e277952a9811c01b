"""Counterexamples that the properties have found, each by name; what they were is in the name of its case."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.findings import Severity
from tests.answers import refusals

from .devices import Site, made_site
from .harness import boot, compiled, loaded, push

HTTP = {"any": [{"application": "http"}]}
SWITCH = {
    "catalyst_2950": "12.1EA-EI",
    "catalyst_2970": "12.2",
    "catalyst_9000": "17.12",
    "force10_e300": "7.4.1.0",
}
PORTS = {
    "catalyst_2950": ("GigabitEthernet0/1", "GigabitEthernet0/2"),
    "catalyst_2970": ("GigabitEthernet0/1", "GigabitEthernet0/2"),
    "catalyst_9000": ("GigabitEthernet1/0/1", "GigabitEthernet1/0/2"),
    "force10_e300": ("GigabitEthernet 0/1", "GigabitEthernet 0/2"),
}


def a_class(name: str = "gold", **more: Any) -> dict[str, Any]:
    """A class that matches web traffic."""
    return {"name": name, "match": HTTP, "mark": {"dscp": "af11"}, **more}


def an_intent(*classes: dict[str, Any], apply: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """An intent of these classes and scopes."""
    return {
        "version": 1,
        "intent": "made",
        "tolerance": "100 %",
        "classes": list(classes),
        "apply": apply,
        **more,
    }


def router(image: str, *lines: tuple[str, dict[str, Any], str]) -> Site:
    """A router with these lines: name, what the inventory says of it, its configuration."""
    interfaces = {"FastEthernet0/0": {"rate": 10**8, "tags": ["lan"]}} | {name: entry for name, entry, _ in lines}
    text = "hostname BOX\nip cef\ninterface FastEthernet0/0\n ip address 198.51.100.1 255.255.255.0\n"
    text += "".join(f"interface {name}\n{below}" for name, _, below in lines)
    return made_site("cisco_ios", image, "edge", interfaces, text)


def switch(platform: str, *names: str, **entries: dict[str, Any]) -> Site:
    """A switch with these ports, all of them access ports of 1 Gb/s unless said otherwise."""
    usual = {"rate": 10**9, "tags": ["lan"], "vlans": [3]}
    interfaces = {name: usual | entries.get(name.split("/")[-1], {}) for name in names}
    below = (
        " switchport\n" if platform == "force10_e300" else " switchport access vlan 3\n switchport mode access\n"
    )
    text = "hostname BOX\n" + "".join(f"interface {name}\n{below}" for name in names)
    return made_site(platform, SWITCH[platform], "access", interfaces, text)


def pushed(site: Site, *documents: dict[str, Any]) -> None:
    """Every intent is held as meant, one after the other, and undone."""
    box = boot(site)
    for document in documents:
        intent = loaded(document)
        assert intent
        made = compiled(site, intent, box.running_text())
        assert made, compile_intent(intent, site.network, {"box": box.running_text()}).findings
        push(site, box, made)


def errors_after(site: Site, first: dict[str, Any], then: dict[str, Any]) -> list[str]:
    """Codes of the errors of an intent on a device that holds another one."""
    box, intent, other = boot(site), loaded(first), loaded(then)
    assert intent
    assert other
    made = compiled(site, intent, box.running_text())
    assert made
    push(site, box, made)
    compilation = compile_intent(other, site.network, {"box": box.running_text()})
    return [f.code for f in compilation.findings if f.severity is Severity.ERROR]


SERIAL = ("Serial0/0", {"rate": 512_000, "tags": ["wan"], "encapsulation": "hdlc"}, " bandwidth 512\n")
OUT, IN = {"direction": "output"}, {"direction": "input", "interfaces": "lan"}
WAN = OUT | {"interfaces": "wan"}


def test_an_input_keeps_a_bandwidth_that_is_not_the_contracted_rate() -> None:
    name, entry, below = SERIAL
    site = router("12.4(15)T", (name, entry | {"contracted": 256_000}, below))

    pushed(site, an_intent(a_class(), apply=[{"direction": "input", "role": "edge"}]))


def test_no_ip_mtu_is_made_for_fragments_that_hold_whole_packets() -> None:
    site = router(
        "12.4(15)T", ("Serial0/0", {"rate": 10**6, "tags": ["wan"], "encapsulation": "hdlc"}, " bandwidth 1000\n")
    )
    rule = {"when": {"rate_below": "3 Mb/s"}, "fragment": {"blocking_delay": "16 ms", "by": "ip-mtu"}}

    pushed(site, an_intent(a_class(), apply=[WAN], link_efficiency=[rule]))


def test_a_circuit_leaves_its_policy_before_its_rate_falls_below_what_that_reserves() -> None:
    below = " bandwidth 512\n ip address 192.0.2.9 255.255.255.252\n frame-relay interface-dlci 100\n"
    entry = {"rate": 512_000, "tags": ["wan"], "encapsulation": "frame-relay", "circuit": {"dlci": 100}}
    physical = ("Serial0/2", {"rate": 512_000}, " encapsulation frame-relay\n")
    site = router("12.4(24)T", physical, ("Serial0/2.100", entry, below))
    reserved = {"bandwidth": {"rate": "64 kb/s"}}
    wide = an_intent(a_class(treatment=reserved), apply=[WAN | {"shape": {"rate": "256 kb/s"}}])
    narrow = an_intent(
        a_class(treatment={"priority": True}), apply=[WAN | {"policy": "PO", "shape": {"rate": "8 kb/s"}}]
    )

    pushed(site, wide, narrow)
    pushed(site, narrow, wide)


def test_fragments_of_a_shaped_bundle_are_sized_by_the_rate_that_the_box_knows() -> None:
    below = " bandwidth 8000\n ppp multilink\n ppp multilink group 1\n"
    bundle = (
        "Multilink1",
        {"rate": 8_000_000, "tags": ["wan"], "encapsulation": "mlppp", "member": "Serial0/1"},
        below,
    )
    site = router("12.4(15)T", bundle)
    rule = {"when": {"rate_below": "3 Mb/s"}, "fragment": {"packetisation": "40 ms"}}

    pushed(site, an_intent(a_class(), apply=[WAN | {"shape": {"rate": "1 Mb/s"}}], link_efficiency=[rule]))


def test_exceptions_of_a_class_inside_a_shaped_port_have_no_order() -> None:
    site = router("12.1(5)T", SERIAL)
    nots = [{"protocol": 200, "source": "0.0.0.0/1"}, {"input_interface": "FastEthernet0/0"}]
    odd = a_class(match={"any": [{"protocol": "tcp", "source_port": 21}], "none": nots})

    pushed(site, an_intent(odd, apply=[WAN | {"shape": {"rate": "256 kb/s"}}, IN]))


def test_a_subinterface_without_a_shape_is_refused_before_the_box_refuses_it() -> None:
    below = " encapsulation dot1Q 10\n"
    vlan = ("FastEthernet0/1.10", {"rate": 10**8, "tags": ["trunk"], "tagged": True, "vlans": [10]}, below)
    site = router("12.0(7)T", vlan)
    shape = {"rate": "63 kb/s", "prefer": True}
    intent = loaded(an_intent(a_class(), apply=[OUT | {"interfaces": "trunk", "shape": shape}]))
    assert intent

    found = compile_intent(intent, site.network).findings

    assert any(f.code == "shape-unsupported" and f.severity is Severity.ERROR for f in found)


@pytest.mark.parametrize(("image", "codes"), [("12.0(7)T", ["shape-unsupported"]), ("12.1(2)T", [])])
def test_a_contract_below_the_rate_of_its_port_is_kept_or_refused(image: str, codes: list[str]) -> None:
    contract = {"rate": 10**8, "contracted": 10**7, "tags": ["wan"]}
    site = router(image, ("FastEthernet0/1", contract, " ip address 198.51.100.5 255.255.255.252\n"))
    rest = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 29}}}
    intent = loaded(an_intent(a_class(treatment={"priority": {"rate": "1 Mb/s"}}, mark={"precedence": 5}),
                              rest, apply=[OUT | {"interfaces": "wan"}]))  # fmt: skip
    assert intent

    found = compile_intent(intent, site.network, {"box": site.startup}).findings

    assert [f.code for f in found if f.severity is Severity.ERROR] == codes


def test_where_an_image_shapes_no_port_classes_reserve_of_the_whole_line() -> None:
    site = router("12.0(6.5)T7")
    rest = {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 29}}}
    shape = {"rate": "89 Mb/s", "prefer": True}

    pushed(site, an_intent(
        a_class(match={"any": [{"dscp": 29}]}, treatment={"priority": {"rate": "50 Mb/s"}}), rest,
        apply=[OUT | {"role": "edge", "shape": shape}],
    ))  # fmt: skip


def test_ports_leave_a_policy_before_it_becomes_one_that_they_cannot_have() -> None:
    site = switch("catalyst_2950", "FastEthernet0/1", "GigabitEthernet0/1")
    scopes = [{"direction": "input", "vlan": 3}]
    policed = {"police": {"rate": "237 kb/s", "prefer": True}}

    plain = a_class(match={"any": [{"dscp": 24}]})
    other = a_class("silver", match={"any": [{"dscp": 16}]}, treatment=policed)

    pushed(site, an_intent(plain, apply=scopes), an_intent(other, apply=scopes))


def test_ports_that_are_left_alone_sit_behind_the_same_maps() -> None:
    site = switch("catalyst_2970", "GigabitEthernet0/1", "GigabitEthernet0/2")
    deep = a_class(
        treatment={"bandwidth": {"weight": 42}, "wred": True, "queue_limit": {"bytes": "150 kB", "prefer": True}}
    )
    first = OUT | {"ports": "GigabitEthernet0/1"}

    pushed(site, an_intent(deep, apply=[first, {"direction": "input", "interfaces": "lan"}]))


def test_thresholds_of_ports_outside_are_not_changed_in_silence() -> None:
    site = switch("catalyst_2970", "GigabitEthernet0/1", "GigabitEthernet0/2")
    deep = a_class(treatment={"bandwidth": {"weight": 42}, "queue_limit": {"packets": 50, "prefer": True}})
    trusted = IN | {"trust": "dscp"}
    first, other = (an_intent(deep, apply=[OUT | {"ports": f"GigabitEthernet0/{n}"}, trusted]) for n in (1, 2))

    assert "queue-set-shared" in errors_after(site, first, other)


@pytest.mark.parametrize("platform", ["catalyst_2970", "force10_e300", "cisco_ios"])
def test_policies_of_interfaces_outside_are_not_changed_in_silence(platform: str) -> None:
    space = " " if platform == "force10_e300" else ""
    if platform == "cisco_ios":
        site = router("15.1(4)M", SERIAL)
        names: tuple[str, ...] = ("FastEthernet0/0", "Serial0/0")
    else:
        names = (f"GigabitEthernet{space}0/1", f"GigabitEthernet{space}0/2")
        site = switch(platform, *names)
    direction = "input" if platform == "catalyst_2970" else "output"
    share = {"treatment": {"bandwidth": {"remaining_percent": 20}}}
    both = an_intent(a_class(**share), apply=[{"direction": direction, "ports": list(names)}])
    one = an_intent(
        a_class("other", match={"any": [{"dscp": "cs1"}]}, **share),
        apply=[{"direction": direction, "ports": names[0]}],
    )

    assert "policy-shared" in errors_after(site, both, one)


@pytest.mark.parametrize(
    "platform", ["catalyst_2950", "catalyst_2970", "catalyst_9000", "force10_e300", "cisco_ios"]
)
def test_classes_of_interfaces_outside_are_not_changed_in_silence_under_a_policy_of_another_name(
    platform: str,
) -> None:
    site = router("15.1(4)M", SERIAL) if platform == "cisco_ios" else switch(platform, *PORTS[platform])
    first, other = ("FastEthernet0/0", "Serial0/0") if platform == "cisco_ios" else PORTS[platform]
    direction = "output" if platform == "cisco_ios" else "input"
    gold = a_class(match={"any": [{"dscp": "af11"}]})
    both = an_intent(gold, apply=[{"direction": direction, "ports": [first, other]}])
    scope = {"direction": direction, "ports": first, "policy": "OTHER"}
    reclassified = an_intent(a_class(match={"any": [{"dscp": "cs1"}]}), apply=[scope])

    assert "policy-shared" in errors_after(site, both, reclassified)
    pushed(site, both, an_intent(gold, apply=[scope]))


def test_queues_that_an_input_leaves_alone_keep_their_shares_under_a_policy_of_another_name() -> None:
    first, other = PORTS["force10_e300"]
    site = switch("force10_e300", first, other)
    both = an_intent(a_class(), apply=[OUT | {"ports": [first, other]}])
    scopes = [OUT | {"ports": first, "policy": "OTHER"}, {"direction": "input", "ports": other, "trust": "dscp"}]
    share = {"treatment": {"bandwidth": {"remaining_percent": 20}}}

    assert "policy-shared" in errors_after(site, both, an_intent(a_class(**share), apply=scopes))
    pushed(site, both, an_intent(a_class(), apply=scopes))


def test_a_class_told_by_its_vlan_alone_is_one_of_layer_2_on_an_older_force10() -> None:
    site = switch("force10_e300", "GigabitEthernet 0/0", **{"0": {"tags": ["trunk"], "tagged": True}})
    vlan = {"name": "gold", "match": {"any": [{"vlan": 3}]}, "mark": {"dscp": 10}, "treatment": {"priority": True}}

    pushed(site, an_intent(vlan, apply=[{"direction": "input", "role": "access", "trust": "dscp"}]))


def test_inputs_that_recognise_and_inputs_that_trust_have_policies_of_their_own() -> None:
    site = switch(
        "force10_e300", "GigabitEthernet 0/0", "GigabitEthernet 0/1", **{"0": {"tags": ["trunk"], "tagged": True}}
    )
    scope = {"direction": "input", "role": "access", "policy": "MARKING"}

    pushed(site, an_intent(a_class(treatment={"priority": True}), apply=[scope, OUT | {"role": "access"}]))


def test_the_preview_tells_when_an_interface_is_without_its_policy() -> None:
    site = router("12.4(15)T", SERIAL)
    box = boot(site)
    first, second = (an_intent(a_class(), apply=[WAN | {"policy": name}]) for name in ("ONE", "TWO"))
    gaps = []
    for document in (first, second):
        intent = loaded(document)
        assert intent
        made = compiled(site, intent, box.running_text())
        assert made
        candidate = make_candidate(made, box.running_text())
        assert refusals(box.configure(candidate.delta)) == []
        gaps.append(candidate.gaps)

    assert gaps[0] == ()
    assert [(gap.place, gap.lines) for gap in gaps[1]] == [("interface Serial0/0 output", 1)]


@pytest.mark.parametrize("platform", ["catalyst_2950", "catalyst_2970"])
def test_a_policy_on_a_port_left_alone_marks_by_the_map_that_changes(platform: str) -> None:
    site = switch(platform, "FastEthernet0/1" if platform == "catalyst_2950" else "GigabitEthernet0/1")
    marked = a_class(match={"any": [{"dscp": "cs4"}]}, mark={"dscp": "af21"})
    other = a_class(match={"any": [{"dscp": "af21"}]}, mark={"dscp": "af31", "cos": 5})

    pushed(site, an_intent(marked, apply=[IN]), an_intent(other, apply=[OUT | {"interfaces": "lan"}]))


def test_a_policy_of_one_layer_does_not_become_one_of_the_other() -> None:
    site = switch("force10_e300", "GigabitEthernet 0/0")
    by_mac = a_class(match={"any": [{"source_mac": "001b.54aa.bbcc"}]})
    named = IN | {"policy": "PI"}

    pushed(site, an_intent(by_mac, apply=[named]), an_intent(by_mac, apply=[named | {"trust": "none"}]))


def test_a_rule_of_a_list_moves_where_the_box_holds_each_once() -> None:
    site = switch("force10_e300", "GigabitEthernet 0/0")
    first, second, third = ({"protocol": "udp", "source": f"10.{n}.0.0/16"} for n in (1, 2, 3))

    pushed(
        site,
        an_intent(a_class(match={"any": [first, second, third]}), apply=[IN]),
        an_intent(a_class(match={"any": [third, first]}), apply=[IN]),
    )


@pytest.mark.parametrize("name", ["match-any", "match"])
def test_a_class_that_is_called_like_a_keyword_can_be_taken_away(name: str) -> None:
    site = switch("force10_e300", "GigabitEthernet 0/1")
    both = [{"direction": direction, "role": "access"} for direction in ("input", "output")]
    other = an_intent(a_class("gold"), apply=both)
    pushed(site, an_intent(a_class(name), apply=both), other)
