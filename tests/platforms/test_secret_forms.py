"""Secret-bearing lines of every platform: the secret goes, behind any prefix, and the rest of the line stays."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from qosforge.api.resources import RunningQos
from qosforge.platforms.base import installed, platform, secret_forms
from qosforge.platforms.secret_forms import MASK, SecretForms
from tests.counted import tried
from tests.device_texts import said

pytestmark = pytest.mark.hostile

# Lines as the makers' command references and running configurations have them.
IOS = """\
enable secret 5 $1$mERr$PLANTED
enable password 7 PLANTED
enable password level 15 0 PLANTED
username ann privilege 15 secret 9 $9$PLANTED
username ann password 0 PLANTED
 password 7 PLANTED
snmp-server community PLANTED RO 10
snmp-server community PLANTED view all RW
snmp-server host 192.0.2.1 PLANTED
snmp-server host 192.0.2.1 traps version 2c PLANTED
snmp-server host 192.0.2.1 version 3 auth PLANTED
snmp-server user ann group v3 auth md5 PLANTED
snmp-server user ann group v3 auth sha PLANTED priv aes 128 PLANTED
tacacs-server key PLANTED
tacacs-server host 192.0.2.3 key 7 PLANTED
radius-server host 192.0.2.3 auth-port 1812 acct-port 1813 key PLANTED
radius-server key 7 PLANTED
 server-key 7 PLANTED
 key 7 PLANTED
 key-string PLANTED
crypto isakmp key PLANTED address 192.0.2.4
crypto isakmp key 6 PLANTED hostname peer
 pre-shared-key address 0.0.0.0 0.0.0.0 key PLANTED
 pre-shared-key local PLANTED
 neighbor 192.0.2.5 password 7 PLANTED
 ip ospf authentication-key PLANTED
 ip ospf message-digest-key 1 md5 7 PLANTED
 area 1 virtual-link 192.0.2.6 message-digest-key 1 md5 PLANTED
 standby 1 authentication PLANTED
 standby 1 authentication md5 key-string 7 PLANTED
 vrrp 3 authentication text PLANTED
 glbp 3 authentication md5 key-string PLANTED
 isis password PLANTED
 area-password PLANTED
 ppp chap password 0 PLANTED
 ppp pap sent-username ann password 7 PLANTED
 ip nhrp authentication PLANTED
 tunnel key 4711PLANTED
ntp authentication-key 1 md5 PLANTED 7
ip ftp password 7 PLANTED
vtp password PLANTED
mpls ldp neighbor 192.0.2.7 password PLANTED
key config-key password-encrypt PLANTED
key config-key 1 PLANTED
enable password two PLANTED
username ann privilege 15 password 0 two PLANTED words
 password two PLANTED
tacacs-server key two PLANTED
 key-string two PLANTED
username ann secret sha256 PLANTED
ip msdp password peer 192.0.2.1 0 PLANTED
mpls ldp password fallback 0 PLANTED
mpls ldp password option 1 for 10 PLANTED
snmp-server user ann group v3 auth md5 PLANTED priv des56 PLANTED
snmp-server host 192.0.2.1 informs version 2c PLANTED
snmp mib community-map PLANTED engineid 80
rmon event 1 log trap PLANTED description link owner ann
 set session-key inbound esp 256 cipher PLANTED authenticator PLANTED
 set session-key outbound ah 256 PLANTED
 ipv6 ospf authentication ipsec spi 500 md5 PLANTED
 ipv6 ospf encryption ipsec spi 1001 esp aes-cbc 128 PLANTED sha1 PLANTED
 authentication mode hmac-sha-256 7 PLANTED
 authentication text PLANTED
 path ftp://ann:PLANTED@192.0.2.9/$h
boot network ftp://ann:PLANTED@192.0.2.9/startup
 security wpa psk set-key ascii 0 PLANTED
 encryption vlan 5 key 1 size 40bit 7 PLANTED transmit-key
 sap pmk PLANTED mode-list gcm-encrypt
event manager environment _password PLANTED
   wpa-psk ascii 0 PLANTED"""
FTOS = """\
enable password 7 PLANTED
username ann password 7 PLANTED privilege 15
snmp-server community PLANTED rw
snmp-server host 192.0.2.1 traps version 2c PLANTED udp-port 162
tacacs-server host 192.0.2.3 key 7 PLANTED
radius-server key 7 PLANTED
 neighbor 192.0.2.5 password 7 PLANTED
 ip ospf message-digest-key 1 md5 7 PLANTED
 authentication-type simple 7 PLANTED
ntp authentication-key 1 md5 7 PLANTED
enable secret 5 PLANTED
snmp-server user ann group 3 encrypted auth md5 PLANTED priv des56 PLANTED
 isis password hmac-md5 PLANTED level-1
 area-password hmac-md5 PLANTED"""
NORTEL = """\
cli password read-write PLANTED
cli password switch read-only PLANTED
username ann PLANTED rw
snmp-server community PLANTED ro
snmp-server community "PLANTED" rw
snmp-server host 192.0.2.1 PLANTED
snmp-server host 192.0.2.1 v2c PLANTED
snmp-server user ann md5 PLANTED des PLANTED
snmp-server user ann read-view a write-view b notify-view c md5 PLANTED des PLANTED
cli password both PLANTED
cli password stack local PLANTED PLANTED
radius-server key PLANTED
radius-server host 192.0.2.3 key PLANTED
tacacs server host 192.0.2.3 key PLANTED"""
LINES = dict.fromkeys(("cisco_ios", "catalyst_2950", "catalyst_2970", "catalyst_9000"), IOS) | {
    "force10_e300": FTOS,
    "nortel_5510": NORTEL,
    "linux_tc": "",  # commands of tc and nft alone: none of them has a secret
}
CASES = [(name, line) for name, text in LINES.items() for line in text.splitlines()]
PREFIXES = (
    *("", "+", "-", "    ", "'", '"', "  - ", "> "),
    *("line 12 was '", "refused at line 3 ('", "\\n", "said 'no\\r\\n\\x07"),
)

# What people must still be able to read: words beside secrets, and lines without any.
HARMLESS = """\
service password-encryption
key chain EIGRP
 key 1
 match ip dscp ef
 standby 1 priority 110
 policy-map WAN
  priority percent 50
check user name, password and secret
it shows another host key than the one that is known of it
crypto pki certificate chain TP-self-signed-1
 random-detect dscp 10 24 40 10
 access-list 101 permit udp any any range 16384 32767"""


def test_every_platform_is_tried() -> None:
    assert set(LINES) == set(installed())


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("name", "line"), CASES, ids=[f"{name}-{line.strip()}" for name, line in CASES])
def test_a_secret_is_masked_behind_any_prefix(name: str, line: str, prefix: str) -> None:
    shown = platform(name).secrets.mask_secrets(prefix + line)
    assert "PLANTED" not in shown
    assert MASK in shown
    assert shown.startswith(prefix)
    assert len(re.findall(r"[\w.-]+", shown)) >= len(re.findall(r"[\w.-]+", line)) - 4
    tried("secret-bearing lines (platform, form, prefix or odd character)")


@pytest.mark.parametrize("secret", ["a,PLANTED", 'a"PLANTED', "a'PLANTED", "a)PLANTED", "'PLANTED", "$9$PLANTED>"])
@pytest.mark.parametrize(("name", "line"), CASES, ids=[f"{name}-{line.strip()}" for name, line in CASES])
def test_any_character_may_stand_in_a_secret(name: str, line: str, secret: str) -> None:
    if "://" in line or '"' in line:
        return  # there, a quotation mark ends it
    assert "PLANTED" not in platform(name).secrets.mask_secrets(line.replace("PLANTED", secret))
    tried("secret-bearing lines (platform, form, prefix or odd character)")


@pytest.mark.parametrize("name", installed())
def test_other_lines_stay(name: str) -> None:
    assert platform(name).secrets.mask_secrets(HARMLESS) == HARMLESS


def test_certificates_and_keys_go_whole() -> None:
    forms = platform("cisco_ios").secrets
    assert MASK in forms.mask_secrets("  30820241 308201AA A0030201 02020101 300D0609")
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpPLANTED\nabc\n-----END RSA PRIVATE KEY-----"
    assert "PLANTED" not in forms.mask_secrets(key)


@pytest.mark.parametrize("name", [name for name, text in LINES.items() if text])
def test_a_secret_of_a_configuration_goes_wherever_it_stands(name: str) -> None:
    forms = platform(name).secrets
    held = forms.secrets("snmp-server community PLANTED01 ro\nsnmp-server community ab ro\nhostname r1\n")
    assert held == {"PLANTED01"}  # one of two letters is in too many other words
    shown = forms.mask_secrets("banner: ask for PLANTED01, or (PLANTED01); not PLANTED012", held)
    assert shown == f"banner: ask for {MASK}, or ({MASK}); not PLANTED012"


def test_a_secret_goes_beside_an_underscore_and_over_two_lines() -> None:
    forms = platform("cisco_ios").secrets
    told = "vault_PLANTED01 and PLAN\nTED01; PLAN\r\n  TED01.\nPLANTED01"
    assert forms.mask_secrets(told, {"PLANTED01"}) == f"vault_{MASK} and {MASK}; {MASK}.\n{MASK}"
    assert (
        forms.mask_secrets("aPLANTED01 PLANTED012 PLANTED\n01x", {"PLANTED01"})
        == "aPLANTED01 PLANTED012 PLANTED\n01x"
    )
    assert forms.mask_secrets("($$PLANTED-1$)", {"$$PLANTED-1$"}) == f"({MASK})"


def test_a_secret_goes_from_an_answer_that_is_quoted_with_its_line_ends() -> None:
    """Drivers quote what they do not understand as Python writes it: a letter stands before a line's first word."""
    forms = platform("cisco_ios").secrets
    told = repr("! no room\r\nsnmp-server community NEW01 RO\nPLANTED01\n\x07PLANTED01")
    shown = rf"'! no room\r\nsnmp-server community {MASK} RO\n{MASK}\n\x07{MASK}'"
    assert forms.mask_secrets(told, {"PLANTED01"}) == shown
    assert (
        forms.mask_secrets(r"user CAMPUS\nadmin01 or \\nadmin01", {"nadmin01"})
        == rf"user CAMPUS\{MASK} or \\{MASK}"
    )


WORDS = ("tacacs", "radius-server", "key", "password", "snmp-server", "host", "user", "local", "address", "version")


@pytest.mark.parametrize("name", installed())
@pytest.mark.parametrize(
    "word",
    [
        *WORDS,
        "username",
        "esp",
        "traps",
        "enable secret ",
        "pre-shared-key local ",
        "a://b:",
        "A1B2C3D4 ",
        '"',
        " ",
    ],
)
def test_what_a_line_costs_grows_with_its_length_alone(name: str, word: str) -> None:
    forms = platform(name).secrets

    def cost(repeats: int) -> float:
        text = "\n".join(f"{word} " * (repeats // (len(word) + 1)) for _ in range(4))
        return min(_seconds(lambda: SecretForms(forms.forms).secrets(text)) for _ in range(3))

    assert cost(4000) < 8 * cost(1000) + 0.05


def test_a_line_that_is_too_long_for_a_configuration_is_not_shown() -> None:
    forms = platform("nortel_5510").secrets
    assert forms.mask_secrets("tacacs " * 12_000 + "\nshow clock") == f"{MASK}\nshow clock"
    assert forms.secrets("tacacs key " * 12_000) == frozenset()


def test_any_number_of_secrets_costs_what_the_text_costs() -> None:
    forms = platform("cisco_ios").secrets
    text = "interface GigabitEthernet0/1\n description to host 17\n" * 2000
    few, many = ({f"SECRET{n}" for n in range(count)} for count in (20, 20_000))
    taken = [min(_seconds(lambda s=s: forms.mask_secrets(text, s)) for _ in range(3)) for s in (few, many)]  # type: ignore[misc]
    assert taken[1] < 5 * taken[0] + 0.1


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def test_a_platform_that_is_gone_has_the_forms_of_all() -> None:
    forms = secret_forms("gone")
    assert all("PLANTED" not in forms.mask_secrets(line) for _, line in CASES)


def test_a_line_that_is_not_understood_is_told_without_its_secret() -> None:
    text = "interface Serial0/0\n random-detect password 7 PLANTED\n"
    told = RunningQos.of(platform("cisco_ios").parse(text, "r1", "12.4"), said(text))
    assert [line.text for line in told.not_understood] == [f"random-detect password 7 {MASK}"]


def test_a_secret_that_names_something_else_is_told_by_neither() -> None:
    text = "snmp-server community PLANTED01 RO\nclass-map match-any PLANTED01\n match ip dscp ef\n"
    text += "policy-map WAN\n class PLANTED01\n  bandwidth percent 20\ninterface Serial0/0\n"
    held = f"{text} service-policy output WAN\n"
    plan = platform("cisco_ios").parse(held, "r1", "12.4")
    assert "PLANTED01" in plan.model_dump_json()
    assert "PLANTED01" not in RunningQos.of(plan, said(held)).model_dump_json()


def test_a_document_goes_through_the_same_door() -> None:
    forms = platform("cisco_ios").secrets
    document = {"lines": ["enable secret 5 PLANTED", "a\x1bb"], "n": 3, "by": ("PLANTED01", None, True)}
    assert forms.shown_document(document, {"PLANTED01"}) == {
        "lines": [f"enable secret 5 {MASK}", "a␛b"],
        "n": 3,
        "by": [MASK, None, True],
    }
