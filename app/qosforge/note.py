"""Report a finding by its code, its place and its facts; the catalogue ``finding_codes.yaml`` has the words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, NamedTuple

from qosforge.errors import Place
from qosforge.finding_codes import Wording, has_words, load_codes, placeholders
from qosforge.findings import DEFAULT, Fact, Finding
from qosforge.units import listed

NOWHERE = Place()


class Reason(NamedTuple):
    """Why something cannot be had, before it is known where: a finding without its place. Made by `because`."""

    code: str
    variant: str
    facts: tuple[tuple[str, Fact], ...]

    def note(
        self, where: Place, *, requested: str | None = None, applied: str | None = None, **facts: Fact
    ) -> Finding:
        """The finding at a place; ``facts`` are those that the place brings."""
        known: dict[str, Any] = dict(self.facts)
        return note(self.code, where, requested=requested, applied=applied, variant=self.variant, **known, **facts)


def because(code: str, *, variant: str = DEFAULT, **facts: Fact) -> Reason:
    """The reason that a code and the facts of its message give."""
    return Reason(code, variant, tuple(facts.items()))


def note(
    code: str,
    where: Place = NOWHERE,
    *,
    requested: str | None = None,
    applied: str | None = None,
    variant: str = DEFAULT,
    **facts: Fact | Collection[str],
) -> Finding:
    """The finding of a code at a place.

    ``facts`` fill the placeholders of the code's message and hint, and tell which conditions of its severity hold;
    several values of one are listed.

    Raises:
        LookupError: the catalogue has no such code or variant.
        TypeError: a fact is missing, or is none of this code's.
    """
    told = {name: _words(fact) for name, fact in facts.items()}
    wording = _wording(code, variant)
    if not wording.needs <= told.keys() or not told.keys() <= wording.facts:
        raise TypeError(_wrong_facts(code, variant, wording, told))
    return Finding(
        code=code,
        severity=wording.severity_for(told),
        message=wording.message.format_map(told),
        device=where.device,
        interface=where.interface,
        direction=where.direction,
        traffic_class=where.traffic_class,
        file=where.file,
        line=where.line,
        requested=requested,
        applied=applied,
        hint=wording.hint_for(told),
        variant=variant,
        facts={name: fact for name, fact in told.items() if name in wording.kept},
    )


def wording_of(code: str, variant: str) -> Wording | None:
    """The templates of a finding that was stored; ``None`` where the catalogue does not have them (any more)."""
    try:
        return _wording(code, variant)
    except LookupError:
        return None


def fill(template: str, facts: Mapping[str, Fact]) -> str | None:
    """A template, perhaps a translated one, with its facts; ``None`` where it does not take these."""
    try:
        return template.format_map(facts) if placeholders(template) <= facts.keys() else None
    except (LookupError, ValueError):
        return None


def facts_agree(finding: Finding) -> bool:
    """Whether the facts of a finding are those of its message and hint as they stand."""
    wording = wording_of(finding.code, finding.variant)
    if wording is None or not finding.facts.keys() <= wording.kept:
        return False
    if has_words(wording.message) and finding.message != fill(wording.message, finding.facts):
        return False
    if not wording.hint or not has_words(wording.hint):
        return True
    hint = fill(wording.hint, finding.facts)
    return hint is not None and finding.hint == wording.framed(hint, finding.facts)


def _words(fact: Any) -> Fact:
    """A fact as messages say it: of several values with commas between them, and never as Python writes them."""
    several = isinstance(fact, tuple | list | set | frozenset)
    return listed(map(str, fact)) if several else fact


@cache
def _wording(code: str, variant: str) -> Wording:
    return load_codes().codes[code].wordings[variant]


def _wrong_facts(code: str, variant: str, wording: Wording, facts: Mapping[str, Fact]) -> str:
    missing = sorted(wording.needs - facts.keys())
    unknown = sorted(facts.keys() - wording.facts)
    parts = [
        f"{what} {', '.join(names)}" for what, names in (("lacks", missing), ("does not know", unknown)) if names
    ]
    return f"finding {code} ({variant}) {' and '.join(parts)}"
