"""The policed-DSCP map of a 2970: the DSCP that packets beyond a policer's rate get."""

from __future__ import annotations

from qosforge.dscp import dscp_name
from qosforge.note import Reason, because
from qosforge.plan.request import ClassRequest


class PolicedMap:
    """The switch's map from the DSCP that a class has to the one of what exceeds, as classes ask for it."""

    def __init__(self) -> None:
        self._wanted: dict[int, tuple[int, str]] = {}

    def write(self, entry: ClassRequest, dscp: int, exceeding: int) -> Reason | None:
        """Have what exceeds of one DSCP become another; the reason where a class needs the map otherwise."""
        held, first = self._wanted.setdefault(dscp, (exceeding, entry.name))
        if held == exceeding:
            return None
        return because(
            "police-unsupported",
            variant="exceed-map",
            first=first,
            held=dscp_name(held),
            dscp=dscp_name(dscp),
            wanted=dscp_name(exceeding),
        )

    def table(self) -> tuple[int, ...] | None:
        """The map of all 64 DSCPs; None where no class needs it."""
        if not self._wanted:
            return None
        return tuple(self._wanted.get(dscp, (dscp, ""))[0] for dscp in range(64))
