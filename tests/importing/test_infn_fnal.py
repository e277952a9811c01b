"""The INFN-FNAL router as its appendix has it: comments, broken lines, and an access list that nobody defines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qosforge.intent.loader import load_intent

from .support import ROOT, compiled_again, imported, told

WORDS = {7: "network", 6: "internet", 5: "critical", 4: "flash-override", 3: "flash", 2: "immediate", 1: "priority"}
"""Precedences as access lists call them."""


def appendix(name: str, first: str, listed: int) -> str:
    """Appendix B or C; ``listed`` is the access list of precedence 5, 105 in the paper."""
    numbers = {p: 187 - p for p in WORDS} | {5: listed}
    maps = [f"class-map pre{p} /* marked {p} */\n match access-group {n}" for p, n in numbers.items()]
    rest = [f" class pre{p}\n  bandwidth 100\n  queue-limit 10" for p in (6, 5, 4, 3, 2, 1)]
    start = "1000000 8000 8000 conform-action set-prec-transmit"
    cars = [f" rate-limit input access-group {160 + p} {start} {p}\n exceed-action set-prec-transmit {p}" for p in
            (1, 2, 3, 4, 5, 6)]  # fmt: skip
    lists = [f"access-list {160 + p} permit udp any host 192.0.2.2 eq {50000 + p}" for p in (1, 2, 3, 4, 5)]
    lists += ["access-list 166 permit tcp any host 192.0.2.2", "access-list 150 permit ip any host 192.0.2.1"]
    lists += [f"access-list {187 - p} permit ip any any precedence {word}" for p, word in WORDS.items()]
    return (
        "\n".join(
            [
                *maps,
                f"policy-map {name} /* what serves the line */",
                f" class pre7 /* remote control */\n  {first}",
                *rest,
                " class class-default\n  bandwidth 100",
                "interface FastEthernet0/0\n ip address 192.0.2.129 255.255.255.240\n /* marks and policers */",
                f" rate-limit input access-group 150 {start} 7\n exceed-action drop /* remote control */",
                *cars,
                " ip route-cache policy",
                "interface ATM1/0.108 point-to-point\n pvc 4/108\n tx-ring-limit 5",
                f" service-policy output {name} /* on */\n vbr-nrt 2000 2000 1\n encapsulation aal5snap",
                *lists,
            ]
        )
        + "\n"
    )


POLICIES = {"cdf-wfq": ("bandwidth 800", "infn-fnal-wfq"), "cdf-pq": ("priority 800", "infn-fnal-pq")}


@pytest.mark.parametrize("name", POLICIES)
def test_the_appendix_becomes_the_policy_of_the_library(name: str, tmp_path: Path) -> None:
    first, policy = POLICIES[name]
    found = imported(appendix(name, first, 182), image="12.0(7)T", device="router1")
    assert told(found) == []
    (intent,) = found.intents
    library = load_intent(ROOT / "policies" / f"{policy}.yaml").intent

    def meaning(text: str) -> str:
        return re.sub(r"192\.(?:0\.2|190\.218)\.", "", re.sub(r"'description': '\w+', ", "", text))

    served = [c.model_dump(exclude_defaults=True) for c in intent.loaded.intent.classes]
    assert meaning(str(served)) == meaning(str([c.model_dump(exclude_defaults=True) for c in library.classes]))
    assert intent.loaded.intent.link_efficiency == library.link_efficiency
    (again,) = compiled_again(found, tmp_path)
    assert "vbr-nrt 2000 2000 1" in again.text


@pytest.mark.parametrize("name", POLICIES)
def test_the_access_list_that_nobody_defines_is_told(name: str) -> None:
    text = appendix(name, POLICIES[name][0], 105)
    found = imported(text, image="12.0(7)T", device="router1")
    (missing,) = [f for f in found.findings if f.code == "undefined-reference"]
    assert (missing.line, missing.hint) == (6, "define access-group 105, or correct the line")
    (guess,) = [f for f in found.findings if f.code == "import-guessed"]
    assert guess.traffic_class == "pre5"
    # The appendix gives the packets of list 165 precedence 5, and no class but this one is left for them.
    (wanted,) = [c for c in found.intents[0].loaded.intent.classes if c.name == "pre5"]
    assert wanted.mark is not None
    assert wanted.mark.precedence == 5
    assert len(told(found)) == 3


def test_the_image_that_fits_is_found() -> None:
    found = imported(appendix("cdf-pq", "priority 800", 182), device="router1")
    assert told(found) == []
    (device,) = found.network.devices
    assert device.image in {"12.1", "12.0", "12.0(7)T"}  # those that police by CAR
    assert [f.code for f in found.findings] == ["import-assumed"]
