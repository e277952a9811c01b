"""The streams of the process: encodings that lack a character, closed and full ones, an early interrupt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from qosforge.resources import root

QOSFORGE = [sys.executable, "-c", "from qosforge.cli.entry import main; main()"]


def _ended(*words: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*QOSFORGE, *map(str, words)],
        cwd=root(),
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "ascii:strict"])
def test_what_an_encoding_lacks_is_written_as_its_escape(encoding: str) -> None:
    ended = _ended("policy", "show", "campus-collaboration", PYTHONIOENCODING=encoding)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"\\u2013" in ended.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_document_is_read_as_it_was_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    missing = tmp_path / "Büro → 📞.yaml"
    ended = _ended("policy", "show", missing, "--json", PYTHONIOENCODING=encoding, PYTHONUTF8="1")
    assert ended.returncode == 2
    assert json.loads(ended.stdout.decode(encoding))["errors"][0]["file"] == str(missing)
