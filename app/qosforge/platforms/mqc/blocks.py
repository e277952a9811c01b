"""What writers of policies share: their names, the policies inside their classes, and their rules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from qosforge.plan.model import Egress, Rule
from qosforge.platforms.names import shorten


def policy_names(name: str, interface: str, length: int) -> Iterator[str]:
    """Names for a policy at an interface, for as long as one is taken by another content."""
    place = f"{name}-{interface.translate(str.maketrans('/.:', '---'))}"
    names = itertools.chain((name, place), (f"{place}-{number}" for number in itertools.count(2)))
    return (shorten(each, length) for each in names)


def every_rule(egress: Egress) -> Iterator[Rule]:
    """The rules of a policy, then those of the policies inside its classes."""
    yield from egress.rules
    for queue in egress.scheduler.queues if egress.scheduler else ():
        if queue.child is not None:
            yield from every_rule(queue.child)


def every_policy(egress: Egress) -> Iterator[Egress]:
    """The policies of an output, those inside classes before those that hold them; what has no policy has none."""
    if egress.policy is None or egress.scheduler is None:
        return
    for queue in egress.scheduler.queues:
        if queue.child is not None:
            yield from every_policy(queue.child)
    yield egress
