"""Wrong intents: every mistake is told with its place, the value and the hint, and all of them at once."""

import pytest

from qosforge.errors import InputError
from qosforge.intent.loader import parse_intent
from tests.counted import tried

from .test_loader import EXAMPLE

pytestmark = pytest.mark.hostile


def problems(text: str) -> list[InputError]:
    with pytest.raises(InputError) as caught:
        parse_intent(text, "wrong.yaml")
    assert caught.value.exit_code == 2
    found = caught.value.problems()
    assert found
    for problem in found:
        assert isinstance(problem, InputError)
        assert problem.where.file == "wrong.yaml"
        assert problem.where.line is not None
        assert problem.where.column is not None
        assert problem.hint, str(problem)
    return found  # type: ignore[return-value]


def changed(*replacements: tuple[str, str]) -> str:
    text = EXAMPLE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return text


APPLICATION = "\n {name: scada, protocol: udp, ports: 502},"
CASES = {
    "unknown key": (("treatment: {priority", "treatmnt: {priority"), 7, "'treatmnt'", "did you mean 'treatment'?"),
    "unknown key inside": (("{priority: {percent", "{priority: {pecent"), 7, "'pecent'", "did you mean 'percent'?"),
    "key in the wrong place": (("mark: {dscp: af21}", "percent: 5"), 11, "'percent'", "known here: name"),
    "unknown top key": (("version: 1", "version: 1\nverfy: []"), 2, "'verfy'", "did you mean 'verify'?"),
    "missing key": (("intent: campus-collaboration\n", ""), 1, "'intent'", "add it"),
    "percents over 100": (("remaining_percent: 70", "percent: 70"), 4, "mixed units", "one unit"),
    "remaining over 100": (("remaining_percent: 70", "remaining_percent: 71"), 14, "take 101 %", "take away 1 %"),
    "unknown class": (("classes: [voice-video]", "classes: [voice-vido]"), 21, "'voice-vido'", "'voice-video'?"),
    "unknown class beside": (("beside: [web-and-file", "beside: [ftp"), 21, "'ftp'", "classes: voice-video"),
    "bad unit": (("rate_below: 768 kb/s", "rate_below: 768 kB/s"), 16, "'768 kB/s'", "768 kb/s"),
    "no unit": (("rate_below: 768 kb/s", "rate_below: 768"), 16, "768", "768 kb/s"),
    "ratio without unit": (("loss: 0.1 %", "loss: 0.001"), 8, "0.001", "0.1 %"),
    "time without unit": (("variation: 30 ms", "variation: 0.03"), 8, "0.03", "16 ms"),
    "overlong number": (("768 kb/s", "9" * 400 + " kb/s"), 16, "9999", "768 kb/s"),
    "newline in a name": (
        ("name: voice-video", 'name: "voice\\nno service-policy"'),
        4,
        "'voice\\nno service-policy'",
        "letters, digits",
    ),
    "newline in a text": (
        ("intent: campus-collaboration", 'intent: a\ndescription: "a\\nb"'),
        3,
        "'a\\nb'",
        "one line",
    ),
    "wrong type": (("percent: 50", "percent: [50]"), 7, "[50] is not a whole number", "such as 50"),
    "text for a number": (("percent: 50", "percent: half"), 7, "'half'", "such as 50"),
    "fraction for a number": (("percent: 50", "percent: 50.5"), 7, "50.5", "such as 50"),
    "percent zero": (("percent: 50", "percent: 0"), 7, "0 is not possible", "give at least 1"),
    "list for a mapping": (("treatment: {priority: {percent: 50}}", "treatment: [1]"), 7, "[1]", "{key: value}"),
    "mapping for a list": (("verify:\n  - {from", "verify:\n  {from"), 21, "not a list", "[a, b]"),
    "date for a name": (("intent: campus-collaboration", "intent: 2024-01-01"), 2, "is a date", "in quotes"),
    "date for a rate": (("768 kb/s", "2024-01-01"), 16, "2024-01-01", "768 kb/s"),
    "infinite loss": (("loss: 0.1 %", "loss: .inf"), 8, "inf", "0.1 %"),
    "no number for a delay": (("p95: 40 ms", "p95: .nan"), 8, "nan", "16 ms"),
    "two defaults": (
        ("link_efficiency:", "  - {name: default}\nlink_efficiency:"),
        15,
        "'default' is defined twice",
        "rename",
    ),
    "priority and bandwidth": (
        ("{priority: {percent: 50}}", "{priority: {percent: 50}, bandwidth: {percent: 5}}"),
        7,
        "by priority or by bandwidth",
        "not both",
    ),
    "priority twice": (("{percent: 50}", "{percent: 50, rate: 1 Mb/s}"), 7, "percent and rate", "one of them"),
    "bandwidth twice": (
        ("{remaining_percent: 70}", "{remaining_percent: 70, percent: 1}"),
        12,
        "more than one unit",
        "exactly one",
    ),
    "empty match": (
        ("{dscp: [ef, af41]}", "{}"),
        5,
        "empty match",
        "application, dscp, cos or another header field",
    ),
    "no alternatives": (
        ("{any: [{application: [rtp-audio, rtp-video]}, {dscp: [ef, af41]}]}", "{any: []}"),
        5,
        "the class has no packets",
        "choose an application or a mark",
    ),
    "no match": (
        ("    match: {any: [{application: [http, ftp]}, {dscp: [af21]}]}\n", ""),
        9,
        "'web-and-file'",
        "only 'default'",
    ),
    "default with a match": (
        ("- name: default", "- name: default\n    match: {any: [{cos: 1}]}"),
        13,
        "'default'",
        "no match",
    ),
    "unknown application": (("[http, ftp]", "[htp, ftp]"), 10, "'htp'", "did you mean 'http'?"),
    "dscp out of range": (("dscp: af21", "dscp: 64"), 11, "DSCP 64", "0 to 63"),
    "dscp negative": (("dscp: af21", "dscp: -1"), 11, "DSCP -1", "0 to 63"),
    "dscp unknown": (("dscp: af21", "dscp: af51"), 11, "'af51'", "0 to 63"),
    "cos out of range": (("cos: 5", "cos: 8"), 6, "8 is not possible", "give at most 7"),
    "no loss at all": (("loss: 0.1 %", "loss: 0 %"), 8, "0 %", "above 0 %"),
    "all loss": (("loss: 0.1 %", "loss: 100 %"), 8, "100 %", "below 100 %"),
    "quantile 100": (("p99: 60 ms", "p100: 60 ms"), 8, "'p100'", "p99.9"),
    "quantile 0": (("p95: 40 ms", "p0: 40 ms"), 8, "'p0'", "p99.9"),
    "quantiles falling": (("p99: 60 ms", "p99: 39 ms"), 8, "p99 of 39 ms is below p95 of 40 ms", "never shorter"),
    "delay zero": (("p95: 40 ms", "p95: 0 ms"), 8, "0 cannot be kept", "above zero"),
    "variation zero": (("variation: 30 ms", "variation: 0 ms"), 8, "0 cannot be kept", "above zero"),
    "no objective": (
        ("{delay: {p95: 40 ms, p99: 60 ms}, variation: 30 ms, loss: 0.1 %}", "{}"),
        8,
        "empty objective",
        "delay",
    ),
    "neither quantile nor mean": (("p99: 60 ms", "average: 60 ms"), 8, "'average'", "p99.9 or mean"),
    "mean zero": (("p99: 60 ms", "mean: 0 ms"), 8, "0 cannot be kept", "above zero"),
    "two variations": (("variation: 30 ms", "variation: {p95: 1 ms, p99: 2 ms}"), 8, "has 2 quantiles", "give one"),
    "no variation": (("variation: 30 ms", "variation: {}"), 8, "has 0 quantiles", "give one"),
    "variation of the mean": (("variation: 30 ms", "variation: {mean: 2 ms}"), 8, "'mean'", "write p50"),
    "variation without a unit": (("variation: 30 ms", "variation: 30"), 8, "30 is not a quantity", "'16 ms'"),
    "unknown preset": (("variation: 30 ms", "preset: y1541-9"), 8, "'y1541-9' is no preset", "did you mean y1541-"),
    "preset out of nowhere": (("variation: 30 ms", "preset: best"), 8, "'best' is no preset", "there are y1541-0"),
    "preset that bounds nothing": (("variation: 30 ms", "preset: y1541-5"), 8, "bounds nothing", "leave it out"),
    "confidence low": (("95 %", "50 %"), 21, "50 %", "above 50 %"),
    "confidence certain": (("95 %", "100 %"), 21, "100 %", "below 100 %"),
    "confidence beyond": (("95 %", "101 %"), 21, "'101 %'", "at most 100 %"),
    "blocking delay zero": (
        ("blocking_delay: 16 ms", "blocking_delay: 0 ms"),
        16,
        "0 cannot be kept",
        "above zero",
    ),
    "verify with itself": (("to: vigo2", "to: vigo1"), 21, "'vigo1'", "two stations"),
    "scope of nothing": (("role: [edge, middle]", "role: []"), 18, "nothing is listed here", "1 at least"),
    "one policy, two directions": (
        (
            "direction: output}\n  - {role: edge,",
            "direction: output, policy: P}\n  - {policy: P, role: edge,",
        ),
        19,
        "'P' is used for input and for output",
        "name of its own",
    ),
    "policy named as ours": (
        ("direction: input", "direction: input, policy: QOSFORGE-OUT"),
        19,
        "'QOSFORGE-OUT'",
        "another",
    ),
    "version of the future": (("version: 1", "version: 2"), 1, "2 is not possible", "should be 1"),
    "name too long": (("name: voice-video", "name: " + "v" * 41), 4, "is too long", "at most 40 characters"),
    "empty name": (("from: vigo1", "from: ''"), 21, "nothing is written here", "at least 1 character"),
    "unknown direction": (("direction: input", "direction: inward"), 19, "'inward'", "'input' or 'output'"),
    "key given twice": (
        ("    mark: {dscp: af21}\n", "    mark: {dscp: af21, dscp: af22}\n"),
        11,
        "'dscp' is given twice",
        "keep one",
    ),
    "foreign tag": (("percent: 50", "percent: !!python/object:os.system 5"), 7, "python/object", "plain values"),
    "foreign tag on a mapping": (("{percent: 50}", "!!python/object:x {percent: 50}"), 7, "python/object", "plain"),
    "tab": (("    mark: {dscp: af21}", "\tmark: {dscp: af21}"), 11, "'\\t'", "indentation"),
    "alias of nothing": (("percent: 50", "percent: *fifty"), 7, "undefined alias", "brackets"),
    "open bracket": (("[http, ftp]", "[http, ftp"), 10, "is not YAML", "brackets"),
    "second document": (("verify:", "---\nverify:"), 20, "another document", "brackets"),
    "impossible date": (("intent: campus-collaboration", "intent: 2024-13-41"), 2, "'2024-13-41'", "quote it"),
    "no match at all": (
        ("{any: [{application: [http, ftp]}, {dscp: [af21]}]}", "{}"),
        10,
        "empty match",
        "any, all",
    ),
    "none of nothing": (
        ("{any: [{application: [http, ftp]}, {dscp: [af21]}]}", "{none: []}"),
        10,
        "nothing is listed here",
        "1 at least",
    ),
    "exclusive parts": (
        ("{any: [{application: [http, ftp]}, {dscp: [af21]}]}", "{all: [{dscp: 1}, {dscp: 2}]}"),
        10,
        "exclude each other",
        "remove one",
    ),
    "precedence beyond": (
        ("{dscp: [af21]}", "{precedence: [5, 8]}"),
        10,
        "8 is not possible",
        "give at most 7",
    ),
    "unknown protocol": (("{dscp: [af21]}", "{protocol: tpc}"), 10, "'tpc' is not a protocol", "0 to 255"),
    "protocol beyond": (
        ("{dscp: [af21]}", "{protocol: 256}"),
        10,
        "256 is not possible",
        "give at most 255",
    ),
    "host bits": (("{dscp: [af21]}", "{source: 10.1.2.3/24}"), 10, "'10.1.2.3/24'", "write 10.1.2.0/24"),
    "no prefix": (("{dscp: [af21]}", "{destination: campus}"), 10, "'campus' is not a prefix", "10.1.0.0/16"),
    "prefix with a newline": (
        ("{dscp: [af21]}", '{source: "10.0.0.0/8\\n"}'),
        10,
        "is not a prefix",
        "10.1.0.0/16",
    ),
    "prefix with a newline in its zone": (
        ("{dscp: [af21]}", '{source: "fe80::%x\\nreload/64"}'),
        10,
        "is not a prefix",
        "2001:db8::/32",
    ),
    "every address": (("{dscp: [af21]}", "{source: 0.0.0.0/0}"), 10, "every address", "leave it out"),
    "two versions": (
        ("{dscp: [af21]}", "{source: 10.0.0.0/8, destination: 2001:db8::/32}"),
        10,
        "IPv4 and IPv6",
        "its own",
    ),
    "port without protocol": (("{dscp: [af21]}", "{source_port: 80}"), 10, "without their protocol", "tcp or udp"),
    "port of a tunnel": (
        ("{dscp: [af21]}", "{protocol: [tcp, gre], source_port: 80}"),
        10,
        "without their protocol",
        "tcp",
    ),
    "port beyond": (
        ("{dscp: [af21]}", "{protocol: tcp, source_port: 65536}"),
        10,
        "65536 is no range",
        "0 to 65535",
    ),
    "port by name": (("{dscp: [af21]}", "{protocol: tcp, source_port: www}"), 10, "'www' is no port", "5060"),
    "range turned round": (
        ("{dscp: [af21]}", "{protocol: tcp, source_port: 90-80}"),
        10,
        "'90-80'",
        "lower one first",
    ),
    "vlan beyond": (("{dscp: [af21]}", "{vlan: 4095}"), 10, "4095 is not possible", "4094"),
    "short mac": (("{dscp: [af21]}", "{source_mac: 001b.54aa}"), 10, "'001b.54aa'", "001b.54aa.bbcc"),
    "interface with a newline": (
        ("{dscp: [af21]}", '{input_interface: "Serial0/0\\nreload"}'),
        10,
        "is not an interface",
        "inventory",
    ),
    "unknown application in none": (
        ("{any: [{application: [http, ftp]}, {dscp: [af21]}]}", "{none: [{application: htpp}]}"),
        10,
        "unknown application 'htpp'",
        "'http'",
    ),
    "burst without unit": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {rate: 1 Mb/s, burst: 8000}"),
        12,
        "8000 is no number of bytes",
        "8000 B",
    ),
    "burst of nothing": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {rate: 1 Mb/s, burst: 0 B}"),
        12,
        "0 is not possible",
        "give at least 1",
    ),
    "exceed to nowhere": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {rate: 1 Mb/s, exceed: pass}"),
        12,
        "'pass'",
        "drop",
    ),
    "limit of nothing": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, queue_limit: {packets: 0}"),
        12,
        "0 is not possible",
        "1",
    ),
    "shaped priority": (
        ("{priority: {percent: 50}}", "{priority: {percent: 50}, shape: {rate: 1 Mb/s}}"),
        7,
        "shape does not go with priority",
        "remove one",
    ),
    "depth without unit": (
        ("wred: {prefer: true}", "wred: {profiles: [{dscp: af11, minimum: 20, maximum: 40 packets}]}"),
        14,
        "20 is no depth of a queue",
        "20 packets",
    ),
    "profile of two marks": (
        (
            "wred: {prefer: true}",
            "wred: {profiles: [{dscp: af11, colour: red, minimum: 20 packets, maximum: 40 packets}]}",
        ),
        14,
        "one kind of mark",
        "exactly one of dscp, precedence and colour",
    ),
    "thresholds swapped": (
        ("wred: {prefer: true}", "wred: {profiles: [{dscp: af11, minimum: 50 packets, maximum: 40 packets}]}"),
        14,
        "minimum is above the maximum",
        "swap",
    ),
    "thresholds in two units": (
        ("wred: {prefer: true}", "wred: {profiles: [{dscp: af11, minimum: 50 packets, maximum: 40 kB}]}"),
        14,
        "different units",
        "both in one",
    ),
    "a mark with two profiles": (
        (
            "wred: {prefer: true}",
            (
                "wred: {profiles: [{dscp: af11, minimum: 1 packets, maximum: 2 packets},"
                " {dscp: [af12, af11], minimum: 1 packets, maximum: 2 packets}]}"
            ),
        ),
        14,
        "two profiles are for 10",
        "keep one",
    ),
    "two marks of one field": (
        ("dscp: af21}\n", "dscp: af21, precedence: 2}\n"),
        11,
        "one field",
        "give one of them",
    ),
    "drop precedence against the dscp": (
        ("dscp: af21}\n", "dscp: af21, drop_precedence: high}\n"),
        11,
        "low drop precedence",
        "another dscp",
    ),
    "peak below the rate": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {rate: 1 Mb/s, peak_rate: 64 kb/s}"),
        12,
        "peak_rate is below the rate",
        "committed rate",
    ),
    "a policer with two rates for one bucket": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {rate: 1 Mb/s, percent: 10}"),
        12,
        "one committed rate",
        "exactly one of rate and percent",
    ),
    "a peak of another kind than the rate": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {percent: 10, peak_rate: 2 Mb/s}"),
        12,
        "the peak is not",
        "peak_percent",
    ),
    "a burst in bytes of a percentage": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {percent: 10, burst: 8 kB}"),
        12,
        "bursts of a percentage are times",
        "burst_time",
    ),
    "one bucket of two sizes": (
        (
            "{remaining_percent: 70}",
            "{remaining_percent: 70}, police: {rate: 1 Mb/s, burst: 8 kB, burst_time: 9 ms}",
        ),
        12,
        "are one bucket",
        "one of them",
    ),
    "fair queueing of a number that no device has": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, fair_queue: {flows: 100}"),
        12,
        "100 is not possible here",
        "2048 or 4096",
    ),
    "an output mark of nothing": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, mark: {prefer: true}"),
        12,
        "an empty mark",
        "dscp, precedence, cos or mpls_topmost",
    ),
    "an output mark of two kinds": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, mark: {dscp: ef, precedence: 5}"),
        12,
        "one field",
        "one of them",
    ),
    "a shaper without a rate": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, shape: {burst: 8 kB}"),
        12,
        "a shaper has one rate",
        "rate and percent",
    ),
    "a shaper's burst in bytes of a percentage": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, shape: {percent: 10, burst: 8 kB}"),
        12,
        "bursts of a percentage are times",
        "burst_time",
    ),
    "an excess burst of no burst": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, shape: {rate: 1 Mb/s, excess_burst: 0 B}"),
        12,
        "without the burst",
        "both",
    ),
    "violate with one bucket": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, police: {rate: 1 Mb/s, violate: drop}"),
        12,
        "violate without a second bucket",
        "excess_burst",
    ),
    "more is sent than what exceeds": (
        (
            "{remaining_percent: 70}",
            "{remaining_percent: 70}, police: {rate: 1 Mb/s, excess_burst: 8 kB, violate: transmit}",
        ),
        12,
        "what violates would be sent",
        "drop both",
    ),
    "remark to two marks": (
        (
            "{remaining_percent: 70}",
            "{remaining_percent: 70}, police: {rate: 1 Mb/s, exceed: {remark: af12, precedence: 1}}",
        ),
        12,
        "a remark has one mark",
        "exactly one",
    ),
    "limit in two units": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, queue_limit: {packets: 3, bytes: 8 kB}"),
        12,
        "a queue limit has one unit",
        "exactly one",
    ),
    "limit in per cent and packets": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, queue_limit: {packets: 3, percent: 80}"),
        12,
        "a queue limit has one unit",
        "percent and thresholds",
    ),
    "two thresholds for one mark": (
        (
            "70}",
            "70}, queue_limit: {thresholds: [{dscp: af11, percent: 8}, {dscp: 10, percent: 9}]}",
        ),
        12,
        "two thresholds are for dscp af11",
        "keep one",
    ),
    "threshold for nothing": (
        ("{remaining_percent: 70}", "{remaining_percent: 70}, queue_limit: {thresholds: [{dscp: [], percent: 8}]}"),
        12,
        "nothing is listed here",
        "1",
    ),
    "more than a queue": (
        ("wred: {prefer: true}", "wred: {profiles: [{dscp: af11, minimum: 20 %, maximum: 101 %}]}"),
        14,
        "101 % is more than the queue holds",
        "at most 100 %",
    ),
    "kept and written": (
        ("- name: default", "- name: default\n    mark: {keep: true, dscp: ef}"),
        14,
        "a mark that is kept",
        "give keep",
    ),
    "a phone at an output": (
        ("direction: output", "direction: output, requires_phone: true"),
        18,
        "a phone sends what arrives",
        "direction input",
    ),
    "bounded by nothing": (
        ("{remaining_percent: 30}, wred: {prefer: true}", "{remaining_percent: 30}, bounded: 1"),
        14,
        "1 is not true or false",
        "true or false",
    ),
    "bounded without a share": (
        ("{priority: {percent: 50}}", "{priority: true, bounded: true}"),
        7,
        "a bounded class keeps to its share",
        "a percent or a rate",
    ),
    "application twice": (
        ("classes:", "applications: [{name: a, protocol: tcp, ports: 1}," + 2 * APPLICATION + "]\nclasses:"),
        5,
        "'scada' is defined twice",
        "keep one",
    ),
    "mark of nothing": (("mark: {dscp: af21}", "mark: {}"), 11, "an empty mark", "leave it out"),
    "fragment in two ways": (
        ("{blocking_delay: 16 ms}", "{blocking_delay: 16 ms, size: 80 B}"),
        16,
        "sized in one way",
        "exactly one",
    ),
    "fragment by magic": (
        ("{blocking_delay: 16 ms}", "{blocking_delay: 16 ms, by: magic}"),
        16,
        "'magic'",
        "frf12",
    ),
    "scope without selector": (
        ("{role: edge, interfaces: lan, direction: input}", "{direction: input}"),
        19,
        "without a selector",
        "role, interfaces",
    ),
    "trust at an output": (
        ("direction: output}", "direction: output, trust: cos}"),
        18,
        "trust is for what arrives",
        "direction input",
    ),
    "shape at an input": (
        ("interfaces: lan, direction: input}", "interfaces: lan, direction: input, shape: {rate: 1 Mb/s}}"),
        19,
        "shaped where it sends",
        "direction output",
    ),
    "port with a newline": (
        ("interfaces: lan, direction: input}", 'ports: "1\\nreload", direction: input}'),
        19,
        "is not a port",
        "inventory",
    ),
    "objective for a class not judged": (
        ("seconds: 30", "objective: {default: {loss: 1 %}}, seconds: 30"),
        21,
        "'default' is not among the classes judged here",
        "add it",
    ),
    "children that exceed their parent": (
        (
            "{remaining_percent: 30}",
            (
                "{remaining_percent: 30}, children: [{name: x, match: {any: [{dscp: 1}]},"
                " treatment: {bandwidth: {percent: 101}}}]"
            ),
        ),
        14,
        "101 is not possible",
        "give at most 100",
    ),
    "one name for two classes of a tree": (
        (
            "{remaining_percent: 30}, wred: {prefer: true}",
            "{remaining_percent: 30}, children: [{name: web-and-file, match: {any: [{dscp: 1}]}}]",
        ),
        14,
        "class 'web-and-file' is defined twice",
        "rename one",
    ),
    "units mixed among children": (
        (
            "{remaining_percent: 30}, wred: {prefer: true}",
            (
                "{remaining_percent: 30}, children: [{name: x, match: {any: [{dscp: 1}]}, treatment: "
                "{bandwidth: {percent: 50}}}, {name: default, treatment: {bandwidth: {weight: 2}}}]"
            ),
        ),
        14,
        "mixed units (percent, weight)",
        "one unit",
    ),
    "unknown application among children": (
        (
            "{remaining_percent: 30}, wred: {prefer: true}",
            "{remaining_percent: 30}, children: [{name: x, match: {any: [{application: htp}]}}]",
        ),
        14,
        "'htp'",
        "did you mean 'http'?",
    ),
    "a queue where children have theirs": (
        (
            "{remaining_percent: 30}, wred: {prefer: true}",
            "{remaining_percent: 30}, wred: true, children: [{name: x, match: {any: [{dscp: 1}]}}]",
        ),
        14,
        "no queue of its own",
        "children",
    ),
    "key that is a list": (("version: 1", "version: 1\n? [a]\n: 1"), 2, "key that is not text", "plain words"),
}


@pytest.mark.parametrize(("change", "line", "says", "hint"), CASES.values(), ids=CASES.keys())
def test_a_mistake_is_told_with_its_place_and_its_hint(
    change: tuple[str, str], line: int, says: str, hint: str
) -> None:
    found = problems(changed(change))

    matching = [p for p in found if says in p.message]
    assert matching, [str(p) for p in found]
    assert matching[0].where.line == line, str(matching[0])
    assert hint in matching[0].hint, str(matching[0])
    tried("poisonous texts of intents")


def test_percents_are_summed_over_priority_and_bandwidth() -> None:
    text = changed(("remaining_percent: 70", "percent: 40"), ("remaining_percent: 30", "percent: 30"))

    (found,) = problems(text)

    assert found.message == "the classes take 120 % of the link: voice-video 50 %, web-and-file 40 %, default 30 %"
    assert found.where.path == "classes[2].treatment.bandwidth.percent"
    assert "take away 20" in found.hint


def test_buffers_of_a_port_are_summed() -> None:
    text = changed(
        ("{remaining_percent: 70}", "{remaining_percent: 70}, buffers: {percent: 61}"),
        ("{remaining_percent: 30}", "{remaining_percent: 30}, buffers: {percent: 40}"),
    )

    (found,) = problems(text)

    assert found.message == "buffers add up to 101 %"
    assert "100 % together" in found.hint


def test_independent_mistakes_are_all_told_in_the_order_of_the_text() -> None:
    text = changed(
        ("dscp: af41, cos: 5", "dscp: 99, cos: 9"),
        ("{priority: {percent: 50}}", "{priority: {percnt: 50}}"),
        ("[http, ftp]", "[htpp, ftp]"),
        ("remaining_percent: 70", "remaining_percent: 90"),
        ("768 kb/s", "768"),
        ("role: edge", "rolle: edge"),
        ("beside: [web-and-file", "beside: [nobody"),
    )

    found = problems(text)

    said = "\n".join(f"{p.where.line} {p.message}" for p in found)
    for expected in (
        "6 DSCP 99",
        "6 9 is not",
        "7 unknown key 'percnt'",
        "10 unknown application 'htpp'",
        "14 the classes take 120 % of what priority leaves",
        "16 768",
        "19 unknown key 'rolle'",
        "21 unknown class 'nobody'",
    ):
        assert expected in said, said
    assert [p.where.line for p in found] == sorted(p.where.line for p in found)  # type: ignore[type-var]


def test_an_unknown_key_is_told_where_the_key_stands_not_its_value() -> None:
    text = changed(("    treatment: {priority: {percent: 50}}", "    treatmint:\n      priority: {percent: 50}"))

    (found,) = problems(text)

    assert (found.where.line, found.where.column) == (7, 5)
    assert found.where.path == "classes[0].treatmint"


def test_several_faults_of_the_text_itself_are_told_at_once() -> None:
    text = changed(("version: 1", "version: 1\nversion: 1"), ("percent: 50", "percent: !!set {a}"))

    assert [p.where.line for p in problems(text)] == [2, 8]


def test_a_class_of_a_wrong_type_hides_no_other_mistake() -> None:
    text = changed(
        ("  - name: default", "  - 7\n  - name: default"), ("remaining_percent: 70", "remaining_percent: 80")
    )

    said = [(p.where.line, p.message) for p in problems(text)]

    assert (13, "7 is not a mapping") in said
    assert (15, "the classes take 110 % of what priority leaves: web-and-file 80 %, default 30 %") in said


def test_a_mistake_in_a_class_below_another_hides_no_conflict_of_the_tree() -> None:
    children = """\
    treatment:
      bandwidth: {remaining_percent: 80}
      children:
        - {name: news, match: {any: [{application: nntpp}]}, treatment: {bandwidth: {percnt: 20}}}
        - {name: mail, match: {any: [{dscp: 8}]}, treatment: {bandwidth: {percent: 90}}}
        - {name: mail, match: {any: [{dscp: 9}]}, treatment: {bandwidth: {percent: 20}}}
"""
    text = changed(("    treatment: {bandwidth: {remaining_percent: 70}}\n", children))

    said = {(p.where.line, p.message) for p in problems(text)}

    assert said >= {
        (19, "the classes take 110 % of what priority leaves: web-and-file 80 %, default 30 %"),
        (15, "unknown application 'nntpp'"),
        (15, "unknown key 'percnt'"),
        (17, "the classes take 110 % of the class that they divide: mail 90 %, mail 20 %"),
        (17, "class 'mail' is defined twice"),
    }


def test_a_reference_to_a_class_below_another_waits_for_its_name() -> None:
    child = ", children: [{name: 'a b', match: {any: [{dscp: 8}]}}]}"
    text = changed(("{bandwidth: {remaining_percent: 70}}", "{bandwidth: {remaining_percent: 70}" + child))

    (found,) = problems(text.replace("beside: [web-and-file", "beside: [a-b"))

    assert "'a b' is not a name" in found.message
