"""Names cut to what a device can hold."""

from __future__ import annotations

from qosforge.platforms.names import short_names, shorten


def test_what_fits_stays() -> None:
    assert shorten("voice-video", 11) == "voice-video"


def test_what_is_cut_keeps_its_beginning_and_differs() -> None:
    one, two = shorten("collaboration-one", 16), shorten("collaboration-two", 16)
    assert one != two
    assert {len(one), len(two)} == {16}
    assert one.startswith("collaborati")
    assert shorten("collaboration-one", 16) == one


def test_names_keep_clear_of_those_taken() -> None:
    taken = shorten("collaboration-one", 16)
    result = short_names(["web", "collaboration-one"], 16, {"web", taken})
    assert len({*result.values(), "web", taken}) == 4
    assert all(len(name) <= 16 for name in result.values())
