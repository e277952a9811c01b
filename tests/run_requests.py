"""Run requests for a network and a policy that are at hand, as `RunRequests.submit` and `Service.run` take them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from qosforge.intent.loader import LoadedIntent
from qosforge.inventory.models import Network
from qosforge.policy_library.choice import InlinePolicy
from qosforge.policy_library.versions import PolicyVersion
from qosforge.runs.requests.resolve import RunDocuments
from qosforge.runs.requests.run_request import RunRequest


class Submission(NamedTuple):
    """A request with the documents that it names."""

    request: RunRequest
    documents: RunDocuments

    @property
    def network(self) -> Network:
        """The network as it is at hand."""
        return self.documents.network

    @property
    def intent(self) -> LoadedIntent:
        """The policy as it is at hand."""
        return self.documents.intent

    def having(self, **options: Any) -> Submission:
        """The same with other options, or documents."""
        documents = {name: options.pop(name) for name in ("network", "intent", "stored") if name in options}
        fields = {**dict(self.request), **options}
        return Submission(RunRequest.parse(fields), replace(self.documents, **documents))


def request_run(
    network: Network, intent: LoadedIntent, stored: PolicyVersion | None = None, **options: Any
) -> Submission:
    """The request of a run of this policy on this network."""
    policy = InlinePolicy(text=intent.document.text, file=intent.document.file)
    request = RunRequest.parse({"network": network.name, "policy": policy, **options})
    return Submission(request, RunDocuments(network, intent, stored))
