"""A stock Linux kernel in virtual time: a router between two hosts, its queues told by tc, every packet timed."""

from qoslab.virtual_time.machine import GuestRun, boot
from qoslab.virtual_time.router import Mark, Packets, RouterPlan, RouterRun, run_router

__all__ = ["GuestRun", "Mark", "Packets", "RouterPlan", "RouterRun", "boot", "run_router"]
