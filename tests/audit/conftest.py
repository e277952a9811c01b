"""The command line of the CLI's tests, for the audit command."""

from tests.cli.conftest import qosforge

__all__ = ["qosforge"]
