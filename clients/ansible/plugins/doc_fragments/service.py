"""Options that every module of the collection has."""

from __future__ import annotations


class ModuleDocFragment:
    """The service, and the policy that a module is about."""

    DOCUMENTATION = r"""
options:
  url:
    description:
      - Address of the service, such as V(https://qos.example.org).
      - Without it, the environment variable E(QOSFORGE_SERVER).
    type: str
    required: true
  token:
    description:
      - Token of the service.
      - Without it, the environment variable E(QOSFORGE_TOKEN).
    type: str
    required: true
  allow_plain_http:
    description: Let the token travel unencrypted to another machine.
    type: bool
    default: false
requirements:
  - qosforge-client, a Python package, on the host where the module runs
notes:
  - The module speaks to the service, not to devices. Let it run on the controller (C(delegate_to=localhost), or
    a play with C(hosts=localhost)).
"""

    POLICY = r"""
options:
  network:
    description: The network that the policy is for, as the service calls it.
    type: str
    required: true
  policy:
    description: Name of a policy that the service has. Either this or O(text).
    type: str
  version:
    description: Number of the version of O(policy); the newest without it.
    type: int
  text:
    description: Text of a policy. Either this or O(policy).
    type: str
  parameters:
    description: Values of the policy's parameters by name.
    type: dict
    default: {}
  strict:
    description: Warnings stand against the policy, too.
    type: bool
    default: false
"""
