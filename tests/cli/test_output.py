"""Files that the user asked for: whole, or what was there stays."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path

import pytest

from qosforge.cli.output import require_writable, write_file
from qosforge.errors import InputError
from tests.full_disk import largest_file


def test_what_was_there_stays_where_the_disk_is_full(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text("the earlier one", encoding="utf-8")
    with largest_file(1000), pytest.raises(InputError, match="cannot be written: File too large"):
        write_file(path, "x" * 2000)
    assert path.read_text(encoding="utf-8") == "the earlier one"
    assert list(tmp_path.iterdir()) == [path]


def test_no_file_is_left_where_none_was(tmp_path: Path) -> None:
    with largest_file(1000), pytest.raises(InputError):
        write_file(tmp_path / "new.yaml", "x" * 2000)
    assert not list(tmp_path.iterdir())


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "kept", tmp_path / "link"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    write_file(link, "new")
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_is_made_as_any_other(tmp_path: Path) -> None:
    write_file(tmp_path / "new", b"text")
    (tmp_path / "other").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_file(pipe, "text")
    reader.join()
    assert (read, pipe.is_fifo()) == (["text"], True)


def test_a_link_to_itself_is_told(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    for told in (require_writable, partial(write_file, content="text")):
        with pytest.raises(InputError, match="cannot be written: Too many levels of symbolic links"):
            told(link)
    assert list(tmp_path.iterdir()) == [link]
