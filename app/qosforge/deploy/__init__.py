"""Deployment: reach the devices, change each in a transaction, and roll it back."""
