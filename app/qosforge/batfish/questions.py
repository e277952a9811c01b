"""Ask a Batfish service about snapshots and print its answers; runs as a process of its own.

Run as ``python -m qosforge.batfish.questions HOST PORT NETWORK SECONDS``. Standard input is a JSON object
(``{"snapshots": {"before": {"r1.cfg": TEXT}, "after": ...}, "computing": true}``), standard output one of answers
(``{"rows": {"references": [ROW, ...], ...}, "failed": {"routes": REASON}}``). pybatfish has no time limit on work
that it waits for; a process can be ended. Who began it deletes the network.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qosforge.batfish.question_list import BEFORE, QUESTIONS, Question
from qosforge.batfish.session import open_session

Files = Mapping[str, str]
_AT_ONCE = 2
"""Small questions under way at once: the service works at one, while the other comes and goes."""
_NO_START = "no matching startLocation is present and active"
"""How it fails to compare paths where no interface has an address."""
_CAUSE = re.compile(r"Caused by: (?:[\w.$]+: )?([^\n\"\\]+)")


def ask(
    host: str, port: int, snapshots: Mapping[str, Files], *, network: str, seconds: float, computing: bool = True
) -> dict[str, Any]:
    """Rows by question, and why the service failed at others, in a ``network`` of these snapshots alone.

    Requests give up within ``seconds``. What needs the forwarding of the whole network is asked with ``computing``.

    Raises:
        OSError, pybatfish.exception.BatfishException: the service fails at a snapshot.
    """
    from pybatfish.exception import BatfishException  # noqa: PLC0415 (slow to import, and only needed here)

    session = open_session(host, port, seconds)
    session.set_network(network)
    for name, files in snapshots.items():
        if files:
            _load(session, name, files)
    asked = questions_about(snapshots)
    rows: dict[str, list[Any]] = {}
    failed: dict[str, str] = {}
    # Most of a small question's time is waiting; those that compute forwarding take the service's memory.
    for at_once, large in ((_AT_ONCE, False), *(((1, True),) if computing else ())):
        with ThreadPoolExecutor(at_once) as threads:
            answers = {
                key: threads.submit(_rows, session, question)
                for key, question in asked.items()
                if question.computing is large
            }
            for key, answer in answers.items():
                try:
                    rows[key] = answer.result()
                except BatfishException as error:
                    failed[key] = last_cause(str(error))
    return {"rows": rows, "failed": failed}


def last_cause(log: str) -> str:
    """The last cause that a log of the service names."""
    causes = _CAUSE.findall(log) or log.strip().splitlines()[:1] or ["no reason given"]
    return str(causes[-1])[:300]


def questions_about(snapshots: Mapping[str, Files]) -> dict[str, Question]:
    """The questions that there is something to ask about in these snapshots, by their keys."""
    return {key: question for key, question in QUESTIONS.items() if _is_asked(question, snapshots)}


def _is_asked(question: Question, snapshots: Mapping[str, Files]) -> bool:
    """Whether there is anything that the question can be about."""
    asked = snapshots.get(question.of, {})
    other = snapshots.get(question.against, {}) if question.against else {}
    if not asked or (question.against and asked == other):
        return False
    texts = [*asked.values(), *(other or snapshots.get(BEFORE, {})).values()]
    return not question.words or any(word in text.lower() for text in texts for word in question.words)


def _load(session: Any, name: str, files: Files) -> None:
    with TemporaryDirectory() as folder:
        configs = Path(folder) / "configs"
        configs.mkdir()
        for file, text in files.items():
            (configs / file).write_text(text, encoding="utf-8")
        session.init_snapshot(folder, name=name, overwrite=True)


def _rows(session: Any, question: Question) -> list[Any]:
    from pybatfish.exception import BatfishException  # noqa: PLC0415 (as above)

    against = {"reference_snapshot": question.against} if question.against else {}
    asked = getattr(session.q, question.name)(**question.parameters)
    try:
        answer = asked.answer(snapshot=question.of, **against).dict()
    except BatfishException as error:
        if _NO_START in str(error):
            return []  # no packet enters anywhere
        raise
    # As the service wrote them: plain JSON.
    return [shortened(row) for row in answer["answerElements"][0].get("rows", [])]


def shortened(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without the way that packets took: where it ended is left."""
    return {name: _end(value) if name.endswith("_Traces") and value else value for name, value in row.items()}


def _end(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    last = [{"node": hop.get("node", {})} for hop in traces[0].get("hops", [])[-1:]]
    return [{"disposition": traces[0].get("disposition"), "hops": last}]


def main() -> None:
    """Command of this process; a service that fails ends it with one line on standard error."""
    from pybatfish.exception import BatfishException  # noqa: PLC0415 (slow to import, and only needed here)

    _, host, port, network, seconds = sys.argv
    try:
        with redirect_stdout(sys.stderr):  # the output is for the answers alone
            question = json.load(sys.stdin)
            answers = ask(
                host,
                int(port),
                question["snapshots"],
                network=network,
                seconds=float(seconds),
                computing=question["computing"],
            )
    except (OSError, BatfishException) as error:
        sys.exit(str(error).strip().split("\n", maxsplit=1)[0] or type(error).__name__)
    json.dump(answers, sys.stdout, default=str)


if __name__ == "__main__":
    main()
