"""An emulated device beside the compiler: what is made of an intent is typed into it, read back and undone."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from qosforge.compiler.candidate import find_plan_differences, make_candidate, rollback_lines
from qosforge.compiler.canonical_form import canonical_form
from qosforge.compiler.compile import Compilation, CompiledDevice, compile_intent
from qosforge.finding_codes import load_codes
from qosforge.findings import Finding, Severity, has_errors
from qosforge.intent.applications import extend_catalogue, load_catalogue
from qosforge.intent.loader import LoadedIntent
from qosforge.intent.models import Intent
from qosforge.intent.yaml_source import YamlDocument
from qosforge.plan.model import Plan
from qosforge.platforms.base import platform
from qosforge.units import WRITTEN
from qosforge.validation.context import ValidationContext
from qosforge.validation.lines import check_lines
from qoslab.box import Box
from qoslab.boxes import make_box
from qoslab.clock import Clock
from qoslab.spec import BoxSpec
from qoslab.storage import Storage
from tests.answers import refusals

from .devices import HARDWARE, Site
from .shares import check_shares


@cache
def _box(platform_id: str, image: str) -> Box:
    """A device of its kind; to make one costs as much as to type a hundred lines into it."""
    with tempfile.TemporaryDirectory() as folder:
        spec = BoxSpec(name="box", platform=platform_id, image=image, username="u", password="p")
        return make_box(spec, Storage(Path(folder), HARDWARE.get(platform_id, "")), Clock())


def boot(site: Site) -> Box:
    """The emulated box of a site, which has just booted; every site of one image gets the same box, as new."""
    box = _box(site.device.platform, site.device.image)
    with tempfile.TemporaryDirectory() as folder:
        box.storage = Storage(Path(folder), site.startup)
        box.boot()
    assert not box.boot_messages, box.boot_messages
    return box


def loaded(document: dict[str, Any]) -> LoadedIntent | None:
    """The intent of a document, without the way over its text; None where the language refuses it."""
    try:
        intent = Intent.model_validate(document, context=WRITTEN)
    except ValidationError:
        return None
    return LoadedIntent(
        intent=intent,
        document=YamlDocument("made.yaml", document, {(): (1, 1)}),
        version="made",
        catalogue=extend_catalogue(load_catalogue(), intent.applications),
        included={},
        settings=(),
        findings=(),
    )


def told(findings: Sequence[Finding]) -> None:
    """Every finding is one of the catalogue's, and an error says what mends it."""
    known = load_codes().codes
    for finding in findings:
        assert finding.code in known, finding
        assert finding.severity in known[finding.code].severities, finding
        assert finding.message, finding
        assert finding.severity is not Severity.ERROR or finding.hint, finding


def compiled(site: Site, intent: LoadedIntent, running: str | None) -> CompiledDevice | None:
    """What an intent becomes on a box; None where it does not concern it. Every finding is one of the catalogue."""
    name = site.device.name
    texts = {} if running is None else {name: running}
    compilation: Compilation = compile_intent(intent, site.network, texts)
    told(compilation.findings)
    made = next(iter(compilation.devices), None)
    if made is None or has_errors(compilation.findings):
        return None
    for block in made.blocks:
        unknown = platform(site.device.platform).commands.read(block.text).unknown
        assert not unknown, f"{block.name}: its template prints lines that are not in the table: {unknown}"
    faults = list(check_lines(ValidationContext(compilation, texts)))
    assert not faults, "\n".join([*(f"{f.code}: {f.message}" for f in faults), made.text])
    return made


def held(site: Site, text: str) -> Plan:
    """What a configuration amounts to."""
    return platform(site.device.platform).parse(text, site.device.name, site.device.image)


def attached(site: Site, text: str) -> set[tuple[str, str]]:
    """The interfaces and directions that have a policy."""
    plan = held(site, text)
    sides = [(i.name, side, getattr(i, side)) for i in plan.interfaces for side in ("ingress", "egress")]
    return {(name, side) for name, side, what in sides if what.policy}


def type_in(site: Site, box: Box, lines: Sequence[str]) -> Iterator[tuple[int, set[tuple[str, str]]]]:
    """Type lines, each of which the box must take; after every line that may take a policy away, what has one."""
    shell = box.console()
    for number, line in enumerate(lines):
        reply = shell.feed(line)
        while reply.ask is not None:
            assert not reply.text, (line, reply.text)
            reply = reply.ask.answer("")
        said = refusals(reply.text.splitlines())
        assert not said, f"{line!r} is refused: {reply.text}\n" + "\n".join(lines)
        if re.match(r" *(?:no|default) ", line):
            yield number, attached(site, box.running_text())


def enter(site: Site, box: Box, lines: Sequence[str]) -> tuple[tuple[int, str, str], ...]:
    """Type lines; returns after which of them which interface that has a policy before and after is without."""
    before = attached(site, box.running_text())
    met = list(type_in(site, box, lines))
    after = attached(site, box.running_text())
    return tuple((n, *place) for n, there in met for place in sorted((before & after) - there))


def left_changed(made: CompiledDevice, before: Plan, after: Plan) -> list[str]:
    """The interfaces outside a request that have a policy of other rules or queues than before."""
    inside = {i.name for i in made.request.interfaces}
    return [
        f"{old.name} {side}"
        for old in before.interfaces
        for side in ("ingress", "egress")
        if old.name not in inside and (was := getattr(old, side)).policy is not None
        if (new := after.interface(old.name)) is None or canonical_form(getattr(new, side)) != canonical_form(was)
    ]


def push(site: Site, box: Box, made: CompiledDevice) -> int:
    """Enter what was compiled against what the box runs and read it back; undo it, do it again, undo it from what
    the device shows, and leave it done; returns how many shares were compared with what was said of them."""
    before = box.running_text()
    candidate = make_candidate(made, before)
    for line, interface, side in enter(site, box, candidate.delta):
        spans = [range(gap.first, gap.first + gap.lines) for gap in candidate.gaps]
        assert any(line in span for span in spans), f"{interface} {side} has no policy after line {line + 1}"
    after = box.running_text()
    plan = held(site, after)
    unlike = find_plan_differences(made.plan, plan)
    assert not unlike, f"{unlike}\n{candidate.text}"
    assert not left_changed(made, held(site, before), plan), candidate.text
    assert {u.text for u in plan.unknown} <= {u.text for u in held(site, before).unknown}
    assert make_candidate(made, after).empty
    compared = check_shares(made, plan)
    enter(site, box, candidate.inverse)
    assert box.running_text() == before, "\n".join(candidate.inverse)
    enter(site, box, candidate.delta)
    assert box.running_text() == after
    back = rollback_lines(site.device.platform, after, before)
    enter(site, box, back)
    assert box.running_text() == before, "\n".join(back)
    enter(site, box, candidate.delta)
    return compared
