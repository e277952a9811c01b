"""Bands of ``ets`` and ``prio``: what ``tc`` shows of them, as they are entered to become the same.

Both make a class for each band by themselves, whose number is that of the band and one (tc-ets(8), tc-prio(8)); so
does ``tbf`` for its one class. None of these classes is entered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from napalm_linux_tc.answers import whole

BANDED = frozenset({"ets", "prio"})
"""Schedulers that make their classes themselves, one a band."""
_CLASS = re.compile(
    r"^class (?:ets|prio|tbf) (?P<id>[0-9a-f]{1,4}:[0-9a-f]{1,4}) (?:root|parent [0-9a-f]{1,4}:)"
    r"(?: leaf [0-9a-f]{1,4}:)?(?: quantum \d{1,10})?\s*$"
)
_ETS, _PRIO = {"bands", "strict", "priomap"}, {"bands", "priomap", "multiqueue"}
_PRIORITIES = 16


def banded_class(line: str) -> str | None:
    """The id of a class that its scheduler makes, by a line of ``tc class show``; None where it is another one."""
    found = _CLASS.match(line)
    return None if found is None else found["id"]


def band_words(kind: str, options: Mapping[str, Any]) -> str:
    """The words that enter ``ets`` or ``prio``, by its options as JSON; "" where it has others."""
    if kind == "prio":
        if set(options) != _PRIO or options["multiqueue"] is not False:
            return ""
        return f"prio bands {whole(options['bands'])} {_priomap(options)}"
    quanta = [whole(quantum) for quantum in options.get("quanta", [])]
    if set(options) - {"quanta"} != _ETS or whole(options["bands"]) != whole(options["strict"]) + len(quanta):
        return ""
    in_turn = f" quanta {' '.join(map(str, quanta))}" if quanta else ""
    return f"ets strict {options['strict']}{in_turn} {_priomap(options)}"


def _priomap(options: Mapping[str, Any]) -> str:
    bands = [whole(band) for band in options["priomap"]]
    if len(bands) != _PRIORITIES:
        raise ValueError("no map of 16 priorities")
    return f"priomap {' '.join(map(str, bands))}"
