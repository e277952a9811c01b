"""Commands about users: add, list, grant, revoke, disable, enable, password."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from pydantic_core import to_jsonable_python
from rich.table import Table

from qosforge.access.passwords import hash_password, set_password
from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.users import User, add_user, disable, enable, find_user, grant, revoke, users
from qosforge.cli.local import Networks, changing, grant_networks, reading, tell_unknown
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_done, print_json
from qosforge.cli.tables import print_table
from qosforge.errors import InputError, Place
from qosforge.settings import load_settings

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The user's name.", metavar="NAME")]


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="user", help="Users of the service and their roles; on the host of the database.")


@app.command()
def add(
    name: Name,
    role: Annotated[Role | None, typer.Option(help="Grant this role at once.")] = None,
    network: Networks = None,
    subject: Annotated[
        str | None, typer.Option(help="The user's subject at the OpenID Connect provider, to log in by it.")
    ] = None,
    issuer: Annotated[
        str | None, typer.Option(help="That provider's issuer URL (default: QOSFORGE_OIDC_ISSUER).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a user. The first admin of an installation is made so: `qosforge user add NAME --role admin`."""
    with changing("user add", f"users/{name}", network, {"role": role, "subject": subject}) as (connection, now):
        add_user(connection, name, now, issuer=_issuer(issuer, subject), subject=subject)
        if role is not None:
            for one in grant_networks(network):
                grant(connection, name, one, role)
    tell_unknown(network)
    print_done("added", name, as_json=as_json)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the users with their roles."""
    with reading() as access:
        found = users(access.database)
    if as_json:
        print_json(to_jsonable_python(found))
        return
    table = Table("user", "roles", "logs in by", "state", box=None, padding=(0, 1))
    for user in found:
        roles = ", ".join(f"{role} of {_network_text(network)}" for network, role in user.roles.items())
        table.add_row(user.name, roles, _ways(user), "disabled" if user.disabled else "")
    print_table(table)


@app.command("grant")
def grant_(
    name: Name,
    role: Annotated[Role, typer.Argument(help="The role.")],
    network: Networks = None,
    as_json: AsJson = False,
) -> None:
    """Give a user a role, in place of the one held on the same network."""
    with changing("user grant", f"users/{name}", network, {"role": role}) as (connection, _):
        for one in grant_networks(network):
            grant(connection, name, one, role)
    tell_unknown(network)
    print_done("granted", f"{role} to {name}", as_json=as_json)


@app.command("revoke")
def revoke_(name: Name, network: Networks = None, as_json: AsJson = False) -> None:
    """Take a user's role."""
    with changing("user revoke", f"users/{name}", network) as (connection, _):
        for one in grant_networks(network):
            revoke(connection, name, one)
    print_done("revoked", name, as_json=as_json)


@app.command("disable")
def disable_(name: Name, as_json: AsJson = False) -> None:
    """Shut a user out: tokens are revoked and sessions end, for good."""
    with changing("user disable", f"users/{name}") as (connection, now):
        disable(connection, name, now)
    print_done("disabled", name, as_json=as_json)


@app.command("enable")
def enable_(name: Name, as_json: AsJson = False) -> None:
    """Let a disabled user in again, with the roles of before and without tokens."""
    with changing("user enable", f"users/{name}") as (connection, _):
        enable(connection, name)
    print_done("enabled", name, as_json=as_json)


@app.command()
def password(
    name: Name,
    remove: Annotated[bool, typer.Option("--remove", help="Take the password away.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set a user's password: asked for, or the first line of standard input. Sessions of the user end."""
    with reading() as access, access.database.read() as connection:
        find_user(connection, name)
    text = None if remove else _ask_password()  # nobody is asked inside of a transaction
    with changing("user password", f"users/{name}") as (connection, now):
        set_password(connection, find_user(connection, name), None if text is None else hash_password(text), now)
    print_done("password", f"of {name} {'removed' if remove else 'set'}", as_json=as_json)


def _ask_password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().rstrip("\n")


def _issuer(issuer: str | None, subject: str | None) -> str | None:
    if subject is None:
        if issuer is not None:
            raise InputError("an issuer without a subject names nobody", Place(path="--issuer"), "give --subject")
        return None
    found = issuer or load_settings().oidc_issuer
    if found is None:
        raise InputError("whose subject this is, is not said", Place(path="--subject"), "give --issuer")
    return found


def _ways(user: User) -> str:
    ways = {"password": user.has_password, f"{user.issuer} as {user.subject}": user.subject is not None}
    return ", ".join(way for way, there in ways.items() if there)


def _network_text(network: str) -> str:
    return "every network" if network == EVERY_NETWORK else network
