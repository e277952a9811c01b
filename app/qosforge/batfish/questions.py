"""Ask a Batfish service about two snapshots and print its answers; runs as a process of its own.

Run as ``python -m qosforge.batfish.questions HOST PORT NETWORK SECONDS``. Standard input is a JSON object of
snapshots
(``{"before": {"r1.cfg": TEXT}, "after": ...}``), standard output one of answers
(``{"before": {"undefinedReferences": [ROW, ...], ...}, ...}``). pybatfish has no time limit on work it waits
for; a process can be ended. Who began it deletes the network.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qosforge.batfish.session import open_session

QUESTIONS = ("fileParseStatus", "parseWarning", "undefinedReferences")
Rows = list[dict[str, Any]]


def ask(
    host: str, port: int, snapshots: Mapping[str, Mapping[str, str]], *, network: str, seconds: float
) -> dict[str, dict[str, Rows]]:
    """Rows of every question by snapshot, in a ``network`` of these alone; requests give up within ``seconds``.

    Raises:
        OSError, pybatfish.exception.BatfishException: the service fails.
    """
    session = open_session(host, port, seconds)
    session.set_network(network)
    return {name: _answers(session, name, files) for name, files in snapshots.items()}


def _answers(session: Any, name: str, files: Mapping[str, str]) -> dict[str, Rows]:
    with TemporaryDirectory() as folder:
        configs = Path(folder) / "configs"
        configs.mkdir()
        for file, text in files.items():
            (configs / file).write_text(text, encoding="utf-8")
        session.init_snapshot(folder, name=name, overwrite=True)
    return {
        question: getattr(session.q, question)().answer(snapshot=name).frame().to_dict("records")
        for question in QUESTIONS
    }


def main() -> None:
    """Command of this process; a service that fails ends it with one line on standard error."""
    from pybatfish.exception import BatfishException  # noqa: PLC0415 (slow to import, and only needed here)

    _, host, port, network, seconds = sys.argv
    try:
        with redirect_stdout(sys.stderr):  # the output is for the answers alone
            answers = ask(host, int(port), json.load(sys.stdin), network=network, seconds=float(seconds))
    except (OSError, BatfishException) as error:
        sys.exit(str(error).strip().split("\n", maxsplit=1)[0] or type(error).__name__)
    json.dump(answers, sys.stdout, default=str)


if __name__ == "__main__":
    main()
