"""Policies of a service: which there are, and what one says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from rich.table import Table

from qosforge.cli.output import print_json
from qosforge.cli.server import connect
from qosforge.cli.tables import print_table
from qosforge.client.documents import require
from qosforge.client.request_documents import stored_version
from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent, parse_intent
from qosforge.intent.policy_source import shipped_texts


def print_stored(*, as_json: bool) -> None:
    """Print the newest version of every policy that the caller sees."""
    with connect() as connection:
        found = require(connection.get("/policies"), "policies")["policies"]
    if as_json:
        print_json(found)
        return
    table = Table("policy", "version", "network", "by", "comment", box=None, padding=(0, 1))
    for one in found:
        told = require(one, "name", "number", "network", "author", "comment")
        version = str(told["number"]) if told["number"] else "shipped"
        network = "all networks" if told["network"] == "*" else told["network"]
        table.add_row(told["name"], version, network, told["author"] or "–", told["comment"])
    print_table(table)


def fetch_policy(named: str, parameters: Sequence[str]) -> tuple[LoadedIntent, str]:
    """A policy of the service, ``NAME`` or ``NAME@VERSION``, with its text.

    Raises:
        InputError, InputErrors: there is none, it is named wrongly, or a parameter is set wrongly.
    """
    name, version = stored_version(named) if "@" in named else (named, None)
    if Path(named).suffix in (".yaml", ".yml"):
        raise InputError(
            f"{named!r} is a file", Place(path="POLICY"), "leave --server out, or name a stored policy"
        )
    path = f"/policies/{quote(name, safe='')}" + ("" if version is None else f"/versions/{version}")
    with connect() as connection:
        found = require(connection.get(path), "text", "included")
    texts = {**shipped_texts(), **found["included"]}
    return parse_intent(found["text"], f"{name}.yaml", parameters, texts), found["text"]
