"""Compiling the campus against rendering its templates alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app import templating
from app.compiler.compile import compile_intent
from app.intent.loader import load_intent
from app.inventory.loader import load_network
from benchmarks.timing import Ratio, best

ROOT = Path(__file__).resolve().parent.parent


def measure() -> Ratio:
    """Time of a whole compile over the time Jinja2 takes for the same template calls."""
    network = load_network(ROOT / "inventories" / "campus")
    intent = load_intent(ROOT / "policies" / "campus-collaboration.yaml")
    calls = _calls(lambda: compile_intent(intent, network))

    def render_alone() -> None:
        for template, values in calls:
            templating.render(template, **values)

    return Ratio(
        "compile the campus (9 boxes, 3 classes) / render its templates alone",
        best(lambda: compile_intent(intent, network)),
        best(render_alone),
    )


def _calls(work: Callable[[], object]) -> list[tuple[str, dict[str, Any]]]:
    """Every template rendered by ``work``, with its values."""
    calls: list[tuple[str, dict[str, Any]]] = []
    environment = templating._environment()
    original = environment.get_template

    def recording(name: str, *arguments: Any) -> Any:
        template = original(name, *arguments)

        class Recorder:
            def render(self, **values: Any) -> str:
                calls.append((name, values))
                return template.render(**values)

        return Recorder()

    with patch.object(environment, "get_template", recording):
        work()
    return calls
