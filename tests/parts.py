"""Optional parts of qosforge that tests need: what they miss on this machine, told once and in the same words."""

from __future__ import annotations

from functools import cache

import httpx2
import pytest

from qosforge.resources import root
from qosforge.system_packages import install_command, parts

SAMPLES = root().parent / "shared" / "samples"
"""Configurations that makers and users published: they are not ours to keep in the checkout."""


@cache
def why_not(name: str) -> str | None:
    """Why tests of a part cannot run here, and what installs it; ``None`` where they can."""
    part = parts()[name]
    missing = part.missing()
    if not missing:
        return None
    return f"{part.title}: missing {', '.join(missing)} (to install: {install_command(missing)})"


def need(name: str) -> None:
    """Skip the test that is about to run, with the reason, where the part is missing. Fixtures call it.

    A test may ask for a fixture while it runs, so what is known when tests are collected does not tell.
    """
    missing = why_not(name)
    if missing is not None:
        pytest.skip(missing)


def is_refused(answer: httpx2.Response) -> bool:
    """Whether a PDF was refused because packages are missing; without some of them one can be made all the same."""
    return answer.status_code == 501 and why_not("pdf") is not None
