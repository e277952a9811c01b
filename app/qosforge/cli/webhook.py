"""Commands about webhooks: add, list, change, enable, disable, secret, test, log, redeliver, remove."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from pydantic_core import to_jsonable_python
from rich.table import Table

from qosforge.cli.account import account
from qosforge.cli.local import Networks, changing, reading
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_done, print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import progress
from qosforge.settings import load_settings
from qosforge.webhooks.deliveries import Delivery, deliveries, redeliver, send_test
from qosforge.webhooks.messages import EventType
from qosforge.webhooks.registry import (
    Webhook,
    WebhookSpec,
    add_webhook,
    change_webhook,
    find_webhook,
    remove_webhook,
    renew_secret,
    set_enabled,
    webhooks,
)
from qosforge.webhooks.signing import load_key
from qosforge.webhooks.targets import AllowList, parse_url

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The webhook's name.", metavar="NAME")]
Url = Annotated[str, typer.Argument(help="Where it goes: https://…", metavar="URL")]
Events = Annotated[
    list[EventType] | None, typer.Option("--event", help="Only of these events (may be repeated; default: of all).")
]


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="webhook", help="Where events are told; on the host of the database.")


@app.command()
def add(name: Name, url: Url, event: Events = None, network: Networks = None, as_json: AsJson = False) -> None:
    """Make a webhook and print its secret, once: it cannot be shown again."""
    settings = load_settings()
    spec, detail = WebhookSpec(url, event, network), _detail(url, event)
    with changing("webhook add", f"webhooks/{name}", network, detail) as (connection, now):
        made, secret = add_webhook(
            connection, name, spec, AllowList(settings.webhook_hosts), key=load_key(settings), at=now
        )
    _print_secret(made, secret, as_json)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the webhooks, without their secrets."""
    with reading() as access, access.database.read() as connection:
        found = webhooks(connection)
    if as_json:
        print_json([_document(each) for each in found])
        return
    table = Table("webhook", "to", "events", "networks", "state", box=None, padding=(0, 1))
    for each in found:
        state = "" if each.enabled else f"disabled {each.disabled_because}".strip()
        table.add_row(each.name, each.origin, _list_text(each.events), _list_text(each.networks), state)
    print_table(table)


@app.command()
def change(name: Name, url: Url, event: Events = None, network: Networks = None, as_json: AsJson = False) -> None:
    """Say anew where a webhook goes and what it is told of; its secret stays."""
    allowed = AllowList(load_settings().webhook_hosts)
    with changing("webhook change", f"webhooks/{name}", network, _detail(url, event)) as (connection, _now):
        change_webhook(connection, name, WebhookSpec(url, event, network), allowed)
    print_done("changed", name, as_json=as_json)


@app.command()
def enable(name: Name, as_json: AsJson = False) -> None:
    """Let a webhook send again, also what waits."""
    with changing("webhook enable", f"webhooks/{name}") as (connection, _now):
        set_enabled(connection, name, True)
    print_done("enabled", name, as_json=as_json)


@app.command()
def disable(name: Name, as_json: AsJson = False) -> None:
    """Let a webhook send nothing; what waits stays."""
    with changing("webhook disable", f"webhooks/{name}") as (connection, _now):
        set_enabled(connection, name, False)
    print_done("disabled", name, as_json=as_json)


@app.command()
def secret(name: Name, as_json: AsJson = False) -> None:
    """Make a new secret and print it, once. For a day deliveries are signed by the old one, too."""
    key = load_key(load_settings())
    with changing("webhook secret", f"webhooks/{name}") as (connection, now):
        renewed, text = renew_secret(connection, name, key, now)
    _print_secret(renewed, text, as_json)


@app.command("test")
def trial(name: Name, as_json: AsJson = False) -> None:
    """Let the service send a test; `webhook log` tells what came of it."""
    with changing("webhook test", f"webhooks/{name}") as (connection, now):
        sent = send_test(connection, name, account(), now)
    print_done("queued", sent.id, as_json=as_json)


@app.command()
def log(
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the deliveries of a webhook, newest first."""
    with reading() as access, access.database.read() as connection:
        found = deliveries(connection, find_webhook(connection, name).id, limit)
    if as_json:
        print_json(to_jsonable_python(found))
        return
    table = Table("delivery", "event", "at", "state", "attempts", "last", "next", box=None, padding=(0, 1))
    for each in found:
        due = f"{each.due:%Y-%m-%d %H:%M:%S}" if each.due else ""
        at = f"{each.at:%Y-%m-%d %H:%M:%S}"
        table.add_row(each.id, each.type, at, each.state.value, str(each.attempts), _last(each), due)
    print_table(table)


@app.command("redeliver")
def redeliver_(
    name: Name,
    delivery: Annotated[str, typer.Argument(help="Its id, as `webhook log` has it.", metavar="DELIVERY")],
    as_json: AsJson = False,
) -> None:
    """Send a delivery once more, with as many attempts as at first."""
    with changing("webhook redeliver", f"webhooks/{name}/deliveries/{delivery}") as (connection, now):
        redeliver(connection, name, delivery, now)
    print_done("queued", delivery, as_json=as_json)


@app.command()
def remove(name: Name, as_json: AsJson = False) -> None:
    """Remove a webhook with its log; what waits is never sent."""
    with changing("webhook remove", f"webhooks/{name}") as (connection, _now):
        remove_webhook(connection, name)
    print_done("removed", name, as_json=as_json)


def _detail(url: str, events: list[EventType] | None) -> dict[str, object]:
    """What the audit log has of it: not the path of the URL, which may be a secret."""
    return {"to": parse_url(url).origin, "events": None if events is None else [event.value for event in events]}


def _document(webhook: Webhook) -> dict[str, object]:
    shown = ("name", "url", "events", "networks", "enabled", "disabled_because", "created", "secret_since")
    return {name: to_jsonable_python(getattr(webhook, name)) for name in shown}


def _print_secret(webhook: Webhook, text: str, as_json: bool) -> None:
    if as_json:
        print_json({**_document(webhook), "secret": text})
        return
    progress("webhook", f"{webhook.name}, to {webhook.origin}")
    sys.stdout.write(text + "\n")


def _list_text(chosen: tuple[str, ...] | None) -> str:
    return "all" if chosen is None else ", ".join(chosen)


def _last(delivery: Delivery) -> str:
    return delivery.error or (str(delivery.status) if delivery.status else "")
