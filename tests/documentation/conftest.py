"""The documentation, built once for all tests of a process as `make docs` does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from qosforge.api.backend import Backend, open_backend
from qosforge.resources import root
from qosforge.settings import Settings
from qosforge.web import documentation
from qosforge.web.site import create_site
from tests.checkout import PYTHONPATH


@pytest.fixture(scope="session")
def documentation_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; the build ends with an error where a link or an anchor leads nowhere."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "site/mkdocs.yml", "-d", str(folder)]
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=root(), env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as made:
        yield made


@pytest.fixture
def with_documentation(documentation_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documentation, "FOLDER", documentation_folder)


@contextmanager
def listening(backend: Backend) -> Iterator[str]:
    """The site's address, served by a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as at:
        server = uvicorn.Server(uvicorn.Config(create_site(backend), log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [at]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{at.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
