"""Software trains: which release an image is, and what came with which release.

``Train.since`` compares against the release that brought a feature. A technology release (``12.2(13)T``)
feeds the next main line (12.3), never its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from qoslab.errors import SpecError

_IMAGE = re.compile(
    r"(?P<major>\d{1,2})(?:\.(?P<minor>\d{1,2}))?(?:\((?P<release>\d{1,3})(?P<interim>\.\d{1,3})?\w?\)(?P<letter>[A-Z]*)\d*)?"
)

# The release the lab runs when only the train is named.
_TYPICAL = {
    (12, 0): "12.0(7)T",
    (12, 1): "12.1(5)T",
    (12, 2): "12.2(15)T",
    (12, 3): "12.3(26)",
    (12, 4): "12.4(25)",
}
_NEWEST = "(4)M"

# Feature onset; those without a published source are marked (K).
POLICIES = "12.0(5)T"  # class-based WFQ, class-maps and policy-maps: K
PRIORITY = "12.0(7)T"  # K
SHAPING = "12.1(2)T"  # K
CIRCUIT_POLICY = "12.1(2)T"  # "Low Latency Queueing for Frame Relay": a policy in a map class
MARKING = POLICING = NBAR = "12.1(5)T"  # K
BANDWIDTH_PERCENT = "12.1"  # K
PRIORITY_PERCENT = "12.2(2)T"  # K
REMAINING_PERCENT = INSERT_BEFORE = "12.2(2)T"  # "12.2T" in the sources
POLICE_SUBMODE = "12.2(8)T"  # K; the words cir and pir are of 12.2(4)T (police (two rates), command history)
ECN = NBAR_RTP = "12.2(8)T"
BOTH_FAMILIES = "12.2(13)T"  # ``match dscp`` and ``set dscp`` without ``ip``
IPV6_LISTS = "12.2(13)T"  # with ports and upper-layer protocols; plain ones are of 12.2(2)T
PRIORITY_BURST = "12.1(3)T"  # "Configuring Burst Size in Low Latency Queueing"
IPHC_FORMAT = "12.2"  # the guide of 12.1 has ``passive`` alone (unconfirmed between)
HEADER_COMPRESSION = TABLE_MAPS = FRAGMENT_END_TO_END = "12.2(13)T"  # table maps: K
PRE_CLASSIFY = "12.2(2)T"  # K
PERCENTAGES = "12.2(13)T"  # feature guide 12_2t/12_2t13 ftpctpol: policing and shaping by a percentage
MULTILINK_GROUP = "12.3"
IPHC_PROFILE = "12.4(9)T"
HQF = "12.4(20)T"
LEVELS = "15.0"  # of priority: published for 12.2SB and 15S, unconfirmed for others of 15


@dataclass(frozen=True)
class Train:
    """A release: ``12.4(20)T`` is number (12, 4), release 20, technology True."""

    name: str
    number: tuple[int, int]
    release: int
    technology: bool

    @classmethod
    def of(cls, image: str) -> Train:
        """Read ``12.4``, ``12.2(8)T``, ``15`` or ``15.1(4)M``; no image at all is 12.2.

        Raises SpecError when the text names no release.
        """
        found = _IMAGE.fullmatch(image or "12.2")
        if found is None:
            raise SpecError(f"image {image!r} names no software release: write it like 12.4 or 12.4(20)T")
        number = (int(found["major"]), int(found["minor"] or (1 if found["major"] == "15" else 0)))
        if found["release"] is None:
            typical = _TYPICAL.get(number, f"{number[0]}.{number[1]}{_NEWEST}")
            found = _IMAGE.fullmatch(typical)
            assert found is not None, typical
            return cls(typical, number, int(found["release"]), found["letter"] == "T")
        # An interim build such as 12.0(6.5)T7 is on its way to the next release.
        release = int(found["release"]) + (found["interim"] is not None)
        return cls(image, number, release, found["letter"].startswith("T"))

    def since(self, image: str) -> bool:
        """True when this release has what came with ``image``."""
        first = _IMAGE.fullmatch(image)
        assert first is not None, image
        number = (int(first["major"]), int(first["minor"] or 0))
        if self.number != number or first["release"] is None:
            return self.number >= number
        return self.release >= int(first["release"]) and (self.technology or not first["letter"])

    @property
    def version(self) -> str:
        """What the configuration's ``version`` line says."""
        return f"{self.number[0]}.{self.number[1]}"
