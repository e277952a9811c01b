"""What the fork server of computing processes imports first, and nothing else does.

It ends with the service that began it, and not by signals that a terminal or a supervisor sends to the whole group:
its forks would end with it in the midst of a computation.
"""

from __future__ import annotations

import signal

from qosforge.lifeline import die_with_parent

die_with_parent()
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
