"""NAPALM drivers whose every public method is a step with limits."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, get_args

from napalm.base.base import NetworkDriver

from cli_candidate.guard import SessionGuard
from cli_candidate.limits import SessionLimits, Step
from cli_candidate.route import SessionRoute, Transport

#: The step that a method of NAPALM's is; every other one is ``show``.
_STEPS: dict[str, Step] = {
    "open": "login",
    "close": "logout",
    "get_config": "read",
    "compare_config": "read",
    "load_merge_candidate": "batch",
    "load_replace_candidate": "batch",
    "commit_config": "batch",
    "discard_config": "batch",
    "rollback": "batch",
    "confirm_commit": "save",
}


class BoundedDriver(NetworkDriver):
    """Mixed into a driver: what it and its subclasses have as public methods runs within the limits of a step.

    More ``optional_args``: ``limits`` (a :class:`SessionLimits`), or ``session_guard``, a guard by which somebody
    else stops the session from another thread; ``transport`` and ``jump``, the way to the device
    (:class:`cli_candidate.route.SessionRoute`).
    """

    guard: SessionGuard
    route: SessionRoute

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for name in dir(cls):
            method = inspect.getattr_static(cls, name)
            if isinstance(method, FunctionType) and not name.startswith("_") and not hasattr(method, "step"):
                setattr(cls, name, _within(_STEPS.get(name, "show"), method))

    def _take_own(self, optional_args: dict[str, Any]) -> dict[str, Any]:
        """Keep the way and the guard, or make them; the other arguments.

        Raises:
            ValueError: there is no such transport.
        """
        arguments = dict(optional_args)
        transport = arguments.pop("transport", "ssh")
        if transport not in get_args(Transport):
            raise ValueError(f"transport {transport!r}: there are {', '.join(get_args(Transport))}")
        self.route = SessionRoute(transport, tuple(arguments.pop("jump", ())))
        limits: SessionLimits | None = arguments.pop("limits", None)
        silence = arguments.pop("read_timeout_override", None)
        if silence:
            limits = (limits or SessionLimits()).with_silence(float(silence))
        guard: SessionGuard | None = arguments.pop("session_guard", None)
        self.guard = guard or SessionGuard(limits)
        return arguments


def _within(step: Step, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def bounded(self: BoundedDriver, *arguments: Any, **parameters: Any) -> Any:
        with self.guard.step(step):
            return method(self, *arguments, **parameters)

    bounded.step = step  # type: ignore[attr-defined]
    return bounded
