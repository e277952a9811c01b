"""How many packets are late, or lost, in one go: what a sample in which few are cannot show.

n packets that are late or lost in episodes of e tell no more than n/e of episodes. A sample with few episodes
shows neither how often they come nor how long they are: seen ones may have been cut off by the ends of its periods,
and one that was not seen at all may be of any length. So the unit is then the episode, as the loss period is in RFC
3357 and the burst in RFC 3611 (section 4.7.2), and its length is assumed, or known from elsewhere:

- what the objective states (``episode_packets``) goes before everything;
- else it is no shorter than what the nearest level of delay shows that varies: packets for each independent one;
- and no shorter than what a tester knows of what drops on the way. Where it knows nothing, or no level varies from
  which delay could carry it, :data:`~qosforge.deltaq.objective.UNSEEN_EPISODE`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qosforge.deltaq.dependence import carried_burst
from qosforge.deltaq.objective import UNSEEN_EPISODE
from qosforge.deltaq.sample import Sample

LEAST_EPISODES = 3
"""Episodes in a sample from which on it shows by itself how often they come, and how long they are."""


def assumed_episode(sample: Sample, confidence: float, *, stated: int | None, known: float | None) -> float:
    """Packets that are taken to be late or lost in one go.

    ``stated`` by the objective; ``known`` by the tester as the most that what drops on the way drops in one go
    where delay does not show it, 1 where all is lost in queues whose delay the sample has.
    """
    if stated is not None:
        return float(stated)
    carried = carried_burst(sample, confidence)
    if carried is None:
        return max(known or 0.0, float(UNSEEN_EPISODE))
    return max(carried, float(UNSEEN_EPISODE) if known is None else known)


def stretches_with(beyond: NDArray[np.bool_], sample: Sample, episode: float) -> int:
    """In how many stretches of one episode's length, none reaching over the end of a period, any packet is
    ``beyond``."""
    length = max(1, round(episode))
    found = 0
    for first, last in pairwise(sample.edges):
        found += np.unique(np.flatnonzero(beyond[first:last]) // length).size
    return found
