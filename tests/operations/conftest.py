"""The command line of the tests of commands serves here, too."""

from __future__ import annotations

from tests.cli.conftest import Ended, qosforge

__all__ = ["Ended", "qosforge"]
