"""Audit: what is configured in a network, whether it is consistent, and where marks are lost."""

from qosforge.audit.audit import Audit, audit

__all__ = ["Audit", "audit"]
