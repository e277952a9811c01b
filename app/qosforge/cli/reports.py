"""The options that write reports for pipelines, and what they write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from qosforge.cli.output import require_writable, write_file
from qosforge.client.run_events import StillRunning
from qosforge.client.source import git_source
from qosforge.errors import InputError, QosforgeError
from qosforge.findings import Finding
from qosforge.reports.checks import CheckReport, as_findings
from qosforge.reports.model import RunReport
from qosforge.visible import visible_json

Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write the findings as SARIF (annotations).")
]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write what failed as JUnit XML.")]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Write a comment for a pull request.")
]


@dataclass(frozen=True, slots=True)
class Reports:
    """The files that were asked for. ``policy`` is where findings without a place are shown."""

    policy: str
    sarif: Path | None = None
    junit: Path | None = None
    markdown: Path | None = None

    @contextmanager
    def told(self) -> Iterator[None]:
        """Try the files now; an error in the block is reported in them too, before it goes on.

        Raises:
            InputError: a file cannot be written.
        """
        for path in (self.sarif, self.junit, self.markdown):
            if path is not None:
                require_writable(path)
        try:
            yield
        except StillRunning:
            raise  # the reports tell the run as it stands
        except QosforgeError as error:
            findings = tuple(getattr(error, "findings", ())) or as_findings(error, self.policy)
            self.check(CheckReport(Path(self.policy).stem, self.policy, findings=findings))
            raise

    def check(self, check: CheckReport, *, strict: bool = False) -> None:
        """Write what an intent would do."""
        # The writers wait until they are asked for: most calls want none.
        if self.sarif is not None:
            self._sarif(check.findings)
        if self.junit is not None:
            from qosforge.reports.junit import check_junit  # noqa: PLC0415

            write_file(self.junit, check_junit(check, strict=strict))
        if self.markdown is not None:
            from qosforge.reports.markdown import check_markdown  # noqa: PLC0415

            write_file(self.markdown, check_markdown(check))

    def run(self, report: RunReport, page: str = "") -> None:
        """Write what a run did; ``page`` is where a browser sees it."""
        if self.sarif is not None:
            self._sarif(report.findings)
        if self.junit is not None:
            from qosforge.reports.junit import run_junit  # noqa: PLC0415

            write_file(self.junit, run_junit(report, page))
        if self.markdown is not None:
            from qosforge.reports.markdown import run_markdown  # noqa: PLC0415

            write_file(self.markdown, run_markdown(report, page))

    def _sarif(self, findings: tuple[Finding, ...]) -> None:
        from qosforge.reports.sarif import sarif  # noqa: PLC0415

        assert self.sarif is not None
        document = sarif(findings, self.policy, _root(Path(self.policy)))
        write_file(self.sarif, visible_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")


def _root(policy: Path) -> Path:
    """What paths count from: the work tree that the policy lies in, else the working directory."""
    try:
        source = git_source(policy)
    except InputError:
        source = None
    return source.root if source else Path.cwd()
