"""Random intents of the whole language on random Catalyst 9000s, and what the emulated device makes of them."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.devices import sites
from tests.properties.harness import boot, compiled, loaded, push
from tests.properties.intents import WHOLE, intents

EXAMPLES = 20


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_box_takes_shows_and_gives_back_what_is_made_of_any_intent(data: st.DataObject) -> None:
    site = data.draw(sites("catalyst_9000"))
    box = boot(site)
    for _ in range(2):
        intent = loaded(data.draw(intents(WHOLE, site)))
        if intent is not None and (made := compiled(site, intent, box.running_text())) is not None:
            push(site, box, made)
