"""The common part of ``device check`` and ``network check``: check devices, print a table or a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from qosforge.cli.output import print_json
from qosforge.cli.tables import print_table
from qosforge.cli.terminal import out, print_prose, progress
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.deploy.fleet import Fleet
from qosforge.deploy.inspection import DeviceCheck, State, Subject, inspect_devices
from qosforge.deploy.route import route_to
from qosforge.deploy.sessions import Sessions
from qosforge.inventory.catalogue import device_of
from qosforge.inventory.loader import load_network
from qosforge.settings import load_settings
from qosforge.units import counted

_CELLS = {State.GOOD: ("ok", "green"), State.PROBLEM: ("problem", "red"), State.UNKNOWN: ("not told", "dim")}


def check_devices(folder: Path, names: Sequence[str], *, as_json: bool) -> int:
    """Check devices of a network, all without a name, and print what was found; the exit code.

    Raises:
        InputError, InputErrors: there is no such network or device, or its platform or driver is not installed.
    """
    network, settings = load_network(folder), load_settings()
    require_installed(network, folder)
    chosen = [device_of(network, name).name for name in names] or [device.name for device in network.devices]
    route = route_to(settings, network)
    progress("check", f"{counted(len(chosen), 'device')}: {route.told}")
    with Fleet(network, route, Sessions(settings.device_limits, settings.device_sessions)) as fleet:
        found = inspect_devices(fleet, chosen, _tell) if chosen else ()
    if as_json:
        print_json({"network": network.name, "devices": [one.model_dump(mode="json") for one in found]})
    else:
        _print(found)
    if not all(one.looked_at for one in found):
        return 3
    return int(any(one.problems for one in found))


def _tell(done: DeviceCheck) -> None:
    """One line as soon as a device is done; called from several threads."""
    problems = ", ".join(check.subject.value for check in done.problems)
    progress("check", f"{done.device}: {problems or 'nothing wrong'}")


def _print(found: Sequence[DeviceCheck]) -> None:
    table = Table(box=None, padding=(0, 1), title="Devices", title_justify="left", title_style="bold")
    for heading in ("device", *(subject.value for subject in Subject)):
        table.add_column(heading, no_wrap=True)
    for one in found:
        cells = (_CELLS.get(check.state, ("–", "dim")) for check in one.checks)
        table.add_row(one.device, *(Text(text, style=style) for text, style in cells))
    print_table(table)
    for one in found:
        for check in one.problems:
            line = Text.assemble(("problem ", "red"), (f"{one.device} {check.subject.value}: ", "bold"), check.text)
            print_prose(line, hanging=8)
            if check.hint:
                print_prose(Text(f"        {check.hint}", style="dim"), hanging=8)
    good = sum(not one.problems for one in found)
    out.print(f"{counted(len(found), 'device')}: {good} with nothing wrong, {len(found) - good} with problems")
