"""Throttling of logins: counts of recent attempts, kept by each process for itself."""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from qosforge.errors import QosforgeError

WINDOW = timedelta(minutes=15)
PER_NAME_AND_ADDRESS = 5
PER_ADDRESS = 30
PER_NAME = 50
"""Attempts that fail in a window. The last one is high, so that nobody is easily shut out by somebody else."""
PER_NAME_KNOWN = 20
"""Attempts that fail in a window in all browsers together in which the user logged in before."""

_REMEMBERED = 20_000  # counts; the least lately used ones are forgotten first


@dataclass(eq=False)
class TooManyAttempts(QosforgeError):
    """Logins failed too often; ``seconds`` from now one may be tried again."""

    seconds: int = 0


class Throttle:
    """Counts attempts by name, by address and by both; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._attempts: OrderedDict[tuple[str, str], list[datetime]] = OrderedDict()

    @contextmanager
    def attempt(self, name: str, address: str, at: datetime, known: str | None = None) -> Iterator[None]:
        """One attempt to log in, which counts unless the block ends without an exception.

        ``known`` names the browser, where the user logged in there before: it counts for itself, and with the other
        known ones of the name, so that no stranger's failures keep its owner out.

        It counts from its beginning, so that many at once are not more than one after the other.

        Raises:
            TooManyAttempts: too many failed.
        """
        where = _neighbourhood(address)
        limits = {(name, where): PER_NAME_AND_ADDRESS, ("", where): PER_ADDRESS, (name, ""): PER_NAME}
        if known is not None:
            limits = {(name, f"known {known}"): PER_NAME_AND_ADDRESS, (name, "known"): PER_NAME_KNOWN}
        with self._lock:
            waits = [self._wait(key, limit, at) for key, limit in limits.items()]
            if longest := max(waits):
                raise TooManyAttempts("too many logins failed", hint=f"try again in {longest} s", seconds=longest)
            for key in limits:
                self._attempts.setdefault(key, []).append(at)
                self._attempts.move_to_end(key)
            while len(self._attempts) > _REMEMBERED:
                self._attempts.popitem(last=False)
        yield
        with self._lock:
            for key in limits:
                times = self._attempts.get(key, [])
                if at in times:
                    times.remove(at)

    def _wait(self, key: tuple[str, str], limit: int, at: datetime) -> int:
        """Seconds until one more attempt is let through; 0: now."""
        late = [time for time in self._attempts.get(key, []) if time > at - WINDOW]
        if not late:
            self._attempts.pop(key, None)
            return 0
        self._attempts[key] = late
        return math.ceil((late[-limit] + WINDOW - at).total_seconds()) if len(late) >= limit else 0


def _neighbourhood(address: str) -> str:
    """The address block of one caller: an IPv4 address, or a /64 of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address or "?"
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((int(parsed) >> 64 << 64, 64)))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
