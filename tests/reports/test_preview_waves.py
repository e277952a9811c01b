"""The waves of a push, in a preview against what devices hold."""

from __future__ import annotations

import pytest

from qosforge.cli.output import print_waves
from qosforge.intent.loader import load_intent
from qosforge.inventory.changes import ChangeRules
from qosforge.inventory.loader import load_network
from qosforge.preview.policy_check import check_policy
from qosforge.reports.preview import CompilePreview, compile_document
from qosforge.resources import root

INVENTORY = root() / "inventories" / "campus"


def preview(*, live: bool) -> CompilePreview:
    """The shipped policy against the campus as it is delivered."""
    network = load_network(INVENTORY)
    rules = ChangeRules.model_validate({"rollout": {"canary": {"role": "core"}, "waves": [{"count": 1}]}})
    loaded = load_intent(root() / "policies" / "campus-collaboration.yaml")
    texts = {device.name: (INVENTORY / str(device.startup)).read_text() for device in network.devices}
    return compile_document(
        check_policy(loaded, network.model_copy(update={"changes": rules}), texts if live else {})
    )


def test_waves_are_shown_with_what_changes_in_one_step_and_how_long_it_is_held(
    capsys: pytest.CaptureFixture[str],
) -> None:
    waves = preview(live=True).rollout
    assert [(wave.name, wave.steps) for wave in waves] == [
        ("canary", (("e300",),)),
        ("1 device", (("r1",),)),
        ("the rest", (("r2", "b256", "b56"), ("r3",), ("s2950",), ("s2970",), ("ers5510",))),
    ]
    assert all(wave.revert_minutes >= 15 for wave in waves)
    print_waves(waves)
    assert "r2 + b256 + b56, r3" in capsys.readouterr().out


def test_without_a_look_at_the_devices_nobody_knows_which_of_them_change() -> None:
    assert preview(live=False).rollout == ()
