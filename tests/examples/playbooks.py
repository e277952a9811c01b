"""Ansible as somebody has it who installed the collection, and has no settings of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.checkout import PYTHONPATH, ROOT

COLLECTION = ROOT / "clients" / "ansible"
PLAYBOOK = Path(__file__).with_name("playbook.yml")
MODULES = ("policy", "preview", "run")


def installed(folder: Path) -> dict[str, str]:
    """The environment, with the collection in ``folder``."""
    place = folder / "collections" / "ansible_collections" / "qosforge"
    place.mkdir(parents=True)
    (place / "qosforge").symlink_to(COLLECTION)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "QOSFORGE_"))}
    return kept | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": PYTHONPATH,
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
    }


def command(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """A command of Ansible, once it ended."""
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=300)
