"""Store a policy in a qosforge service."""

from __future__ import annotations

DOCUMENTATION = r"""
module: policy
short_description: Store a QoS policy in a qosforge service
description:
  - Stores a text as the newest version of a policy. Nothing changes where the newest version has it already.
  - The text has to be a valid policy; nothing is pushed to a device.
extends_documentation_fragment:
  - qosforge.qosforge.service
author: qosforge (@qosforge)
attributes:
  check_mode:
    support: full
    description: Tells whether a version would be stored; the service does not read the text then.
  diff_mode:
    support: full
    description: The newest version's text and the new one.
options:
  name:
    description: Name of the policy, which is that of its C(intent).
    type: str
    required: true
  text:
    description: Text of the policy.
    type: str
    required: true
  network:
    description: The network whose policy it is, V(*) for that of all. A stored policy stays where it is.
    type: str
  comment:
    description: What the version is for.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: The policy of the campus is as in this repository
  qosforge.qosforge.policy:
    name: campus
    text: "{{ lookup('file', 'policies/campus.yaml') }}"
    network: campus
    comment: "{{ lookup('pipe', 'git rev-parse HEAD') }}"
"""

RETURN = r"""
number:
  description: Number of the newest version; absent in check mode where one would be stored.
  returned: success
  type: int
"""

from contextlib import suppress

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.qosforge.qosforge.plugins.module_utils.service import SERVICE, carry_out

with suppress(ImportError):  # carry_out says so
    from qosforge_client import Client, NotFound


def store(module: AnsibleModule, client: Client) -> dict:
    options = module.params
    try:
        newest = client.policies.get(options["name"])
        before, base = newest.text, newest.about.number
    except NotFound:
        before, base = "", None
    diff = {"before": before, "after": options["text"]}
    if base is not None and before == options["text"]:
        return {"changed": False, "number": base}
    if module.check_mode:
        return {"changed": True, "diff": diff}
    stored = client.policies.store(
        options["name"], options["text"], network=options["network"], comment=options["comment"], base=base
    )
    return {"changed": True, "number": stored.number, "diff": diff}


def main() -> None:
    options = SERVICE | {
        "name": {"type": "str", "required": True},
        "text": {"type": "str", "required": True},
        "network": {"type": "str"},
        "comment": {"type": "str", "default": ""},
    }
    carry_out(AnsibleModule(argument_spec=options, supports_check_mode=True), store)


if __name__ == "__main__":
    main()
