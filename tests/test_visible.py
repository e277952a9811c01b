"""Control characters, escapes and bidirectional marks are shown, and nothing else is changed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment
from markupsafe import Markup

from qosforge.visible import visible, visible_in_page, visible_json
from tests.counted import tried

pytestmark = pytest.mark.hostile

UNSEEN = [chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))] + list(
    "\u202e\u2066\u200f\u2028\ufeff"
)


def test_what_speaks_to_a_terminal_is_seen() -> None:
    assert visible("a\x1b[31mb\x07") == "a␛[31mb␇"
    assert visible("\x1b]8;;http://example.org\x07") == "␛]8;;http://example.org␇"
    assert visible("abc\u202edef") == "abc<U+202E>def"
    assert visible("\x9b31m\x7f") == "<U+009B>31m␡"
    assert visible("carriage\rreturn") == "carriage␍return"


@given(st.text())
def test_no_text_keeps_one_and_plain_text_stays(text: str) -> None:
    tried("texts with control characters")
    shown = visible(text)
    assert not set(shown) & set(UNSEEN)
    assert visible(shown) == shown
    if not set(text) & set(UNSEEN):
        assert set(text) - set(shown) <= set("\u061c\u200e\u202a\u202b\u202c\u202d\u2067\u2068\u2069\u2029")


def test_lines_and_tabs_stay() -> None:
    text = "policy-map WAN\n\tclass class-default – größer 東京\n"
    assert visible(text) == text


@given(st.text())
def test_a_json_document_keeps_its_meaning(text: str) -> None:
    document = {"text": text, text: [1]}
    shown = visible_json(json.dumps(document, ensure_ascii=False, indent=1))
    assert not set(shown) & set(UNSEEN)
    assert json.loads(shown) == document


def test_a_page_shows_them_escaped_or_not() -> None:
    page = Environment(autoescape=True, finalize=visible_in_page).from_string("{{ a }}{{ b }}{{ n }}")
    assert page.render(a="<\u202e", b=Markup("<b>\x9b</b>"), n=3) == "&lt;&lt;U+202E&gt;<b><U+009B></b>3"
    assert page.render(a="one\r\ntwo\rthree", b="", n="") == "one\r\ntwo␍three"
