"""How IOS tells the classes of an intent apart and marks them: the same for all devices that serve them alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.findings import Finding
from app.plan.model import Rule
from app.plan.request import ClassRequest, DeviceRequest
from app.platforms.cisco_ios.applications import recognised
from app.platforms.cisco_ios.capabilities import capabilities
from app.platforms.cisco_ios.grammar import CLASS_DEFAULT
from app.platforms.cisco_ios.policing import policer
from app.platforms.cisco_ios.rules import every_class, lower_rules, marked_rules, on_input
from app.platforms.names import short_names
from app.sharing import shared


@dataclass(frozen=True)
class Classification:
    """The classes as the image recognises them, and their rules by their names in the intent.

    ``marked`` are the rules of outputs that tell classes by marks, ``marking`` those of inputs in their order;
    ``called`` gives the class of what the box calls it.
    """

    classes: tuple[ClassRequest, ...]
    rules: Mapping[str, Rule]
    marked: Mapping[str, Rule]
    marking: tuple[Rule, ...]
    called: Mapping[str, str]
    findings: tuple[Finding, ...]


@shared
def classification(request: DeviceRequest, held: frozenset[str] | None) -> Classification:
    """That of a device whose request has this core (see `app.plan.core`).

    ``held`` are the interfaces that the box has, where they are known.
    """
    findings: list[Finding] = []
    request = recognised(request, findings)
    classes = tuple(every_class(request.classes))
    names = _names([c.name for c in classes if not c.is_default])
    names[next(c.name for c in request.classes if c.is_default)] = CLASS_DEFAULT
    rules = lower_rules(request, names, held, findings)
    marked = marked_rules(request, rules, names)
    return Classification(
        classes=request.classes,
        rules=rules,
        marked=marked,
        marking=_marking(request, rules),
        called={r[c.name].name: c.name for r in (rules, marked) for c in classes},
        findings=tuple(findings),
    )


def _names(names: list[str]) -> dict[str, str]:
    """What the box calls the classes; a name that it could take for a keyword (or its beginning) is changed."""
    words = [n for n in names if any(w.startswith(n.lower()) for w in (CLASS_DEFAULT, "match-any", "match-all"))]
    return short_names(names, capabilities()["name_length"]["value"], words)


def _marking(request: DeviceRequest, rules: Mapping[str, Rule]) -> tuple[Rule, ...]:
    marking = [
        rules[c.name].model_copy(
            update={
                "set_dscp": c.mark.dscp if c.mark else None,
                "set_precedence": c.mark.precedence if c.mark else None,
                "police": policer(request, c, "input"),
            }
        )
        for c in on_input(request)
    ]
    # A class that nothing is done to still takes its packets from those behind it.
    while marking and (marking[-1].set_dscp, marking[-1].set_precedence, marking[-1].police) == (None, None, None):
        marking.pop()
    return tuple(marking)
