"""NAPALM driver ``force10``: Force10 E-, C- and S-Series with FTOS."""

from napalm_force10.force10 import Force10Driver

__all__ = ["Force10Driver"]
