"""Software trains of IOS: the release of an image, and the features of each release.

A technology release (``12.2(13)T``) feeds the next main line (12.3), never its own. An interim build
(``12.0(6.5)T7``) leads to the next release and has what that one brings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from qosforge.errors import InputError, Place
from qosforge.findings import Finding
from qosforge.note import note
from qosforge.plan.request import DeviceRequest
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES

_IMAGE = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})(?![0-9])(?:\(([0-9]{1,3})(\.[0-9]{1,3})?[a-z]?\))?([A-Z]?)")


@dataclass(frozen=True)
class Train:
    """A release: ``12.4(20)T`` is number (12, 4), release 20, letter T. Without a release it is the first one."""

    number: tuple[int, int]
    release: int | None = None
    letter: str = ""

    @property
    def technology(self) -> bool:
        """Whether it is a technology release, which feeds the next main line."""
        return self.letter == "T"

    def since(self, onset: str) -> bool:
        """Whether this release has what came with ``onset``."""
        first = _read(onset)
        assert first is not None, onset
        if self.number != first.number or first.release is None:
            return self.number >= first.number
        return (self.release or 0) >= first.release and (self.technology or not first.technology)


@lru_cache(maxsize=1024)
def _read(image: str) -> Train | None:
    found = _IMAGE.match(image)
    if found is None:
        return None
    release = int(found[3]) + (found[4] is not None) if found[3] else None
    return Train((int(found[1]), int(found[2])), release, found[5])


@lru_cache(maxsize=1024)
def train(image: str, device: str | None = None) -> Train:
    """The release of an image's name; a train without a release is the one that the capability data takes it for.

    Raises:
        InputError: the name states no train.
    """
    known = _read(image)
    if known is None:
        place = Place(device=device)
        raise InputError(f"image {image!r} states no software train", place, "write it like 12.4 or 12.4(15)T")
    taken = assumed_release(image)
    return (_read(taken) or known) if taken else known


def assumed_release(image: str) -> str | None:
    """The release that an image without one is taken for; None where it states one, or none is assumed."""
    known = _read(image)
    if known is None or known.release is not None:
        return None
    return CAPABILITIES.assumed_release.value.get("{}.{}".format(*known.number) + ("T" if known.technology else ""))


def check_release(request: DeviceRequest) -> Iterator[Finding]:
    """``release-assumed``: what the device takes depends on a release that its image does not state."""
    taken = assumed_release(request.image)
    if taken is not None:
        yield note("release-assumed", Place(device=request.device), image=request.image, release=taken)


def has(request: DeviceRequest, feature: str) -> bool:
    """Whether a device's image has a feature of the capability data's table.

    Raises:
        InputError: the image states no train.
    """
    known, image = CAPABILITIES.features[feature], train(request.image, request.device)
    return image.since(known.since) and known.train in ("", image.letter)


def hqf(request: DeviceRequest) -> bool:
    """Whether a device has the hierarchical queueing framework: by its train, or because the inventory says so."""
    return "hqf" in request.features or has(request, "hqf")


def divides_guarantees(image: str) -> bool:
    """Whether a policy inside a shaped class divides what the class has for sure, where it is shaped to more.

    So it is with HQF ("QoS: Hierarchical Queueing Framework", 12.4(20)T: nested policy and reference bandwidth for
    child policy maps): the reference is the lesser of the shaper's rate and the bandwidth that the class around it
    is given; without one, an equal part of the interface (networklessons.com, "QoS HQF shaper and bandwidth
    inheritance"). ``bandwidth remaining`` gives it kb/s, too (mail-archive.com, cisco-nsp msg31917). An image whose
    name states no train is taken for an older one.
    """
    return _read(image) is not None and train(image).since(CAPABILITIES.features["hqf"].since)


def uses_car(request: DeviceRequest) -> bool:
    """Whether a device marks and polices by CAR: its image has no class-based form of one of the two."""
    return not (has(request, "marking") and has(request, "police"))
