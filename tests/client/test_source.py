"""The commit of a policy, from real Git work trees."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from qosforge.client.source import GitSource, git_source, without_credentials
from qosforge.errors import InputError


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


pytestmark = pytest.mark.needs("git")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "net work"
    (made / "policies").mkdir(parents=True)
    git(made, "init", "-q")
    (made / "policies" / "p.yaml").write_text("version: 1\n")
    git(made, "add", ".")
    git(made, "commit", "-qm", "first")
    return made


def of(tree: Path) -> GitSource:
    found = git_source(tree / "policies" / "p.yaml")
    assert found is not None
    return found


def test_a_policy_in_a_work_tree_has_its_commit(tree: Path) -> None:
    assert of(tree).document() == {
        "repository": "net work",
        "commit": git(tree, "rev-parse", "HEAD"),
        "path": "policies/p.yaml",
    }


@pytest.mark.parametrize("change", ["edited", "staged"])
def test_a_changed_policy_is_dirty(tree: Path, change: str) -> None:
    (tree / "policies" / "p.yaml").write_text("version: 2\n")
    if change == "staged":
        git(tree, "add", ".")
    assert of(tree).document()["dirty"] == "yes"


def test_another_file_that_changed_does_not_matter(tree: Path) -> None:
    (tree / "policies" / "other.yaml").write_text("version: 2\n")
    assert not of(tree).dirty


@pytest.mark.parametrize("ignored", [False, True])
def test_a_policy_that_git_does_not_have_is_dirty(tree: Path, ignored: bool) -> None:
    if ignored:
        (tree / ".gitignore").write_text("new.yaml\n")
    (tree / "policies" / "new.yaml").write_text("version: 2\n")
    found = git_source(tree / "policies" / "new.yaml")
    assert found is not None
    assert found.dirty


def test_a_detached_and_a_shallow_clone_work(tree: Path, tmp_path: Path) -> None:
    first = git(tree, "rev-parse", "HEAD")
    git(tree, "commit", "-qm", "second", "--allow-empty")
    git(tree, "checkout", "-q", "--detach", first)
    assert of(tree).commit == first

    git(tree, "checkout", "-q", "main")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tree}", str(clone))
    assert (of(clone).commit, of(clone).repository) == (git(tree, "rev-parse", "HEAD"), "clone")


def test_the_remote_names_the_repository_without_its_token(tree: Path) -> None:
    git(tree, "remote", "add", "origin", "https://ci:glpat-secret@git.example.org:8443/net/qos.git?x=1")
    assert of(tree).repository == "https://git.example.org:8443/net/qos.git"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://oauth2:t0ken@git.example.org/a/b", "https://git.example.org/a/b"),
        ("ssh://git:pass@[2001:db8::1]:22/a", "ssh://[2001:db8::1]:22/a"),
        ("git@git.example.org:a/b.git", "git.example.org:a/b.git"),
        ("git:pass@git.example.org:a/b.git", ""),
        ("/srv/secret/path", ""),
        ("../up", ""),
        ("file:///srv/secret", ""),
        ("https://host:notaport/x", ""),
    ],
)
def test_no_credentials_and_no_local_path_leave(url: str, expected: str) -> None:
    assert without_credentials(url) == expected


def test_a_policy_outside_of_git_has_none(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("version: 1\n")
    assert git_source(tmp_path / "p.yaml") is None


def test_a_work_tree_without_a_commit_has_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "p.yaml").write_text("version: 1\n")
    assert git_source(tmp_path / "p.yaml") is None


def test_without_the_program_there_is_none(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tree))
    assert git_source(tree / "policies" / "p.yaml") is None


def test_a_broken_work_tree_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    (tmp_path / "p.yaml").write_text("version: 1\n")
    with pytest.raises(InputError, match="git refuses"):
        git_source(tmp_path / "p.yaml")


def test_nothing_that_the_work_tree_names_is_run(tree: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    git(tree, "config", "core.fsmonitor", str(trap))
    assert not of(tree).dirty
    assert not (tmp_path / "sprung").exists()
