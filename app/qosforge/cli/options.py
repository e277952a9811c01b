"""Arguments and options that several commands share, and what they load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qosforge.deploy.driver_and_platform import require_installed
from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent, load_intent
from qosforge.intent.policy_source import shipped_policies
from qosforge.inventory.loader import load_network
from qosforge.inventory.models import Network
from qosforge.resources import root

Policy = Annotated[Path, typer.Argument(help="The intent: a YAML file.", metavar="POLICY")]
NetworkFolder = Annotated[
    Path | None, typer.Option("--network", "-n", help="Inventory folder (default: inventories/campus).")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Give a parameter of the intent a value (may be repeated)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
AcceptUnconfirmed = Annotated[
    bool,
    typer.Option("--accept-unconfirmed", help="Enter lines too that no published source confirms for the device."),
]
SetAside = Annotated[
    str | None,
    typer.Option(
        "--set-aside",
        metavar="CODE[@DEVICE][:TEXT]",
        help="One finding of Batfish that stops nothing in this run: of this code and device, with this text.",
    ),
]
AsideReason = Annotated[str, typer.Option("--reason", help="Why a finding is set aside; recorded and shown.")]
RequireBatfish = Annotated[bool, typer.Option("--require-batfish", help="Fail when Batfish does not check.")]
Packets = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the packets measured one by one: CSV, or Parquet by its name."),
]
Tester = Annotated[
    str, typer.Option("--tester", metavar="NAME", help="What measures: the twin, or one that sends packets.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**64 - 1, help="Seed of the tester's random streams.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or how it begins.")]


def network_folder(given: Path | None) -> Path:
    """The inventory's folder: the one given, else the campus that ships with qosforge."""
    return given or root() / "inventories" / "campus"


def load(policy: Path, network: Path | None, parameters: list[str] | None) -> tuple[LoadedIntent, Network]:
    """Intent, with parameters set beside it, and network.

    Raises:
        InputError, InputErrors: either is wrong, or a device has a platform or driver that is not installed.
    """
    folder = network_folder(network)
    if not policy.exists() and (name := policy.stem) in shipped_policies():
        hint = f"{name} is built in; to have it as a file: qosforge policy show {name} --yaml > {name}.yaml"
        raise InputError("there is no such file", Place(file=str(policy)), hint)
    loaded, net = load_intent(policy, parameters or ()), load_network(folder)
    require_installed(net, folder)
    return loaded, net
