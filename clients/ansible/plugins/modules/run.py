"""Run a policy by a qosforge service."""

from __future__ import annotations

DOCUMENTATION = r"""
module: run
short_description: Bring a QoS policy onto a network, measured and kept or rolled back
description:
  - Starts a run of a policy, and waits until it is over. Devices that hold the policy already are not changed.
  - Fails where the run was rejected, rolled back or cancelled, failed, or needs recovery.
  - Where the network asks for an approval, the module ends with RV(status=needs_approval) and RV(page), unless
    O(wait_for_approval=true).
extends_documentation_fragment:
  - qosforge.qosforge.service
  - qosforge.qosforge.service.policy
author: qosforge (@qosforge)
attributes:
  check_mode:
    support: full
    description: Reads the devices, and tells the lines that would be entered; no run is started.
  diff_mode:
    support: full
    description: What each device's configuration loses and gains.
options:
  measure:
    description: Keep the change only if the policy's objectives are met.
    type: bool
    default: true
  ticket:
    description: Number of the change.
    type: str
    default: ""
  idempotency_key:
    description: With the same key and request, the run of the first call is followed, and none is started.
    type: str
  wait_for_approval:
    description: Wait until somebody approved or rejected the change, and until its change window opens.
    type: bool
    default: false
  wait_seconds:
    description: The longest to wait. The run goes on without a watcher.
    type: int
    default: 3600
"""

EXAMPLES = r"""
- name: The campus has its policy
  qosforge.qosforge.run:
    network: campus
    policy: campus
    ticket: CHG-1234
"""

RETURN = r"""
run:
  description: Id of the run.
  returned: when one was started
  type: str
status:
  description: How it ended, such as V(kept) or V(no_changes); V(needs_approval) and V(scheduled) where it waits.
  returned: when one was started
  type: str
verdict:
  description: What the measurement said, V(met), V(broken) or V(inconclusive).
  returned: when one was started
  type: str
page:
  description: Address of its page for people.
  returned: when one was started
  type: str
devices:
  description: Lines that were entered, or in check mode would be, by device.
  returned: success
  type: dict
findings:
  description: What compiler and validators say, each with code, severity, message, place and hint.
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
    from qosforge_client import Client, Run, RunStatus


def bring(module: AnsibleModule, client: Client) -> dict:
    options = module.params
    if module.check_mode:
        return foresee(module, client)
    started = client.runs.start(
        options["network"],
        chosen_policy(module),
        measure=options["measure"],
        strict=options["strict"],
        ticket=options["ticket"],
        idempotency_key=options["idempotency_key"],
    )
    through = [RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED] if options["wait_for_approval"] else []
    run = client.runs.wait(started.id, seconds=options["wait_seconds"], through=through)
    results = told(run, options["url"])
    waits = run.status in (RunStatus.NEEDS_APPROVAL, RunStatus.SCHEDULED)
    if not waits and run.status not in (RunStatus.KEPT, RunStatus.NO_CHANGES):
        reason = " ".join(part for part in (run.reason, run.reason_hint) if part)
        module.fail_json(msg=f"run {run.id} ended as {run.status}: {reason or results['page']}", **results)
    return results


def foresee(module: AnsibleModule, client: Client) -> dict:
    """What a run would enter."""
    options = module.params
    made = client.preview(options["network"], chosen_policy(module), live=True, strict=options["strict"])
    if not made.good:
        module.fail_json(
            msg=f"findings stand against policy {made.intent}: a run would be rejected",
            findings=findings(made.findings),
        )
    entered = {each.name: list(each.candidate.delta) for each in made.devices if each.candidate}
    diff = [
        {"header": each.name, "prepared": "\n".join(each.candidate.difference) + "\n"}
        for each in made.devices
        if each.candidate and each.candidate.difference
    ]
    changed = any(entered.values())
    return {"changed": changed, "devices": entered, "findings": findings(made.findings), "diff": diff}


def told(run: Run, url: str) -> dict:
    """The results of a run."""
    kept = run.status == RunStatus.KEPT
    diff = [
        {"header": device.name, "prepared": "\n".join(device.difference) + "\n"}
        for device in run.devices
        if kept and device.difference
    ]
    return {
        "changed": kept or run.status == RunStatus.NEEDS_RECOVERY,
        "run": run.id,
        "status": str(run.status),
        "verdict": run.verdict and str(run.verdict),
        "page": url.rstrip("/") + run.page,
        "devices": {device.name: list(device.delta) for device in run.devices},
        "findings": findings(run.findings),
        "diff": diff,
    }


def main() -> None:
    options = (
        SERVICE
        | POLICY
        | {
            "measure": {"type": "bool", "default": True},
            "ticket": {"type": "str", "default": ""},
            "idempotency_key": {"type": "str", "no_log": False},
            "wait_for_approval": {"type": "bool", "default": False},
            "wait_seconds": {"type": "int", "default": 3600},
        }
    )
    carry_out(AnsibleModule(argument_spec=options, supports_check_mode=True, **ONE_POLICY), bring)


if __name__ == "__main__":
    main()
