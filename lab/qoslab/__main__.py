"""``python -m qoslab``: serve one network until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from qoslab.errors import LabError
from qoslab.process import Lab
from qoslab.spec import load


def main(argv: list[str] | None = None) -> int:
    """Run the lab in the foreground. Returns 0 after a stop, 3 when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m qoslab", description=__doc__)
    parser.add_argument("--network-file", type=Path, required=True, help="what to emulate (YAML or JSON)")
    parser.add_argument("--state-dir", type=Path, required=True, help="where the boxes keep their memory")
    chosen = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    try:
        asyncio.run(_serve(chosen.network_file, chosen.state_dir))
    except LabError as failed:
        sys.stderr.write(f"lab: {failed}\n")
        return 3
    return 0


async def _serve(network_file: Path, state: Path) -> None:
    await Lab(load(network_file), state).run()


if __name__ == "__main__":
    sys.exit(main())
