"""Configurations and captures of others, where they lie beside the checkout: read without an exception."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qosforge.platforms.base import platform
from qosforge.resources import root

SAMPLES = root().parent / "shared" / "samples"
PLATFORMS = {
    "catalyst-2950": "catalyst_2950",
    "catalyst-2970": "catalyst_2970",
    "cisco-ios": "cisco_ios",
    "force10-e300": "force10_e300",
    "nortel-5510": "nortel_5510",
}
FILES = [path for folder in PLATFORMS for path in sorted((SAMPLES / folder).glob("*")) if path.is_file()]

__test__ = bool(FILES)
"""The project carries no configurations of others: without them there is nothing to collect here."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_sample_is_read_and_what_is_not_understood_is_kept_word_by_word(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", errors="replace")
    plan = platform(PLATFORMS[path.parent.name]).parse(text, "box", "12.4")
    lines = text.splitlines()
    for unknown in plan.unknown:
        assert unknown.text == " ".join(lines[unknown.line - 1].split())


def _unknown(folder: str, name: str) -> list[str]:
    text = (SAMPLES / folder / name).read_text(encoding="utf-8")
    return [u.text for u in platform(PLATFORMS[folder]).parse(text, "box", "12.4").unknown]


def test_a_session_on_a_2950_is_understood_as_a_whole() -> None:
    assert _unknown("catalyst-2950", "02-os3-lab3-session.txt") == []


def test_a_multilink_without_indentation_is_understood_as_a_whole() -> None:
    assert _unknown("cisco-ios", "13-mlppp-t1-generator.txt") == []


def test_commands_of_a_shaping_guide_are_all_listed() -> None:
    found = _unknown("cisco-ios", "09-nyquist-fr-per-vc.txt")
    text = (SAMPLES / "cisco-ios" / "09-nyquist-fr-per-vc.txt").read_text(encoding="utf-8")
    written = [line for line in text.splitlines() if re.match(r"R\(config[^)]*\)# ?frame-relay", line)]
    assert set(map(str.strip, written)) <= set(found)


def test_a_policer_that_marks_down_is_understood() -> None:
    # The manual's example has the policy alone.
    assert _unknown("catalyst-2950", "06-command-reference-police.txt") == ["class CM"]


def test_what_autoqos_typed_is_understood_as_a_whole() -> None:
    assert _unknown("catalyst-2970", "03-autoqos-4771442818.txt") == []
