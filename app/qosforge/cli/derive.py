"""Commands that give an inventory what a verdict takes: stations by access ports, traffic by counters."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from qosforge.cli.notes import notes_json, print_notes
from qosforge.cli.options import AsJson
from qosforge.cli.output import print_json, print_problems
from qosforge.cli.terminal import out, progress
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.route import route_to
from qosforge.deploy.sessions import Sessions
from qosforge.discovery.measured_scenario import MeasuredScenario, scenario_differences, scenario_of_counters
from qosforge.discovery.port_traffic import MeasuredTraffic, measure_stations
from qosforge.discovery.stations import Derivation, DerivedStation, derive_stations
from qosforge.errors import InputError, Place
from qosforge.importing.document import flow_text
from qosforge.importing.to_intent import rate
from qosforge.inventory.list_entries import ListEntry, append_entries
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network, is_name
from qosforge.settings import load_settings

NetworkArgument = Annotated[Path, typer.Argument(metavar="NETWORK", help="The inventory's folder.")]
LINKS, TRAFFIC = "links.yaml", "traffic.yaml"


def stations(
    network: NetworkArgument,
    write: Annotated[
        bool, typer.Option("--add", help="Give a network that has stations those that it lacks.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Derive stations from access ports into links.yaml. Devices are only read; a station that is there stays."""
    net = load_network(network)
    with _fleet(net, network) as fleet:
        found = derive_stations(fleet)
    if not as_json:
        print_notes(found.notes)
    if not found.access_ports and not net.stations and not found.unread:
        raise InputError(
            "no access port was found: no switch has a port that is up, untagged and without another device",
            Place(file=str(network)),
            "see the notes; describe stations in links.yaml by hand (docs/devices.md)",
        )
    writes = bool(found.added) and (write or not net.stations)
    if writes:
        append_entries(network, LINKS, "stations", [_station_entry(one) for one in found.added])
    if as_json:
        print_json(_stations_document(network, found, written=writes))
    else:
        _print_stations(network, found, written=writes)
    sys.exit(3 if found.unread else 0)


def traffic(
    network: NetworkArgument,
    seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to wait between the two readings of the counters.")
    ] = 60,
    name: Annotated[
        str, typer.Option("--scenario", metavar="NAME", help="What the scenario is called.")
    ] = "measured",
    write: Annotated[
        bool, typer.Option("--add", help="Add the scenario to a traffic.yaml that has others.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Derive a scenario from the counters of stations' ports into traffic.yaml. Devices are only read."""
    if not is_name(name):
        hint = "letters, digits, '.', '-' and '_'"
        raise InputError(f"{name!r} cannot be a scenario's name", Place(path="--scenario"), hint)
    net = load_network(network)
    with _fleet(net, network) as fleet:
        measured = measure_stations(fleet, seconds, _wait)
    found = scenario_of_counters(net, measured, name)
    if not as_json:
        print_notes(measured.notes)
        print_problems([problem.document() for problem in measured.problems])
    if found is None and not measured.problems:
        raise InputError(
            f"no traffic went between two stations of {net.name} in {seconds:g} s",
            Place(file=str(network)),
            "measure while the network is used, for longer (--seconds), or describe traffic by hand",
        )
    known = next((one for one in net.traffic if one.name == name), None)
    writes = found is not None and known is None and (write or not net.traffic)
    if writes and found is not None:
        append_entries(network, TRAFFIC, "scenarios", [_scenario_entry(found)])
    changes = scenario_differences(known, found) if known and found else ()
    if as_json:
        print_json(_traffic_document(network, measured, found, changes, written=writes))
    else:
        _print_traffic(network, found, changes, known=known is not None, written=writes)
    sys.exit(3 if measured.problems else 0)


def _wait(seconds: float) -> None:
    progress("measure", f"counters were read; again in {seconds:g} s")
    time.sleep(seconds)


def _fleet(network: Network, folder: Path) -> Fleet:
    require_installed(network, folder)
    settings = load_settings()
    route = route_to(settings, network)
    progress("read", route.told)
    return Fleet(network, route, Sessions(settings.device_limits, settings.device_sessions))


def _station_words(one: DerivedStation) -> dict[str, Any]:
    station = one.station
    return {
        "name": station.name,
        "address": station.address,
        "attach": list(station.attach),
        "rate": rate(station.rate),
    }


def _station_entry(one: DerivedStation) -> ListEntry:
    words = _station_words(one)
    vlan = "VLAN not told" if one.vlan is None else f"VLAN {one.vlan}"
    return ListEntry(words, [f"{flow_text(words)}  # {vlan}; the address is a placeholder"])


def _scenario_entry(found: MeasuredScenario) -> ListEntry:
    words = found.words
    lines = [
        f"name: {flow_text(words['name'])}",
        f"title: {flow_text(words['title'])}",
        "between:",
        *(f"  - {flow_text(pair)}" for pair in words["between"]),
        "flows:",
        *(f"  - {flow_text(flow)}" for flow in found.flows),
    ]
    return ListEntry(words, lines, found.above)


def _stations_document(folder: Path, found: Derivation, *, written: bool) -> dict[str, Any]:
    return {
        "file": str(folder / LINKS),
        "written": written,
        "access_ports": found.access_ports,
        "added": [{**_station_words(one), "vlan": one.vlan} for one in found.added],
        "changes": list(found.changes),
        "unread": list(found.unread),
        "notes": notes_json(found.notes),
    }


def _print_stations(folder: Path, found: Derivation, *, written: bool) -> None:
    for one in found.added:
        station, vlan = one.station, "not told" if one.vlan is None else one.vlan
        where = " ".join(station.attach)
        out.print(f"added    station {station.name}: {where}, {rate(station.rate)}, VLAN {vlan}", markup=False)
    for change in found.changes:
        out.print(change, markup=False)
    out.print(f"{found.access_ports} access ports, {len(found.added)} without a station", markup=False)
    if written:
        out.print(
            f"{folder / LINKS} has them; ports tell no addresses: replace the placeholders of those", markup=False
        )
        out.print("that a policy matches by address. Then: qosforge network traffic", markup=False)
    elif found.added:
        out.print(f"{folder / LINKS} was left as it is: --add gives it what it lacks", markup=False)
    else:
        out.print(f"{folder / LINKS} was left as it is", markup=False)


def _traffic_document(
    folder: Path,
    measured: MeasuredTraffic,
    found: MeasuredScenario | None,
    changes: Sequence[str],
    *,
    written: bool,
) -> dict[str, Any]:
    return {
        "file": str(folder / TRAFFIC),
        "written": written,
        "began": measured.began.isoformat(),
        "seconds": measured.seconds,
        "scenario": dict(found.words) if found else None,
        "not_told": list(found.notes) if found else [],
        "changes": list(changes),
        "problems": [problem.document() for problem in measured.problems],
        "notes": notes_json(measured.notes),
    }


def _print_traffic(
    folder: Path, found: MeasuredScenario | None, changes: Sequence[str], *, known: bool, written: bool
) -> None:
    path = folder / TRAFFIC
    if found is None:
        out.print(f"{path} was left as it is: no traffic between two stations was measured", markup=False)
        return
    for line in found.above:
        out.print(line, markup=False, soft_wrap=True)
    for change in changes:
        out.print(change, markup=False, soft_wrap=True)
    out.print(
        f"scenario {found.words['name']}: {len(found.flows)} flows between {len(found.words['between'])} pairs"
    )
    if written:
        out.print(f"{path} has it: read it, and correct what is assumed", markup=False)
    elif known:
        out.print(f"{path} was left as it is: --scenario gives the measurement another name", markup=False)
    else:
        out.print(f"{path} was left as it is: --add gives it the scenario", markup=False)
