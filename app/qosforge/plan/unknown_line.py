"""What reading a configuration leaves over."""

from __future__ import annotations

from collections.abc import Callable

from qosforge.plan.base import PlanModel


class UnknownLine(PlanModel):
    """A line that parsing does not understand, verbatim.

    ``undefined`` is the access group that the line refers to and the device does not have, like ``access-group
    105``.
    """

    line: int
    text: str
    context: str = ""
    undefined: str | None = None

    def shown(self, words: Callable[[str], str]) -> UnknownLine:
        """The line as people may have it: ``words`` gives what may be shown of a device's text."""
        undefined = None if self.undefined is None else words(self.undefined)
        return UnknownLine(line=self.line, text=words(self.text), context=words(self.context), undefined=undefined)
