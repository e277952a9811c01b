"""What an installation keeps of Batfish in its run directory: its name there, answers, and files of the moment."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qosforge.batfish.networks import is_stale

LONGEST_ANSWERS = 64 << 20
"""Bytes of the answers that are kept, those first that were used last."""
OLDEST_SECONDS = 24 * 3600
"""How long an answer counts: a service may be replaced by another release."""


class BatfishFolder:
    """A folder, or none: then nothing is kept. What cannot be read or written is done without."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.installation = self._installation() if folder else secrets.token_hex(4)

    def _installation(self) -> str:
        assert self._folder
        file = self._folder / "installation"
        name = secrets.token_hex(4)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError), file.open("x", encoding="ascii") as new:
                new.write(name)
            read = file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeError):
            return name
        return read if re.fullmatch(r"[0-9a-f]{8}", read) else name

    @contextmanager
    def workspace(self, name: str) -> Iterator[Path]:
        """A folder for the files of one question; what killed processes left of theirs goes, too."""
        parent = self._folder / "questions" if self._folder else None
        with contextlib.ExitStack() as stack:
            try:
                path = self._new_workspace(parent, name) if parent else None
            except OSError:
                path = None
            if path is None:
                path = Path(stack.enter_context(TemporaryDirectory(prefix="qosforge-batfish-")))
            else:
                stack.callback(shutil.rmtree, path, ignore_errors=True)
            yield path

    def _new_workspace(self, parent: Path, name: str) -> Path:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in parent.iterdir():
            if is_stale(left.name, self.installation):
                shutil.rmtree(left, ignore_errors=True)
        path = parent / name
        path.mkdir(mode=0o700)
        return path

    def kept_answers(self, key: str) -> Any:
        """The answers that are kept under a key; ``None`` without any."""
        if self._folder is None:
            return None
        file = self._answer_file(key)
        try:
            if time.time() - file.stat().st_mtime > OLDEST_SECONDS:
                return None
            answers = json.loads(file.read_bytes())
            os.utime(file, (time.time(), file.stat().st_mtime))
        except (OSError, ValueError):
            return None
        return answers

    def keep_answers(self, key: str, answers: Any) -> None:
        """Keep answers; others go as far as there is no room, those first that nobody has used for longest."""
        if self._folder is None:
            return
        text = json.dumps(answers)
        if len(text) > LONGEST_ANSWERS:
            return
        file = self._answer_file(key)
        new = file.with_suffix(f".{secrets.token_hex(4)}")
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.write_text(text, encoding="utf-8")
            new.replace(file)
            self._make_room(file.parent)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)

    def _answer_file(self, key: str) -> Path:
        assert self._folder
        return self._folder / "answers" / f"{key}.json"

    @staticmethod
    def _make_room(folder: Path) -> None:
        files = sorted(((file, file.stat()) for file in folder.iterdir()), key=lambda each: -each[1].st_atime)
        total = 0
        for file, status in files:
            total += status.st_size
            if total > LONGEST_ANSWERS or time.time() - status.st_mtime > OLDEST_SECONDS:
                file.unlink(missing_ok=True)
