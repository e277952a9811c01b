"""Commands that show configuration."""

from __future__ import annotations

from app.resources import root

from .conftest import Command

POLICY = root() / "policies" / "campus-collaboration.yaml"


def test_configuration_is_printed_whole_line_by_line(qosforge: Command) -> None:
    shown = qosforge("compile", POLICY, "--device", "ers5510").stdout
    golden = (root() / "tests" / "golden" / "campus-collaboration" / "ers5510.cfg").read_text()
    long = max(golden.splitlines(), key=len)
    assert long in shown.splitlines()
