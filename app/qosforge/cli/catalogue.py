"""The commands by group, as ``qosforge --help`` lists them, and the module of each.

The list needs no module of a command: the drivers, the engine and the plots take seconds to import.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListedCommand:
    """A command or a group of commands; ``summary`` is the first sentence of its own help."""

    name: str
    module: str
    group: str
    summary: str


_GROUPS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Policies": (
        ("policy", "policy", "Policies: those that ship with qosforge, and new ones."),
        ("application", "application", "Applications that a policy can match by name."),
        ("lint", "policies", "Check an intent: language, and what each device can do of it."),
        ("compile", "policies", "Compile an intent into the configuration of every device."),
        ("validate", "policies", "Compile and validate: own checks, and Batfish where a service is configured."),
        ("diff", "policies", "Show what would change on every device, as a difference."),
        ("predict", "predict", "Predict what every class would get from the compiled plans, and judge it."),
        ("openconfig", "openconfig", "Plans as openconfig-qos documents (RFC 7951), and back."),
    ),
    "Runs": (
        ("run", "runs", "Do the whole loop: measure, push, measure again, judge, keep or roll back."),
        ("push", "runs", "Push an intent without measuring: compile, validate, push, read back, save."),
        ("measure", "runs", "Measure what the devices do now against an intent's objectives."),
        ("runs", "run_list", "List the newest runs."),
        ("show", "runs", "Show one run: findings, comparison, verdicts, devices and stages."),
        ("wait", "decisions", "Follow a run on a service to its end, and exit by its verdict."),
        ("approve", "decisions", "Approve what a run would do, or keeping what it asks about."),
        ("reject", "decisions", "Reject what a run would do."),
        ("cancel", "decisions", "Stop a run; what it touched is undone."),
        ("pause", "decisions", "Hold a rollout before its next wave."),
        ("resume", "decisions", "Let a paused rollout go on with its next wave."),
        ("retry", "decisions", "Let a run that ended without its change begin again."),
        ("rollback", "decisions", "Undo a run that was kept, by a new run."),
        ("recover", "runs", "Finish what a killed or failed run left behind."),
        ("take-over", "takeover", "Stand for a version that somebody else wrote."),
    ),
    "Networks and devices": (
        ("init", "init", "Write a first network and policy, by questions or by options."),
        ("network", "network", "Whole networks, and what their devices tell of them."),
        ("device", "device", "The devices of a network, and how they are reached."),
        ("audit", "audit", "Say what is configured, whether it is consistent, and where marks are lost."),
        ("import", "import_", "Read configurations as an intent that compiles back to them."),
        ("drift", "drift", "Looks for drift on a schedule; on the host of the database."),
    ),
    "Lab and experiments": (
        ("lab", "lab", "Emulated devices, and real Linux routers, that speak SSH on loopback."),
        ("probe", "probe", "A probe of real packets: STAMP (RFC 8762) and TWAMP Light."),
        ("experiment", "experiments", "The papers' experiments, run in the twin and compared claim by claim."),
    ),
    "Service": (
        ("serve", "serve", "Serve the pages and the REST interface."),
        ("worker", "worker", "Carry out runs until it is stopped."),
        ("user", "user", "Users of the service and their roles; on the host of the database."),
        ("token", "token", "Tokens for the service; on the host of the database."),
        ("tester", "tester", "External testers that may give measurements; on the host of the database."),
        ("webhook", "webhook", "Where events are told; on the host of the database."),
    ),
    "Operation": (
        ("doctor", "doctor", "Check everything that the installation depends on, and how to correct it."),
        ("backup", "backup", "Copy an installation into one file, and bring it back."),
        ("database", "database", "The tables of an installation."),
        ("retention", "retention", "Drop what runs that ended longer ago left behind, and give its space back."),
    ),
}  # fmt: skip

ENTRIES = {
    name: ListedCommand(name, f"qosforge.cli.{module}", group, summary)
    for group, rows in _GROUPS.items()
    for name, module, summary in rows
}
"""Every command at the top, in the order of the list."""


def modules() -> tuple[str, ...]:
    """The modules of all commands, each once."""
    return tuple(dict.fromkeys(entry.module for entry in ENTRIES.values()))
