"""NAPALM driver ``ers``: Nortel, Avaya and Extreme ERS (BayStack 5510, ERS 4500 and 5500)."""

from napalm_ers.ers import ErsDriver

__all__ = ["ErsDriver"]
