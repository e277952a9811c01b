"""``--set-aside CODE@DEVICE:TEXT --reason WHY`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.cli.run_options import RunOptions
from qosforge.errors import InputError
from qosforge.resources import root

POLICY = root() / "policies" / "campus-collaboration.yaml"


def options(set_aside: str | None, reason: str) -> RunOptions:
    return RunOptions(
        Path(POLICY), None, None, True, False, True, 1, "", None, None, set_aside=set_aside, reason=reason
    )


@pytest.mark.parametrize(
    ("words", "code", "device", "text"),
    [
        ("batfish-failed", "batfish-failed", "", ""),
        ("batfish-parse-warning@r1", "batfish-parse-warning", "r1", ""),
        ("batfish-undefined-reference@r1:class-map 'a@b'", "batfish-undefined-reference", "r1", "class-map 'a@b'"),
        ("batfish-failed:127.0.0.1:9996", "batfish-failed", "", "127.0.0.1:9996"),
    ],
)
def test_a_finding_is_named(words: str, code: str, device: str, text: str) -> None:
    aside = options(words, "known").request().set_aside
    assert aside is not None
    assert (aside.code, aside.device, aside.text, aside.reason) == (code, device, text, "known")


@pytest.mark.parametrize(
    ("words", "reason", "said"),
    [
        ("batfish-failed", "", "--reason"),
        (None, "known", "--set-aside"),
        ("round-trip@r1", "known", "set_aside.code"),
    ],
)
def test_what_is_wrong_is_said(words: str | None, reason: str, said: str) -> None:
    with pytest.raises(InputError) as wrong:
        options(words, reason).request()
    told = " ".join(f"{each.where} {each.message} {each.hint}" for each in wrong.value.problems())
    assert said in told
