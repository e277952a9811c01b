"""Findings in the language of a page, and what translators get of the catalogue of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from qosforge.finding_codes import OR_PREFER, PREFERS, has_words, load_codes, parse_codes
from qosforge.findings import Finding
from qosforge.note import fill, wording_of
from qosforge.reports.preview import FindingDocument


class FindingTexts(NamedTuple):
    """What a finding says."""

    message: str
    hint: str | None


def translate_finding(finding: Finding | FindingDocument, gettext: Callable[[str], str]) -> FindingTexts:
    """The texts of a finding in the language of ``gettext``: as they stand where there is no translation that takes
    its facts.
    """
    wording = wording_of(finding.code, finding.variant)
    if wording is None:
        return FindingTexts(finding.message, finding.hint)

    def translated(template: str) -> str | None:
        found = gettext(template)
        return None if found == template else fill(found, finding.facts)

    hint = finding.hint
    if wording.page_hint and hint:
        hint = fill(wording.page_hint, finding.facts) or hint
    template = wording.page_hint or wording.hint
    found = translated(template) if template and hint else None
    if found is not None:
        frames = gettext(OR_PREFER), gettext(PREFERS)
        hint = wording.framed(found, finding.facts, frames)
    return FindingTexts(translated(wording.message) or finding.message, hint)


def translate_meaning(finding: Finding | FindingDocument, gettext: Callable[[str], str]) -> str:
    """What the code of a finding means, in the language of ``gettext``; the code itself where it is not known (any
    more).
    """
    known = load_codes().codes.get(finding.code)
    return gettext(known.meaning) if known else finding.code


def extract_texts(file: BinaryIO, *_: object, **__: object) -> Iterator[tuple[int, None, str, list[str]]]:
    """Babel's extractor for ``finding_codes.yaml``: the messages and hints that findings have, at their codes,
    and what the codes mean.
    """
    source = file.read().decode()
    for frame in (OR_PREFER, PREFERS):
        yield 1, None, frame, ["around the hint of a finding, where the policy can say 'prefer: true'"]
    lines = {line.strip(): number for number, line in enumerate(source.splitlines(), 1)}
    for code, entry in parse_codes(source).codes.items():
        yield lines[f"{code}:"], None, entry.meaning, [f"finding {code}"]
        for wording in entry.wordings.values():
            for text in (wording.message, wording.hint, wording.page_hint):
                if text and has_words(text):
                    yield lines[f"{code}:"], None, text, [f"finding {code}"]
