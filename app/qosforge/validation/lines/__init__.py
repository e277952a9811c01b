"""Checks of configurations line by line: what a device would refuse, and what is no line of ours."""

from qosforge.validation.lines.check import check_lines

__all__ = ["check_lines"]
