"""Includes: one library of classes serves many intents, and every place is that of the right file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from qosforge.errors import InputError
from qosforge.findings import Severity
from qosforge.intent.includes import MAX_FILES, MAX_INCLUDE_DEPTH
from qosforge.intent.loader import LoadedIntent, load_intent, parse_intent

from .test_fuzz import SETTINGS

LIBRARY = """\
version: 1
parameters: {voice_percent: 33}
classes:
  - name: voice
    match: {any: [{dscp: ef}]}
    treatment: {priority: {percent: "${voice_percent}"}}
  - name: web
    match: {any: [{application: http}]}
    treatment: {bandwidth: {remaining_percent: 60}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 40}}
link_efficiency:
  - {when: {rate_below: 768 kb/s}, header_compression: rtp}
"""
SITE = """\
version: 1
intent: site
include: [library/classes.yaml]
apply:
  - {role: edge, interfaces: wan, direction: output}
"""


def write(folder: Path, **files: str) -> Path:
    """Files by their names, where ``__`` stands for a folder; the path of ``site.yaml``."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "site.yaml"


def problems(path: Path, *parameters: str) -> list[str]:
    """What is wrong, each as ``FILE:LINE:COLUMN message (hint)`` with the file's name alone."""
    with pytest.raises(InputError) as caught:
        load_intent(path, parameters)
    found = []
    for problem in caught.value.problems():
        where = problem.where
        place = f"{Path(where.file).relative_to(path.parent)}:{where.line}:{where.column}" if where.file else where
        assert problem.hint
        found.append(f"{place} {problem.message} ({problem.hint})".replace(str(path.parent), "SITE"))
    return found


def names(loaded: LoadedIntent) -> list[str]:
    return [entry.name for entry in loaded.intent.classes]


def test_a_library_gives_its_classes_and_rules_with_their_places(tmp_path: Path) -> None:
    path = write(tmp_path, site=SITE, library__classes=LIBRARY)

    loaded = load_intent(path)

    assert names(loaded) == ["voice", "web", "default"]
    assert loaded.findings == ()
    place = loaded.class_place("web")
    assert place is not None
    assert (place.file, place.line, place.column) == (str(tmp_path / "library/classes.yaml"), 7, 5)
    assert place.path == "classes[1]"
    assert loaded.document.place(("apply", 0)).file == str(path)
    assert loaded.document.place(("link_efficiency", 0)).line == 13
    assert loaded.class_place("nobody") is None


def test_classes_below_others_have_their_places_too(tmp_path: Path) -> None:
    tree = """\
      children:
        - {name: gold, match: {any: [{dscp: af11}]}, treatment: {bandwidth: {percent: 50}}}
        - {name: default, treatment: {bandwidth: {percent: 50}}}
"""
    library = LIBRARY.replace("treatment: {bandwidth: {remaining_percent: 60}}", f"treatment:\n{tree}".rstrip())
    loaded = load_intent(write(tmp_path, site=SITE, library__classes=library))

    gold, default = loaded.class_place("gold"), loaded.class_place("default")
    assert gold is not None
    assert default is not None
    assert (Path(str(gold.file)).name, gold.line) == ("classes.yaml", 11)
    assert default.path == "classes[2]"
    assert loaded.class_place("default", 12) == loaded.document.place(("classes", 1, "treatment", "children", 1))


def test_the_version_covers_what_is_included_and_set(tmp_path: Path) -> None:
    path = write(tmp_path, site=SITE, library__classes=LIBRARY)
    plain = load_intent(path).version

    alone = LIBRARY.replace("version: 1\nparameters: {voice_percent: 33}\n", "").replace('"${voice_percent}"', "33")
    assert parse_intent(SITE.replace("include: [library/classes.yaml]\n", "") + alone, "one.yaml").version == plain
    assert load_intent(path, ["voice_percent=34"]).version != plain
    write(tmp_path, library__classes=LIBRARY.replace("dscp: ef", "dscp: cs5"))
    assert load_intent(path).version != plain


def test_a_class_of_the_same_name_takes_the_place_of_the_included_one(tmp_path: Path) -> None:
    own = SITE + "classes:\n  - {name: a, match: {any: [{cos: 1}]}}\n  - {name: voice, match: {any: [{cos: 5}]}}\n"
    path = write(tmp_path, site=own, library__classes=LIBRARY)

    loaded = load_intent(path)

    assert names(loaded) == ["voice", "web", "default", "a"]
    voice = loaded.intent.traffic_class("voice")
    assert voice.match is not None
    assert voice.match.any[0].cos == (5,)
    (finding,) = loaded.findings
    assert (finding.code, finding.severity) == ("class-replaced", Severity.INFO)
    assert (finding.file, finding.line, finding.traffic_class) == (str(path), 8, "voice")
    assert f"{tmp_path}/library/classes.yaml:4" in finding.message


def test_a_class_twice_in_one_file_is_still_refused(tmp_path: Path) -> None:
    twice = LIBRARY.replace("name: web", "name: voice")
    path = write(tmp_path, site=SITE, library__classes=twice)

    assert any(p.startswith("library/classes.yaml:7:11 class 'voice' is defined twice") for p in problems(path)), (
        problems(path)
    )


def test_rules_of_the_including_file_are_tried_first(tmp_path: Path) -> None:
    own = SITE + "link_efficiency:\n  - {when: {rate_below: 128 kb/s}, fragment: {blocking_delay: 10 ms}}\n"
    loaded = load_intent(write(tmp_path, site=own, library__classes=LIBRARY))

    assert [rule.when.rate_below for rule in loaded.intent.link_efficiency] == [128_000, 768_000]
    assert loaded.document.place(("link_efficiency", 1)).file == str(tmp_path / "library/classes.yaml")


def test_files_are_read_in_order_each_once_and_later_ones_override(tmp_path: Path) -> None:
    def one(name: str, percent: int, include: str = "[]") -> str:
        return (
            f"include: {include}\nparameters: {{p: {percent}}}\n"
            f"classes: [{{name: {name}, match: {{any: [{{dscp: {percent}}}]}}}}]\n"
        )

    path = write(
        tmp_path,
        site=SITE.replace("[library/classes.yaml]", "[a.yaml, b.yaml]")
        + 'classes: [{name: own, match: {any: [{dscp: "${p}"}]}}]\n',
        a=one("a", 1, "[base.yaml]"),
        b=one("b", 2, "base.yaml"),
        base=one("base", 3),
    )

    loaded = load_intent(path)

    assert names(loaded) == ["base", "a", "b", "own"]
    own = loaded.intent.traffic_class("own").match
    assert own is not None
    assert own.any[0].dscp == (2,)
    assert [Path(name).name for name in loaded.included] == ["base.yaml", "a.yaml", "b.yaml"]


def test_what_an_intent_was_made_of_makes_it_again(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        site=SITE,
        library__classes=LIBRARY.replace("version: 1", "include: deep/more.yaml"),
        library__deep__more="classes: [{name: more, match: {any: [{dscp: 1}]}}]\n",
    )
    loaded = load_intent(path, ["voice_percent=20"])
    for file in (path, *map(Path, loaded.included)):
        file.unlink()

    again = parse_intent(loaded.document.text, loaded.document.file, loaded.settings, loaded.included)

    assert (again.version, again.intent) == (loaded.version, loaded.intent)
    assert again.class_place("more") == loaded.class_place("more")


def test_the_shipped_library_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "root" / "policies" / "library"
    shipped.mkdir(parents=True)
    (shipped / "classes.yaml").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.setattr("qosforge.intent.includes.root", lambda: tmp_path / "root")
    path = write(tmp_path / "elsewhere", site=SITE)

    loaded = load_intent(path)

    place = loaded.class_place("voice")
    assert place is not None
    assert place.file == "qosforge:policies/library/classes.yaml"
    again = parse_intent(loaded.document.text, str(path), (), loaded.included)
    assert again.version == loaded.version
    write(tmp_path / "elsewhere", library__classes=LIBRARY.replace("name: web", "name: own"))
    assert "own" in names(load_intent(path))


@pytest.mark.parametrize(
    "entry",
    [
        "/etc/classes.yaml",
        "../classes.yaml",
        "library/../../classes.yaml",
        "./classes.yaml",
        "library//classes.yaml",
        "classes",
        "classes.yaml\\n",
        "~/classes.yaml",
        "library\\\\classes.yaml",
        "qosforge:policies/x.yaml",
        "${library}.yaml",
        "a" * 300 + ".yaml",
    ],
)
def test_a_file_outside_the_folder_cannot_be_named(tmp_path: Path, entry: str) -> None:
    path = write(tmp_path, site=SITE.replace("library/classes.yaml", f'"{entry}"'))

    (problem,) = problems(path)

    assert problem.startswith("site.yaml:3:11 ")
    assert "cannot be included" in problem


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(LIBRARY, encoding="utf-8")
    inside = tmp_path / "inside"
    path = write(inside, site=SITE.replace("library/", ""))
    (inside / "classes.yaml").symlink_to(tmp_path / "secret.yaml")

    (problem,) = problems(path)

    assert problem.startswith("site.yaml:3:11 cannot include: 'classes.yaml' leads out of SITE")
    (inside / "classes.yaml").unlink()
    (inside / "classes.yaml").symlink_to("classes.yaml")
    assert "there is no 'classes.yaml'" in problems(path)[0]


def test_a_missing_file_is_told_where_it_is_asked_for_with_all_else(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        site=SITE.replace("[library/classes.yaml]", "[library/classes.yaml, none.yaml]")
        + 'classes: [{name: own, match: {any: [{dscp: "${voice}"}]}}, {name: x, match: {any: [{cos: 9}]}}]\n'
        + "verify: [{from: a, to: b, classes: [voice]}]\n",
        library__classes=LIBRARY.replace("version: 1", "include: gone.yaml"),
    )

    found = problems(path)

    assert [p.partition(" (")[0] for p in found] == [
        "site.yaml:3:33 cannot include: there is no 'none.yaml'",
        "site.yaml:6:90 9 is not possible here",
        "library/classes.yaml:1:10 cannot include: there is no 'gone.yaml'",
    ]


@pytest.mark.parametrize(
    ("library", "says"),
    [
        ("apply: []", "library/classes.yaml:1:1 unknown key 'apply' (only the intent itself"),
        ("clases: []", "library/classes.yaml:1:1 unknown key 'clases' (did you mean 'classes'?"),
        ("nothing: 1", "library/classes.yaml:1:1 unknown key 'nothing' (known here: include"),
        ("version: 2", "library/classes.yaml:1:10 2 is not possible here"),
        ("classes: {name: a}", "library/classes.yaml:1:10 {'name': 'a'} is not a list"),
        ("- a", "library/classes.yaml:1:1 is no library of classes: a mapping"),
        ("", "library/classes.yaml:1:1 is empty"),
        ("a: [", "library/classes.yaml:2:1 is not YAML"),
        ("a: 1\na: 2", "library/classes.yaml:2:1 key 'a' is given twice"),
        ("include: 5", "library/classes.yaml:1:10 5 is not text"),
        ("parameters: [a]", "library/classes.yaml:1:13 ['a'] is not a mapping"),
        ("classes: [{name: a, match: {any: [{dscp: 99}]}}]", "library/classes.yaml:1:42 DSCP 99"),
        ("classes: [{name: a, match: {any: [{dscp: 9}]}, tretment: {}}]", "library/classes.yaml:1:48 unknown key"),
        (
            "classes: [{name: a, match: {any: [{application: htp}]}}]",
            "library/classes.yaml:1:49 unknown application",
        ),
    ],
)
def test_what_is_wrong_in_an_included_file_is_told_at_its_place(tmp_path: Path, library: str, says: str) -> None:
    own = SITE + "classes: [{name: own, match: {any: [{dscp: 5}]}}]\n"
    found = problems(write(tmp_path, site=own, library__classes=library + "\n"))

    assert len(found) == 1
    assert found[0].startswith(says)


def test_circles_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, site=SITE.replace("library/classes", "a"), a="include: b.yaml\n", b="include: a.yaml\n")

    found = problems(path)

    assert found[0].startswith("b.yaml:1:10 cannot include: 'a.yaml' includes itself (break the circle: ")
    assert "SITE/a.yaml → SITE/b.yaml → SITE/a.yaml" in found[0]
    assert "includes itself" in problems(write(tmp_path, site=SITE.replace("library/classes", "site")))[0]


def test_depth_number_and_size_are_bounded(tmp_path: Path) -> None:
    chain = {f"c{n}": f"include: c{n + 1}.yaml\n" for n in range(MAX_INCLUDE_DEPTH + 1)}
    path = write(tmp_path, site=SITE.replace("library/classes", "c0"), **chain)
    assert f"more than {MAX_INCLUDE_DEPTH} includes deep" in problems(path)[0]

    many = {f"m{n}": "version: 1\n" for n in range(MAX_FILES + 1)}
    entries = ", ".join(f"{name}.yaml" for name in many)
    path = write(tmp_path, site=SITE.replace("library/classes.yaml", entries), **many)
    assert "one file more" in problems(path)[0]

    large = {f"l{n}": "# " + "x" * 400_000 + "\nversion: 1\n" for n in range(3)}
    path = write(tmp_path, site=SITE.replace("library/classes.yaml", "l0.yaml, l1.yaml, l2.yaml"), **large)
    assert "'l2.yaml' the intent has more than 1,000,000 bytes" in problems(path)[0]


def test_a_text_alone_has_nothing_to_include() -> None:
    with pytest.raises(InputError) as caught:
        parse_intent(SITE, "/etc/site.yaml")

    assert any("there is no 'library/classes.yaml'" in p.message for p in caught.value.problems())


FILES = ["a.yaml", "b.yaml", "d/c.yaml", "c.yaml"]
WILD = ["site.yaml", "../a.yaml", "none.yaml", "5", "null"]
GOOD = ["33", '"${p}"', '"${q}"', "7"]
BAD = ["${", '"x${p}y"', "[1, 2]", "{a: b}", "null", "'${p} %'", "&x [*x]", "${p}", '"${r}"']


@st.composite
def sheets(draw: st.DrawFn) -> list[str]:
    """An intent and four files, which include each other; in half of the cases nothing is wrong on purpose."""
    wild = draw(st.booleans())
    values = st.sampled_from(GOOD + BAD if wild else GOOD)
    texts = []
    for number in range(len(FILES) + 1):
        later = FILES[number:] if not wild else [*FILES, *WILD]
        include = draw(st.lists(st.sampled_from(later), max_size=3, unique=True)) if later else []
        lines = [f"include: [{', '.join(include)}]"]
        if number == 0:
            lines += ["version: 1", "intent: site", "apply: [{role: edge, interfaces: wan, direction: output}]"]
        if number == 0 or draw(st.booleans()):
            given = values if wild else st.just("9")
            lines.append(f"parameters: {{p: {draw(given)}, q: {draw(given)}}}")
        names = draw(st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=not wild))
        lines.append("classes:" if names or number == 0 else "")
        lines += ["  - {name: default}"] if number == 0 else []
        for name in names:
            lines.append(f"  - name: {name}\n    treatment: {{bandwidth: {{percent: {draw(values)}}}}}")
            lines.append(f"    match: {{any: [{{dscp: {draw(values)}}}]}}")
        texts.append("\n".join(lines) + "\n")
    return texts


@settings(SETTINGS, max_examples=150)
@given(sheets(), st.lists(st.sampled_from(["p=1", "q=2", "p=[a]", "r=2", "p", "p=${q}"]), max_size=2))
def test_whatever_is_included_and_set_is_read_or_refused(texts: list[str], parameters: list[str]) -> None:
    top, *others = texts
    files = dict(zip(FILES, others, strict=True))

    try:
        loaded = parse_intent(top, "site.yaml", parameters, files)
    except InputError as error:
        found = error.problems()
        assert found
        for problem in found:
            assert problem.hint
            assert problem.where.file in {"site.yaml", *files} or str(problem.where.path).startswith("--set")
            assert len(str(problem)) < 2000
        return
    event("read")
    again = parse_intent(top, "site.yaml", loaded.settings, loaded.included)
    assert again.version == loaded.version
    assert "${" not in loaded.intent.model_dump_json()
