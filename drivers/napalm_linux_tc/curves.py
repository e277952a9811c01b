"""Service curves of ``hfsc``: what ``tc`` shows of a class, as it is entered to become the same.

A class has a real-time curve (``rt``), by which it is served in time whatever the others do, a link-sharing curve
(``ls``), by which excess is divided, and an upper limit (``ul``): tc-hfsc(7), after Stoica, Zhang and Ng, "A
Hierarchical Fair Service Curve Algorithm for Link-Sharing, Real-Time and Priority Services", 1997. A curve's rate
is ``m1`` for a time ``d``, and ``m2`` from then on.

The kernel holds a rate in steps of up to 15 bytes a second, rounded up (``m2sm`` in net/sched/sch_hfsc.c), and
``tc`` shows a time in three digits (``sprint_time`` in iproute2's lib/utils_math.c). Rates of whole kb/s, and times
of three digits, are known again; finer rates, of others, are told in b/s.
"""

from __future__ import annotations

import re

_RATE = r"\d+[KMGT]?bit"
_TIME = r"[\d.]+(?:us|ms|s)"
_CURVE = rf"m1 {_RATE} d {_TIME} m2 {_RATE}"
_CLASS = re.compile(
    rf"^class hfsc (?P<id>\S+) parent (?P<parent>\S+)(?: leaf \S+)?"
    rf"(?: (?P<kind>sc|rt) m1 (?P<burst_rate>{_RATE}) d (?P<time>{_TIME}) m2 (?P<guaranteed>{_RATE}))?"
    rf"(?: ls m1 0bit d 0us m2 (?P<share>{_RATE}))?(?: ul m1 0bit d 0us m2 (?P<ceiling>{_RATE}))?\s*$"
)
ROOT = re.compile(r"^class hfsc (?P<handle>[0-9a-f]+:) root\s*$")
"""The class that is the queue itself."""
_UNITS = {"bit": 1, "Kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}
_US = {"us": 1, "ms": 1000, "s": 1_000_000}
_KBPS = 1000
_ROUNDING = 120
"""By how much (b/s) the kernel rounds a rate up at most."""
_DIGITS = 3
LONGEST_US = 999_000_000


def readable_us(time_us: float) -> int:
    """The nearest time of three digits, in whole microseconds; one at least."""
    whole = round(time_us) if time_us < 10**_DIGITS else int(float(f"{time_us:.{_DIGITS}g}"))
    return min(max(whole, 1), LONGEST_US)


def shown_class(dev: str, line: str) -> tuple[str, str] | None:
    """The id of a class and the command that enters it, by a line of ``tc class show``; None where it has other
    curves than a link share, an upper limit that is a rate, and a real-time curve.
    """
    found = _CLASS.match(line)
    if found is None or found["share"] is None or found["kind"] == "sc":
        return None
    words = [f"tc class add dev {dev} parent {found['parent']} classid {found['id']} hfsc"]
    if found["kind"]:
        time = f"{_microseconds(found['time'])}us"
        words.append(f"rt m1 {_rate(found['burst_rate'])} d {time} m2 {_rate(found['guaranteed'])}")
    words.append(f"ls m2 {_rate(found['share'])}")
    if found["ceiling"]:
        words.append(f"ul m2 {_rate(found['ceiling'])}")
    return found["id"], " ".join(words)


def _rate(words: str) -> str:
    """A rate as it is entered: in kb/s where what is beyond may be the kernel's rounding, else in b/s."""
    digits = words.rstrip("KMGTbit")
    rate = int(digits) * _UNITS[words[len(digits) :]]
    if rate >= _KBPS and rate % _KBPS <= _ROUNDING:
        return f"{rate // _KBPS}kbit"
    return f"{rate}bit"


def _microseconds(words: str) -> int:
    digits = words.rstrip("ums")
    return round(float(digits) * _US[words[len(digits) :]])
