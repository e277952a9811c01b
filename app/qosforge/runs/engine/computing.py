"""Computations of runs in separate processes: with limits, and stopped when their run has to stop."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import ParamSpec, TypeVar

from qosforge.compute import Compute, ComputeDied, NotWanted, start_server
from qosforge.deploy.sessions import ProcessEnding
from qosforge.errors import StoreError
from qosforge.runs.record.stop_signal import RunStopped, StopSignal

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Computing:
    """The computing processes of a process that carries out runs, and how long one computation may take.

    ``finishing`` is kept for what runs that have touched devices compile: it waits behind no prediction, no sweep,
    and no run that has touched nothing.
    """

    compute: Compute
    seconds: float
    finishing: Compute = field(default_factory=lambda: Compute(1))
    _ending: Event = field(default_factory=Event, init=False, repr=False, compare=False)

    def warm_up(self) -> None:
        """Let the server of computing processes begin that will soon be needed, beside what comes before."""
        with contextlib.suppress(RuntimeError):  # this process ends
            start_server()

    def close(self) -> None:
        """Stop every computation, whatever it is at, and let no other begin: the process ends."""
        self._ending.set()
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
        found: list[StopSignal] = []

        def unwanted() -> bool:
            try:
                stop = stopped()
            except StoreError:  # the database is away for a moment: it is asked again in a second
                return False
            found.extend([stop] if stop is not None else [])
            return stop is not None

        try:
            call = partial(function, *args, **kwargs)
            return self.compute.call(call, timeout=self.seconds, caller=run_id, unwanted=unwanted)
        except NotWanted:
            raise RunStopped(found[-1]) from None
        except ComputeDied as error:
            if self._ending.is_set():
                raise ProcessEnding("the process ends") from error
            raise
