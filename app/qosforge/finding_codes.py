"""What the codes of findings mean: the catalogue ``finding_codes.yaml``, and its page for people.

``python -m qosforge.finding_codes`` prints the page, ``docs/findings.md``.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML

from qosforge.errors import InputError
from qosforge.findings import Severity
from qosforge.resources import read_text

SOURCE = "qosforge/finding_codes.yaml"

_Text = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Explanation(_Part):
    """What a code means: its severities (the usual one first), why it happens, the hint, and an example."""

    severity: Annotated[tuple[Severity, ...], Field(min_length=1)]
    meaning: _Text
    why: _Text
    hint: _Text
    example: _Text


class Section(_Part):
    """Codes that belong together."""

    title: _Text
    text: str = ""
    codes: dict[str, Explanation]


class Catalogue(_Part):
    """Every code that a finding can have."""

    text: _Text
    sections: tuple[Section, ...]

    @property
    def codes(self) -> dict[str, Explanation]:
        """All codes."""
        return {code: entry for section in self.sections for code, entry in section.codes.items()}


@cache
def load_codes() -> Catalogue:
    """The catalogue that ships with qosforge."""
    return Catalogue.model_validate(YAML(typ="safe", pure=True).load(read_text(SOURCE)))


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
            severity = ", ".join(entry.severity)
            lines.append(f"| `{code}` | {severity} | {entry.meaning} | {entry.hint} |")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
