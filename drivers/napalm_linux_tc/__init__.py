"""A NAPALM driver for Linux routers with tc and nftables.

The driver is imported when it is asked for: who wants to know which sizes of buckets a router shows again
(`napalm_linux_tc.buckets`) opens no sessions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from napalm_linux_tc.linux_tc import LinuxTcDriver

__all__ = ["LinuxTcDriver"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("napalm_linux_tc.linux_tc"), name)
    raise AttributeError(name)


def __dir__() -> list[str]:
    return __all__
