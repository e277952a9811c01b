"""Whatever lines a configuration has: the checks answer with faults, and never fail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qosforge.commands import CommandTable
from qosforge.platforms.base import installed
from qosforge.platforms.base import platform as platform_of
from qosforge.platforms.line_rules import ConfigurationLines
from qosforge.validation.lines.generic import defined_objects, table_faults, unread, unused
from qosforge.validation.lines.outside import changed_outside, smuggled
from tests.commands.written import lines
from tests.compiler.goldens import every_platform


@st.composite
def configurations(draw: st.DrawFn, table: CommandTable) -> str:
    """Lines of any rows, below lines that open their modes."""

    def written(mode: str, depth: int) -> list[str]:
        forms = [form for form in table.forms if form.line.mode == mode]
        made: list[str] = []
        for form in draw(st.lists(st.sampled_from(forms), max_size=6)) if forms and depth < 4 else ():
            text = ("no " if form.negated else "") + draw(lines(form.pattern))
            made.append(" " * depth + text)
            if form.line.opens:
                made += written(form.line.opens, depth + 1)
        return made

    return "\n".join(written("", 0))


@pytest.mark.parametrize("platform", sorted(installed()))
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_rules_take_any_lines(platform, data) -> None:
    target = platform_of(platform)
    image = next(d.image for d in every_platform().devices if d.platform == platform)
    before, after = (target.commands.place(data.draw(configurations(target.commands))) for _ in range(2))
    for rule in target.line_rules:
        list(rule(ConfigurationLines(after, image)))
    list(table_faults(target.commands, after, defined_objects(before)))
    list(changed_outside(target.commands, before, after, after))
    list(smuggled(target.commands, after))
    list(unread(target.commands, after))
    list(unused(target.commands, after, before))
