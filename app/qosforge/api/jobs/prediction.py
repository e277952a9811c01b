"""The job of a prediction: compile a policy and simulate what it would do."""

from __future__ import annotations

import time
from collections.abc import Mapping

from qosforge.compiler.compile import compile_intent
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.platforms.device_text import DeviceText
from qosforge.prediction.predict import predict
from qosforge.prediction.today import simulate_today
from qosforge.reports.prediction import prediction_document


def predict_traffic_json(
    written: PolicySource,
    network: Network,
    running: Mapping[str, DeviceText],
    *,
    seed: int,
    at_most_seconds: int,
    within: float,
) -> bytes:
    """Predict what a policy would do to the traffic of a network whose devices last held ``running``; none is read.

    What they give traffic today is simulated, too, where that is ready ``within`` so many seconds. A
    `PredictionDocument` as JSON.

    Raises:
        InputError: the policy is no valid intent, or verifies nothing.
        RefusedError: errors stand against it.
        TesterError: the twin cannot simulate this.
    """
    require_installed(network)
    compilation = compile_intent(load_policy(written), network, running)
    begun = time.monotonic()
    found = predict(compilation, running, seed=seed, at_most_seconds=at_most_seconds)
    took = time.monotonic() - begun
    today = simulate_today(compilation, running, found.timings, seed=seed, took=took, within=within)
    document = prediction_document(found, compilation.intent.intent.classes, today)
    return document.model_dump_json(by_alias=True).encode()
