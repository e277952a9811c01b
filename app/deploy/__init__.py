"""Deployment: reach the boxes, change them as a transaction each, and undo it."""
