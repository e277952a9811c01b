"""Random intents on random devices of every platform: typed, read back, replaced and undone on an emulated device.

`budget` says how many are tried, and how to try more.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from qosforge.compiler.compile import compile_intent

from .budget import tried
from .devices import EMULATED, PLATFORMS
from .harness import boot, compiled, loaded, push, told
from .intents import WHOLE, Case, cases, dialect


@pytest.mark.parametrize("platform", EMULATED)
def test_any_intent_is_held_as_meant_and_undone_also_where_it_replaces_another(platform: str) -> None:
    compared: list[int] = []

    @tried()
    @given(cases(platform, dialect(platform)))
    def check(case: Case) -> None:
        site, *documents = case
        box = boot(site)
        for document in documents:
            intent = loaded(document)
            made = compiled(site, intent, box.running_text()) if intent else None
            if made is not None:
                compared.append(push(site, box, made))

    check()
    # What everything is refused of proves nothing, nor do shares that are compared with none.
    assert sum(compared)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_whatever_is_asked_of_a_box_is_answered_by_findings(platform: str) -> None:
    @tried()
    @given(cases(platform, WHOLE))
    def check(case: Case) -> None:
        site, *documents = case
        for intent in filter(None, map(loaded, documents)):
            unseen = compile_intent(intent, site.network)
            told(unseen.findings)
            for device in compile_intent(intent, site.network, {site.device.name: site.startup}).devices:
                told(device.findings)

    check()
