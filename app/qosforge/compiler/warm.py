"""What compiling makes once in a process, and each of its forks would make again: made when this is imported.

The server imports it that computing processes are forks of. A platform is loaded where it is first asked for, and a
catalogue, a template or the syntax of a table is read where it first serves; together that takes as long as
compiling for ten devices.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from qosforge.finding_codes import load_codes
from qosforge.platforms.base import installed, platform
from qosforge.templating import load_all

load_codes()
load_all()
with suppress(ImportError):  # where it cannot be loaded, who compiles is told
    import_module("qosforge_twin")  # it searches for the queues of classes
for _name in installed():
    # A platform of somebody else's that cannot be loaded is told to who asks for it, and hinders nobody else.
    with suppress(Exception):
        _ = platform(_name).commands.syntax
