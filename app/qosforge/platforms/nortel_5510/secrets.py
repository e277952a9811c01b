"""Secret-bearing lines of the BayStack 5510's command line (NNCLI); it prints most of them as asterisks."""

from __future__ import annotations

from qosforge.platforms.secret_forms import SECRET, SECRET_TO_END, SecretForms

_KEYWORD = r"(?:switch|stack|both|serial|telnet|read-only|read-write|local|none|radius|tacacs)"

FORMS = SecretForms(
    (
        rf"password\s+(?:{_KEYWORD}\s+)*(?!{_KEYWORD}(?:\s|$)){SECRET}",
        rf"cli\s+password\s+(?:{_KEYWORD}\s+)*(?!{_KEYWORD}(?:\s|$)){SECRET_TO_END}",
        rf"username\s+\S+\s+{SECRET}(?=\s+(?:ro|rw|rwa)\b)",
        rf"snmp-server\s+community\s+{SECRET}",
        rf"snmp-server\s+host\s+\S+\s+(?:port\s+\d+\s+)?(?:v1\s+|v2c\s+|v3\s+\S+\s+)?{SECRET}",
        rf"snmp-server\s+user\s+(?:\S+\s+){{1,12}}?(?:md5|sha)\s+{SECRET}",
        rf"(?:3des|aes|des)\s+{SECRET}",
        rf"(?:radius-server|radius\s+server|tacacs\s+server|tacacs)\s+(?:\S+\s+){{0,12}}?key\s+{SECRET}",
        rf"(?:authentication|message-digest)-key\s+(?:\d+\s+md5\s+)?{SECRET}",
    )
)
