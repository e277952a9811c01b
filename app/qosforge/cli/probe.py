"""Commands of a probe: a STAMP reflector, and a sender that measures against one."""

from __future__ import annotations

import secrets
import threading
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json
from qosforge.cli.signals import StopSignal
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out, progress
from qosforge.dscp import dscp_label, parse_dscp
from qosforge.errors import InputError, Place
from qosforge.stamp.packet import PORT
from qosforge.stamp.reflector import Reflector
from qosforge.stamp.sender import WAIT_SECONDS, Session, SessionResult, run_session
from qosforge.stamp.summary import Delays, SessionSummary, summarize
from qosforge.units import parse_rate

app = typer.Typer(no_args_is_help=True)

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="UDP port of the reflector.")]


def register(parent: typer.Typer) -> None:
    """Add the commands as a group."""
    parent.add_typer(app, name="probe", help="A probe of real packets: STAMP (RFC 8762) and TWAMP Light.")


@app.callback()
def _group() -> None:
    """A probe of real packets: STAMP (RFC 8762) and TWAMP Light."""


@app.command()
def reflector(
    host: Annotated[str, typer.Argument(help="Address of this machine that it answers at.", metavar="ADDRESS")],
    port: Port = PORT,
    stateless: Annotated[
        bool, typer.Option("--stateless", help="Answer with the sender's numbers: loss has no direction then.")
    ] = False,
    seconds: Annotated[float | None, typer.Option("--seconds", min=0, help="End after so long.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer test packets until it is stopped."""
    stopped = threading.Event()
    with StopSignal() as signal, Reflector(host, port, stateless=stateless) as running:
        progress("reflect", f"UDP port {running.port} of {host}")
        if as_json:
            print_json({"host": host, "port": running.port})
        serving = threading.Thread(target=running.serve, args=(stopped.is_set,), kwargs={"seconds": seconds})
        serving.start()
        if seconds is None:
            signal.wait()
            stopped.set()
        serving.join()
        progress("reflect", f"{running.answered} packets answered, {running.refused} were none of the protocol")


@app.command()
def sender(
    host: Annotated[str, typer.Argument(help="Address or name of the reflector.", metavar="HOST")],
    port: Port = PORT,
    dscp: Annotated[str, typer.Option("--dscp", help="Mark: 0 to 63, or a name such as ef.")] = "default",
    size: Annotated[int, typer.Option("--size", help="Bytes of a packet with its IP and UDP headers.")] = 100,
    rate: Annotated[str, typer.Option("--rate", help="Bits of IP a second, such as 80 kb/s.")] = "40 kb/s",
    packets: Annotated[int, typer.Option("--packets", min=1, help="How many are sent.")] = 50,
    wait_seconds: Annotated[
        float, typer.Option("--wait-seconds", min=0, max=60, help="How long the last answers are waited for.")
    ] = WAIT_SECONDS,
    source: Annotated[str, typer.Option("--source", help="Address of this machine that packets come from.")] = "",
    as_json: AsJson = False,
) -> None:
    """Send test packets to a reflector, and tell delay, loss and order by direction."""
    session = Session(
        host,
        port,
        _parsed(parse_dscp, "--dscp", int(dscp) if dscp.isdecimal() else dscp),
        size,
        _parsed(parse_rate, "--rate", rate),
        packets,
        wait_seconds,
        source,
        identifier=1 + secrets.randbelow(2**16 - 1),
    )
    progress("send", f"{packets} packets to UDP port {port} of {host}")
    result = run_session(session)
    summary = summarize(result)
    if as_json:
        print_json(_document(result, summary))
        return
    _print(result, summary)


def _parsed(parse: Any, option: str, value: Any) -> int:
    try:
        return int(parse(value))
    except ValueError as error:
        raise InputError(str(error), Place(path=option)) from None


def _document(result: SessionResult, summary: SessionSummary) -> dict[str, Any]:
    return {
        "session": asdict(result.session),
        "summary": asdict(summary),
        "clocks": {"sender": asdict(result.local), "reflector": asdict(result.remote) if result.remote else None},
        "packets": [asdict(each) for each in result.exchanges],
    }


def _print(result: SessionResult, summary: SessionSummary) -> None:
    table = Table("delay", *(f"{head} ms" for head in ("least", "mean", "p50", "p95", "p99", "most")), box=None)
    for name, delays in (
        ("there", summary.forward),
        ("back", summary.backward),
        ("round trip", summary.round_trip),
    ):
        table.add_row(name, *_cells(delays))
    print_table(table)
    out.print(f"{summary.sent} sent, {summary.lost} lost{_directions(summary)}, {summary.reordered} out of order")
    if other := [dscp for dscp in summary.answer_dscps if dscp != result.session.dscp]:
        out.print(
            f"answers came with {', '.join(map(_mark, other))} instead of {_mark(result.session.dscp)}: "
            "the delay back, and with it the round trip, may be that of another class"
        )
    ahead, error = summary.offset.ahead_ns / 1e6, summary.offset.error_ns / 1e6
    out.print(f"clocks: the reflector's is {ahead:+.3f} ms ahead, by the quickest exchange, within {error:.3f} ms")
    remote = result.remote
    if not (result.local.synchronized and remote is not None and remote.synchronized):
        out.print("one way by two clocks: one of them follows no source of time, or does not say so", style="dim")


def _mark(dscp: int) -> str:
    return f"DSCP {dscp_label(dscp)}"


def _cells(delays: Delays) -> list[str]:
    quantiles = [delays.quantiles[label] for label in ("p50", "p95", "p99")]
    values = [delays.least, delays.mean, *quantiles, delays.most]
    return ["lost" if value is None else f"{value / 1e6:.3f}" for value in values]


def _directions(summary: SessionSummary) -> str:
    if not summary.lost:
        return ""
    if summary.lost_forward is None or summary.lost_backward is None:
        return " (the reflector does not count: in which direction is not known)"
    unknown = f", {summary.unknown} at an end: in which direction is not known" if summary.unknown else ""
    return f" ({summary.lost_forward} there, {summary.lost_backward} back{unknown})"
