"""Line breaks in what the 5510 prints, and prompts of its sessions in a capture."""

from __future__ import annotations

from qosforge.platforms.abbreviations import CommandSyntax

SYNTAX = CommandSyntax(
    commands={
        "": (
            "qos if-group name * class *",
            "qos if-assign port * name *",
            "qos agent queue-set *",
            "qos queue-set-assignment queue-set * 1p * queue *",
        )
    },
    nested=False,
    # One column is kept for the cursor; 132 columns are the widest screen (unwrapping rules of ACLI terminals).
    widths=frozenset({79, 80, 131, 132}),
    broken="qos ",
)
