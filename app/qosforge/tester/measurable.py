"""What a measurement takes: checks of an intent that can be judged, and a network that says who sends what."""

from __future__ import annotations

from qosforge.errors import InputError, Place
from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.tester.measurement.judging import has_objectives


def require_checks(loaded: LoadedIntent) -> None:
    """Make sure that a measurement of the intent could end in a verdict.

    Raises:
        InputError: no check of it judges a class that has an objective.
    """
    if not has_objectives(loaded.intent):
        raise InputError(
            "no check judges a class with an objective, so there is nothing to measure",
            Place(file=loaded.document.file, path="verify"),
            "add checks under 'verify', or ask for no measurement: `qosforge push`, by REST `measure: false`",
        )


def require_traffic(network: Network) -> None:
    """Make sure that a network describes what a measurement by its twin takes.

    Raises:
        InputError: it has no stations or no traffic; says what can be done without.
    """
    lacking = " and ".join(
        what for what, there in (("no stations", network.stations), ("no traffic", network.traffic)) if not there
    )
    if lacking:
        derive = [
            f"qosforge network {what} derives {source}"
            for what, source, there in (
                ("stations", "stations from access ports", network.stations),
                ("traffic", "traffic from counters", network.traffic),
            )
            if not there
        ]
        raise InputError(
            f"{network.name} has {lacking}, and a verdict takes both",
            Place(file="links.yaml" if not network.stations else "traffic.yaml"),
            "without them you can compile, validate, diff and push (which reads back and looks at the counters by "
            f"class); for a verdict: {', then '.join(derive)}, or describe them by hand (docs/devices.md)",
        )
