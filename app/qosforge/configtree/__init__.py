"""Configuration text as a tree of lines, and the ordered transition from one tree to another.

A platform describes its lines by rules (`LineRule`): which lines are one setting, what they define, what they
refer to and how they are taken back. Lines without a rule, and lines that are kept, are left alone.
"""

from qosforge.configtree.difference import difference, headings_only
from qosforge.configtree.gaps import Gap, gaps, object_name
from qosforge.configtree.losses import Loss, losses
from qosforge.configtree.transition import merge, transition, transitions
from qosforge.configtree.tree import ConfigLine, Grammar, LineChange, LineRule, Tree, as_text, keep_lines, unmanaged

__all__ = [
    "ConfigLine",
    "Gap",
    "Grammar",
    "LineChange",
    "LineRule",
    "Loss",
    "Tree",
    "as_text",
    "difference",
    "gaps",
    "headings_only",
    "keep_lines",
    "losses",
    "merge",
    "object_name",
    "transition",
    "transitions",
    "unmanaged",
]
