"""A run knows its intent as it was when the run was made, whatever became of the files."""

from __future__ import annotations

from pathlib import Path

from qosforge.artifacts.store import FileArtifacts
from qosforge.intent.loader import load_intent
from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.store import RunStore
from qosforge.runs.workflow.context import Context
from qosforge.runs.workflow.rules import NetworkRules
from qosforge.settings import Settings

from .support import computing

LIBRARY = 'classes: [{name: voice, match: {any: [{dscp: ef}]}, treatment: {priority: {percent: "${share}"}}}]\n'
SITE = """\
version: 1
intent: site
include: [classes.yaml]
parameters: {share: 33}
apply: [{role: edge, interfaces: wan, direction: output}]
"""


def test_what_an_intent_includes_and_what_was_set_is_kept(tmp_path: Path) -> None:
    (tmp_path / "classes.yaml").write_text(LIBRARY, encoding="utf-8")
    path = tmp_path / "site.yaml"
    path.write_text(SITE, encoding="utf-8")
    loaded = load_intent(path, ["share=20"])
    artifacts = FileArtifacts(tmp_path / "artifacts")
    resolved = ResolvedRun(
        network_name="campus",
        policy="site",
        policy_version=loaded.version,
        intent_file=loaded.document.file,
        intent_artifact=artifacts.put_text(loaded.document.text),
        intent_included={name: artifacts.put_text(text) for name, text in loaded.included.items()},
        intent_parameters=loaded.settings,
    )
    (tmp_path / "classes.yaml").write_text(LIBRARY.replace("ef", "cs1"), encoding="utf-8")
    path.unlink()

    with RunStore(f"sqlite:///{tmp_path / 'runs.sqlite'}") as store:
        rules = NetworkRules(Settings(var_dir=tmp_path))
        run, _ = store.add_run(resolved, "ada")
        assert store.get_run(run.id).resolved == resolved
        context = Context(run.id, run.resolved, store, artifacts, lambda *_: None, rules, computing())
        again = context.intent

    assert (again.version, again.intent) == (loaded.version, loaded.intent)
    assert again.class_place("voice") == loaded.class_place("voice")
