"""Tests of the ΔQ package."""
