"""The command line's fixture; the published modules' tests are collected only where the modules are."""

from __future__ import annotations

from tests.cli.conftest import qosforge
from tests.openconfig.schema import PUBLISHED

__all__ = ["qosforge"]

collect_ignore = [] if PUBLISHED.is_dir() else ["test_published_yang.py"]
