"""Nothing of QoS is lost in silence: each line that is taken out of a configuration changes what is read or told.

Lines that a device has without being told, or that say a thing twice, are listed in ``deletion.yaml`` with the
reason; so is what is still lost, which has to leave the list once it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from qosforge.commands import References
from qosforge.configtree import ConfigLine
from qosforge.errors import InputError
from qosforge.findings import Finding
from qosforge.importing import RunningConfiguration, import_configurations, read_configuration
from qosforge.intent.yaml_source import parse_document
from qosforge.platforms.base import platform
from tests.parts import SAMPLES

HERE = Path(__file__).parent
FRAGMENTS = sorted((HERE / "configurations").glob("*.cfg"))
GOLDEN = sorted((HERE.parent / "golden").glob("*/*.cfg"))
SAMPLE_FILES = (
    "catalyst-2950/02-os3-lab3-session.txt", "catalyst-2950/04-wrr-notes-60279245608.txt",
    "catalyst-2950/05-wrr-notes-37971809200-interface-form.txt", "catalyst-2950/06-command-reference-police.txt",
    "catalyst-2970/03-autoqos-4771442818.txt", "catalyst-2970/04-campus-template-54295453.txt",
    "catalyst-2970/07-design-guide-6739699571.txt", "cisco-ios/01-ccp-sample_01-ios124.txt",
    "cisco-ios/03-genie-showrun-policymap-1.txt", "cisco-ios/04-genie-showrun-policymap-2.txt",
    "cisco-ios/06-genie-showrun-classmap.txt", "cisco-ios/10-nyquist-lfi-mlppp.txt",
    "cisco-ios/11-car-fragment.txt",
    "cisco-ios/13-mlppp-t1-generator.txt", "force10-e300/02-exascale-fallback-example.txt",
    "force10-e300/03-os9-show-run-class-map.txt", "force10-e300/05-os9-output-queue-wiki.txt",
    "force10-e300/06-os9-fx2-config-30305324581.txt", "force10-e300/07-os9-port-24730853676.txt",
    "nortel-5510/03-tcg-acl.txt", "nortel-5510/07-meter-example.txt", "others/c9300l-2p6q3t.txt",
)  # fmt: skip
"""Samples that are configurations: the others are answers to ``show``, grammars and lines of other makers."""

QOS = re.compile(
    r"(?<![\w-])(?:qos|dscp|cos|ip precedence|service-policy|service-(?:queue|class)|"
    r"(?:policy|class|table)-map\S*|class|match|set|police|priority(?:-\S+)?|bandwidth(?:-\S+)?|shape|random-detect|wred\S*|queue\S*|\S+-queue\S*|"
    r"rate-limit|rate (?:limit|shape|police)|traffic-shape|trust|frame-relay|map-class|tx-ring-limit|hold-queue|"
    r"(?:conform|exceed|violate)-action|ip mtu|ppp multilink|header-compression|pvc|vbr-nrt|max-reserved-bandwidth|"
    r"ip nhrp map group|dcb-map)(?![\w-])"
)
"""Words by which a line looks like QoS, whoever reads it."""
_TEXT = re.compile(r"\s*(?:!|description|remark|access-list \S+ remark|do )")
_PROMPT = re.compile(r"\w[\w.-]*(?P<mode>\(conf[\w-]*\))?[#>] *")
_LIST = re.compile(r"(?:ip |ipv6 )?access-list (?:standard |extended )?(\S+)")
_USES_LIST = re.compile(r"access-group (?:name )?(\S+)$|rate-limit \w+ access-group (\d+)")


@dataclass(frozen=True)
class Known:
    """Lines of a platform whose deletion means nothing, by a pattern, and why."""

    platform: str
    line: str
    reason: str
    file: str = ".*"

    def covers(self, platform: str, text: str, file: str) -> bool:
        said = ((self.platform, platform), (self.line, text), (self.file, file))
        return all(re.fullmatch(pattern, value) is not None for pattern, value in said)


DATA: dict[str, Any] = parse_document((HERE / "deletion.yaml").read_text(encoding="utf-8"), "deletion.yaml").data
KNOWN = tuple(Known(**entry) for entry in DATA["known"])
PLATFORMS: dict[str, str] = DATA["platforms"]
LOST: dict[str, list[str]] = DATA["lost"]


def _read(path: Path, text: str) -> RunningConfiguration:
    return read_configuration(text, path.name, platform_id=PLATFORMS.get(path.name), device="box")


def _without(lines: list[str], at: int) -> str:
    """The text with an empty line in the place of one, so that all others keep their numbers."""
    return "\n".join([*lines[:at], "", *lines[at + 1 :]]) + "\n"


def _command(line: str) -> str:
    """A line without the prompt of a configuration mode; nothing where it is a command of another mode."""
    prompt = _PROMPT.match(line)
    return line if prompt is None else line[prompt.end() :] if prompt["mode"] else ""


def qos_lines(text: str) -> Iterator[int]:
    """Positions of the lines that look like QoS: by their words, and of access lists by those who look at them."""
    lines = text.splitlines()
    lists = {found[1] or found[2] for line in lines if (found := _USES_LIST.search(line.strip())) is not None}
    inside = False
    for at, line in enumerate(map(_command, lines)):
        heading = _LIST.match(line)
        if heading is not None or not line.startswith(" "):
            inside = heading is not None and heading[1] in lists
        if _TEXT.match(line) is None and (inside or (heading is None and QOS.search(line) is not None)):
            yield at


def _findings(read: RunningConfiguration) -> tuple[Finding, ...]:
    try:
        return import_configurations([read], "made").findings
    except InputError:
        return ()


def _meaning(read: RunningConfiguration) -> tuple[object, ...]:
    """What import makes of a configuration, without where it stands in the text."""
    try:
        found = import_configurations([read], "made")
    except InputError as refused:
        return (str(refused),)
    told = sorted(repr(f.model_copy(update={"line": None})) for f in found.findings)
    return tuple(intent.text for intent in found.intents), tuple(sorted(found.files.items())), tuple(told)


def _unattached(findings: Iterable[Finding]) -> frozenset[int]:
    """Headings of objects that nothing refers to: a finding names each, with all that is below it."""
    return frozenset(f.line for f in findings if f.variant == "unattached" and f.line is not None)


def _left_out(read: RunningConfiguration, findings: Iterable[Finding]) -> frozenset[int]:
    """Lines of sides that no intent is for: a finding names each side."""
    table = platform(read.platform).commands
    tree = table.tree(read.text)
    references = References(table, tree)
    found: set[int] = set()
    for finding in findings:
        if finding.code == "import-side-left-out":
            for interface in (finding.interface or "").split(", "):
                found |= references.taking_part(interface, finding.direction or "")
                headings = (line for line in tree if line.text.startswith(f"interface {interface}"))
                found |= {below.number for line in headings for below in line.children}
    return frozenset(found)


def _headings(read: RunningConfiguration) -> dict[int, int]:
    """For the number of each line that of the heading at the top that it is below."""
    tree = platform(read.platform).commands.tree(read.text)
    return {number: line.number for line in tree for number in _numbers(line)}


def _numbers(line: ConfigLine) -> Iterator[int]:
    yield line.number
    for below in line.children:
        yield from _numbers(below)


def _known(platform_id: str, text: str, file: str) -> bool:
    return any(entry.covers(platform_id, text, file) for entry in KNOWN)


def _lost(path: Path) -> list[str]:
    """The lines that can be taken out without anyone noticing, but for those that are known."""
    text = path.read_text(encoding="utf-8")
    lines, whole = text.splitlines(), _read(path, text)
    findings = _findings(whole)
    meaning, unattached, left_out = _meaning(whole), _unattached(findings), _left_out(whole, findings)
    headings = _headings(whole)
    lost, counted = [], []
    for at in qos_lines(text):
        if headings.get(at + 1) in unattached:
            continue
        less = _read_as(path, _without(lines, at), whole)
        same = less.plan == whole.plan or (at + 1 not in left_out and _meaning(less) == meaning)
        (lost if same else counted).append(" ".join(lines[at].split()))
    return _unknown(whole.platform, path.name, lost, counted)


def _unknown(platform_id: str, file: str, lost: list[str], counted: list[str]) -> list[str]:
    """Those of the lost lines that are not known; those that are known count nowhere in the configuration."""
    assert [line for line in counted if line not in lost and _known(platform_id, line, file)] == []
    return [line for line in lost if not _known(platform_id, line, file)]


def _read_as(path: Path, text: str, like: RunningConfiguration) -> RunningConfiguration:
    """A text read as the device that another one is of."""
    return read_configuration(text, path.name, platform_id=like.platform, device=like.device)


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.stem)
def test_each_line_of_a_fragment_counts(path: Path) -> None:
    assert _lost(path) == LOST.get(path.name, [])


@pytest.mark.parametrize("name", SAMPLE_FILES)
def test_each_line_of_a_sample_counts(name: str) -> None:
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"the sample {name} is not there")
    assert _lost(path) == LOST.get(path.name, [])


@cache
def _golden_lines() -> tuple[tuple[Path, tuple[int, ...]], ...]:
    """Each distinct line of a platform's golden configurations once, in the first of them that has it."""
    seen: set[tuple[str, str]] = set()
    chosen = []
    for path in GOLDEN:
        text = path.read_text(encoding="utf-8")
        lines, kind = text.splitlines(), path.stem
        new = []
        for at in qos_lines(text):
            if (key := (kind.rstrip("0123456789"), " ".join(lines[at].split()))) not in seen:
                seen.add(key)
                new.append(at)
        chosen.append((path, tuple(new)))
    return tuple(chosen)


@pytest.mark.parametrize("folder", sorted({path.parent.name for path in GOLDEN}))
def test_each_line_of_what_is_compiled_counts(folder: str) -> None:
    lost = []
    for path, positions in _golden_lines():
        if path.parent.name != folder or not positions:
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        whole = read_configuration(text, path.name, platform_id=_platform(path), device="box")
        same: dict[bool, list[str]] = {True: [], False: []}
        for at in positions:
            unchanged = _read_as(path, _without(lines, at), whole).plan == whole.plan
            same[unchanged].append(" ".join(lines[at].split()))
        lost += [f"{path.name}: {line}" for line in _unknown(whole.platform, path.name, same[True], same[False])]
    assert lost == LOST.get(folder, [])


def _platform(path: Path) -> str:
    return next(known for name, known in PLATFORMS.items() if re.fullmatch(name, path.stem))


def test_nothing_is_listed_that_no_configuration_has() -> None:
    paths = [*FRAGMENTS, *GOLDEN, *(p for name in SAMPLE_FILES if (p := SAMPLES / name).exists())]
    lines = {" ".join(line.split()) for path in paths for line in path.read_text(encoding="utf-8").splitlines()}
    if all((SAMPLES / name).exists() for name in SAMPLE_FILES):
        assert [entry for entry in KNOWN if not any(re.fullmatch(entry.line, line) for line in lines)] == []
