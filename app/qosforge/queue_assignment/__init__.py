"""Assign classes to the hardware queues of a port, for any shape of queues that a device declares."""
