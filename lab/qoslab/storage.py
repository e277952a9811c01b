"""What a box keeps over a restart: startup configuration, flash files, host key, port."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from qoslab.errors import BoxError

FULL = "Not enough space on device"  # the reason in Cisco's field notice 13000
FLASH_BYTES = 63998976  # the size the sheets' sample `dir flash:` shows


class Storage:
    """The directory of one box. Files are written whole or not at all."""

    def __init__(self, folder: Path, startup: str) -> None:
        """``startup`` becomes the startup configuration at the very first boot only."""
        self.folder = folder
        self.is_full: Callable[[], bool] = lambda: False
        """Asked wherever room counts; a planted fault answers."""
        self.flash = folder / "flash"
        self.flash.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        if not self._path("startup-config").exists():
            self.save_startup(startup)
        if not self._path("factory-config").exists():
            self._write(self._path("factory-config"), startup.encode())

    def startup(self) -> str:
        """The startup configuration."""
        return self._path("startup-config").read_text()

    def save_startup(self, text: str) -> None:
        """Write the startup configuration."""
        self._write(self._path("startup-config"), text.encode())

    def factory(self) -> str:
        """The configuration of the first boot: it says which interfaces the box was delivered with."""
        return self._path("factory-config").read_text()

    def remember(self, name: str, text: str) -> None:
        """Keep a small value (port, host key) beside the configuration."""
        self._write(self._path(name), text.encode())

    def recall(self, name: str) -> str | None:
        """A value kept before."""
        with contextlib.suppress(FileNotFoundError):
            return self._path(name).read_text()
        return None

    # -- flash -------------------------------------------------------------------------------------------
    def read(self, name: str) -> bytes | None:
        """A flash file, None when there is none. Raises BoxError for a name that is not a plain one."""
        with contextlib.suppress(FileNotFoundError):
            return self._flash(name).read_bytes()
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write a flash file. Raises BoxError for a bad name or when flash is full."""
        path = self._flash(name)
        if self.is_full() or len(data) > self._room() + len(self.read(name) or b""):
            raise BoxError(FULL)
        self._write(path, data)

    def erase(self, name: str) -> bool:
        """Delete a flash file; False when there was none."""
        with contextlib.suppress(FileNotFoundError):
            self._flash(name).unlink()
            return True
        return False

    def files(self) -> list[tuple[str, int]]:
        """Names and sizes on flash."""
        return sorted((path.name, path.stat().st_size) for path in self.flash.iterdir() if path.is_file())

    def free(self) -> int:
        """Free bytes on flash, as the box shows them."""
        return 0 if self.is_full() else self._room()

    def _room(self) -> int:
        return FLASH_BYTES - sum(size for _, size in self.files())

    def _flash(self, name: str) -> Path:
        if not name or name.startswith(".") or "/" in name or "\\" in name or "\0" in name or len(name) > 120:
            raise BoxError(f"bad flash file name {name!r}")
        return self.flash / name

    def _path(self, name: str) -> Path:
        return self.folder / name

    @staticmethod
    def _write(path: Path, data: bytes) -> None:
        handle, made = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(made).replace(path)
        except OSError:
            Path(made).unlink(missing_ok=True)
            raise
