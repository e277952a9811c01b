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


def _ended(*words: object, closed: int | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """How the command ended, where a stream is ``closed``, that of this number."""
    program = [*QOSFORGE, *map(str, words)]
    if closed is not None:
        program = ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *program]
    return subprocess.run(program, cwd=root(), env={**os.environ, **environment}, capture_output=True, check=False)


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


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["words", "json"])
def test_a_closed_output_is_told_and_nothing_is_done(as_json: tuple[str, ...], tmp_path: Path) -> None:
    ended = _ended("policy", "new", "mine", "--in", tmp_path, *as_json, closed=1)
    assert ended.returncode == 2
    assert ended.stderr.startswith(b"error: standard output is closed\n")
    assert b"Traceback" not in ended.stderr
    assert not list(tmp_path.iterdir())


def test_closed_standard_error_is_not_in_the_way() -> None:
    ended = _ended("policy", "show", "campus-collaboration", closed=2)
    assert ended.returncode == 0
    assert b"voice-video" in ended.stdout


STARTED = """
import subprocess, sys
from qosforge.cli.streams import writable_streams
with writable_streams():
    sys.exit(subprocess.run(["sh", "-c", "echo lost >&2"]).returncode)
"""


@pytest.mark.parametrize("closed", ["2>&-", "0<&- 2>&-"])
def test_a_process_that_is_started_has_a_standard_error_too(closed: str) -> None:
    """Without one, the first file that it opens takes its number."""
    program = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", STARTED]
    assert subprocess.run(program, stdout=subprocess.DEVNULL, check=False).returncode == 0


UNBUFFERED = """
import os, sys
from qosforge.cli.streams import writable_streams
with writable_streams():
    sys.stdout.write("at once")
    os._exit(0)
"""


@pytest.mark.parametrize(("unbuffered", "printed"), [("", b""), ("1", b"at once")])
def test_an_unbuffered_output_stays_so(unbuffered: str, printed: bytes) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    ended = subprocess.run([sys.executable, "-c", UNBUFFERED], env=environment, capture_output=True, check=False)
    assert (ended.stdout, ended.stderr) == (printed, b"")


def test_a_document_is_there_before_its_command_ends() -> None:
    program = "import os\nfrom qosforge.cli.output import print_json\nprint_json({})\nos._exit(0)"
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    assert ended.stdout == b"{}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["words", "json"])
@pytest.mark.parametrize("words", [("policy", "list"), ("doctor", "python"), ("--version",)], ids=" ".join)
def test_a_full_output_is_told_in_one_line(words: tuple[str, ...], as_json: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*QOSFORGE, *words, *as_json], cwd=root(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ended.returncode == 3
    assert ended.stderr.startswith(b"error: standard output cannot be written: No space left on device\n")
    assert len(ended.stderr.splitlines()) == 2  # and its hint


INTERRUPTED_AT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from qosforge.cli.entry import main
main()
"""


@pytest.mark.parametrize("module", ["qosforge.cli.main", "rich.console", "qosforge.cli.policy"])
@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["words", "json"])
def test_an_interrupt_among_imports_is_told_as_any_other(module: str, as_json: tuple[str, ...]) -> None:
    program = [sys.executable, "-c", INTERRUPTED_AT.format(module=module), "policy", "list", *as_json]
    ended = subprocess.run(program, cwd=root(), capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr.startswith("error: interrupted\n")
    assert "Traceback" not in ended.stderr
    if as_json:
        assert json.loads(ended.stdout)["errors"][0]["message"] == "interrupted"
    else:
        assert ended.stdout == ""
