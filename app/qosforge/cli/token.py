"""Commands about bearer tokens: create, list, revoke."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Annotated

import typer
from pydantic_core import to_jsonable_python
from rich.table import Table

from qosforge.access.roles import Role
from qosforge.access.tokens import LONGEST_LIFE, USUAL_LIFE, create_token, revoke_token, tokens
from qosforge.access.users import find_user
from qosforge.cli.local import Networks, changing, reading, tell_unknown
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_done, print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import progress

app = typer.Typer(no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="token", help="Tokens for the service; on the host of the database.")


@app.command()
def create(
    user: Annotated[str, typer.Argument(help="Whose token it is.", metavar="USER")],
    name: Annotated[str, typer.Option(help="What it is for.")] = "",
    role: Annotated[Role, typer.Option(help="The most that it may do; never more than its user.")] = Role.OPERATOR,
    network: Networks = None,
    days: Annotated[int, typer.Option(help="How long it lives.", max=LONGEST_LIFE.days, min=1)] = USUAL_LIFE.days,
    as_json: AsJson = False,
) -> None:
    """Make a token and print it, once: it cannot be shown again."""
    detail = {"role": role.value}
    with changing("token create", f"users/{user}", network, detail) as (connection, now):
        owner = find_user(connection, user)
        made, text = create_token(connection, owner, name, role, network, at=now, life=timedelta(days=days))
        detail["token"] = made.id
    tell_unknown(network)
    if as_json:
        print_json({**to_jsonable_python(made), "token": text})
        return
    progress("token", f"{made.id}, until {made.expires:%Y-%m-%d %H:%M} UTC")
    sys.stdout.write(text + "\n")


@app.command("list")
def list_(
    user: Annotated[str | None, typer.Argument(help="Only those of this user.", metavar="USER")] = None,
    as_json: AsJson = False,
) -> None:
    """List the tokens, newest first, without their secrets."""
    with reading() as access:
        if user is not None:
            with access.database.read() as connection:
                find_user(connection, user)
        found, now = tokens(access.database, user), access.now()
    if as_json:
        print_json(to_jsonable_python(found))
        return
    table = Table(
        "token", "user", "for", "role", "networks", "until", "last used", "state", box=None, padding=(0, 1)
    )
    for token in found:
        state = "revoked" if token.revoked else "expired" if token.expires <= now else ""
        networks = "every" if token.networks is None else ", ".join(token.networks)
        until = f"{token.expires:%Y-%m-%d}"
        used = f"{token.last_used:%Y-%m-%d %H:%M}" if token.last_used else "never"
        table.add_row(token.id, token.user, token.name, token.role, networks, until, used, state)
    print_table(table)


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(help="Its id, as `token list` has it.", metavar="TOKEN")],
    as_json: AsJson = False,
) -> None:
    """Revoke a token and those that it made, at once."""
    with changing("token revoke", f"tokens/{token}") as (connection, now):
        revoke_token(connection, token, now)
    print_done("revoked", token, as_json=as_json)
