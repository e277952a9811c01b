"""What the Catalysts cannot do is told, with numbers and a hint, and never dropped."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.findings import Fidelity
from qosforge.plan.model import Ingress, Trust

from .catalyst_support import (
    BOXES,
    REST,
    VOICE,
    WEB,
    campus,
    codes,
    found,
    intent,
    lowered,
    port,
    rendered,
    request_for,
)

DEVICES = ("s2950", "s2970")


def weighted(name: str, dscp: str, percent: int, **more: Any) -> dict[str, Any]:
    """A class of one DSCP with a part of what priority leaves."""
    share = {"bandwidth": {"remaining_percent": percent}}
    return {"name": name, "match": {"any": [{"dscp": [dscp]}]}, "mark": {"dscp": dscp}, "treatment": share} | more


@pytest.mark.parametrize("device", DEVICES)
def test_two_priority_classes(device: str) -> None:
    second = weighted("signalling", "cs3", 10) | {"treatment": {"priority": {"percent": 10}}}
    _, result = lowered(device, intent(VOICE, second, WEB, REST))
    finding = found(result, "priority-queues-exceeded")
    assert (finding.severity, finding.traffic_class) == ("error", "signalling")


@pytest.mark.parametrize("device", DEVICES)
def test_small_classes_are_merged_and_it_is_said(device: str) -> None:
    classes = [weighted("a", "af11", 6), weighted("b", "af31", 4), weighted("c", "af21", 60)]
    _, result = lowered(device, intent(VOICE, *classes, REST))
    finding = found(result, "classes-merged")
    assert finding.severity == "warning"
    assert "a + b" in finding.message
    assert finding.applied == "3 queues, a share may be wrong by 3 points of the link"
    assert result.classes
    by_class = {f.traffic_class: f.applied_percent for f in result.fidelity}
    assert by_class["a"] == pytest.approx(3.0)
    assert by_class["b"] == pytest.approx(2.0)
    assert by_class["c"] == pytest.approx(30.0)


@pytest.mark.parametrize("device", DEVICES)
def test_more_classes_than_queues(device: str) -> None:
    classes = [weighted("a", "af11", 20), weighted("b", "af31", 20), weighted("c", "af21", 30)]
    _, result = lowered(device, intent(VOICE, *classes, REST))
    finding = found(result, "queues-exceeded")
    assert (finding.severity, finding.requested) == ("error", "4 queues")
    assert finding.applied == "3 queues, a share may be wrong by 10 points of the link"


@pytest.mark.parametrize("device", DEVICES)
def test_without_a_free_queue_control_goes_with_the_heaviest_class(device: str) -> None:
    classes = [weighted("a", "af11", 20), weighted("b", "af21", 50)]
    _, result = lowered(device, intent(VOICE, *classes, REST))
    assert found(result, "network-control-queue").message.endswith("with b")
    table = result.plan.system.cos_to_queue
    assert table is not None
    assert table[6] == table[7] == table[2]
    assert table[6] not in (table[5], table[0])


def test_a_rate_is_a_weight_of_each_port_of_a_2970() -> None:
    web = WEB | {"treatment": {"bandwidth": {"rate": "20 Mb/s"}}}
    _, result = lowered("s2970", intent(VOICE, web, {"name": "default"}))
    finding = found(result, "rate-as-weight")
    assert (finding.severity, finding.traffic_class, finding.requested) == ("info", "web-and-file", "20 Mb/s")
    assert finding.applied == "20 % of 100 Mb/s, 2 % of 1 Gb/s"
    weights = {
        name: [q.share.value for q in scheduler.queues if q.share]
        for name in ("GigabitEthernet0/5", "GigabitEthernet0/6")
        if (scheduler := port(result.plan, name).egress.scheduler)
    }
    assert weights == {"GigabitEthernet0/5": [60, 40, 3], "GigabitEthernet0/6": [96, 4, 3]}
    assert "share-out-of-tolerance" not in codes(result)


def test_a_rate_on_ports_of_two_speeds_is_too_much_for_one_set_of_weights() -> None:
    web = WEB | {"treatment": {"bandwidth": {"rate": "20 Mb/s"}}}
    _, result = lowered("s2950", intent(VOICE, web, {"name": "default"}))
    errors = [f for f in result.findings if f.code == "share-out-of-tolerance"]
    assert {f.traffic_class for f in errors} == {"web-and-file", "default"}
    # The middle of 40 % and 4 % of what voice leaves: no port is more than 9 points of its rate away.
    worst = max(
        abs((f.requested_percent or 0) - (f.applied_percent or 0))
        for f in result.fidelity[1:]
        if f.traffic_class != "voice-video"
    )
    assert worst == pytest.approx(9, abs=0.3)


@pytest.mark.parametrize(
    ("match", "code"),
    [
        ({"cos": [3]}, "match-unsupported"),
        ({"source_mac": "00:1b:54:aa:bb:cc", "dscp": ["af21"]}, "match-unsupported"),
    ],
)
@pytest.mark.parametrize("device", DEVICES)
def test_matches_that_a_class_map_cannot_hold(device: str, match: dict[str, Any], code: str) -> None:
    _, result = lowered(device, intent(VOICE, WEB | {"match": {"any": [match]}}, REST))
    assert found(result, code).severity == "error"


@pytest.mark.parametrize("device", DEVICES)
def test_an_application_needs_a_mark(device: str) -> None:
    bare = {k: v for k, v in WEB.items() if k != "mark"}
    request, result = lowered(device, intent(VOICE, bare, REST))
    assert found(result, "mark-needed").severity == "error"
    assert "web-and-file-A" not in rendered(device, request, result)


@pytest.mark.parametrize("device", DEVICES)
def test_a_class_of_dscps_without_a_mark_keeps_them(device: str) -> None:
    kept = {
        "name": "kept",
        "match": {"any": [{"dscp": ["af31", "cs3"]}]},
        "treatment": {"bandwidth": {"remaining_percent": 70}},
    }
    request, result = lowered(device, intent(VOICE, kept, REST))
    host = next(i.name for i in request.interfaces if i.recognise)
    rules = [r for r in port(result.plan, host).ingress.rules if result.classes[r.name] == "kept"]
    assert [(r.any_of[0].dscp, r.set_dscp, r.set_cos) for r in rules] == [((24,), 24, 3), ((26,), 26, 3)]
    table = result.plan.system.cos_to_queue
    assert table is not None
    assert result.classes[f"queue {table[3]}"] == "kept"


@pytest.mark.parametrize("device", DEVICES)
def test_cos_alone_is_carried_as_a_class_selector(device: str) -> None:
    _, result = lowered(device, intent(VOICE, WEB | {"mark": {"cos": 3}}, REST))
    assert found(result, "cos-carried-as-dscp").severity == "info"
    assert result.plan.system.cos_to_dscp is not None
    assert result.plan.system.cos_to_dscp[3] == 24


@pytest.mark.parametrize("device", DEVICES)
def test_a_mark_of_the_default_class_is_refused(device: str) -> None:
    _, result = lowered(device, intent(VOICE, WEB, REST | {"mark": {"dscp": "cs1"}}))
    assert found(result, "default-mark-unsupported").severity == "error"


@pytest.mark.parametrize("device", DEVICES)
def test_required_wred_is_an_error(device: str) -> None:
    rest = REST | {"treatment": REST["treatment"] | {"wred": {"prefer": False}}}  # type: ignore[operator]
    _, result = lowered(device, intent(VOICE, WEB, rest))
    assert found(result, "wred-unsupported").severity == "error"


@pytest.mark.parametrize("device", DEVICES)
def test_one_mark_for_two_classes(device: str) -> None:
    other = weighted("other", "af31", 20, mark={"dscp": "af41"})
    _, result = lowered(device, intent(VOICE, other, WEB))
    assert found(result, "mark-shared").severity == "error"


@pytest.mark.parametrize(("device", "severity"), [("s2950", "error"), ("s2970", "warning")])
def test_one_cos_for_two_classes(device: str, severity: str) -> None:
    _, result = lowered(device, intent(VOICE, weighted("other", "af22" if device == "s2970" else "cs2", 20), WEB))
    finding = found(result, "cos-shared")
    assert (finding.severity, finding.traffic_class) == (severity, "web-and-file")


def test_cos_0_stays_with_the_default_class() -> None:
    _, result = lowered("s2970", intent(VOICE, weighted("least", "le", 5), REST))
    assert codes(result)["cos-shared"] == "warning"
    system = result.plan.system
    assert system.cos_to_dscp is not None
    assert system.cos_to_queue is not None
    assert system.dscp_to_queue is not None
    assert system.cos_to_dscp[0] == 0
    assert result.classes[f"queue {system.cos_to_queue[0]}"] == "default"
    assert result.classes[f"queue {system.dscp_to_queue[1]}"] == "least"


def test_the_2950_knows_thirteen_dscps() -> None:
    video = weighted("video", "af42", 20)
    _, old = lowered("s2950", intent(VOICE, video, REST))
    finding = found(old, "dscp-unsupported")
    assert (finding.severity, finding.requested, finding.traffic_class) == ("error", "af42", "video")
    assert "af41" in (finding.hint or "")
    _, new = lowered("s2970", intent(VOICE, video, REST))
    assert "dscp-unsupported" not in codes(new)


def test_a_standard_image_neither_recognises_nor_maps() -> None:
    request = request_for("s2950", intent(VOICE, WEB, REST), image="12.1EA-SI")
    result = BOXES["s2950"].lower(request, None)
    assert codes(result)["recognition-unsupported"] == "error"
    assert codes(result)["maps-unsupported"] == "error"
    assert result.plan.system.cos_to_dscp is None
    text = rendered("s2950", request, result)
    assert "class-map" not in text
    assert "mls qos map" not in text
    assert "wrr-queue bandwidth 30 70 3 0" in text


def test_a_standard_image_needs_no_maps_where_marks_fit() -> None:
    voice = VOICE | {"match": {"any": [{"dscp": ["cs5"]}]}, "mark": {"dscp": "cs5", "cos": 5}}
    request = request_for("s2950", intent(voice, REST), image="12.1EA-SI")
    request = request.model_copy(update={"interfaces": tuple(i for i in request.interfaces if i.trust)})
    result = BOXES["s2950"].lower(request, None)
    assert {c for c, severity in codes(result).items() if severity == "error"} == set()


@pytest.mark.parametrize(("device", "trunk"), [("s2950", "FastEthernet0/24"), ("s2970", "GigabitEthernet0/1")])
def test_a_foreign_policy_on_a_trunk(device: str, trunk: str) -> None:
    policy = "class-map match-all X\n match ip dscp 8\npolicy-map P\n class X\n  set ip dscp 0\n"
    running = f"{policy}mls qos\ninterface {trunk}\n service-policy input P\n"
    _, result = lowered(device, campus(), running)
    finding = found(result, "policy-in-the-way")
    assert (finding.severity, finding.interface) == ("error", trunk)


def test_ports_outside_the_intent_lose_marks_when_qos_is_switched_on() -> None:
    text = "interface GigabitEthernet0/1\ninterface GigabitEthernet0/20\n"
    _, result = lowered("s2970", campus(), text)
    assert "GigabitEthernet0/20" in found(result, "marks-reset-elsewhere").message
    _, again = lowered("s2970", campus(), "mls qos\n" + text)
    assert "marks-reset-elsewhere" not in codes(again)


def test_a_port_limit_stays_and_is_told() -> None:
    text = "mls qos\ninterface GigabitEthernet0/5\n srr-queue bandwidth limit 80\n"
    _, result = lowered("s2970", campus(), text)
    assert found(result, "port-limit-kept").applied == "80 % of the port"
    scheduler = port(result.plan, "GigabitEthernet0/5").egress.scheduler
    assert scheduler is not None
    assert scheduler.limit_percent == 80


@pytest.mark.parametrize("device", DEVICES)
def test_long_names_are_cut_and_stay_apart(device: str) -> None:
    names = ["conference-of-the-whole-university-one", "conference-of-the-whole-university-two"]
    classes = [weighted(n, d, 20) for n, d in zip(names, ("af11", "af31"), strict=True)]
    request, result = lowered(device, intent(VOICE, *classes, REST))
    host = next(i.name for i in request.interfaces if i.recognise)
    maps = [r.name for r in port(result.plan, host).ingress.rules]
    assert len(set(maps)) == len(maps)
    assert all(len(m) <= 40 for m in maps)
    assert {result.classes[m] for m in maps} == {"voice-video", *names}


@pytest.mark.parametrize("device", DEVICES)
def test_without_priority_every_queue_has_a_weight(device: str) -> None:
    request, result = lowered(device, intent(WEB, REST), "mls qos\n")
    scheduler = result.plan.system.scheduler or port(result.plan, request.interfaces[0].name).egress.scheduler
    assert scheduler is not None
    assert not any(q.priority for q in scheduler.queues)
    weights = {"s2950": [30, 70, 1, 3], "s2970": [1, 30, 70, 3]}[device]
    assert [q.share.value for q in scheduler.queues if q.share] == weights
    assert all(f.fidelity is Fidelity.EXACT for f in result.fidelity)
    text = rendered(device, request, result)
    assert ("wrr-queue bandwidth 30 70 1 3" if device == "s2950" else "no priority-queue out") in text


@pytest.mark.parametrize("device", DEVICES)
def test_thirds_become_whole_weights(device: str) -> None:
    _, result = lowered(device, intent(VOICE, weighted("a", "af11", 33), weighted("b", "af21", 33), REST))
    for entry in result.fidelity:
        if entry.traffic_class != "voice-video":
            assert entry.applied_percent == pytest.approx(entry.requested_percent or 0.0, abs=0.5)


@pytest.mark.parametrize("device", DEVICES)
def test_a_port_that_is_only_scheduled_keeps_its_input(device: str) -> None:
    request = request_for(device, campus())
    first = request.interfaces[0].model_copy(update={"recognise": False, "trust": False})
    request = request.model_copy(update={"interfaces": (first,)})
    text = f"mls qos\ninterface {first.name}\n mls qos trust cos\n"
    held = BOXES[device].parse(text, device, request.image)
    result = BOXES[device].lower(request, held)
    assert port(result.plan, first.name).ingress == Ingress(trust=Trust.COS)
    assert "trust" not in rendered(device, request, result)
