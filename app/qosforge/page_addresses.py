"""Addresses of pages: the path within the service, and the whole of it for browsers."""

from __future__ import annotations

from urllib.parse import quote


def run_page(run_id: str) -> str:
    """The path of a run's page."""
    return f"/runs/{quote(run_id, safe='')}"


def network_page(network: str) -> str:
    """The path of a network's page."""
    return f"/networks/{quote(network, safe='')}"


def service_address(service: str, path: str) -> str:
    """The address of a path within the service that browsers reach at ``service``."""
    return service.rstrip("/") + path
