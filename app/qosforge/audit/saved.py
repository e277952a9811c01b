"""The audit of saved configurations, without an inventory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qosforge.audit.audit import Audit, audit
from qosforge.discovery.facts import Note, Topic
from qosforge.discovery.model import Discovery
from qosforge.discovery.saved import discover_saved
from qosforge.importing.running_configuration import RunningConfiguration

_INCOMPLETE = frozenset({Topic.LEFT_OUT, Topic.UNKNOWN_PLATFORM, Topic.SAME_NAME, Topic.NOT_UNDERSTOOD})


@dataclass(frozen=True)
class SavedAudit:
    """An audit, and the network that was made of the configurations alone."""

    result: Audit
    found: Discovery

    @property
    def incomplete(self) -> tuple[Note, ...]:
        """What the audit is not complete without; what was assumed is told where an inventory is made."""
        return tuple(note for note in self.found.notes if note.topic in _INCOMPLETE)


def audit_saved(configurations: Sequence[RunningConfiguration], notes: Iterable[Note], network: str) -> SavedAudit:
    """Audit configurations as a network of this name; ``notes`` are of files that were left out.

    Raises:
        InputError: two configurations are of one device.
    """
    found = discover_saved(configurations, notes)
    names = {one.device: device.name for one, device in zip(configurations, found.devices, strict=True)}
    texts = {names[one.device]: one.text for one in configurations}
    files = {names[one.device]: one.file for one in configurations}
    return SavedAudit(audit(found.network(network), texts, files), found)
