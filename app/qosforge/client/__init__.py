"""The client of a qosforge service, used by the command line with ``--server``."""
