"""The PDF report: sheets with the same content, made without a look at anything outside."""

from __future__ import annotations

import re
import zlib

import pytest

from qosforge.reports.pdf import run_pdf
from tests.reports.test_run_report import NASTY, report

pytestmark = pytest.mark.needs("pdf")


def contents(pdf: bytes) -> bytes:
    """All streams of a PDF, unpacked where they are packed."""
    found = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, flags=re.DOTALL)
    parts = []
    for stream in found:
        try:
            parts.append(zlib.decompress(stream))
        except zlib.error:
            parts.append(stream)
    return b"\n".join([pdf, *parts])


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b(?!s)", contents(pdf)))


def test_it_has_sheets_of_a4_with_pictures() -> None:
    pdf = run_pdf(report())
    assert pdf.startswith(b"%PDF-")
    assert 2 <= pages(pdf) < 12
    assert re.search(rb"/MediaBox \[0 0 595\.\d+ 841\.\d+\]", contents(pdf))
    # Two pictures of each figure: their curves are strokes with dashes.
    assert contents(pdf).count(b" d\n") > 4


def test_a_long_configuration_goes_on_over_the_sheets() -> None:
    run = report()
    device = run.devices[0].model_copy(update={"configuration": "interface Serial1/0\n" * 600})
    longer = run_pdf(run.model_copy(update={"devices": (device,)}))
    assert pages(longer) > pages(run_pdf(run)) + 3


def test_nothing_is_loaded_from_anywhere(capfd: pytest.CaptureFixture[str], tmp_path: object) -> None:
    from qosforge.reports import paper  # noqa: PLC0415 - it loads Pango, without which these tests are skipped

    secret = '<img src="file:///etc/hostname"><img src="http://127.0.0.1:9/x.png">'
    pdf = paper.print_pdf(f"<html><head></head><body>{secret}<p>text</p></body></html>")
    assert pdf.startswith(b"%PDF-")
    assert b"/Subtype /Image" not in contents(pdf)


def test_what_a_picture_is_called_ends_no_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    from qosforge.reports import paper  # noqa: PLC0415 - it loads Pango, without which these tests are skipped

    given: list[str] = []

    class Html:
        def __init__(self, string: str, **_: object) -> None:
            given.append(string)

        def write_pdf(self) -> bytes:
            return b""

    monkeypatch.setattr(paper, "HTML", Html)
    paper.print_pdf('<html><head></head><body><svg><title>a" src="b &lt;</title></svg></body></html>')
    assert '<img src="picture:0" alt="a&quot; src=&quot;b &lt;">' in given[0]


def test_names_are_never_markup() -> None:
    assert run_pdf(report(name=NASTY, text=NASTY)).startswith(b"%PDF-")
