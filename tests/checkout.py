"""The checkout whose tests run: processes that they start import its code, whatever is installed."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONPATH = os.pathsep.join(str(ROOT / folder) for folder in ("app", "lab", "drivers", "clients/python", ""))
