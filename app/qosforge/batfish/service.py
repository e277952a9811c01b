"""The Batfish service as one process uses it: few questions at once, each bounded, answers kept.

Who asks waits in a thread of its own and no computing process does: a service that hangs holds nobody up but those
who ask it, and no longer than its seconds. What comes of it is findings, whatever the service does.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from qosforge.batfish import process, question_list, questions
from qosforge.batfish.check import BatfishCheck
from qosforge.batfish.folder import BatfishFolder
from qosforge.batfish.http_exchange import Address, connect
from qosforge.batfish.networks import clean_up, new_name
from qosforge.batfish.process import BatfishFailed, NotAwaited
from qosforge.batfish.release import Match, NoRelease, client_release, match, service_release
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.settings import Settings

_WAITING_PER_QUESTION = 8
"""Questions that may wait for each that is asked; more are told at once that there are too many."""
_CLEAN_UP_SECONDS = 2.0
"""The share of a question's time that is for deleting its network."""
_CONNECT_SECONDS = 5.0
_FIRST_ANSWER_SECONDS = 15.0
"""How long a service may take to say which release it is: one that hangs is known as soon."""
_POLL_SECONDS = 0.5


class Unreachable(Exception):
    """Nothing accepts connections at the address of the service; the message says why."""


class BatfishService:
    """Questions of this process to Batfish; thread-safe."""

    def __init__(self, seconds: float, at_once: int = 2, folder: Path | None = None) -> None:
        """Questions have ``seconds`` each, and ``at_once`` are asked; ``folder`` is where answers are kept."""
        self._seconds = seconds
        self._turns = threading.BoundedSemaphore(at_once)
        self._room = threading.BoundedSemaphore(at_once * (1 + _WAITING_PER_QUESTION))
        self._place = folder
        self._folder: BatfishFolder | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()

    @classmethod
    def of(cls, settings: Settings) -> BatfishService:
        """The service of an installation."""
        return cls(settings.batfish_seconds, settings.batfish_at_once, settings.var_dir / "batfish")

    def close(self) -> None:
        """End all questions: the process ends."""
        self._closed.set()

    @property
    def is_closed(self) -> bool:
        """Whether the process ends, so that answers say nothing."""
        return self._closed.is_set()

    def check(
        self,
        check: BatfishCheck,
        address: Address | None,
        *,
        require: bool = False,
        within: float | None = None,
        unwanted: Callable[[], bool] | None = None,
    ) -> tuple[Finding, ...]:
        """What Batfish at ``address`` finds in a compilation, or that it did not check, in ``within`` seconds.

        With ``require``, not having checked is an error, except for devices that the network's rules name.

        Raises:
            NotAwaited: ``unwanted`` said so, or the process ends.
        """
        missing = check.not_modelled(require=require)
        required = check.requires(require=require)
        if address is None:
            return (note("batfish-not-checked", required=required), *missing)
        if not check.snapshots.after:
            return missing
        host, port = address.host, address.port
        try:
            found = check.findings_of(self._answers(check, address, within, unwanted), require=require)
        except Unreachable as error:
            return (
                note("batfish-unreachable", host=host, port=port, reason=str(error), required=required),
                *missing,
            )
        except BatfishFailed as error:
            return (note("batfish-failed", host=host, port=port, reason=str(error), required=required), *missing)
        except (LookupError, TypeError, ValueError, AttributeError):  # the service answered something else
            reason = "gave an answer that is not understood"
            return (note("batfish-failed", host=host, port=port, reason=reason, required=required), *missing)
        return (*found, *missing)

    def _answers(
        self, check: BatfishCheck, address: Address, within: float | None, unwanted: Callable[[], bool] | None
    ) -> Any:
        seconds = self._seconds if within is None else min(within, self._seconds)
        question = json.dumps(check.question, sort_keys=True)
        folder = self._kept()
        key = _key(address, question)
        kept = folder.kept_answers(key)
        if kept is not None:
            return kept
        if seconds <= 0:
            raise BatfishFailed("was not asked: the time of the request was over")
        deadline = time.monotonic() + seconds
        if not self._room.acquire(blocking=False):
            raise BatfishFailed("was not asked: too many wait for it already")
        try:
            self._wait_for_turn(deadline, unwanted)
            try:
                answers = self._ask(address, question, deadline, folder, unwanted)
            finally:
                self._turns.release()
        finally:
            self._room.release()
        if isinstance(answers, Mapping) and answers.get("failed") == {}:
            folder.keep_answers(key, answers)  # what failed, or is something else, may go well another time
        return answers

    def _wait_for_turn(self, deadline: float, unwanted: Callable[[], bool] | None) -> None:
        while (left := deadline - time.monotonic()) > 0:
            if self._turns.acquire(timeout=min(left, _POLL_SECONDS)):
                return
            if self._is_unwanted(unwanted):
                raise NotAwaited
        raise BatfishFailed("was not asked: others asked it all the time")

    def _ask(
        self,
        address: Address,
        question: str,
        deadline: float,
        folder: BatfishFolder,
        unwanted: Callable[[], bool] | None,
    ) -> Any:
        left = max(deadline - time.monotonic(), 0.01)
        _require_release(address, min(left, _CONNECT_SECONDS), min(left, _FIRST_ANSWER_SECONDS))
        name = new_name(folder.installation, left)
        cleaning = min(_CLEAN_UP_SECONDS, left / 4)
        try:
            with folder.workspace(name) as workspace:
                return process.ask(
                    address,
                    name,
                    question,
                    seconds=max(deadline - cleaning - time.monotonic(), 0.01),
                    folder=workspace,
                    unwanted=lambda: self._is_unwanted(unwanted),
                )
        finally:
            clean_up(address, folder.installation, name, cleaning)

    def _is_unwanted(self, unwanted: Callable[[], bool] | None) -> bool:
        return self.is_closed or (unwanted is not None and unwanted())

    def _kept(self) -> BatfishFolder:
        with self._lock:
            if self._folder is None:
                self._folder = BatfishFolder(self._place)
            return self._folder


def _require_release(address: Address, to_connect: float, to_answer: float) -> None:
    """Make sure that a service answers, and is of a release that our client is made for.

    Raises:
        Unreachable: nothing accepts connections.
        BatfishFailed: it does not answer, is no Batfish, or one of another release.
    """
    try:
        connect(address, to_connect).close()
    except OSError as error:
        raise Unreachable(error.strerror or str(error)) from error
    try:
        release = service_release(address, to_answer)
    except TimeoutError:
        raise BatfishFailed(f"did not answer within {to_answer:.3g} s") from None
    except (OSError, NoRelease) as error:
        raise BatfishFailed(f"failed: it {error}" if isinstance(error, NoRelease) else f"failed: {error}") from None
    if match(release, client_release()) is Match.OTHER:
        raise BatfishFailed(f"is release {release}, and was not asked: release {client_release()} is needed")


def _key(address: Address, question: str) -> str:
    """What answers are kept under: all that they depend on."""
    asked = [Path(str(module.__file__)).read_bytes() for module in (questions, question_list)]
    parts = (str(address).encode(), version("pybatfish").encode(), *asked, question.encode())
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def batfish_address(settings: Settings) -> Address | None:
    """Where the Batfish service of an installation listens; ``None`` without one."""
    return None if settings.batfish_host is None else Address(settings.batfish_host, settings.batfish_port)
