"""Classes told by CoS on routers: at outputs by the DSCPs that their own inputs write."""

from __future__ import annotations

from typing import Any

import pytest

from qosforge.inventory.models import Framing
from qosforge.plan.request import ClassRequest, InterfaceRequest
from qosforge.plan.request import TermRequest as Alternative
from qoslab.packets import Packets

from .ios_support import STARTUP, a_class, errors, line, lowered, of, pushed, requested, text_of

SHARE = {"bandwidth": {"percent": 10}}
VOICE = a_class("voice", terms=(Alternative(cos=(5,)),), mark={"dscp": "ef", "cos": 5}, treatment=SHARE)
CALLS = a_class("calls", terms=(Alternative(cos=(3, 4)), Alternative(dscp=(26,))), treatment=SHARE)
MARKED = a_class("marked", terms=(Alternative(cos=(5,)),), mark={"dscp": "ef"}, treatment=SHARE)
NOTHING = a_class("nothing", terms=(Alternative(cos=(5,)),), treatment=SHARE)


def trunk(**more: Any) -> InterfaceRequest:
    plain: dict[str, Any] = {"name": "FastEthernet0/1.7", "rate": 10**8, "usable": 10**8, "tagged": True}
    return InterfaceRequest(**{**plain, "framing": Framing.ETHERNET, **more})


TRUSTED = trunk(trust=True, trust_in="cos")


def test_an_output_without_tags_tells_the_dscp_that_the_input_writes() -> None:
    request = requested(VOICE, CALLS, interfaces=(TRUSTED, line()))

    result, box = pushed(request)
    offered = [Packets(1, 200, dscp=0, cos=cos, vlan=7) for cos in (5, 3, 4, 0)]
    outcomes = box.offer("FastEthernet0/1.7", "Serial0/0", offered, 1.0)  # type: ignore[attr-defined]

    assert errors(result) == []
    assert [(o.egress_class, o.dscp_out) for o in outcomes] == [
        ("voice.DSCP", 46), ("calls.DSCP", 24), ("calls.DSCP", 32), ("class-default", 0),
    ]  # fmt: skip
    assert "class-map match-any calls.DSCP\n match dscp cs3  cs4 \n match dscp af31 \n" in box.running_text()
    assert (result.classes["voice.DSCP"], result.classes["calls.DSCP"]) == ("voice", "calls")


def test_an_input_that_recognises_the_cos_writes_the_mark() -> None:
    request = requested(MARKED, interfaces=(trunk(recognise=True), line()))

    result, box = pushed(request)
    sent = [Packets(1, 200, cos=5, vlan=7)]
    (outcome,) = box.offer("FastEthernet0/1.7", "Serial0/0", sent, 1.0)  # type: ignore[attr-defined]

    assert errors(result) == []
    assert (outcome.ingress_class, outcome.egress_class) == ("marked", "marked.DSCP")


def test_tagged_outputs_tell_the_dscp_too_as_routers_take_tags_off() -> None:
    shaped = trunk(schedule=True, shape=10**7, usable=10**7, trust=True, trust_in="cos")
    other = trunk(name="FastEthernet0/1.8", trust=True, trust_in="cos")
    startup = STARTUP.replace(
        "interface Serial0/0\n", "interface FastEthernet0/1.8\n encapsulation dot1Q 8\ninterface Serial0/0\n"
    )
    request = requested(VOICE, CALLS, interfaces=(shaped, other))

    result, box = pushed(request, startup)
    offered = [Packets(1, 200, dscp=0, cos=cos, vlan=8) for cos in (5, 3, 0)]
    outcomes = box.offer("FastEthernet0/1.8", "FastEthernet0/1.7", offered, 1.0)  # type: ignore[attr-defined]

    assert errors(result) == []
    (lost,) = of(result, "cos-not-written")
    assert (lost.interface, "frames of calls leave with CoS 0" in lost.message) == ("FastEthernet0/1.7", True)
    assert [(o.dscp_out, o.cos_out, o.queue) for o in outcomes] == [
        (46, 5, "class voice.DSCP"), (24, 0, "class calls.DSCP"), (0, 0, "default"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "inputs"),
    [
        (VOICE, ()),
        (VOICE, (trunk(trust=True),)),
        (VOICE, (trunk(name="FastEthernet0/0", tagged=False, trust=True, trust_in="cos"),)),
        (NOTHING, (trunk(recognise=True),)),
        (a_class("both", terms=(Alternative(cos=(5,), dscp=(46,)),), treatment=SHARE), (TRUSTED,)),
        (
            a_class(
                "odd", terms=(Alternative(precedence=(3,)),), none_of=(Alternative(cos=(5,)),), treatment=SHARE
            ),
            (),
        ),
    ],
    ids=["no input", "trusts dscp", "no tags", "no mark", "beside a dscp", "excepted"],
)
def test_a_cos_that_no_packet_carries_is_refused(
    wanted: ClassRequest, inputs: tuple[InterfaceRequest, ...]
) -> None:
    tagged = trunk(name="FastEthernet0/1.8", schedule=True)
    found = of(lowered(requested(wanted, interfaces=(*inputs, line(), tagged))), "cos-untagged")

    assert [(f.traffic_class, f.severity.value) for f in found] == [(wanted.name, "error")] * 2
    assert "(Serial0/0)" in found[0].message
    assert "takes the tag off what it forwards (FastEthernet0/1.8)" in found[1].message


@pytest.mark.parametrize(("image", "refused"), [("12.0(7)T", True), ("12.1(3)T", True), ("12.1(5)T", False)])
def test_the_cos_is_matched_from_its_release_on(image: str, refused: bool) -> None:
    request = requested(NOTHING, image=image, interfaces=(trunk(recognise=True),))

    assert ("match-line-unsupported" in errors(lowered(request))) == refused
    assert "match cos" not in text_of(requested(NOTHING, image="12.0(7)T"))
