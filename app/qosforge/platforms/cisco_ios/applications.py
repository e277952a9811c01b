"""Applications on IOS: those that its inspection knows by name, and the others by their ports."""

from __future__ import annotations

from qosforge.findings import Finding
from qosforge.intent.applications import Application, load_catalogue
from qosforge.note import note
from qosforge.plan.model import PortRange, Term
from qosforge.plan.places import class_place
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.plan.request import TermRequest as Alternative
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES
from qosforge.platforms.cisco_ios.limits import trusts_mark
from qosforge.platforms.cisco_ios.trains import train
from qosforge.platforms.recognition import asks_flow, header_terms, ports_only

_PORTS = ("source_port", "destination_port")
_UDP = 17

_WORDS = {name: words for group in CAPABILITIES.nbar_words.values() for name, words in group.words.items()}
_SINCE = {name: group.since for group in CAPABILITIES.nbar_words.values() for name in group.words}


def protocol_words(application: str) -> str:
    """What ``match protocol`` calls an application of a plan."""
    return _WORDS.get(application, application)


def read_protocol(words: str) -> tuple[Term, ...]:
    """What ``match protocol`` with these words takes: header fields where they say all, else an application.

    It has the name that plans have for it; the words themselves where they have none.
    """
    headers = CAPABILITIES.nbar_headers
    if words in headers.protocols:
        return (Term(protocol=headers.protocols[words]),)
    if words in headers.udp_ports:
        port = PortRange(first=headers.udp_ports[words], last=headers.udp_ports[words])
        return Term(protocol=_UDP, destination_ports=(port,)), Term(protocol=_UDP, source_ports=(port,))
    name = next((name for name, known in _WORDS.items() if known == words), words.replace(" ", "-"))
    return (Term(application=name),)


def recognises_natively(request: DeviceRequest, name: str) -> bool:
    """Whether the image itself recognises an application as the catalogue means it."""
    own: Application | None = request.applications.get(name)
    if name not in _WORDS or own != load_catalogue().get(name):
        return False
    return train(request.image, request.device).since(_SINCE[name])


def recognise_applications(request: DeviceRequest, findings: list[Finding]) -> DeviceRequest:
    """The request with ports in place of the applications that the image does not recognise."""
    classes = tuple(_class(request, c, findings) for c in request.classes)
    return request if classes == request.classes else request.model_copy(update={"classes": classes})


def _class(request: DeviceRequest, class_request: ClassRequest, findings: list[Finding]) -> ClassRequest:
    children = tuple(_class(request, child, findings) for child in class_request.children)
    if children != class_request.children:
        class_request = class_request.model_copy(update={"children": children})
    both = (*class_request.terms, *class_request.none_of)
    unknown = [t for t in both if t.application and not recognises_natively(request, t.application)]
    if not unknown or trusts_mark(request, class_request):
        return class_request
    joined = [t for t in unknown if asks_flow(t)]
    if joined:
        names = ", ".join(dict.fromkeys(t.application or "" for t in joined))
        findings.append(
            note(
                "recognition-unsupported",
                class_place(request, class_request),
                variant="by-ports",
                image=request.image,
                names=names,
            )
        )
        return class_request.model_copy(update={"terms": (), "none_of": ()})
    findings.extend(ports_only(request, class_request.model_copy(update={"terms": tuple(unknown)}), avoidable=True))

    def told_by_ports(terms: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
        return tuple(one for t in terms for one in (by_ports(request, class_request, t) if t in unknown else (t,)))

    changes = {"terms": told_by_ports(class_request.terms), "none_of": told_by_ports(class_request.none_of)}
    return class_request.model_copy(update=changes)


def by_ports(request: DeviceRequest, class_request: ClassRequest, term: Alternative) -> tuple[Alternative, ...]:
    """An alternative that asks for an application, and for no flow, as alternatives that ask for its ports."""
    alone = class_request.model_copy(update={"terms": (Alternative(application=term.application),)})
    found = header_terms(request, alone)
    return tuple(
        term.model_copy(
            update={
                "application": None,
                "protocol": (one.protocol,),
                **{side: tuple((p.first, p.last) for p in getattr(one, f"{side}s")) for side in _PORTS},
            }
        )
        for one in found
    )
