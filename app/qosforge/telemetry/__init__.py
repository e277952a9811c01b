"""Telemetry of the service: logs, metrics, traces."""
