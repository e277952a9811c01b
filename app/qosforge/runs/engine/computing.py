"""Computations of runs in separate processes: with limits, and stopped when their run has to stop."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import ParamSpec, TypeVar

from qosforge.batfish.check import BatfishCheck
from qosforge.batfish.http_exchange import Address
from qosforge.batfish.process import NotAwaited
from qosforge.batfish.service import BatfishService
from qosforge.compute import Compute, ComputeDied, NotWanted, start_server
from qosforge.deploy.sessions import ProcessEnding
from qosforge.errors import StoreError
from qosforge.findings import Finding
from qosforge.runs.record.stop_signal import RunStopped, StopSignal

P = ParamSpec("P")
T = TypeVar("T")
_BATFISH_SECONDS = 90.0


@dataclass(frozen=True)
class Computing:
    """The computing processes of a process that carries out runs, and how long one computation may take.

    ``finishing`` is kept for what runs that have touched devices compile: it waits behind no prediction, no sweep,
    and no run that has touched nothing. ``batfish`` has processes of its own.
    """

    compute: Compute
    seconds: float
    finishing: Compute = field(default_factory=lambda: Compute(1))
    batfish: BatfishService = field(default_factory=lambda: BatfishService(_BATFISH_SECONDS))
    _ending: Event = field(default_factory=Event, init=False, repr=False, compare=False)

    def warm_up(self) -> None:
        """Let the server of computing processes begin that will soon be needed, beside what comes before."""
        with contextlib.suppress(RuntimeError):  # this process ends
            start_server()

    def close(self) -> None:
        """Stop every computation, whatever it is at, and let no other begin: the process ends."""
        self._ending.set()
        self.batfish.close()
        self.compute.close()
        self.finishing.close()

    def run_to_end(self, run_id: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `run`, for what must come to its end: nothing stops it, and a process that died is replaced once."""
        call = partial(function, *args, **kwargs)
        try:
            try:
                return self.finishing.call(call, timeout=self.seconds, caller=run_id)
            except ComputeDied:
                return self.finishing.call(call, timeout=self.seconds, caller=run_id)
        except ComputeDied as error:
            if self._ending.is_set():
                raise ProcessEnding("the process ends") from error
            raise

    def run(
        self,
        run_id: str,
        stopped: Callable[[], StopSignal | None],
        function: Callable[P, T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """``function(*args, **kwargs)`` in a process beside; it is stopped once ``stopped`` gives a reason.

        The function is one of a module's own, and arguments and result can be pickled.

        Raises:
            RunStopped: the run is over.
            ProcessEnding: the process ends.
            TooBusy, TookTooLong, TookTooMuch, ComputeDied: as `Compute.call`.
        """
        asked = _Asked(stopped)
        try:
            call = partial(function, *args, **kwargs)
            return self.compute.call(call, timeout=self.seconds, caller=run_id, unwanted=asked)
        except NotWanted:
            raise RunStopped(asked.stops[-1]) from None
        except ComputeDied as error:
            if self._ending.is_set():
                raise ProcessEnding("the process ends") from error
            raise

    def check_with_batfish(
        self,
        stopped: Callable[[], StopSignal | None],
        check: BatfishCheck,
        address: Address | None,
        *,
        require: bool,
    ) -> tuple[Finding, ...]:
        """What Batfish finds, or that it did not check; given up once ``stopped`` gives a reason.

        Raises:
            RunStopped: the run is over.
            ProcessEnding: the process ends.
        """
        asked = _Asked(stopped)
        try:
            return self.batfish.check(check, address, require=require, unwanted=asked)
        except NotAwaited:
            if asked.stops:
                raise RunStopped(asked.stops[-1]) from None
            raise ProcessEnding("the process ends") from None


class _Asked:
    """Whether a run has to stop, with the reasons for it that were found."""

    def __init__(self, stopped: Callable[[], StopSignal | None]) -> None:
        self._stopped = stopped
        self.stops: list[StopSignal] = []

    def __call__(self) -> bool:
        try:
            stop = self._stopped()
        except StoreError:  # the database is away for a moment: it is asked again in a second
            return False
        self.stops.extend([stop] if stop is not None else [])
        return stop is not None
