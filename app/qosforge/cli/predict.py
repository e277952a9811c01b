"""The command ``predict``: what an intent would do to the traffic. No device is contacted."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from qosforge.cli.measurement_tables import print_unjudged
from qosforge.cli.options import AsJson, NetworkFolder, Parameters, Policy, Seed, load
from qosforge.cli.output import print_findings, print_json
from qosforge.cli.run_output import print_measurement
from qosforge.cli.server import connect, remote
from qosforge.cli.terminal import out, progress
from qosforge.client.documents import read
from qosforge.client.request_documents import network_name, policy_choice
from qosforge.compiler.compile import compile_intent
from qosforge.prediction.predict import LONGEST_SECONDS, MOST_SECONDS, predict
from qosforge.prediction.today import simulate_today
from qosforge.reports.prediction import PredictionDocument, prediction_document

AtMost = Annotated[
    int,
    typer.Option("--at-most", metavar="SECONDS", min=1, max=LONGEST_SECONDS, help="Simulate no scenario longer."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(name="predict")(predict_)


def predict_(
    policy: Policy,
    network: NetworkFolder = None,
    parameters: Parameters = None,
    seed: Seed = 1,
    at_most: AtMost = MOST_SECONDS,
    as_json: AsJson = False,
) -> None:
    """Predict what every class would get from the compiled plans, and judge it. Nothing is contacted."""
    if remote():
        order = {
            "network": network_name(network),
            "policy": policy_choice(policy, parameters or ()),
            "seed": seed,
            "at_most_seconds": at_most,
        }
        with connect() as connection:
            found = read(PredictionDocument, connection.post("/predictions", order))
    else:
        loaded, net = load(policy, network, parameters)
        compilation = compile_intent(loaded, net)
        progress("predict", "twin of what would be pushed")
        prediction = predict(compilation, seed=seed, at_most_seconds=at_most)
        today = simulate_today(compilation, {}, prediction.timings)  # nothing is read: it says so
        found = prediction_document(prediction, loaded.intent.classes, today)
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        print_measurement(found.measurement, found.verdicts, when="predicted")
        print_unjudged(found.unjudged_trade_offs, "predicted")
        print_findings(found.findings)
        for each in found.simulated:
            if each.seconds < each.wanted:
                out.print(f"{each.scenario}: {each.seconds} s simulated of {each.wanted} s; more with --at-most")
    sys.exit(0 if found.outcome == "met" else 1)
