"""Secret-bearing lines of Cisco IOS and its switches, and of FTOS, which took them over."""

from __future__ import annotations

from qosforge.platforms.secret_forms import KIND, SECRET, SECRET_TO_END, SecretForms

_ADDRESS = r"\S+"
_SNMP_VERSION = r"(?:traps?|informs?|version\s+(?:1|2c|3(?:\s+(?:auth|noauth|priv))?))\s+"
_PEER = rf"(?:local\s+|remote\s+|ascii\s+|hex\s+)*(?:address\s+{_ADDRESS}\s+(?:\d+\.\S+\s+)?key\s+)?"
_REDUNDANCY = r"(?!md5\s+key-chain)(?:text\s+|md5\s+key-string\s+)?"
_NOT_ENCODED = r"(?:0\s+|(?![0-9]\s))"
"""Before a secret that is in clear, and so may hold blanks."""
_IPSEC = r"ipsec\s+spi\s+\d+\s+"
_ESP = r"esp\s+(?:null|des|3des|aes-cbc(?:\s+\d+)?)\s+"

IOS_FORMS = SecretForms(
    (
        # Users, lines and enable (Security Command Reference: enable password, enable secret, password, username).
        rf"(?:password|secret)\s+(?!encryption|encoded)(?:level\s+\d+\s+)?(?:sha\d+\s+)?{KIND}{SECRET}",
        rf"enable\s+(?:password|secret)\s+(?:level\s+\d+\s+)?{_NOT_ENCODED}{SECRET_TO_END}",
        rf"username\s+\S+\s+(?:\S+\s+){{0,8}}?(?:password|secret)\s+{_NOT_ENCODED}{SECRET_TO_END}",
        rf"(?:^[-+>\s]*|['\"(]\s*)password\s+{_NOT_ENCODED}{SECRET_TO_END}",
        rf"password\s+(?:peer\s+\S+|fallback|option\s+\d+\s+for\s+\S+|hmac-md5)\s+{KIND}{SECRET}",
        # Keys of servers that know users, of key chains, ISAKMP, IKEv2 and NHRP.
        rf"(?:server-)?key\s+(?!chain|config-key|label|\d{{1,3}}\s*$)(?:\d{{1,3}}\s+md5\s+)?{KIND}{SECRET}",
        rf"(?:tacacs|radius)-server\s+(?:\S+\s+){{0,12}}?key\s+{_NOT_ENCODED}{SECRET_TO_END}",
        rf"key-string\s+{KIND}{SECRET}",
        rf"key-string\s+{_NOT_ENCODED}{SECRET_TO_END}",
        rf"(?:pre-shared-key|shared-secret|passphrase|psk)\s+{_PEER}{KIND}{SECRET}",
        rf"config-key\s+(?:password-encrypt(?:ion)?|ascii|\d+)\s+{SECRET}",
        rf"event\s+manager\s+environment\s+\S*(?:passw|secret|key)\S*\s+{SECRET_TO_END}",
        # SNMP, versions 1 and 2, its receivers, and version 3 (SNMP Configuration Guide).
        rf"snmp-server\s+community\s+{KIND}{SECRET}",
        rf"snmp-server\s+host\s+{_ADDRESS}\s+(?:vrf\s+\S+\s+)?(?:{_SNMP_VERSION})*{SECRET}",
        rf"community-map\s+{SECRET}",
        rf"rmon\s+event\s+\d+\s+(?:log\s+)?trap\s+{SECRET}",
        rf"auth\s+(?:md5|sha(?:-?\d+)?)\s+{SECRET}",
        rf"priv\s+(?:des(?:56)?|3des|aes(?:[\s-]+\d+)?)\s+{SECRET}",
        # Routing protocols, time and first-hop redundancy.
        rf"authentication-key\s+(?:\d+\s+md5\s+)?{KIND}{SECRET}",
        rf"message-digest-key\s+\d+\s+md5\s+{KIND}{SECRET}",
        rf"(?:standby|vrrp|glbp)\s+(?:\d+\s+)?authentication\s+{_REDUNDANCY}{KIND}{SECRET}",
        rf"authentication-type\s+simple\s+{KIND}{SECRET}",
        rf"authentication\s+(?:text|simple-password|mode\s+hmac-sha-256)\s+{KIND}{SECRET}",
        rf"(?:area|domain)-password\s+(?:hmac-md5\s+)?{KIND}{SECRET}",
        # OSPFv3 and IPsec keys that are entered by hand.
        rf"{_IPSEC}(?:{_ESP})?(?:(?:md5|sha1)\s+)?{KIND}{SECRET}",
        rf"{_IPSEC}{_ESP}{KIND}\S+\s+(?:md5|sha1)\s+{KIND}{SECRET}",
        rf"session-key\s+\S+\s+(?:ah|esp)\s+\d+\s+(?:cipher\s+\S+\s+)?(?:authenticator\s+)?{SECRET}",
        rf"session-key\s+\S+\s+esp\s+\d+\s+cipher\s+{SECRET}",
        # Tunnels, wireless, certificates and keys.
        rf"(?:tunnel\s+key|nhrp\s+authentication)\s+{SECRET}",
        rf"(?:wpa-psk|wep|wpa2?-?psk|set-key)\s+(?:ascii\s+|hex\s+)?{KIND}{SECRET}",
        rf"encryption\s+(?:vlan\s+\d+\s+)?key\s+\d+\s+size\s+\S+\s+{KIND}{SECRET}",
        rf"sap\s+pmk\s+{SECRET}",
        r"(?P<secret>(?:[0-9A-F]{8}[ \t]+){3,}[0-9A-F]{2,8})",
    )
)
