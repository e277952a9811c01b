"""The documentation, built once for the tests of a module as `make docs` does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qosforge.resources import root
from tests.checkout import PYTHONPATH


@pytest.fixture(scope="module")
def documentation_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; the build ends with an error where a link or an anchor leads nowhere."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "site/mkdocs.yml", "-d", str(folder)]
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=root(), env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
