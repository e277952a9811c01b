"""Queues that have an exact solution: mean waits and losses against the formula.

Each is measured to 1 % at 95 % confidence (over independent runs), so that the comparison could fail, and must
agree to 1 %.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from .replications import BIT_RATE, replicate
from .scenarios import SECOND, egress, flow, port_of

MEAN_BYTES = 3000
SERVICE_PS = MEAN_BYTES * 8 * SECOND / BIT_RATE
EXPONENTIAL = {"kind": "exponential", "mean_bytes": MEAN_BYTES}
ROOMY = egress(1, {"kind": "fifo"}, 10**9)
PRECISION = 0.01
# Packets of a run: until a mean wait is known to 1 % they grow as 1/(1 - load)².
PACKETS = {0.5: 4e4, 0.7: 5e4, 0.8: 9e4, 0.9: 3e5, 0.95: 1.2e6}


def poisson(name: str, load: float, ip_bytes: int | dict[str, Any], cos: int = 0) -> dict[str, Any]:
    return flow(name, cos, kind="poisson", rate_bps=round(load * BIT_RATE), ip_bytes=ip_bytes)


def agrees(found: tuple[float, float], expected: float) -> None:
    """The mean is known to 1 %, and is what is expected to 1 %."""
    mean, half_width = found
    assert half_width < PRECISION * expected
    assert mean == pytest.approx(expected, rel=PRECISION)


def waits(result: dict[str, Any]) -> list[float]:
    """Mean wait of each queue, packets per packet served: from arrival to leaving for the line."""
    return [queue["window"]["wait_ps"]["mean"] for queue in port_of(result)["queues"]]


@pytest.mark.parametrize("load", sorted(PACKETS))
def test_deterministic_service(load: float) -> None:
    """M/D/1: ρ s / (2 (1 - ρ)) (Pollaczek, Khinchine)."""
    (wait,) = replicate(ROOMY, [poisson("a", load, MEAN_BYTES)], PACKETS[load], SERVICE_PS / load, waits)
    agrees(wait, load * SERVICE_PS / 2 / (1 - load))


@pytest.mark.parametrize("load", sorted(PACKETS))
def test_exponential_service(load: float) -> None:
    """M/M/1: ρ s / (1 - ρ)."""
    (wait,) = replicate(ROOMY, [poisson("a", load, EXPONENTIAL)], PACKETS[load], SERVICE_PS / load, waits)
    agrees(wait, load * SERVICE_PS / (1 - load))


# Load, bytes (mean), and E[S²] as a multiple of E[S]²: 1 for one size, 2 for exponential ones.
FIRST_SMALL = [(0.15, 500, 1), (0.25, EXPONENTIAL, 2), (0.3, 1500, 1)]
FIRST_LARGE = [(0.25, EXPONENTIAL, 2), (0.1, 400, 1), (0.35, 1000, 1)]


@pytest.mark.parametrize(
    ("kind", "classes"),
    [("strict", FIRST_SMALL), ("tree", FIRST_LARGE), ("cbwfq", FIRST_LARGE)],
)
def test_priorities_that_do_not_interrupt(kind: str, classes: Sequence[tuple[float, Any, int]]) -> None:
    """Cobham (1954): W₀ / ((1 - σᵢ₋₁)(1 - σᵢ)), σ the load down to a class, W₀ = Σ λ E[S²] / 2."""
    scheduler = {
        "strict": {"kind": "strict", "order": [0, 1, 2]},
        "tree": {"kind": "tree", "children": [{"queue": q, "priority": q} for q in range(3)]},
        "cbwfq": {
            "kind": "cbwfq",
            # So high a rate that the policer of a priority class finds nothing.
            "priority": [{"queue": q, "rate_bps": 10**12, "burst_bytes": 10**7, "level": q + 1} for q in range(2)],
            "weights": {"2": 1},
        },
    }[kind]
    flows = [poisson(f"c{q}", load, size, cos=q) for q, (load, size, _) in enumerate(classes)]
    sizes = [size if isinstance(size, int) else MEAN_BYTES for _, size, _ in classes]
    services = [size * 8 * SECOND / BIT_RATE for size in sizes]
    packets_per_ps = sum(load / service for (load, _, _), service in zip(classes, services, strict=True))
    found = replicate(egress(3, scheduler, 10**9), flows, 4e5, 1 / packets_per_ps, waits)
    residual = sum(load * s * second / 2 for (load, _, second), s in zip(classes, services, strict=True))
    above = 0.0
    for wait, (load, _, _) in zip(found, classes, strict=True):
        agrees(wait, residual / (1 - above) / (1 - above - load))
        above += load


@pytest.mark.parametrize(("load", "places"), [(0.5, 3), (0.8, 5), (0.95, 10), (1.3, 8), (1, 20)])
def test_loss_of_a_finite_system(load: float, places: int) -> None:
    """M/M/1/K: (1 - ρ) ρᴷ / (1 - ρᴷ⁺¹), 1/(K + 1) at ρ = 1; K counts the packet on the line."""
    port = egress(1, {"kind": "fifo"}, places - 1)

    def loss(result: dict[str, Any]) -> list[float]:
        return [result["flows"][0]["lost"] / result["flows"][0]["sent"]]

    (found,) = replicate(port, [poisson("a", load, EXPONENTIAL)], 1e5, SERVICE_PS / load, loss)
    expected = 1 / (places + 1) if load == 1 else (1 - load) * load**places / (1 - load ** (places + 1))
    agrees(found, expected)
