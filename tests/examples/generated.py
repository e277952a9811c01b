"""Clients that generators of others make from the interface's document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_BIN = Path(sys.executable).parent


def generate_openapi_python_client(document: dict[str, Any], package: Path) -> str:
    """Let openapi-python-client write a package; what it printed. It fails on any warning.

    It knows of bytes by one media type alone: the PDF of a report is called that.
    """
    settings = package.with_suffix(".yaml")
    settings.write_text("content_type_overrides: {application/pdf: application/octet-stream}\n")
    options = ["--meta", "none", "--config", str(settings), "--output-path", str(package), "--fail-on-warning"]
    return _run(
        package.parent, "openapi-python-client", "generate", "--path", _written(document, package), *options
    )


def generate_clientele(document: dict[str, Any], package: Path) -> str:
    """Let Clientele write a package; what it printed, warnings included."""
    return _run(
        package.parent, "clientele", "start-api", "--file", _written(document, package), "--output", str(package)
    )


def _written(document: dict[str, Any], package: Path) -> str:
    path = package.with_suffix(".json")
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def _run(folder: Path, command: str, *arguments: str) -> str:
    environment = os.environ | {"PATH": os.pathsep.join([str(_BIN), os.environ["PATH"]]), "COLUMNS": "200"}
    environment.pop("PYTHONPATH", None)
    ended = subprocess.run(
        [str(_BIN / command), *arguments],
        cwd=folder,  # both let ruff tidy up what they wrote: not by the rules of this project
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    return ended.stdout
