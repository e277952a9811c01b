"""What the shipped intents become on the routers of the campus, as files to compare with."""

from __future__ import annotations

from pathlib import Path

from .support import POLICIES, ROOT, ROUTERS, compiled, device


def golden_file(policy: str, router: str) -> Path:
    """Where the expected configuration of a router stands."""
    return ROOT / "tests" / "golden" / policy / f"{router}.cfg"


def regenerate() -> None:
    """Write every expected configuration anew, from what is compiled now."""
    for policy in POLICIES:
        for router in ROUTERS:
            path = golden_file(policy, router)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(device(compiled(policy), router).text, encoding="utf-8")
