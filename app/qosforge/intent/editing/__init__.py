"""Edit a policy's text so that every other byte stays the same."""

from qosforge.intent.editing.changes import Change, Insert, Move, NotEditable, Remove, Set
from qosforge.intent.editing.editor import edited

__all__ = ["Change", "Insert", "Move", "NotEditable", "Remove", "Set", "edited"]
