"""The preview of a large network: its head at once, its devices part by part, then what is found of all."""

from __future__ import annotations

import cProfile
import json
import pickle
import pstats
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Route, expect
from starlette.testclient import TestClient

from benchmarks.campus import INTENT_OF_ALL, write_campus
from qosforge.access.roles import Role
from qosforge.api.backend import Backend, open_backend
from qosforge.api.jobs.preview import PreviewJob, policy_digest, render_preview
from qosforge.intent.policy_source import PolicySource
from qosforge.inventory.loader import load_network
from qosforge.resources import root
from qosforge.settings import Settings
from qosforge.web.routes import preview
from qosforge.web.site import create_site
from qosforge.web.views import preview_groups
from tests.api.served import serving
from tests.web.addresses import addresses
from tests.web.browser import PHONE, Tab, soon, write_policy
from tests.web.conftest import Site
from tests.web.people import PASSWORD, Persons

CAMPUS = (root() / "policies" / "campus-collaboration.yaml").read_text(encoding="utf-8")
FORM = {"network": "campus", "text": CAMPUS}
DEVICE = re.compile(r'id="device-([^"]+)"')
FINDING = re.compile(r'class="code-of">([^<]+)<')
LINE = re.compile(r"<code>[^<]*</code>")
LONG_MS = 180_000
NEXT = re.compile(r"""hx-post="/preview/(part|rest)" hx-vals='(\{[^']*\})'""")


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, dict[str, str], Backend]]:
    settings = Settings(var_dir=tmp_path_factory.mktemp("large") / "var", compute_processes=1, request_seconds=300)
    with open_backend(settings) as backend, TestClient(create_site(backend)) as client:
        yield client, Persons(backend).add("ann", Role.VIEWER).log_in(client), backend


@contextmanager
def large(at_least: int = 3) -> Iterator[None]:
    """Networks are large from few devices on."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_WHOLE_DEVICES", at_least), ("FIRST_PART", 2), ("PART", 4)):
            patch.setattr(preview, name, value)
        yield


def parts(call: Callable[..., str], head: str) -> list[str]:
    """What comes after the head, as its reader's browser asks for it."""
    found, last = [], head
    while match := NEXT.search(last):
        last = call(f"/preview/{match[1]}", **json.loads(match[2]))
        found.append(last)
    return found


def test_the_parts_are_the_whole(campus: tuple[TestClient, dict[str, str], Backend]) -> None:
    client, headers, _ = campus

    def call(path: str, **more: str) -> str:
        answer = client.post(path, data=FORM | more, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    whole, opened = call("/preview"), call("/preview/device", device="r1")
    with large():
        head = call("/preview")
        assert not DEVICE.search(head)
        assert "applies to 9 devices" in head
        *some, rest = parts(call, head)
        assert [len(DEVICE.findall(part)) for part in some] == [2, 4, 3]
        assert "2 of 9 devices are compiled" in some[0]
        exact = [int(n) for n in re.findall(r">(\d+) devices? serves? every class as requested<", "".join(some))]
        assert exact == sorted(exact)
        others = [part.partition('beforeend:#preview-others"')[2] for part in some]
        assert exact[-1] == sum(len(DEVICE.findall(each)) for each in others)
        heads = [head for part in some for head in re.findall(r"<summary><span[^>]*>\s*<strong>([^<]*)<", part)]
        assert any(re.fullmatch(r"1 device, .*2970.*", head) for head in heads), heads
        assert len(set(heads)) > 3
        assert re.search(r"not as requested: \S+ ≈ [+−]\d", "".join(some)), "by how much"
        summaries = re.findall(r"<summary>.*?</summary>", "".join(some), re.DOTALL)
        assert not any("points of the link rate" in summary for summary in summaries), "once, at the head"
        assert head.count("+ and −: points of the link rate too many or too few.") == 1
        assert LINE.findall(call("/preview/device", device="r1")) == LINE.findall(opened)
    assert sorted(DEVICE.findall("".join(some))) == sorted(DEVICE.findall(whole))
    assert FINDING.findall(rest) == FINDING.findall(whole)
    would = re.search(r'data-would="([^"]*)"', whole)
    assert would  # what would change stands beside the button that starts, in parts as well
    assert f'data-would="{would[1]}"' in rest
    assert "were never read" in would[1]
    assert "No errors" in whole
    assert "No errors" in rest


def test_of_many_classes_that_differ_the_farthest_are_named(
    campus: tuple[TestClient, dict[str, str], Backend],
) -> None:
    client, headers, _ = campus
    text = (root() / "policies" / "rfc4594-12.yaml").read_text()

    def call(path: str, **more: str) -> str:
        return client.post(path, data=FORM | {"text": text} | more, headers=headers).text

    with large():
        *some, _ = parts(call, call("/preview"))
    said = re.sub(r"<[^>]+>|\s+", " ", "".join(re.findall(r"<summary>.*?</summary>", "".join(some), re.DOTALL)))
    named = re.search(r"BayStack 5510\s+(\d+) of 12 classes not as requested, most: (.*?) ✘", said)
    assert named, said
    assert int(named[1]) > 4
    assert [name.split()[0] for name in named[2].split(", ")] == [
        "telephony",
        "low-latency-data",
        "high-throughput-data",
        "default",
    ]


def test_devices_that_differ_in_too_many_ways_stand_together(
    campus: tuple[TestClient, dict[str, str], Backend], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, headers, _ = campus
    monkeypatch.setattr(preview_groups, "MOST_GROUPS", 1)

    def call(path: str, **more: str) -> str:
        return client.post(path, data=FORM | more, headers=headers).text

    with large():
        *some, _ = parts(call, call("/preview"))
    keys = re.findall(r'class="preview-part" id="preview-group-(\w+)"', "".join(some))
    assert len(keys) == len(set(keys)) == 2
    assert "not as requested, each in another way" in "".join(some)


def test_an_error_of_a_device_is_told_in_the_end(campus: tuple[TestClient, dict[str, str], Backend]) -> None:
    client, headers, _ = campus
    form = FORM | {"text": CAMPUS.replace("percent: 50", "percent: 99")}

    def call(path: str, **more: str) -> str:
        return client.post(path, data=form | more, headers=headers).text

    with large():
        *some, rest = parts(call, call("/preview"))
    unsound = sum(part.count("severity-error") > 0 for part in some)
    assert unsound
    said = re.search(
        r'data-cannot="Cannot start: (\d+ errors? on (\d+) devices?)".*?✘ Cannot be started: ([^<]*)<',
        rest,
        re.DOTALL,
    )
    assert said
    assert int(said[2]) >= unsound
    assert said[1] == said[3], "the same beside the button and at the head"


def test_errors_of_a_large_network_stand_before_its_devices_which_stay_folded(
    campus: tuple[TestClient, dict[str, str], Backend],
) -> None:
    """A group is small when its first devices come, and grows with each part: none is opened for being small."""
    client, headers, _ = campus
    form = FORM | {"text": CAMPUS.replace("percent: 50", "percent: 99")}

    def call(path: str, **more: str) -> str:
        return client.post(path, data=form | more, headers=headers).text

    with large():
        head = call("/preview")
        *some, rest = parts(call, head)
    groups = [tag for part in some for tag in re.findall(r'<details class="preview-part"[^>]*>', part)]
    assert len(some) > 2
    assert groups
    assert not [tag for tag in groups if re.search(r"\bopen\b", tag)]
    assert any("with errors" in part for part in some)
    errors = re.search(r'<div id="preview-against" hx-swap-oob="true">(.*?)<div id="preview-rest"', rest, re.DOTALL)
    assert errors
    assert 'id="preview-errors"' in errors[1]
    assert head.index('id="preview-against"') < head.index('id="preview-devices"')


def test_checks_that_take_too_long_are_told(
    campus: tuple[TestClient, dict[str, str], Backend], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, headers, _ = campus

    monkeypatch.setattr(preview, "REST_SHARE", 0.0)  # a network that is too large for what is left of a request
    rest = client.post(
        "/preview/rest", data=FORM | {"done": "9", "unsound": "2", "text": CAMPUS + "# new\n"}, headers=headers
    )
    assert rest.status_code == 200
    assert "A run checks them before it touches a device. 2 devices have errors." in rest.text


def test_parts_are_for_those_who_see_the_network(campus: tuple[TestClient, dict[str, str], Backend]) -> None:
    client, _, backend = campus
    with TestClient(client.app) as other:
        headers = Persons(backend).add("eve", Role.ADMIN, "infn-fnal").log_in(other)
        for path in ("/preview/part", "/preview/rest"):
            answer = other.post(path, data=FORM | {"done": "0", "unsound": "0"}, headers=headers)
            assert answer.status_code == 403, path


def test_a_part_costs_what_its_devices_cost(tmp_path: Path) -> None:
    written, found = PolicySource(INTENT_OF_ALL, "all.yaml", {}), []
    for count in (12, 12, 96):  # what is read once is read by the first
        write_campus(tmp_path / f"{len(found)}", count)
        network = load_network(tmp_path / f"{len(found)}")
        names, blob = tuple(f"d{n}" for n in range(6, 12)), pickle.dumps(network)
        job = PreviewJob("part", policy_digest(written), written, f"{len(found)}", blob, names, None, False)
        profile = cProfile.Profile()
        rendered = profile.runcall(render_preview, job)
        assert rendered.body.count(b'"configuration"') == len(names)
        found.append(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]
    assert found[2] < 2 * found[1], found


@pytest.fixture(scope="module")
def site(var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service with a network of 120 switches, alike so that they are soon compiled."""
    folder = tmp_path_factory.mktemp("inventories") / "large"
    folder.mkdir()
    port = "GigabitEthernet0/1: {rate: 100 Mb/s, tags: [lan]}"
    data = f"{{role: access, image: '12.2', driver: ios_legacy, interfaces: {{{port}}}}}"
    hosts = "".join(f"s{n}: {{platform: catalyst_2970, data: {data}}}\n" for n in range(120))
    (folder / "hosts.yaml").write_text(hosts, encoding="utf-8")
    (folder / "links.yaml").write_text("links: []\n", encoding="utf-8")
    with serving(var_dir, fork=True, inventories_dir=str(folder.parent)) as served:
        yield Site(served, Settings(var_dir=var_dir, inventories_dir=folder.parent))


def test_devices_appear_as_they_are_compiled(site: Site, chromium_browser: Browser) -> None:
    one = Tab.of(chromium_browser, site.url, PHONE)
    one.log_in(site.person("ann", Role.ADMIN), PASSWORD)
    asked: list[str] = []
    one.page.on("request", lambda request: asked.append(request.url.removeprefix(site.url)))
    one.page.goto("/policies/campus-collaboration/edit?network=large")
    shown = one.page.locator("#preview")
    expect(shown).not_to_be_empty()  # the scripts are there
    one.page.get_by_role("tab", name="YAML").click()
    write_policy(one.page, INTENT_OF_ALL)
    expect(shown).to_contain_text("All 120 devices are compiled.")
    expect(shown.locator("#preview-said")).to_contain_text("No errors")
    expect(shown.locator("details.device")).to_have_count(120)
    groups = shown.locator("details.preview-part")  # alike, whichever part they came in
    expect(groups).to_have_count(1)
    expect(groups.locator("> summary")).to_contain_text(re.compile(r"120 devices, .*2970"))
    assert asked.count("/preview/part") >= 6
    expect(shown.locator("#preview-other-devices")).to_be_hidden()  # none serves every class as requested
    shown.locator("details.preview-part", has=one.page.locator("#device-s7")).locator("> summary").click()
    shown.locator("#device-s7 > summary").click()
    expect(shown.locator("#body-s7")).to_contain_text("mls qos")
    one.require_sound()
    one.context.close()


def test_a_run_of_a_large_network_is_not_started_before_it_is_known(site: Site, chromium_browser: Browser) -> None:
    one = Tab.of(chromium_browser, site.url, PHONE)
    one.log_in(site.person("olga", Role.ADMIN), PASSWORD)
    page, held = one.page, []
    start, why = page.locator("#start-run"), page.locator("#start-run-why")

    def hold_back(route: Route) -> None:
        if int(parse_qs(route.request.post_data or "")["done"][0]) >= 30:
            held.append(route)
        else:
            route.continue_()

    with addresses(site.settings, "large"):
        page.route("**/preview/part", hold_back)
        page.goto("/runs/new?network=large&policy=rfc4594-4-basic")
        expect(why).to_contain_text("30 of 120 devices are compiled …")
        expect(start).to_be_disabled()
        soon(page, lambda: bool(held), "the next part is never asked for")
        held.pop().fulfill(status=503)
        expect(why).to_contain_text("The preview stopped at 30 of 120 devices; a run compiles and checks them all")
        expect(start).to_be_enabled()
        page.unroute("**/preview/part")
        page.get_by_role("button", name="Go on").click()
        expect(why).to_contain_text("120 devices would be configured; 120 were never read")
        expect(start).to_be_enabled()
        expect(why).not_to_contain_text("are compiled")
        one.require_sound("503")
    one.context.close()


def test_errors_of_a_large_network_are_seen_before_its_devices(site: Site, chromium_browser: Browser) -> None:
    one = Tab.of(chromium_browser, site.url, PHONE)
    one.log_in(site.person("rosa", Role.ADMIN), PASSWORD)
    page = one.page
    with addresses(site.settings, "large"):
        page.goto("/runs/new?network=large&policy=rfc4594-12")
        why = page.locator("#start-run-why a.wrong")
        expect(why).to_have_text(re.compile(r"Cannot start: \d+ errors? on 120 devices"), timeout=LONG_MS)
        expect(page.locator("#start-run")).to_be_disabled()
        groups = page.locator("details.preview-part")
        expect(groups).to_have_count(1)  # it came in six parts
        expect(groups).not_to_have_attribute("open", re.compile(""))
        expect(page.locator("#preview-said")).to_contain_text("Cannot be started: ")
        expect(page.locator("#device-s0")).to_be_hidden()
        why.click()
        errors = page.get_by_role("heading", name="Errors")
        expect(errors).to_be_in_viewport()
        found, devices = errors.bounding_box(), groups.bounding_box()
        assert found
        assert devices
        assert found["y"] < devices["y"], "what is wrong stands first"
    one.require_sound()
    one.context.close()
