"""Secret-bearing lines of Cisco IOS and its switches, and of FTOS, which took them over."""

from __future__ import annotations

from app.platforms.secret_forms import KIND, SECRET, SecretForms

_ADDRESS = r"\S+"
_SNMP_VERSION = r"(?:traps|informs|version\s+(?:1|2c|3(?:\s+(?:auth|noauth|priv))?))\s+"
_PEER = rf"(?:local\s+|remote\s+|ascii\s+|hex\s+)*(?:address\s+{_ADDRESS}\s+(?:\d+\.\S+\s+)?key\s+)?"
_REDUNDANCY = r"(?!md5\s+key-chain)(?:text\s+|md5\s+key-string\s+)?"

IOS_FORMS = SecretForms(
    (
        # Users, lines and enable (Security Command Reference: enable password, enable secret, password, username).
        rf"(?:password|secret)\s+(?!encryption|encoded)(?:level\s+\d+\s+)?(?:sha512\s+)?{KIND}{SECRET}",
        # Keys of servers that know users, of key chains, ISAKMP, IKEv2 and NHRP.
        rf"(?:server-)?key\s+(?!chain|config-key|label|\d{{1,3}}\s*$)(?:\d{{1,3}}\s+md5\s+)?{KIND}{SECRET}",
        rf"key-string\s+{KIND}{SECRET}",
        rf"(?:pre-shared-key|shared-secret|passphrase|psk)\s+{_PEER}{KIND}{SECRET}",
        rf"config-key\s+(?:password-encrypt(?:ion)?|ascii)\s+{SECRET}",
        # SNMP, versions 1 and 2, its receivers, and version 3 (SNMP Configuration Guide).
        rf"snmp-server\s+community\s+{KIND}{SECRET}",
        rf"snmp-server\s+host\s+{_ADDRESS}\s+(?:vrf\s+\S+\s+)?(?:{_SNMP_VERSION})*{SECRET}",
        rf"auth\s+(?:md5|sha(?:-?\d+)?)\s+{SECRET}",
        rf"priv\s+(?:des|3des|aes(?:[\s-]+\d+)?)\s+{SECRET}",
        # Routing protocols, time and first-hop redundancy.
        rf"authentication-key\s+(?:\d+\s+md5\s+)?{KIND}{SECRET}",
        rf"message-digest-key\s+\d+\s+md5\s+{KIND}{SECRET}",
        rf"(?:standby|vrrp|glbp)\s+(?:\d+\s+)?authentication\s+{_REDUNDANCY}{KIND}{SECRET}",
        rf"authentication-type\s+simple\s+{KIND}{SECRET}",
        rf"(?:area|domain)-password\s+{SECRET}",
        # Tunnels, wireless, certificates and keys.
        rf"(?:tunnel\s+key|nhrp\s+authentication)\s+{SECRET}",
        rf"(?:wpa-psk|wep|wpa2?-?psk)\s+(?:ascii\s+|hex\s+)?{KIND}{SECRET}",
        r"(?P<secret>(?:[0-9A-F]{8}[ \t]+){3,}[0-9A-F]{2,8})",
    )
)
