"""What the modules have in common: the service's options, its client, and its problems as failures."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from ansible.module_utils.basic import AnsibleModule, env_fallback, missing_required_lib

try:
    from qosforge_client import Client, Finding, InlinePolicy, NamedPolicy, Problem, QosforgeClientError
except ImportError:
    MISSING: str | None = traceback.format_exc()
else:
    MISSING = None

SERVICE = {
    "url": {"type": "str", "required": True, "fallback": (env_fallback, ["QOSFORGE_SERVER"])},
    "token": {"type": "str", "required": True, "no_log": True, "fallback": (env_fallback, ["QOSFORGE_TOKEN"])},
    "allow_plain_http": {"type": "bool", "default": False},
}
POLICY = {
    "network": {"type": "str", "required": True},
    "policy": {"type": "str"},
    "version": {"type": "int"},
    "text": {"type": "str"},
    "parameters": {"type": "dict", "default": {}},
    "strict": {"type": "bool", "default": False},
}
ONE_POLICY: dict[str, Any] = {
    "mutually_exclusive": [("policy", "text"), ("version", "text")],
    "required_one_of": [("policy", "text")],
}


def carry_out(module: AnsibleModule, task: Callable[[AnsibleModule, Client], dict[str, Any]]) -> None:
    """Do a task with the module's service, and end the module with its results, or with what went wrong."""
    if MISSING:
        module.fail_json(msg=missing_required_lib("qosforge-client"), exception=MISSING)
    options = module.params
    try:
        with Client(options["url"], options["token"], allow_plain_http=options["allow_plain_http"]) as client:
            results = task(module, client)
    except Problem as problem:
        module.fail_json(
            msg=str(problem),
            problem=problem.kind,
            errors=[error.model_dump() for error in problem.errors],
            findings=findings(problem.findings),
        )
    except (QosforgeClientError, ValueError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**results)


def chosen_policy(module: AnsibleModule) -> InlinePolicy | NamedPolicy:
    """The policy that the options name or spell out."""
    options = module.params
    if options["text"] is not None:
        return InlinePolicy(text=options["text"], parameters=options["parameters"])
    version = "latest" if options["version"] is None else options["version"]
    return NamedPolicy(name=options["policy"], version=version, parameters=options["parameters"])


def findings(found: tuple[Finding, ...]) -> list[dict[str, Any]]:
    """Findings as the service writes them."""
    return [finding.model_dump(mode="json", by_alias=True) for finding in found]
