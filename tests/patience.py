"""How long tests wait for what is sure to come, where they are about something else."""

PATIENCE = 300
"""Seconds of a request or a process that gets little of a busy machine. Who tests a limit sets one of their own."""
