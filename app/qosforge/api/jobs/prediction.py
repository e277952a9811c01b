"""The job of a prediction: compile a policy and simulate what it would do."""

from __future__ import annotations

from qosforge.compiler.compile import compile_intent
from qosforge.deploy.driver_and_platform import require_installed
from qosforge.intent.policy_source import PolicySource, load_policy
from qosforge.inventory.models import Network
from qosforge.prediction.predict import predict
from qosforge.reports.prediction import PredictionDocument, prediction_document


def predict_traffic(written: PolicySource, network: Network, seed: int, at_most_seconds: int) -> PredictionDocument:
    """Predict what a policy would do to the traffic of a network; no device is read.

    Raises:
        InputError: the policy is no valid intent, or verifies nothing.
        RefusedError: errors stand against it.
        TesterError: the twin cannot simulate this.
    """
    require_installed(network)
    compilation = compile_intent(load_policy(written), network)
    return prediction_document(predict(compilation, seed=seed, at_most_seconds=at_most_seconds))


def predict_traffic_json(written: PolicySource, network: Network, seed: int, at_most_seconds: int) -> bytes:
    """The document of `predict_traffic` as JSON."""
    return predict_traffic(written, network, seed, at_most_seconds).model_dump_json(by_alias=True).encode()
