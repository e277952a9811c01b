"""Options for connecting to devices that are in no inventory yet; they apply to all of them."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import ValidationError

from qosforge.errors import InputError, Place
from qosforge.inventory.reach import Reach

CredentialsName = Annotated[
    str | None, typer.Option("--credentials", metavar="NAME", help="Credentials by their name.")
]
TransportName = Annotated[str, typer.Option("--transport", help="ssh, ssh-legacy or telnet.")]
JumpHosts = Annotated[
    str | None, typer.Option("--jump", metavar="HOST", help="Jump hosts, with commas between them.")
]


def reach_entries(credentials: str | None, transport: str, jump: str | None) -> dict[str, str]:
    """The given options as inventory entries."""
    words = {"transport": transport, "credentials": credentials, "jump": jump}
    return {key: value for key, value in words.items() if value}


def common_reach(words: dict[str, str]) -> Reach:
    """How all of them are reached.

    Raises:
        InputError: a word means nothing.
    """
    try:
        return Reach.model_validate(words)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InputError(problem["msg"], Place(path=f"--{problem['loc'][0]}"), "see docs/reaching.md") from None
