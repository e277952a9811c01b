"""What the shipped intents become, as files to read and to compare with.

Two kinds of network: the routers of the campus, and one device of every platform and train that every intent of the
library is compiled for (``tests/golden/network*``: a platform may bring a folder of its own). Beside a
configuration stand its findings; an intent that a device cannot have has its findings alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from qosforge.compiler.compile import Compilation, compile_intent
from qosforge.compiler.unconfirmed import unconfirmed_findings
from qosforge.finding_rows import gather_findings
from qosforge.findings import Finding, Severity, has_errors
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.reports.row_table import row_table

from .support import POLICIES, ROOT, ROUTERS, compiled, device

GOLDEN = ROOT / "tests" / "golden"
NETWORKS = tuple(sorted(p.parent for p in GOLDEN.glob("network*/hosts.yaml")))
EXAMPLES = ("impossible",)
"""Intents that show what is refused later; they compile to what another one does."""
LIBRARY = tuple(sorted(p.stem for p in (ROOT / "policies").glob("*.yaml") if p.stem not in EXAMPLES))
SETTINGS = dict.fromkeys(("infn-fnal-wfq", "infn-fnal-pq", "torino-link-sharing"), ("line=e1",))
"""Parameters of the intents that ask for kb/s of a line of 2 Mb/s."""
ALL = "network"
"""In place of a device: findings on the intent as a whole."""
_ORDER = tuple(Severity)


def golden_file(policy_name: str, name: str) -> Path:
    """Where the expected configuration of a device stands."""
    return GOLDEN / policy_name / f"{name}.cfg"


@cache
def every_platform() -> Network:
    """One device of every platform and train."""
    networks = [load_network(folder) for folder in NETWORKS]
    return networks[0].model_copy(update={"devices": tuple(d for network in networks for d in network.devices)})


@cache
def booted_with() -> Mapping[str, str]:
    """What the devices of `every_platform` run before the first push."""
    return {
        d.name: (folder / d.startup).read_text(encoding="utf-8")
        for folder in NETWORKS
        for d in load_network(folder).devices
        if d.startup
    }


@cache
def library(name: str) -> Compilation:
    """An intent of the library on one device of every platform and train."""
    loaded = load_intent(ROOT / "policies" / f"{name}.yaml", SETTINGS.get(name, ()))
    return compile_intent(loaded, every_platform(), booted_with())


def findings_of(compilation: Compilation, name: str | None) -> tuple[Finding, ...]:
    """The findings on one device, the grave ones first; without a name those on the intent as a whole."""
    names = {d.name for d in compilation.devices}
    every = (*compilation.findings, *unconfirmed_findings(compilation.devices))
    mine = gather_findings(f for f in every if f.device == name or (name is None and f.device not in names))
    return tuple(sorted(mine, key=lambda f: _ORDER.index(f.severity)))


def in_words(finding: Finding) -> str:
    """A finding as one line: severity, code, class, interface, what was asked and what will be; the message. Below
    it its rows.
    """
    about = [f"class {finding.traffic_class}"] if finding.traffic_class else []
    place = " ".join(part for part in (finding.interface, finding.direction) if part)
    numbers = (
        f"{finding.requested or '-'} → {finding.applied or '-'}; " if finding.requested or finding.applied else ""
    )
    where = ", ".join(part for part in (*about, place) if part)
    line = f"{finding.severity.value:<8}{finding.code}  {where + ': ' if where else ''}{numbers}{finding.message}"
    table = row_table(finding.rows)
    if table is None:
        return line
    if table.in_line:
        return f"{line}: {table.in_line}"
    return "\n".join((line, *(f"    {' | '.join(row)}" for row in (table.headings, *table.rows))))


def expected(name: str) -> Iterator[tuple[Path, str]]:
    """The files of an intent of the library, with their texts."""
    compilation = library(name)
    for made in compilation.devices:
        told = findings_of(compilation, made.name)
        path = golden_file(name, made.name)
        if not has_errors(told):
            yield path, made.text
        yield path.with_suffix(".findings.txt"), "".join(f"{in_words(f)}\n" for f in told)
    if whole := findings_of(compilation, None):
        yield golden_file(name, ALL).with_suffix(".findings.txt"), "".join(f"{in_words(f)}\n" for f in whole)


def regenerate() -> None:
    """Write every expected file anew, from what is compiled now, and take away those that nothing expects."""
    files = {
        golden_file(name, router): device(compiled(name), router).text for name in POLICIES for router in ROUTERS
    }
    for name in LIBRARY:
        files.update(expected(name))
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in LIBRARY:
        for path in library_files(name):
            if path not in files:
                path.unlink()


def library_files(name: str) -> Iterator[Path]:
    """The files that stand there for an intent on the devices of `every_platform`."""
    names = {ALL, *(d.name for d in every_platform().devices)}
    for path in sorted((GOLDEN / name).glob("*")):
        if path.name.partition(".")[0] in names:
            yield path
