"""The command tables of the installed platforms: each of their rows is read, spelt and changed as itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.platforms.base import installed
from qosforge.platforms.base import platform as platform_of
from tests.commands.written import lines


@pytest.mark.parametrize("platform", sorted(installed()))
@given(data=st.data())
@settings(max_examples=200)
def test_a_line_of_any_row_is_understood_spelt_out_already_and_under_the_rule_of_its_row(platform, data) -> None:
    table = platform_of(platform).commands
    form = data.draw(st.sampled_from([form for form in table.forms if form.understood]), label="row")
    text = ("no " if form.negated else "") + data.draw(lines(form.pattern), label="line")
    mode = form.line.mode
    found = table.find(text, mode)
    assert found is not None
    assert found[0].understood
    assert found[0].line.opens == form.line.opens
    spelt = table.syntax.spelt(mode, text)
    if form.line.opens == "interface" and spelt is not None:
        assert table.syntax.spelt(mode, spelt) == spelt  # a letter and a number abbreviate a name
    elif form.line.abbreviated or spelt is not None:
        assert spelt == text
    if form.line.change is not None and not form.line.change.only:
        rule = table.grammar.find(text, mode)
        assert rule is not None
        assert rule[0].id == (form.line.opens or form.line.id)
