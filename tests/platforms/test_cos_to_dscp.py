"""What a trusted CoS stands for on switches: the intent's DSCPs, but for those that classes mark with both."""

from __future__ import annotations

import pytest

from qosforge.findings import Severity
from qosforge.intent.applications import load_catalogue
from qosforge.intent.models import Mark
from qosforge.inventory.models import DeviceRole, Framing
from qosforge.plan.request import ClassRequest, DeviceRequest, InterfaceRequest, TermRequest
from qosforge.platforms.base import platform

GIVEN = (0, 8, 16, 26, 32, 46, 48, 56)
"""The map of AutoQoS: voice is EF, its signalling AF31."""


def request(name: str, image: str, port: str, given: tuple[int, ...] = GIVEN) -> DeviceRequest:
    gold = ClassRequest(name="gold", terms=(TermRequest(dscp=(18,)),), mark=Mark(dscp=18, cos=2))
    wanted = {"name": port, "rate": 10**8, "usable": 10**8, "framing": Framing.ETHERNET, "tagged": True}
    return DeviceRequest(
        device="s1",
        platform=name,
        image=image,
        role=DeviceRole.ACCESS,
        intent="made",
        tolerance=0.05,
        classes=(gold, ClassRequest(name="default")),
        interfaces=(InterfaceRequest(**wanted, trust=True, trust_in="cos"),),
        applications=dict(load_catalogue()),
        cos_to_dscp=given,
    )


@pytest.mark.parametrize(
    ("name", "image", "port"),
    [
        ("catalyst_2950", "12.1EA-EI", "FastEthernet0/1"),
        ("catalyst_2970", "12.2(25)SE", "GigabitEthernet0/1"),
        ("nortel_5510", "5.1", "1"),
    ],
)
def test_a_trusted_cos_stands_for_the_dscp_that_the_intent_gives_it(name: str, image: str, port: str) -> None:
    lowered = platform(name).lower(request(name, image, port), None)

    held = lowered.plan.system.cos_to_dscp
    assert held is not None
    assert (held[3], held[5]) == (26, 46)
    assert held[2] == 18, "the class marks both"


def test_a_dscp_that_a_2950_does_not_know_is_told() -> None:
    lowered = platform("catalyst_2950").lower(
        request("catalyst_2950", "12.1EA-EI", "FastEthernet0/1", (0, 8, 16, 24, 32, 44, 48, 56)), None
    )

    (found,) = (f for f in lowered.findings if f.code == "dscp-unsupported")
    assert found.severity is Severity.ERROR
    assert "CoS 5" in (found.requested or "")
    held = lowered.plan.system.cos_to_dscp
    assert held is not None
    assert held[5] == 40


SWITCHES = [
    ("catalyst_2950", "12.1EA-EI", "FastEthernet0/1"),
    ("catalyst_2970", "12.2(25)SE", "GigabitEthernet0/1"),
    ("catalyst_9000", "17.12", "GigabitEthernet1/0/1"),
]


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize(("name", "image", "port"), SWITCHES)
def test_a_cos_that_no_frame_carries_is_told(name: str, image: str, port: str, tagged: bool) -> None:
    """The DSCP of a frame without a tag becomes that of CoS 0, as the map from CoS to DSCP writes it."""
    wanted = request(name, image, port)
    ports = tuple(i.model_copy(update={"tagged": tagged}) for i in wanted.interfaces)
    result = platform(name).lower(wanted.model_copy(update={"interfaces": ports}), None)

    told = [(f.interface, f.severity) for f in result.findings if f.code == "trust-unsupported"]
    assert told == ([] if tagged else [(port, Severity.WARNING)])


@pytest.mark.parametrize(("name", "image", "port"), SWITCHES[:2])
def test_the_cos_that_somebody_gave_to_a_port_is_what_it_trusts(name: str, image: str, port: str) -> None:
    wanted = request(name, image, port)
    ports = tuple(i.model_copy(update={"tagged": False}) for i in wanted.interfaces)
    running = platform(name).parse(f"mls qos\ninterface {port}\n mls qos cos 3\n", "s1", image)
    result = platform(name).lower(wanted.model_copy(update={"interfaces": ports}), running)

    assert [f for f in result.findings if f.code == "trust-unsupported"] == []


UNTAGGED = [
    *((*switch, "every DSCP becomes 0") for switch in SWITCHES),
    ("force10_e300", "7.4.1.0", "GigabitEthernet 0/0", "CoS 0 for every packet"),
    ("nortel_5510", "5.1", "1", "CoS 0 for every packet"),
]


@pytest.mark.parametrize("phones", [False, True])
@pytest.mark.parametrize(("name", "image", "port", "applied"), UNTAGGED)
def test_what_becomes_of_frames_without_a_tag_is_told(
    name: str, image: str, port: str, applied: str, phones: bool
) -> None:
    """Phones in a voice VLAN send their frames with a tag (Catalyst 2960 guide 78-16881-01, p. 14-2)."""
    wanted = request(name, image, port)
    ports = tuple(i.model_copy(update={"tagged": False, "voice_vlan": phones}) for i in wanted.interfaces)
    result = platform(name).lower(wanted.model_copy(update={"interfaces": ports}), None)

    (told,) = [f for f in result.findings if f.code == "trust-unsupported"]
    assert (told.interface, told.applied) == (port, "CoS 0 where a frame has no tag" if phones else applied)
    assert told.severity == (Severity.INFO if phones else Severity.WARNING)
    assert ("phones alone" in told.message) == phones
