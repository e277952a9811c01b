"""Preview a policy by a qosforge service."""

from __future__ import annotations

DOCUMENTATION = r"""
module: preview
short_description: Tell what a QoS policy would do to a network
description:
  - Compiles a policy for a network. Nothing is changed, in check mode or without.
  - Fails where a finding stands against the policy, unless O(fail_on_findings=false).
extends_documentation_fragment:
  - qosforge.qosforge.service
  - qosforge.qosforge.service.policy
author: qosforge (@qosforge)
attributes:
  check_mode:
    support: full
    description: As without.
  diff_mode:
    support: none
    description: Nothing is changed.
options:
  devices:
    description: Tell of these devices alone.
    type: list
    elements: str
    default: []
  live:
    description: Read the devices, and tell the lines that would be entered into each.
    type: bool
    default: false
  fail_on_findings:
    description: Fail where a finding stands against the policy.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: What the policy would enter into the edges
  qosforge.qosforge.preview:
    network: campus
    policy: campus
    devices: [edge1, edge2]
    live: true
  register: preview
"""

RETURN = r"""
good:
  description: Whether no finding stands against the policy.
  returned: success
  type: bool
findings:
  description: What the compiler says, each with code, severity, message, place and hint.
  returned: success
  type: list
  elements: dict
devices:
  description: Name, platform and configuration of each device, and its RV(devices[].candidate) where it was read.
  returned: success
  type: list
  elements: dict
"""

from contextlib import suppress

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.qosforge.qosforge.plugins.module_utils.service import (
    ONE_POLICY,
    POLICY,
    SERVICE,
    carry_out,
    chosen_policy,
    findings,
)

with suppress(ImportError):  # carry_out says so
    from qosforge_client import Client


def preview(module: AnsibleModule, client: Client) -> dict:
    options = module.params
    made = client.preview(
        options["network"],
        chosen_policy(module),
        devices=options["devices"],
        live=options["live"],
        strict=options["strict"],
    )
    devices = [device.model_dump(mode="json") for device in made.devices]
    results = {"changed": False, "good": made.good, "findings": findings(made.findings), "devices": devices}
    if not made.good and options["fail_on_findings"]:
        module.fail_json(msg=f"findings stand against policy {made.intent} on network {made.network}", **results)
    return results


def main() -> None:
    options = (
        SERVICE
        | POLICY
        | {
            "devices": {"type": "list", "elements": "str", "default": []},
            "live": {"type": "bool", "default": False},
            "fail_on_findings": {"type": "bool", "default": True},
        }
    )
    carry_out(AnsibleModule(argument_spec=options, supports_check_mode=True, **ONE_POLICY), preview)


if __name__ == "__main__":
    main()
