"""The report of a run as a PDF: the HTML report on sheets of paper."""

from __future__ import annotations

from app.errors import ServiceError
from app.reports.model import RunReport
from app.reports.run_report import render_run_report


def run_pdf(report: RunReport) -> bytes:
    """Render a run as a PDF. It computes for seconds: on a service, in a process of its own.

    Raises:
        ServiceError: the library that sets text, Pango, is not installed.
    """
    try:
        from app.reports.paper import printed  # noqa: PLC0415 - it looks for Pango as it is imported
    except OSError as error:
        raise ServiceError(
            f"a PDF needs the library Pango: {str(error).splitlines()[0]}",
            mend="install the packages libpango-1.0-0 and libpangoft2-1.0-0, or take the HTML report",
        ) from None
    return printed(render_run_report(report))
