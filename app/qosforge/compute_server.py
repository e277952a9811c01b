"""What the fork server of computing processes imports first, and nothing else does.

It ends with the service that began it, and not by signals that a terminal or a supervisor sends to the whole group:
its forks would end with it in the midst of a computation.
"""

from __future__ import annotations

import gc
import signal

from qosforge.compute_process import OBJECTS_BETWEEN_COLLECTIONS
from qosforge.lifeline import die_with_parent

# What it imports from here on stays, for all of its forks: to look for garbage in it takes a fourth of the time.
gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
die_with_parent()
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
