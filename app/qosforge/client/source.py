"""The Git source of a policy: the commit of its work tree."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from qosforge.errors import InputError, Place

SECONDS = 15
"""Longest that Git may take; a work tree on a slow share is given up."""

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SCP = re.compile(r"(?:[^@/:\s]+@)?(?P<host>[^@/:\s]+):(?P<path>(?!//)[^@\s]+)")


@dataclass(frozen=True, slots=True)
class GitSource:
    """A policy's place in Git.

    ``repository`` is the remote's URL without credentials, or the work tree's name where there is none; ``path``
    the policy's below its root; ``dirty`` whether the policy differs from what ``commit`` holds.
    """

    repository: str
    commit: str
    path: str
    dirty: bool
    root: Path

    def document(self) -> dict[str, str]:
        """What a run records."""
        state = {"dirty": "yes"} if self.dirty else {}
        return {"repository": self.repository, "commit": self.commit, "path": self.path, **state}


def git_source(policy: Path) -> GitSource | None:
    """The commit a policy belongs to; ``None`` where there is no Git, no work tree, or no commit yet.

    Raises:
        InputError: Git refuses the work tree, or does not answer.
    """
    folder = policy.resolve().parent
    if not any((above / ".git").exists() for above in (folder, *folder.parents)):
        return None
    try:
        found = _git(folder, "rev-parse", "--show-toplevel")
        commit = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", may_fail=True)
    except FileNotFoundError:
        return None
    if not _HASH.fullmatch(commit):
        return None
    root = Path(found)
    path = policy.resolve().relative_to(root.resolve()).as_posix()
    # Of the one file alone: a whole work tree may be large, and is not what the run is made of.
    status = _git(root, "status", "--porcelain", "--ignored", "--untracked-files=all", "--", f":(literal){path}")
    return GitSource(_repository(root), commit, path, bool(status), root)


def _repository(root: Path) -> str:
    remotes = _git(root, "remote", may_fail=True).split()
    if not remotes:
        return root.name
    name = "origin" if "origin" in remotes else remotes[0]
    return without_credentials(_git(root, "config", "--get", f"remote.{name}.url", may_fail=True)) or root.name


def without_credentials(url: str) -> str:
    """A remote's URL without user, password, query and fragment; empty for a path of this machine."""
    if "://" not in url:
        scp = _SCP.fullmatch(url)
        return f"{scp['host']}:{scp['path']}" if scp else ""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme == "file" or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return urlunsplit((parts.scheme, f"{host}:{port}" if port else host, parts.path, "", ""))


def _git(folder: Path, *arguments: str, may_fail: bool = False) -> str:
    # No program that the work tree's own settings name is started, and nothing waits for a terminal.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    place = Place(file=str(folder))
    try:
        ended = subprocess.run(  # noqa: S603  # arguments of ours, no shell
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"git did not answer in {SECONDS} s", place, "try `git status` there") from None
    if ended.returncode and not may_fail:
        said = ended.stderr.strip().partition("\n")[0] or f"exit code {ended.returncode}"
        hint = "let Git trust it (`git config --global --add safe.directory`)" if "ownership" in said else ""
        raise InputError(f"git refuses: {said}", place, hint)
    return ended.stdout.strip()
