"""Validation: our own checks of a compilation; what Batfish finds beside them comes of `qosforge.batfish`."""
