"""Inputs of routers that trust the marks of packets, and images that look at marks through lists."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.findings import Severity
from qosforge.plan.model import Term
from qosforge.plan.request import TermRequest as Alternative
from qoslab.packets import Packets

from .ios_support import TRAINS, a_class, errors, lan, line, lowered, of, port, pushed, requested

LAN = "FastEthernet0/0"
MARKED = a_class("voice", 5, mark={"dscp": 46, "cos": 5}, treatment={"bandwidth": {"rate": 200_000}})


def trusting(trust: str, image: str = "12.4", **more: Any) -> Any:
    """A request whose LAN input trusts marks."""
    return requested(
        MARKED, image=image, interfaces=(lan(recognise=False, trust=True, trust_in=trust, **more), line())
    )


@pytest.mark.parametrize("image", TRAINS)
def test_a_router_keeps_every_dscp_by_itself(image: str) -> None:
    result = lowered(trusting("dscp", image))

    assert errors(result) == []
    assert port(result, LAN).ingress.policy is None


@pytest.mark.parametrize("image", ["12.2(8)T", "12.4", "15.1"])
def test_nothing_trusted_is_everything_marked_down(image: str) -> None:
    result, box = pushed(trusting("none", image))

    (rule,) = port(result, LAN).ingress.rules
    assert (rule.any_of, rule.set_dscp) == ((Term(),), 0)
    assert "service-policy input QOSFORGE-UNTRUSTED" in box.running_text()
    assert of(result, "trust-unsupported") == []


def test_a_trusted_cos_becomes_the_dscp_of_its_class_or_precedence() -> None:
    result, _ = pushed(
        requested(
            MARKED,
            interfaces=(
                lan(name="FastEthernet0/1.7", tagged=True, recognise=False, trust=True, trust_in="cos"),
                line(),
            ),
        )
    )

    written = {r.any_of[0].cos: r.set_dscp for r in port(result, "FastEthernet0/1.7").ingress.rules}
    assert written == {(1,): 8, (2,): 16, (3,): 24, (4,): 32, (5,): 46, (6,): 48, (7,): 56, (): 0}
    assert of(result, "trust-unsupported") == []


def test_a_cos_that_nothing_carries_is_told() -> None:
    (finding,) = of(lowered(trusting("cos")), "trust-unsupported")

    assert (finding.severity, finding.interface, finding.applied) == (
        Severity.WARNING,
        LAN,
        "every DSCP becomes 0",
    )


@pytest.mark.parametrize("trust", ["none", "cos"])
def test_images_without_marking_cannot_but_keep_the_dscp(trust: str) -> None:
    result = lowered(trusting(trust, "12.0(7)T"))

    assert errors(result) == ["trust-unsupported"]
    assert port(result, LAN).ingress.policy is None


@pytest.mark.parametrize(("image", "listed"), [("12.0(6.5)T7", True), ("12.1(5)T", False), ("12.4", False)])
def test_old_images_look_at_precedences_through_lists(image: str, listed: bool) -> None:
    wanted = a_class("gold", 5, treatment={"bandwidth": {"rate": 200_000}})

    result, box = pushed(requested(wanted, image=image))

    (rule,) = port(result).egress.rules
    assert rule.any_of == (Term(precedence=(5,)),)
    assert ("permit ip any any precedence critical" in box.running_text()) is listed


@pytest.mark.parametrize(("image", "rate", "taken"), [("12.4", 155_000_000, False), ("15.1", 800_000_000, True)])
def test_newer_images_shape_to_higher_rates(image: str, rate: int, taken: bool) -> None:
    fast = line("FastEthernet0/1", 10**9, usable=rate, shape=rate)

    assert (errors(lowered(requested(MARKED, image=image, interfaces=(fast,)))) == []) is taken


def test_a_trusted_cos_becomes_the_dscp_that_the_intent_gives_it() -> None:
    vlan = lan(name="FastEthernet0/1.7", tagged=True, recognise=False, trust=True, trust_in="cos")
    request = requested(MARKED, image="12.4", interfaces=(vlan, line()))
    request = request.model_copy(update={"cos_to_dscp": (0, 8, 16, 26, 32, 46, 48, 56)})

    result, _ = pushed(request)

    written = {r.any_of[0].cos: r.set_dscp for r in port(result, "FastEthernet0/1.7").ingress.rules}
    assert (written[5,], written[3,], written[()]) == (46, 26, 0)


CALLS = Alternative(protocol=(17,), destination_port=((16384, 32767),))
BY_MARK = (lan(), line(by_mark=True))


def test_what_no_class_takes_passes_for_a_class_by_its_mark_and_that_is_told() -> None:
    calls = a_class("calls", terms=(CALLS,), mark={"dscp": "ef"}, treatment={"bandwidth": {"rate": 200_000}})

    result, box = pushed(requested(calls, interfaces=BY_MARK))
    (stranger,) = box.offer(LAN, "Serial0/0", [Packets(1, 200, dscp=46, protocol=6)], 1.0)  # type: ignore[attr-defined]

    assert (stranger.ingress_class, stranger.egress_class) == ("class-default", "calls.MARK")
    (told,) = of(result, "default-mark-kept")
    assert (told.severity, told.traffic_class) == (Severity.WARNING, "default")
    assert "that of calls it is served" in told.message


@pytest.mark.parametrize(
    ("mark", "terms", "told"),
    [
        ({"dscp": "ef"}, (CALLS,), True),
        ({"precedence": 5}, (CALLS, Alternative(dscp=(46,))), True),
        ({"precedence": 5}, (CALLS, Alternative(precedence=(5,))), False),
        ({"dscp": "ef"}, (CALLS, Alternative(dscp=(46,))), False),
        ({"dscp": "ef"}, (Alternative(dscp=(46,), protocol=(17,)),), True),
        ({"dscp": "default"}, (CALLS,), False),
    ],
)
@pytest.mark.parametrize(
    ("default", "open_"), [(None, True), ({"dscp": "default"}, False), ({"keep": True}, False)]
)
def test_marks_that_are_cleared_kept_on_purpose_or_taken_pass_for_nobody(
    mark: dict[str, Any], terms: tuple[Alternative, ...], told: bool, default: dict[str, Any] | None, open_: bool
) -> None:
    last = a_class("default", **({"mark": default} if default else {}))
    found = of(
        lowered(requested(a_class("calls", terms=terms, mark=mark), last, interfaces=BY_MARK)), "default-mark-kept"
    )

    assert bool(found) == (told and open_)


@pytest.mark.parametrize(
    ("web", "told"),
    [
        ({"terms": (Alternative(protocol=(6,)),)}, True),
        ({"terms": (Alternative(protocol=(6,)),), "mark": {"dscp": "af21"}}, False),
        ({"terms": (Alternative(protocol=(6,), dscp=(18,)),)}, False),
    ],
)
def test_a_class_without_a_mark_passes_for_another_too(web: dict[str, Any], told: bool) -> None:
    calls = a_class("calls", terms=(CALLS,), mark={"dscp": "ef"}, treatment={"bandwidth": {"rate": 200_000}})
    last = a_class("default", mark={"dscp": "default"})

    result, box = pushed(requested(calls, a_class("web", **web), last, interfaces=BY_MARK))
    sent = [Packets(1, 200, dscp=46, protocol=6)]
    (stranger,) = box.offer(LAN, "Serial0/0", sent, 1.0)  # type: ignore[attr-defined]

    found = of(result, "default-mark-kept")
    assert [(f.traffic_class, f.variant) for f in found] == ([("web", "unmarked")] if told else [])
    assert (stranger.egress_class == "calls.MARK") == told
