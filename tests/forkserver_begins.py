"""What the tests' fork server imports first: it looks for garbage as seldom as the command does while it begins."""

from __future__ import annotations

import gc

from qosforge.compute_process import OBJECTS_BETWEEN_COLLECTIONS

gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
