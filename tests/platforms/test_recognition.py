"""Classes as transport ports and DSCPs."""

from __future__ import annotations

from qosforge.plan.model import PortRange, Term
from qosforge.platforms.recognition import header_terms, ports_only

from .switch_support import campus, request_for


def test_servers_are_recognised_on_both_sides_and_clients_ports_on_none() -> None:
    request = request_for("e300", campus())
    voice, web, default = request.classes
    media = (PortRange(first=16384, last=32767),)
    assert header_terms(request, voice) == (
        Term(protocol=17, destination_ports=media),
        Term(dscp=(34, 46)),
    )
    http, ftp = (PortRange(first=80, last=80),), (PortRange(first=20, last=21),)
    assert header_terms(request, web) == (
        Term(protocol=6, destination_ports=http),
        Term(protocol=6, source_ports=http),
        Term(protocol=6, destination_ports=ftp),
        Term(protocol=6, source_ports=ftp),
        Term(dscp=(18,)),
    )
    assert header_terms(request, default) == ()


def test_the_finding_names_ports_that_carry_more() -> None:
    request = request_for("e300", campus())
    (note,) = ports_only(request, request.classes[1])
    assert note.message.endswith("some of which carry other traffic too")
    assert (note.requested, note.applied) == ("http, ftp", "not alone: ftp")
    assert not tuple(ports_only(request, request.classes[2]))
