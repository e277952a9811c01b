"""The report of a run as a PDF: the HTML report on sheets of paper."""

from __future__ import annotations

from qosforge.errors import NotInstalled
from qosforge.reports.model import RunReport
from qosforge.reports.run_report import render_run_report
from qosforge.system_packages import install_command, parts


def run_pdf(report: RunReport) -> bytes:
    """Render a run as a PDF. It computes for seconds: on a service, in a process of its own.

    Raises:
        NotInstalled: the libraries that set text are missing; it names the packages.
    """
    try:
        from qosforge.reports.paper import print_pdf  # noqa: PLC0415 - it looks for Pango as it is imported
    except OSError as error:
        part = parts()["pdf"]
        packages = part.missing() or list(part.packages)
        raise NotInstalled(
            f"a PDF needs system packages that are missing here: {', '.join(packages)}"
            f" ({str(error).splitlines()[0]})",
            hint=f"{install_command(packages)}, or take the report in another form, such as HTML",
        ) from None
    return print_pdf(render_run_report(report))
