"""Talking to a served qosforge: what the command line uses with ``--server``."""
