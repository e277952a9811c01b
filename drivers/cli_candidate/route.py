"""The route of a session to its device: the transport, and the jump host if there is one."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from cli_candidate.guard import SessionGuard
from cli_candidate.login_slots import LOGIN_SLOTS

Transport = Literal["ssh", "ssh-legacy", "telnet"]
"""``ssh`` with the algorithms that count as safe; ``ssh-legacy`` with those of devices that know no other (key
exchanges and RSA signatures with SHA-1, 3DES: RFC 4253); ``telnet``, also to a port of a console server."""

_LONGEST_WORDS = 500
SSH_PORT = 22


@dataclass(frozen=True, slots=True)
class SessionRoute:
    """How a session reaches its device.

    ``jump`` is the command whose standard input and output are a connection to the device, such as
    ``ssh -W host:port bastion``; empty: a TCP connection of one's own.
    """

    transport: Transport = "ssh"
    jump: tuple[str, ...] = ()


def connect(guard: SessionGuard, jump: Sequence[str], host: str, port: int, seconds: float | None) -> socket.socket:
    """A watched connection to the device; ``seconds`` bounds a TCP connection of one's own. Through a jump host it
    waits for its turn to log in there, which is no time of the session.

    Raises:
        OSError: nothing accepts it, or there is no such command.
        LimitExceededError, SessionStoppedError: see `SessionGuard.check`.
    """
    if not jump:
        return guard.connect(host, port, seconds)
    # The last word names the jump host, as `describe_failure` does.
    with guard.apart():
        end_turn = LOGIN_SLOTS.acquire(jump[-1], guard.check_cut)
    try:
        return guard.adopt(*_start_jump(jump, end_turn))
    except BaseException:
        end_turn()
        raise


def known_hosts_name(host: str, port: int) -> str:
    """A host as known_hosts has it (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)."""
    return host if port == SSH_PORT else f"[{host}]:{port}"


def describe_failure(jump: Sequence[str], said: str) -> str:
    """That no connection came about through a jump host, and what was said about it."""
    return f"no way through {jump[-1]}: {said}"


class JumpProcess:
    """The process that carries a session, and what it says when it fails."""

    def __init__(self, command: Sequence[str], inside: socket.socket, end_turn: Callable[[], None]) -> None:
        """``end_turn`` is called once it has logged in to the jump host, or ends."""
        self._end_turn = end_turn
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        # Of its own process group, so that a key pressed at the terminal does not end it before the session.
        self._process = subprocess.Popen(  # noqa: S603  (a list, from the administrator's own inventory)
            list(command), stdin=inside, stdout=inside, stderr=self._words, process_group=0
        )

    def last_words(self) -> str:
        """Its last words on standard error, in one line; empty where it said nothing."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        size = os.fstat(self._words.fileno()).st_size
        tail = os.pread(self._words.fileno(), _LONGEST_WORDS, max(0, size - _LONGEST_WORDS))
        lines = [line.strip() for line in tail.decode(errors="replace").splitlines() if line.strip()]
        return lines[-1] if lines else ""

    def note_activity(self) -> None:
        """Something came through it, or it closed."""
        self._end_turn()

    def end(self) -> None:
        """End it, if it has not."""
        self._end_turn()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._words.close()


def _start_jump(command: Sequence[str], end_turn: Callable[[], None]) -> tuple[socket.socket, JumpProcess]:
    outside, inside = socket.socketpair()
    with inside:
        try:
            return outside, JumpProcess(command, inside, end_turn)
        except BaseException:
            outside.close()
            raise
