"""Sweeps: one policy with many parameter values, each point measured on the twin."""
