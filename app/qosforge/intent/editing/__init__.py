"""Changes to a policy's text that leave every other byte as it was."""

from qosforge.intent.editing.changes import Change, Insert, Move, NotEditable, Remove, Set
from qosforge.intent.editing.editor import edited

__all__ = ["Change", "Insert", "Move", "NotEditable", "Remove", "Set", "edited"]
