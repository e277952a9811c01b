"""What of the kernel the one who runs the tests may use."""

from __future__ import annotations

import os
import subprocess
from functools import cache


@cache
def why_no_namespaces() -> str | None:
    """Why there can be no network namespaces here, by privilege; ``None`` where there can."""
    refused = "in network namespaces: they take root (CAP_SYS_ADMIN)"
    try:
        made = subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False
        )
    except OSError:
        return "in network namespaces: missing unshare (util-linux)"
    return refused if os.geteuid() != 0 or made.returncode else None
