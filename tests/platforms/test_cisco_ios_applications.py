"""Applications that routers recognise themselves, by the release that brought the word; before it, their ports."""

from __future__ import annotations

import pytest

from qosforge.plan.request import TermRequest as Alternative

from .ios_support import a_class, lan, lowered, of, port, pushed, requested


@pytest.mark.parametrize(
    ("application", "words", "before", "image"),
    [
        ("http", "http", None, "12.1(5)T"),
        ("rtp-audio", "rtp audio", "12.2(2)T", "12.2(8)T"),
        ("sip", "sip", "12.2(15)T", "12.3(7)T"),
        ("skinny", "skinny", "12.3(4)T", "12.3(7)T"),
        ("h323", "h323", "12.3", "12.4"),
        ("mgcp", "mgcp", "12.2(15)T", "12.4"),
        ("rtsp", "rtsp", "12.3(7)T", "12.3(11)T"),
    ],
)
def test_a_word_is_used_from_its_release_on(application: str, words: str, before: str | None, image: str) -> None:
    known = a_class("known", terms=(Alternative(application=application),), mark={"dscp": "af31"})

    result, box = pushed(requested(known, image=image, interfaces=(lan(),)))

    assert f" match protocol {words}\n" in box.running_text()
    assert of(result, "recognition-by-ports") == []
    if before is not None:
        old, box = pushed(requested(known, image=before, interfaces=(lan(),)))
        assert "match protocol" not in box.running_text()
        assert all(term.protocol is not None for term in port(old, "FastEthernet0/0").ingress.rules[0].any_of)


@pytest.mark.parametrize(("image", "word"), [("12.2(15)T", "sip"), ("12.3", "skinny"), ("12.3(7)T", "rtsp")])
def test_words_of_later_releases_are_not_entered(image: str, word: str) -> None:
    known = a_class("known", terms=(Alternative(application=word),), mark={"dscp": "af31"})

    rules = port(lowered(requested(known, image=image, interfaces=(lan(),))), "FastEthernet0/0").ingress.rules
    assert all(term.application is None for term in rules[0].any_of)
