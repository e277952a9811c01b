"""The change rules of a run: those it was created under and those of its network now, whichever is stricter."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.inventory.catalogue import InventoryBroken, Networks, NetworkUnknown
from qosforge.inventory.changes import Approval, ChangeRules
from qosforge.runs.record.approval_rule import approval_rule, stricter
from qosforge.settings import Settings


@dataclass(frozen=True)
class EffectiveRules:
    """What holds a change: every one of ``changes`` has to be open. ``unreadable`` says why they are not known, and
    ``file`` where those that the network has by now stand, where it is one of the installation's.
    """

    approval: Approval
    changes: tuple[ChangeRules, ...]
    unreadable: str = ""
    file: str = ""


class NetworkRules:
    """The rules of the installation's networks as they are now; safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.inventories_dir
        self._networks = Networks(settings.inventories_dir)
        self._four_eyes = settings.four_eyes

    def approval(self, changes: ChangeRules) -> Approval:
        """Who has to approve a change of a network with these rules."""
        return approval_rule(changes, four_eyes=self._four_eyes)

    def effective(self, network: str, approval: Approval, changes: ChangeRules) -> EffectiveRules:
        """The rules for a run that was created under ``approval`` and ``changes``: nothing lets it off these.

        A network that is not among the installation's has no others.
        """
        try:
            now = self._networks.network(network).changes if self._is_there() else None
        except NetworkUnknown:
            now = None
        except InventoryBroken as error:
            return EffectiveRules(
                approval, (changes,), f"the rules of {network} cannot be read now: {error.message}"
            )
        if now is None:
            return EffectiveRules(approval, (changes,))
        strictest = stricter(approval, self.approval(now))
        return EffectiveRules(strictest, (changes, now), file=f"{self._folder.name}/{network}/changes.yaml")

    def _is_there(self) -> bool:
        try:
            self._folder.stat()
        except FileNotFoundError:
            return False
        except OSError:
            return True  # and whoever looks into it is told what is wrong
        return True
