"""ΔQ: distributions of delay and loss, objectives on them, and verdicts with their confidence."""

from app.deltaq.distribution import LOST, DeltaQ, mixture
from app.deltaq.objective import BoundVerdict, Evidence, Objective, Outcome, Quantity, Verdict, combine
from app.deltaq.verdict import judge

__all__ = [
    "LOST",
    "BoundVerdict",
    "DeltaQ",
    "Evidence",
    "Objective",
    "Outcome",
    "Quantity",
    "Verdict",
    "combine",
    "judge",
    "mixture",
]
