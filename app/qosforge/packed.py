"""A value that goes to a computing process, and back, as the bytes it was packed into."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, NoReturn, TypeVar

T = TypeVar("T")

_kept: dict[bytes, object] = {}
"""What this process packed or unpacked last: one computation after another is asked for of the same value."""


class Packed(Generic[T]):
    """A value that nothing changes. Who only hands it on never takes it apart: large ones take long."""

    def __init__(self, value: T) -> None:
        """Pack a value; it may hold what computing processes alone are given."""
        self._blob = bytes(ForkingPickler.dumps(value))
        _keep(self._blob, value)

    def value(self) -> T:
        """The value: the very same objects as the last time, where that was in this process and of this value."""
        if self._blob not in _kept:
            _keep(self._blob, ForkingPickler.loads(self._blob))
        value: T = _kept[self._blob]  # type: ignore[assignment]
        return value

    def _sent(self) -> tuple[Any, ...]:
        return _received, (self._blob,)

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError("what is packed may hold configurations of devices: it goes to computing processes alone")


def _received(blob: bytes) -> Packed[Any]:
    packed: Packed[Any] = Packed.__new__(Packed)
    packed._blob = blob
    return packed


def _keep(blob: bytes, value: object) -> None:
    _kept.clear()
    _kept[blob] = value


# Through a pipe to a computing process of this one (`qosforge.compute`), which is no place where anything stays.
ForkingPickler.register(Packed, Packed._sent)
