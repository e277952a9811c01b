"""What an installation chooses of the limits of device sessions."""

from __future__ import annotations

import math
import re
from dataclasses import fields

import pytest
from cli_candidate.limits import SessionLimits

from qosforge.deploy.commit_confirm import LEAST_SECONDS
from qosforge.deploy.sessions import Sessions, setting_of
from qosforge.errors import InputErrors
from qosforge.resources import root
from qosforge.settings import load_settings


def test_what_is_not_chosen_is_as_the_drivers_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Sessions(load_settings().device_limits).limits == SessionLimits()
    monkeypatch.setenv(setting_of("read", "bytes"), "33554432")
    monkeypatch.setenv(setting_of("login", "silence"), "7.5")
    chosen = Sessions(load_settings().device_limits).limits
    assert (chosen.read.bytes, chosen.read.seconds) == (33554432, SessionLimits().read.seconds)
    assert chosen.login.silence == 7.5
    assert chosen.batch == SessionLimits().batch


def test_a_change_is_entered_and_read_before_a_device_takes_it_back() -> None:
    assert SessionLimits().batch.seconds + SessionLimits().read.seconds < LEAST_SECONDS


@pytest.mark.parametrize(
    ("step", "quantity", "value"),
    [
        ("read", "bytes", "0"),
        ("read", "bytes", "much"),
        ("login", "seconds", "-1"),
        ("login", "seconds", "inf"),
        ("login", "silence", "nan"),
        ("login", "hours", "1"),
        ("reed", "bytes", "5"),
    ],
)
def test_a_wrong_limit_is_named_by_its_variable(
    step: str, quantity: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(setting_of(step, quantity), value)
    with pytest.raises(InputErrors) as caught:
        load_settings()
    (problem,) = caught.value.errors
    named = problem.where.path or ""
    assert setting_of(step, quantity).startswith(named)
    assert named.startswith("QOSFORGE_DEVICE_LIMITS__")


def test_the_documented_defaults_are_the_drivers() -> None:
    text = (root() / "docs" / "devices.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (\S+)(?: s)? \| (\S+)(?: s)? \| (\d+) MiB \|$", text, re.MULTILINE)
    told = {step: (silence, seconds, int(size)) for step, silence, seconds, size in rows}

    def shown(seconds: float) -> str:
        return "–" if math.isinf(seconds) else f"{seconds:g}"

    limits = {field.name: getattr(SessionLimits(), field.name) for field in fields(SessionLimits)}
    assert told == {
        name: (shown(limit.silence), shown(limit.seconds), limit.bytes >> 20) for name, limit in limits.items()
    }
