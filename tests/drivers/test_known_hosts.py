"""What known_hosts files have of one host: what Paramiko reads, at a cost that grows with the devices alone."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import asyncssh
import paramiko
import pytest
from cli_candidate.known_hosts import known_keys, known_patterns
from paramiko.hostkeys import HostKeyEntry, InvalidHostKey


def public(kind: str = "ssh-ed25519") -> str:
    """A new public key, as known_hosts has it."""
    return " ".join(asyncssh.generate_private_key(kind).export_public_key().decode().split()[:2])


def written(file: Path, *lines: str) -> str:
    file.write_text("".join(f"{line}\n" for line in lines))
    return str(file)


def as_text(keys: paramiko.HostKeys, name: str) -> dict[str, str]:
    return {kind: key.get_base64() for kind, key in (keys.lookup(name) or {}).items()}


def test_it_finds_what_paramiko_finds(tmp_path: Path) -> None:
    hashed = paramiko.HostKeys.hash_host("[sw9]:2022")
    file = written(
        tmp_path / "known_hosts",
        "# switches",
        "",
        f"sw1 {public()}",
        f"sw2,192.0.2.2 {public()} a comment",
        f"sw2 {public()}",
        f"sw2 {public('ecdsa-sha2-nistp256')}",
        f"{hashed} {public()}",
        "sw3 ssh-ed25519 " + base64.b64encode(b"no key").decode(),
        f"sw3 {public('ecdsa-sha2-nistp256')}",
        "sw4 too-few",
    )
    of_paramiko = paramiko.HostKeys(file)
    for name in ("sw1", "sw2", "192.0.2.2", "[sw9]:2022", "sw9", "sw3", "sw4", "sw5"):
        assert as_text(known_keys([file], name), name) == as_text(of_paramiko, name), name
    assert as_text(known_keys([file], "[sw9]:2022"), "[sw9]:2022")
    assert len(as_text(known_keys([file], "sw2"), "sw2")) == 2


def test_a_broken_line_fails_for_its_own_host_alone(tmp_path: Path) -> None:
    file = written(tmp_path / "known_hosts", "sw1 ssh-ed25519 no-base64-at-all", f"sw2 {public()}")
    assert as_text(known_keys([file], "sw2"), "sw2")
    with pytest.raises(InvalidHostKey):
        known_keys([file], "sw1")


def test_a_revoked_key_is_not_known_and_marked_lines_do_no_harm(tmp_path: Path) -> None:
    key = public()
    file = written(
        tmp_path / "known_hosts",
        f"@cert-authority *.example {public()}",
        f"@revoked * {key}",
        f"sw1 {key}",
        f"sw2 {public()}",
    )
    assert not as_text(known_keys([file], "sw1"), "sw1")
    assert as_text(known_keys([file], "sw2"), "sw2")


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    first, second = public(), public()
    file = written(tmp_path / "known_hosts", f"sw1 {first}")
    assert as_text(known_keys([file], "sw1"), "sw1") == {"ssh-ed25519": first.split()[1]}
    before = Path(file).stat()
    written(tmp_path / "known_hosts", f"sw1 {second}")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert as_text(known_keys([file], "sw1"), "sw1") == {"ssh-ed25519": second.split()[1]}
    assert known_patterns([file]).match("sw1", "", None)[0][0].export_public_key().decode().split()[1] in second


def test_the_first_of_several_files_counts(tmp_path: Path) -> None:
    first, second = public(), public()
    files = [written(tmp_path / "a", f"sw1 {first}"), written(tmp_path / "b", f"sw1 {second}", f"sw2 {second}")]
    assert as_text(known_keys(files, "sw1"), "sw1") == {"ssh-ed25519": first.split()[1]}
    assert as_text(known_keys(files, "sw2"), "sw2") == {"ssh-ed25519": second.split()[1]}


def test_each_device_costs_its_own_keys_however_many_others_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    original = HostKeyEntry.from_line.__func__

    def counted(cls: type[HostKeyEntry], line: str, number: int | None = None) -> HostKeyEntry | None:
        parsed.append(line)
        return original(cls, line, number)

    monkeypatch.setattr(HostKeyEntry, "from_line", classmethod(counted))
    key = public()
    names = [f"sw{number}" for number in range(200)]
    file = written(tmp_path / "known_hosts", *(f"{name} {key}" for name in names))
    for name in names:
        assert as_text(known_keys([file], name), name)
    assert len(parsed) == len(names)
