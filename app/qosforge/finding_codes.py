"""What the codes of findings mean: the catalogue ``finding_codes.yaml``, and its page for people.

``python -m qosforge.finding_codes`` prints the page, ``docs/findings.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from string import Formatter
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator
from yaml.cyaml import CSafeLoader

from qosforge.errors import InputError
from qosforge.findings import DEFAULT, Severity
from qosforge.resources import read_text

SOURCE = "qosforge/finding_codes.yaml"

USUAL = "usual"
"""The severity where no condition holds."""

PREFERRED = "preferred"
"""The condition that the policy only prefers what cannot be had, by ``prefer: true``."""

OR_PREFER = "{hint}, or say 'prefer: true'"
PREFERS = "the policy prefers it and does without it here; for no warning, {hint}"
"""What becomes of a hint where ``prefer: true`` would do, and where the policy says it already."""

_Text = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Severities = Annotated[dict[str, Severity], Field(min_length=1)]
"""The usual severity, then that of every condition that changes it: the first one that holds decides."""


Proof = Literal["proven", "refuted", "open"]
"""What a finding says of a proof: that it was found, that something shows the contrary, or that there is none."""


@dataclass(frozen=True)
class Wording:
    """A message of a code, ready to be filled: its templates, its severity, and the facts that they take.

    ``needs`` are those without which it cannot be told; ``facts`` are all that the code knows;
    ``translatable`` are the facts of texts that can be translated, ``figures`` are numbers beside the texts.
    ``page_hint`` is what pages say in place of the hint; it takes the same facts. ``prefer`` says that
    ``prefer: true`` would do, too.
    """

    message: str
    hint: str | None
    page_hint: str | None
    severity: Mapping[str, Severity]
    needs: frozenset[str]
    facts: frozenset[str]
    translatable: frozenset[str]
    figures: frozenset[str]
    prefer: bool

    @property
    def kept(self) -> frozenset[str]:
        """The facts that a finding keeps: to be told in another language, and its figures."""
        return self.translatable | self.figures | ({PREFERRED} if self.prefer else frozenset())

    def hint_for(self, facts: Mapping[str, Any]) -> str | None:
        """The hint where these facts hold."""
        return self.framed(self.hint.format_map(facts), facts) if self.hint else None

    def framed(self, hint: str, facts: Mapping[str, Any], frames: tuple[str, str] = (OR_PREFER, PREFERS)) -> str:
        """A hint with what is to be said of ``prefer: true``; ``frames`` may be translations of both."""
        return frames[bool(facts.get(PREFERRED))].format(hint=hint) if self.prefer else hint

    def severity_for(self, facts: Mapping[str, Any]) -> Severity:
        """The severity where these facts hold."""
        for condition, severity in self.severity.items():
            if condition != USUAL and facts[condition]:
                return severity
        return self.severity[USUAL]


class _Worded(_Part):
    """What a message says, and how severe it is; ``severity`` may be given as one word."""

    message: _Text | None = None
    severity: Severities | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_severity(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("severity"), str):
            return {**data, "severity": {USUAL: data["severity"]}}
        return data


class Variant(_Worded):
    """Another message of a code; what it does not give is the code's."""

    hint: _Text | None = None
    page_hint: _Text | None = None
    prefer: bool = False


class Explanation(_Worded):
    """What a code means: its severity, its messages with their facts, why it happens, the hint, and an example.

    ``figures`` are facts that no message has and that every finding of the code keeps as numbers, for whoever
    reckons with them; their names end with their units.

    ``proof`` is what it says of a proof, where it does; ``loses`` whether it says that the device misses packets of
    its class.

    The hint is what findings say too, but where a variant has its own, or where there is nothing to do.
    ``page_hint`` is what pages say instead, where the hint names what they do not have, such as an option of the
    command line. ``prefer`` of what has the hint says that ``prefer: true`` in the policy would do, too: findings
    say so where the policy does not.
    """

    severity: Severities
    proof: Proof | None = None
    loses: bool = False
    facts: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    variants: dict[str, Variant] = Field(default_factory=dict)
    meaning: _Text
    why: _Text
    hint: _Text
    page_hint: _Text | None = None
    prefer: bool = False
    example: _Text

    @property
    def whole_hint(self) -> str:
        """The hint as it is for a policy that prefers nothing."""
        return OR_PREFER.format(hint=self.hint) if self.prefer else self.hint

    @property
    def severities(self) -> tuple[Severity, ...]:
        """Every severity that the code can have, the usual one first."""
        return tuple(dict.fromkeys(severity for each in self._rules() for severity in each.values()))

    @property
    def conditions(self) -> frozenset[str]:
        """Everything that changes the severity of one of the messages."""
        return frozenset(condition for each in self._rules() for condition in each if condition != USUAL)

    def _rules(self) -> list[Mapping[str, Severity]]:
        return [self.severity, *(v.severity for v in self.variants.values() if v.severity)]

    @cached_property
    def wordings(self) -> dict[str, Wording]:
        """The messages by variant."""
        usual = {DEFAULT: Variant()} if self.message is not None else {}
        return {name: self._wording(variant) for name, variant in (usual | self.variants).items()}

    def _wording(self, variant: Variant) -> Wording:
        message = variant.message or self.message
        if message is None:
            raise ValueError("a variant without a message, where the code has none")
        # The code's own hint is for people to read on its page too: no template.
        template = variant.hint or self.hint.replace("{", "{{").replace("}", "}}")
        hint = None if template.startswith("nothing") else template
        page_hint = variant.page_hint or (None if variant.hint else self.page_hint)
        severity = variant.severity or self.severity
        prefer = variant.prefer if variant.hint else self.prefer
        if prefer and PREFERRED not in severity:
            raise ValueError("'prefer: true' would change nothing: no severity is 'preferred'")
        texts = (*placeholders(message), *placeholders(hint or ""))
        needs = frozenset((*texts, *self.figures, *(severity.keys() - {USUAL})))
        known = frozenset((*self.facts, *self.figures, *self.conditions))
        translatable = (placeholders(text) for text in (message, hint) if text and has_words(text))
        told, figures = frozenset[str]().union(*translatable), frozenset(self.figures)
        return Wording(message, hint, page_hint, severity, needs, known, told, figures, prefer)


def placeholders(template: str) -> frozenset[str]:
    """The names of the facts that a template takes."""
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)


def has_words(template: str) -> bool:
    """Whether a template has words of its own, which can be translated, beside its placeholders."""
    return any(character.isalpha() for text, *_ in Formatter().parse(template) for character in text)


class Section(_Part):
    """Codes that belong together."""

    title: _Text
    text: str = ""
    codes: dict[str, Explanation]


class Catalogue(_Part):
    """Every code that a finding can have."""

    text: _Text
    sections: tuple[Section, ...]

    @cached_property
    def codes(self) -> dict[str, Explanation]:
        """All codes."""
        return {code: entry for section in self.sections for code, entry in section.codes.items()}


@cache
def load_codes() -> Catalogue:
    """The catalogue that ships with qosforge."""
    return parse_codes(read_text(SOURCE))


def parse_codes(source: str) -> Catalogue:
    """The catalogue that a text in YAML has."""
    return Catalogue.model_validate(yaml.load(source, CSafeLoader))


def explain(code: str) -> Explanation:
    """What a code means.

    Raises:
        InputError: no finding has this code.
    """
    known = load_codes().codes
    if code not in known:
        near = get_close_matches(code, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "docs/findings.md lists the codes"
        raise InputError(f"no finding has the code {code!r}", hint=hint)
    return known[code]


def page() -> str:
    """The catalogue as a page in Markdown."""
    catalogue = load_codes()
    lines = ["# Findings", "", catalogue.text.strip(), ""]
    for section in catalogue.sections:
        lines += [f"## {section.title}", ""]
        if section.text:
            lines += [section.text.strip(), ""]
        lines += ["| code | severity | meaning | hint |", "|---|---|---|---|"]
        for code, entry in section.codes.items():
            severity = ", ".join(entry.severities)
            lines.append(f"| `{code}` | {severity} | {entry.meaning} | {entry.whole_hint} |")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
