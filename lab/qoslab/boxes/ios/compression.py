"""Header compression on PPP, HDLC and multilink interfaces, its tuning and its profiles.

``iphc-format`` of RTP headers compresses TCP headers too, on PPP and HDLC alike, and prints both lines (Cisco 3825
command reference, ip rtp header-compression).
"""

from __future__ import annotations

from qoslab.boxes.ios.rows import group, leaving, row, setting
from qoslab.boxes.ios.train import IPHC_FORMAT, IPHC_PROFILE, Train
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Shell

_FORMATS, _OLD_FORMATS = "[passive|iphc-format|ietf-format]", "[passive]"
_CONTEXTS = "<3-1000>"
_TCP_RANK, _RTP_RANK = 70, 71


def global_rows(train: Train) -> list[Row]:
    """``iphc-profile``."""
    if not train.since(IPHC_PROFILE):
        return []
    return [
        group("iphc-profile WORD {ietf|van-jacobsen}", "iphc", rank=58, key=lambda m: f"iphc-profile {m.words[1]}"),
    ]


def submode_rows() -> dict[str, list[Row]]:
    """Inside a profile: what it compresses."""
    inside = [setting(word) for word in ("rtp", "tcp", "non-tcp", "feedback")]
    return {"iphc": [*leaving(), *inside, setting("maximum header <60-168>")]}


def interface_rows(train: Train) -> list[Row]:
    """Interface mode."""
    formats = _FORMATS if train.since(IPHC_FORMAT) else _OLD_FORMATS
    rows = [
        row(f"ip rtp header-compression {formats} [periodic-refresh]", _rtp, "ip rtp header-compression [LINE]"),
        setting(f"ip rtp compression-connections {_CONTEXTS}", rank=_RTP_RANK),
        setting(f"ip tcp header-compression {formats}", rank=_TCP_RANK),
        setting(f"ip tcp compression-connections {_CONTEXTS}", rank=_TCP_RANK),
        setting("ip header-compression disable-feedback", rank=_RTP_RANK),
        setting("ip header-compression max-header <20-168>", rank=_RTP_RANK),
        setting("ip header-compression max-period <0-65535>", rank=_RTP_RANK),
        setting("ip header-compression max-time <0-65535>", rank=_RTP_RANK),
        setting("ip header-compression recoverable-loss {dynamic|<1-8>}", rank=_RTP_RANK),
    ]
    return [*rows, setting("iphc-profile WORD", rank=_RTP_RANK)] if train.since(IPHC_PROFILE) else rows


def _rtp(shell: Shell, match: Match) -> None:
    key = "ip rtp header-compression"
    section = shell.section
    if match.undone:
        section.remove(key)
        return
    shell.store(Section(match.text, key=key, rank=_RTP_RANK))
    if "iphc-format" in match.words and not shell.loading:
        tcp = "ip tcp header-compression"
        shell.store(Section(f"{tcp} iphc-format", key=tcp, rank=_TCP_RANK))
