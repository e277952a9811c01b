"""Files that the user asked for: whole, or what was there stays."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from qosforge.cli.output import print_error, require_writable, write_file
from qosforge.errors import DeviceError, DeviceErrors, InputError, Place, QosforgeError
from tests.full_disk import largest_file

NOBODY = 65534


@contextmanager
def not_as_root() -> Iterator[None]:
    """What root may do is refused in the block."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if user == 0:
            os.seteuid(user)
            os.setegid(group)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may write to; `tmp_path` is its owner's alone."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o777)
        yield Path(made)


def test_what_was_there_stays_where_the_disk_is_full(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text("the earlier one", encoding="utf-8")
    with largest_file(1000), pytest.raises(InputError, match="cannot be written: File too large"):
        write_file(path, "x" * 2000)
    assert path.read_text(encoding="utf-8") == "the earlier one"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_wrong_with_many_devices_alike_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    def problems(count: int) -> list[QosforgeError]:
        return [DeviceError("refused the login", Place(device=f"sw{n}"), "see its key") for n in range(count)]

    print_error(DeviceErrors("several", Place(), "", [*problems(3), DeviceError("is away", Place(device="r1"))]))
    assert capsys.readouterr().err == (
        "error: sw0, sw1, sw2: refused the login\n       see its key\nerror: r1: is away\n"
    )
    print_error(DeviceErrors("several", Place(), "", problems(300)))
    told = " ".join(capsys.readouterr().err.split())
    assert "sw0, sw1," in told
    assert "sw11 and 288 more: refused the login" in told
    assert told.count("see its key") == 1


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


def test_a_file_in_a_folder_of_others_is_written(folder: Path) -> None:
    path = folder / "report.md"
    path.write_text("the earlier, longer one", encoding="utf-8")
    path.chmod(0o666)
    folder.chmod(0o555)
    try:
        with not_as_root():
            require_writable(path)
            assert path.read_text(encoding="utf-8") == "the earlier, longer one"
            write_file(path, "new")
            for told in (require_writable, partial(write_file, content="text")):
                with pytest.raises(InputError, match="cannot be written: Permission denied"):
                    told(folder / "other.md")
    finally:
        folder.chmod(0o777)
    assert path.read_text(encoding="utf-8") == "new"
    assert list(folder.iterdir()) == [path]


def test_a_read_only_file_is_refused(folder: Path) -> None:
    path = folder / "kept"
    with not_as_root():
        path.write_text("old", encoding="utf-8")
        path.chmod(0o444)
        for told in (require_writable, partial(write_file, content="new")):
            with pytest.raises(InputError, match="cannot be written: Permission denied"):
                told(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(folder.iterdir()) == [path]


@pytest.mark.root
def test_owner_and_group_stay_and_the_earlier_one_on_a_full_disk(folder: Path) -> None:
    path = folder / "theirs"
    path.write_text("old", encoding="utf-8")
    os.chown(path, NOBODY, NOBODY)
    path.chmod(0o640)
    with largest_file(1000), pytest.raises(InputError):
        write_file(path, "x" * 2000)
    assert path.read_text(encoding="utf-8") == "old"
    write_file(path, "new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (NOBODY, NOBODY, 0o640)
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.root
def test_a_file_of_somebody_else_stays_theirs(folder: Path) -> None:
    path = folder / "theirs"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o666)
    with not_as_root():
        require_writable(path)
        write_file(path, "new")
    assert (path.stat().st_uid, path.read_text(encoding="utf-8")) == (0, "new")
    assert list(folder.iterdir()) == [path]


def test_a_second_name_stays_one_of_the_same_file(tmp_path: Path) -> None:
    path, second = tmp_path / "one", tmp_path / "two"
    path.write_text("old", encoding="utf-8")
    second.hardlink_to(path)
    write_file(path, "new")
    assert (second.read_text(encoding="utf-8"), second.samefile(path)) == ("new", True)


def test_attributes_stay(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("old", encoding="utf-8")
    try:
        os.setxattr(path, "user.note", b"ours")
    except (OSError, AttributeError):
        pytest.skip("a file system without attributes")
    write_file(path, "new")
    assert (path.read_text(encoding="utf-8"), os.getxattr(path, "user.note")) == ("new", b"ours")


def test_a_mounted_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mounted"
    path.write_text("old", encoding="utf-8")

    def refused(*_: object) -> None:  # as rename(2) says of a file that something is mounted at
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(Path, "replace", refused)
    write_file(path, "new")
    assert path.read_text(encoding="utf-8") == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1", "link"])
def test_a_redirected_output_stays_the_same_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    wanted = tmp_path / name
    program = f"""
from pathlib import Path
from qosforge.cli.output import require_writable, write_file
require_writable(Path({str(wanted)!r}))
write_file(Path({str(wanted)!r}), "report\\n")
print("more", flush=True)
"""
    path = tmp_path / "printed"
    with path.open("ab") as output:
        subprocess.run([sys.executable, "-c", program], stdout=output, check=True)
    assert path.read_text(encoding="utf-8") == "report\nmore\n"


def test_trying_leaves_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("old", encoding="utf-8")
    for path in (kept, tmp_path / "folder" / "new"):
        require_writable(path)
    assert (kept.read_text(encoding="utf-8"), list((tmp_path / "folder").iterdir())) == ("old", [])
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        require_writable(tmp_path)


def test_the_disk_is_waited_for_where_a_file_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    write_file(tmp_path / "new", "text")
    assert not waits
    write_file(tmp_path / "new", "other text")
    assert len(waits) == 1
