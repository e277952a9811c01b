"""Deployment: reach the devices, change them as a transaction each, and undo it."""
