"""Names of classes and policies on a Catalyst 9000."""

from __future__ import annotations

from qosforge.plan.request import DeviceRequest
from qosforge.platforms.catalyst_9000.capabilities import CAPABILITIES
from qosforge.platforms.mqc.lines import CLASS_DEFAULT
from qosforge.platforms.names import like_keywords, short_names

INPUT_POLICY = "QOSFORGE-IN"
OUTPUT_POLICY = "QOSFORGE-OUT"
PORT_SUFFIX = "-PORT"
"""Ends the name of the policy that shapes a port."""
QUEUE_SUFFIX = ".Q"
"""Ends the name of the class-map that tells a class on output where another one recognises it on input; no class
of an intent has a dot in its name."""
OWN = "system-cpp-"
"""Begins the names of the classes and policies that the device itself always has."""
_NOT_OWN = "class."
_KEYWORDS = (CLASS_DEFAULT, "match-any", "match-all")


def class_names(request: DeviceRequest, *, twice: bool) -> dict[str, str]:
    """What the device calls each class where it recognises it; ``twice`` where outputs have a class-map beside.

    A name that it could take for a keyword (or the beginning of one), or for one of its own, is changed.
    """
    names = {c.name: c.name for c in request.classes if not c.is_default}
    names |= {n: f"{_NOT_OWN}{n}" for n in names if n.startswith(OWN)}
    length = CAPABILITIES.name_length.value - (len(QUEUE_SUFFIX) if twice else 0)
    short = short_names(names.values(), length, like_keywords(names, _KEYWORDS))
    return {name: short[wanted] for name, wanted in names.items()}
