"""NAPALM driver ``ios_legacy``: Cisco IOS without ``archive`` and ``configure replace``."""

from napalm_ios_legacy.ios_legacy import IOSLegacyDriver

__all__ = ["IOSLegacyDriver"]
