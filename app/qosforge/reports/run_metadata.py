"""Run metadata: creator, ticket, decisions and state, the lines at the head of every report."""

from __future__ import annotations

from qosforge.keep_rule import in_words
from qosforge.reports.model import RunReport


def _because(report: RunReport) -> list[tuple[str, str]]:
    """Why it ended without its change or stopped: each reason with its step and device, the weightiest first."""
    if report.outcome is None:
        return [("because", report.reason), ("at step", report.reason_step), ("on device", report.reason_device)]
    reasons = report.outcome.reasons
    if len(reasons) == 1:  # the run's own sentence may say more: how it ended then
        (only,) = reasons
        return [("because", report.reason), ("at step", only.step), ("on device", only.device)]
    return [
        (name, text)
        for one in reasons
        for name, text in (("because", one.message), ("at step", one.step), ("on device", one.device))
    ]


def run_metadata(report: RunReport) -> tuple[tuple[str, str], ...]:
    """Name and value of each known field, in reading order; free text as it was entered."""
    source = report.source or {}
    commit = " ".join(source[name] for name in ("repository", "commit", "path") if source.get(name))
    if source.get("dirty"):
        commit += ", changed since"
    fields = [
        ("created by", report.created_by),
        ("ticket", report.ticket),
        ("policy from", commit),
        ("accepted", "lines that no published source confirms" if report.accept_unconfirmed else ""),
        ("set aside", report.set_aside),
        ("rolls back run", report.rollback_of or ""),
        ("because", report.rollback_reason),
        ("rolled back later", f"by run {report.rolled_back_by}" if report.rolled_back_by else ""),
        ("waits for", report.waits_for),
        *_because(report),
        ("way on", report.reason_hint),
        ("kept if", "" if report.keep == "met" else f"{report.keep}: {in_words(report.keep)}"),
        ("candidate", report.candidate or ""),
        ("left out", ", ".join(report.left_out)),
    ]
    if report.rollout:
        minutes = max(wave.revert_minutes for wave in report.rollout)
        fields.append(("revert timer", f"{minutes} min: devices that have one go back then, unless confirmed"))
    if len(report.rollout) > 1:
        fields += [
            (f"wave {number}", f"{wave.name}: {wave.text} ({wave.state})")
            for number, wave in enumerate(report.rollout, 1)
        ]
    for decision in report.decisions:
        # A word on another candidate is history: it does not count for what the run would do now.
        about = "" if decision.candidate == report.candidate else ", what it would have done before"
        if decision.keeping:
            about = ", to keep what is not met"
        comment = f": {decision.comment}" if decision.comment else ""
        name = "approved by" if decision.approved else "rejected by"
        fields.append((name, f"{decision.by}, {decision.at:%Y-%m-%d %H:%M} UTC{about}{comment}"))
    return tuple((name, text) for name, text in fields if text)
