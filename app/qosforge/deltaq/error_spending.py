"""How the error of a verdict is shared out over looks at growing samples, and over all that is judged together.

**Looks.** An inconclusive measurement goes on, and is judged again: up to `LOOKS` times. Half of the error is
spent at the first look and a quarter at each of the others, which the union bound adds up. Group-sequential
boundaries such as O'Brien and Fleming's would spend it better where the statistics of the looks are jointly
normal; limits from order statistics and few replications are not, and for these the union bound holds as well.

**Broken bounds.** Every bound has the probability of as many packets beyond it as were seen where it is just
kept. Holm's procedure (Scandinavian Journal of Statistics 6(2), 1979) takes them from the least on, each at the
error over the number of those that are left, so that a bound that is kept is called broken with the stated
error, over all classes and bounds that are judged together, however they depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

LOOKS = 3
"""How often a measurement is looked at before it stays inconclusive."""
_SPENT = (0.5, 0.25, 0.25)


def confidence_at(confidence: float, look: int, looks: int = LOOKS) -> float:
    """Confidence at one look (from 1) of up to ``looks``, so that all together are wrong no more often.

    Raises:
        ValueError: there is no such look.
    """
    if looks == 1 and look == 1:
        return confidence
    if looks != LOOKS or not 1 <= look <= looks:
        raise ValueError(f"there are {LOOKS} looks, or one; no look {look} of {looks}")
    return 1 - (1 - confidence) * _SPENT[look - 1]


def reject_hypotheses(chances: Sequence[float], error: float) -> tuple[bool, ...]:
    """Holm's procedure: which of these hypotheses are rejected, so that one true one is with at most ``error``."""
    found = [False] * len(chances)
    for done, position in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        if chances[position] > error / (len(chances) - done):
            break
        found[position] = True
    return tuple(found)
