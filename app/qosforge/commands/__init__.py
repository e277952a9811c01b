"""Configuration commands as data: a platform's lines once, and everything that follows from them."""

from qosforge.commands.line import Change, Line
from qosforge.commands.pattern import ArgumentType
from qosforge.commands.placed_line import PlacedLine
from qosforge.commands.reading import ReadConfiguration, ReadLine
from qosforge.commands.references import References
from qosforge.commands.table import ELSEWHERE, CommandTable

__all__ = [
    "ELSEWHERE",
    "ArgumentType",
    "Change",
    "CommandTable",
    "Line",
    "PlacedLine",
    "ReadConfiguration",
    "ReadLine",
    "References",
]
