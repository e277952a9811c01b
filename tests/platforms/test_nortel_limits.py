"""What the 5510 refuses or cannot do as asked, and what its configurations mean."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from qosforge.errors import InputError
from qosforge.plan.model import Discipline, PortRange, Term, Trust
from qosforge.platforms.nortel_5510 import PLATFORM
from qosforge.platforms.nortel_5510.capabilities import scheduler
from qosforge.platforms.nortel_5510.lines import TABLE, ports
from qosforge.platforms.nortel_5510.queues import choose
from qosforge.platforms.recognition import aligned_blocks

from .switch_support import (
    REST,
    VOICE,
    WEB,
    campus,
    codes,
    finding,
    intent,
    lowered,
    marked,
    port,
    rendered,
    request_for,
    startup,
)

DEVICE = "ers5510"
MODEL = "! Model = Ethernet Routing Switch 5510-48T\n"


def lower(*classes: dict[str, Any], running: str | None = None) -> dict[str, str]:
    return codes(lowered(DEVICE, intent(*classes), running or startup(DEVICE))[1])


def test_two_priority_classes() -> None:
    second = marked("signalling", 24, 3, priority={"percent": 5})
    _, result = lowered(DEVICE, intent(VOICE, second, REST), startup(DEVICE))
    note = finding(result, "priority-queues-exceeded")
    assert (note.traffic_class, note.severity.value, note.applied) == (
        "signalling",
        "error",
        "shares the queue of voice-video",
    )


def test_more_classes_than_weighted_queues() -> None:
    many = [marked(f"c{n}", 8 * n, n, bandwidth={"percent": 10}) for n in (1, 2, 3)]
    _, result = lowered(DEVICE, intent(VOICE, *many, {"name": "default"}), startup(DEVICE))
    note = finding(result, "queues-exceeded")
    assert (note.severity.value, note.requested) == ("error", "4 queues")
    assert "3 weighted queues" in note.applied
    change = finding(result, "queue-set-change")
    assert change.severity.value == "warning"
    assert change.applied.startswith("queue set 4 until then, within ")
    assert "qos agent queue-set" in change.hint
    assert "boot" in change.hint


def test_more_classes_than_any_queue_set_has() -> None:
    many = [marked(f"c{n}", 8 * n, n % 8, bandwidth={"percent": 5}) for n in range(1, 8)]
    found = lower(VOICE | {"mark": {"dscp": "af41"}}, *many, {"name": "default"})
    assert found["queues-exceeded"] == "error"
    # Seven classes and the rest have all eight priorities: the priority class would share one.
    assert found["cos-shared"] == "error"


def test_a_queue_set_change_is_no_part_of_the_configuration() -> None:
    many = [marked(f"c{n}", 8 * n, n, bandwidth={"percent": 10}) for n in (1, 2, 3)]
    request, result = lowered(DEVICE, intent(VOICE, *many, {"name": "default"}), startup(DEVICE))
    text = rendered(DEVICE, request, result)
    assert "qos agent" not in text
    assert all(" queue-set 4 " in line for line in text.splitlines() if "queue-set-assignment" in line)


def test_a_box_with_the_factory_queue_set_cannot_weight() -> None:
    _, result = lowered(DEVICE, campus(), MODEL)
    assert result.plan.system.queue_set == 2
    assert result.plan.system.scheduler is not None
    assert result.plan.system.scheduler.discipline is Discipline.STRICT
    assert finding(result, "queue-set-unfit").severity.value == "error"


def test_a_queue_set_nobody_told() -> None:
    _, result = lowered(DEVICE, campus())
    assert finding(result, "queue-set-unknown").severity.value == "warning"
    assert result.plan.system.queue_set == 4
    assert "queue-set-unknown" not in codes(lowered(DEVICE, campus(), startup(DEVICE))[1])


def test_shares_beyond_the_tolerance() -> None:
    lean = {**WEB, "treatment": {"bandwidth": {"remaining_percent": 50}}}
    even = {**REST, "treatment": {"bandwidth": {"remaining_percent": 50}}}
    _, result = lowered(DEVICE, intent(VOICE, lean, even), startup(DEVICE))
    worst = finding_of(result, "share-out-of-tolerance", "web-and-file")
    assert (worst.severity.value, worst.requested, worst.applied) == ("error", "25 %", "35.7 %")
    wide = lowered(DEVICE, intent(VOICE, lean, even, tolerance="15 %"), startup(DEVICE))[1]
    assert codes(wide)["share-approximate"] == "info"


def finding_of(result: Any, code: str, name: str) -> Any:
    return next(f for f in result.findings if (f.code, f.traffic_class) == (code, name))


def test_rate_shares() -> None:
    rate = {**WEB, "treatment": {"bandwidth": {"rate": "20 Mb/s"}}}
    assert lower(VOICE, rate, {"name": "default"})["rate-share-unsupported"] == "error"


def test_two_classes_with_one_cos() -> None:
    _, result = lowered(DEVICE, intent(VOICE, {**WEB, "mark": {"dscp": "af21", "cos": 5}}, REST), startup(DEVICE))
    assert finding(result, "cos-shared").traffic_class == "web-and-file"


def test_classes_without_a_mark() -> None:
    bare = {k: v for k, v in WEB.items() if k != "mark"}
    found = lower(VOICE, bare, REST)
    assert (found["unmarked-class"], found["mark-reset"]) == ("error", "warning")


def test_a_class_without_a_cos_gets_that_of_its_dscp() -> None:
    _, result = lowered(DEVICE, intent({**VOICE, "mark": {"dscp": "af41"}}, WEB, REST), startup(DEVICE))
    rules = port(result.plan, "1").ingress.rules
    assert [(r.set_dscp, r.set_cos) for r in rules] == [(34, 5), (18, 2)]


def test_class_selectors_keep_their_precedence() -> None:
    classes = [
        {
            "name": f"pre{p}",
            "match": {"any": [{"protocol": ["udp"], "destination_port": [50000 + p]}]},
            "mark": {"precedence": p},
            "treatment": {"bandwidth": {"percent": 10}},
        }
        for p in range(7, 0, -1)
    ]
    for before in (startup(DEVICE), MODEL + "qos agent queue-set 8\n"):
        request, result = lowered(DEVICE, intent(*classes, {"name": "default"}), before)
        text = rendered(DEVICE, request, result)
        assert all(f"update-dscp {8 * p} update-1p {p}\n" in text for p in range(1, 8))


def test_a_class_selector_does_not_take_what_the_intent_gives() -> None:
    stated = marked("stated", 10, 5, bandwidth={"percent": 20})
    implied = marked("implied", 40, 5, bandwidth={"percent": 20}) | {"mark": {"dscp": 40}}
    _, result = lowered(DEVICE, intent(stated, implied, {"name": "default"}), startup(DEVICE))
    to_cos = result.plan.system.dscp_to_cos
    assert to_cos is not None
    assert (to_cos[10], to_cos[40]) == (5, 6)


def test_a_mark_belongs_to_the_class_that_sets_it() -> None:
    listing = {**WEB, "match": {"any": [{"dscp": ["af41"]}, {"application": "http"}]}}
    _, result = lowered(DEVICE, intent(listing, {**VOICE, "mark": {"dscp": "af41"}}, REST), startup(DEVICE))
    to_cos, to_queue = result.plan.system.dscp_to_cos, result.plan.system.cos_to_queue
    assert to_cos is not None
    assert to_queue is not None
    assert (to_queue[to_cos[34]], to_queue[to_cos[18]]) == tuple(
        queue
        for name in ("voice-video", "web-and-file")
        for queue in range(9)
        if result.classes.get(f"queue {queue}") == name
    )


def test_the_queue_set_named_is_the_best_of_all() -> None:
    shares = {"control": 5, "elastic": 50, "default": 45}
    classes = [
        {**VOICE, "treatment": {"priority": {"percent": 30}}},
        marked("control", 48, 6, bandwidth={"remaining_percent": 5}),
        marked("elastic", 10, 1, bandwidth={"remaining_percent": 50}),
        {"name": "default", "treatment": {"bandwidth": {"remaining_percent": 45}}},
    ]
    _, result = lowered(DEVICE, intent(*classes), MODEL + "qos agent queue-set 4\n")
    errors = {}
    for number in (4, 5, 6, 7, 8):
        weights = [q.share.value for q in scheduler(number).queues if q.share]
        errors[number] = min(
            max(abs(0.7 * w / sum(way) - 0.007 * share) for w, share in zip(way, shares.values(), strict=True))
            for way in itertools.permutations(weights, 3)
        )
    best = min(errors, key=errors.__getitem__)
    change = finding(result, "queue-set-change")
    assert (change.requested, change.applied) == (
        f"queue set {best}",
        f"queue set {4} until then, within {100 * errors[4]:.3g} % of the link",
    )
    assert f"within {100 * errors[best]:.2g} % of the link" in change.message


def test_a_wred_that_is_required() -> None:
    strict = {**REST, "treatment": {**REST["treatment"], "wred": {"prefer": False}}}  # type: ignore[dict-item]
    assert lower(VOICE, WEB, strict)["wred-unsupported"] == "error"


def test_more_alternatives_than_precedences_go_into_blocks() -> None:
    listed = {**WEB, "match": {"any": [{"dscp": list(range(1, 15))}]}}
    _, result = lowered(DEVICE, intent(VOICE, listed, REST), startup(DEVICE))
    note = finding(result, "filter-precedences")
    assert (note.requested, note.applied) == ("2 filters", "15 at most")
    assert "17 filters in 1 blocks" in note.message


def test_more_filters_than_precedences() -> None:
    spread = {**WEB, "match": {"any": [{"source": [f"10.0.0.0/{n}"]} for n in range(8, 24)]}}
    _, result = lowered(DEVICE, intent(VOICE, spread, REST), startup(DEVICE))
    note = finding(result, "too-many-filters")
    assert (note.severity.value, note.requested, note.applied) == ("error", "18 filters", "15 at most")


def test_a_marked_default_class_takes_the_rest() -> None:
    request, result = lowered(DEVICE, intent(VOICE, WEB, {**REST, "mark": {"dscp": "cs1", "cos": 1}}))
    last = port(result.plan, "1").ingress.rules[-1]
    assert (last.name, last.any_of, last.set_dscp, last.set_cos) == ("default", (Term(),), 8, 1)
    assert PLATFORM.parse(rendered(DEVICE, request, result), DEVICE, "5.1").interface("1") == port(result.plan, "1")


def test_long_names_are_cut_and_stay_apart() -> None:
    first = {**VOICE, "name": "synchronous-collaboration-of-campus-one"}
    second = {**WEB, "name": "synchronous-collaboration-of-campus-two"}
    request, result = lowered(DEVICE, intent(first, second, REST))
    names = [r.name for r in port(result.plan, "1").ingress.rules]
    assert len(set(names)) == 2
    assert [result.classes[name] for name in names] == [first["name"], second["name"]]
    for line in rendered(DEVICE, request, result).splitlines():
        words = line.split()
        if "name" in words:
            assert len(words[words.index("name") + 1]) <= 16


@pytest.mark.parametrize("name", ["1\nqos agent reset-default", "1-4", "ALL", "FastEthernet0/1"])
def test_ports_are_checked_before_they_reach_a_template(name: str) -> None:
    request = request_for(DEVICE, campus())
    first = request.interfaces[0].model_copy(update={"name": name})
    with pytest.raises(InputError, match="not a port"):
        PLATFORM.lower(request.model_copy(update={"interfaces": (first,)}), None)


@pytest.mark.parametrize(
    ("first", "last", "blocks"),
    [
        (16384, 32767, [(16384, 32767)]),
        (20, 21, [(20, 21)]),
        (80, 80, [(80, 80)]),
        (0, 65535, [(0, 65535)]),
        (0, 2, [(0, 1), (2, 2)]),
        (3000, 3010, [(3000, 3007), (3008, 3009), (3010, 3010)]),
        (65535, 65535, [(65535, 65535)]),
    ],
)
def test_ranges_as_blocks(first: int, last: int, blocks: list[tuple[int, int]]) -> None:
    assert aligned_blocks(first, last) == tuple(PortRange(first=a, last=b) for a, b in blocks)


def test_the_nearest_queues_are_chosen() -> None:
    classes = request_for(DEVICE, campus()).classes
    chosen = choose(classes, 8, 10**8)
    assert (chosen.queue_of["web-and-file"], chosen.queue_of["default"]) == (3, 6)  # 19 : 8
    assert chosen.error == pytest.approx(0.5 * 19 / 27 - 0.35)
    assert chosen.control == 2
    full = choose(classes, 3, 10**8)
    assert (full.queue_of, full.control) == ({"voice-video": 1, "web-and-file": 2, "default": 3}, 2)


# -- reading --------------------------------------------------------------------------------------


def test_what_is_not_printed() -> None:
    held = PLATFORM.parse(startup(DEVICE), DEVICE, "5.1")
    assert [i.name for i in held.interfaces] == [str(n) for n in range(1, 49)]
    assert {(i.ingress.policy, i.ingress.trust) for i in held.interfaces} == {("allQoSPolicyIfcs", Trust.NONE)}
    assert held.system.queue_set == 4
    assert held.system.cos_to_queue == (4, 4, 4, 4, 4, 3, 1, 2)
    assert held.system.dscp_to_cos is not None
    assert [held.system.dscp_to_cos[d] for d in (0, 18, 34, 46, 48)] == [0, 3, 5, 6, 7]
    assert held.unknown == ()
    assert len(PLATFORM.parse("! Model = Ethernet Routing Switch 5510-24T\n", DEVICE, "").interfaces) == 24


def test_lists_of_ports_and_rows_with_names_are_spelt_out() -> None:
    text = """\
qos if-assign port 1/1-1/2,2/5 name "users"
qos egressmap name Gold ds 26 1p 4 dp low-drop ds-new 26
qos egressmap ds 10 1p 1 dp high-drop ds-new 8
qos ingressmap name Gold 1p 4 ds 26
"""
    assert [line.text for line in TABLE.grammar.parse(text)] == [
        "qos if-assign port 1/1 name users",
        "qos if-assign port 1/2 name users",
        "qos if-assign port 2/5 name users",
        "qos egressmap ds 26 1p 4 dp low-drop",
        "qos egressmap ds 10 1p 1 dp high-drop ds-new 8",
        "qos ingressmap 1p 4 ds 26",
        "interface FastEthernet ALL",
    ]
    assert ports("1-3,7") == ("1", "2", "3", "7")
    assert ports("ALL") == ("ALL",)


def test_lines_for_all_ports_and_for_none_that_is_known() -> None:
    text = f"""\
{MODEL}qos if-group name users class trusted
qos if-assign port ALL name users
qos if-assign port 7 name allQoSPolicyIfcs
qos if-assign port 1-4,NONE name users
qos if-assign port 9 name nobody
interface fastEthernet ALL
qos if-shaper port all shape-rate 40000 max-burst-rate 50000
exit
default qos agent queue-set
"""
    held = PLATFORM.parse(text, DEVICE, "5.1")
    assert [i.name for i in held.interfaces if i.ingress.trust is Trust.DSCP] == [
        str(n) for n in range(1, 49) if n not in (7, 9)
    ]
    assert {i.egress.shape_rate for i in held.interfaces} == {40_000_000}
    assert [u.text for u in held.unknown] == [
        "qos if-assign port 1-4,NONE name users",
        "qos if-assign port 9 name nobody",
        "default qos agent queue-set",
    ]


def test_dscps_that_are_dropped_before_others() -> None:
    text = f"{MODEL}qos egressmap ds 10 1p 2 dp high-drop\nqos egressmap ds 46 1p 6 dp low-drop\n"
    assert PLATFORM.parse(text, DEVICE, "5.1").system.dropped_first == (10,)
    assert PLATFORM.parse(MODEL, DEVICE, "5.1").system.dropped_first is None
    late = {**marked("late", 17, 1), "mark": {"dscp": 17, "drop_precedence": "high"}}
    request, result = lowered(DEVICE, intent(VOICE, late, REST))
    held = PLATFORM.parse(rendered(DEVICE, request, result), DEVICE, "5.1")
    assert result.plan.system.dropped_first == held.system.dropped_first == (17,)


def test_objects_that_nothing_in_force_refers_to() -> None:
    text = f"""\
{MODEL}qos if-group name users class unrestricted
qos if-group name idle class trusted
qos if-assign port 7 name users
qos ip-element 1 ds-field 46
qos ip-element 2 ds-field 26
qos l2-element 2 priority 5
qos classifier 1 set-id 1 name one element-type ip element-id 1
qos classifier 2 set-id 2 name two element-type ip element-id 2
qos classifier 3 set-id 2 name two element-type l2 element-id 2
qos classifier-block 1 block-number 1 name block set-id 1 in-profile-action 11
qos action 10 name out drop-action enable
qos action 11 name in update-dscp 46
qos action 12 name other update-dscp 26
qos meter 1 committed-rate 10000 max-burst-rate 15000 in-profile-action-name in out-profile-action 10
qos policy 1 name block if-group users clfr-type block clfr-name block precedence 9
qos policy 2 name two if-group idle clfr-type classifier clfr-name two meter 1 precedence 8
qos policy 3 disable name off if-group users clfr-type classifier clfr-id 1 in-profile-action 12 precedence 7
"""
    starts = (
        "qos meter", "qos ip-element 2", "qos l2-element", "qos classifier 2", "qos classifier 3", "qos action 10",
        "qos action 12", "qos policy 2", "qos policy 3", "qos if-group name idle",
    )  # fmt: skip
    idle = [each.line.text for each in PLATFORM.beside_plan(text)]
    assert idle == [line for line in text.splitlines() if line.startswith(starts)]
    attached = text + "qos if-assign port 8 name idle\n"
    assert [" ".join(each.line.text.split()[1:3]) for each in PLATFORM.beside_plan(attached)] == [
        "action 12",
        "policy 3",
    ]


def test_filters_people_wrote() -> None:
    text = """\
enable
configure terminal
qos if-group name users class unrestricted
qos ip-element 1 addr-type ipv4 src-ip 10.0.0.0/8 protocol 6 dst-port-min 80 dst-port-max 81
qos ip-element 2 addr-type ipv4 ds-field 26
qos l2-element 3 ethertype 0x800
qos classifier 1 set-id 1 name one element-type ip element-id 1
qos classifier 2 set-id 2 name two element-type ip element-id 2
qos classifier 3 set-id 3 name three element-type l2 element-id 3
qos action 10 name blocked drop-action enable
qos meter 1 committed-rate 10000 max-burst-rate 15000 in-profile-action 3 out-profile-action 1
qos policy 1 name low if-group users clfr-type classifier clfr-name one in-profile-action 5 precedence 4
qos policy 2 enable name high if-group users clfr-type c clfr-id 2 in-profile-action-name Gold_Service precedence 9
qos policy 3 name l2 if-group users clfr-type classifier clfr-id 3 in-profile-action 5 precedence 3
qos policy 4 name drop if-group users clfr-type classifier clfr-id 1 in-profile-action 10 precedence 2
qos policy 5 disable name off if-group users clfr-type classifier clfr-id 1 in-profile-action 5 precedence 1
qos if-assign port 7 name users
interface fastEthernet all
qos if-shaper port 8 shape-rate 40000 max-burst-rate 50000
exit
qos agent buffer large
qos agent buffer maximum
qos acl-assign port 3 acl-type ip name host
"""
    held = PLATFORM.parse(text, DEVICE, "5.1")
    ingress = port(held, "7").ingress
    assert (ingress.policy, ingress.trust) == ("users", Trust.KEEP)
    (rule,) = ingress.rules
    assert (rule.name, rule.set_dscp, rule.set_cos) == ("Gold_Service", 26, 4)
    assert rule.any_of == (
        Term(dscp=(26,)),
        Term(protocol=6, source="10.0.0.0/8", destination_ports=(PortRange(first=80, last=81),)),
    )
    assert [" ".join(u.text.split()[:3]) for u in held.unknown] == [
        "qos l2-element 3",
        "qos policy 3",
        "qos policy 4",
        "qos agent buffer",
        "qos acl-assign port",
    ]
    egress = port(held, "8").egress
    assert (egress.shape_rate, egress.shape_burst) == (40_000_000, 524_288)
