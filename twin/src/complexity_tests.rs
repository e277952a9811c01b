//! What a run costs, counted and not timed: work by packets and hops, memory by neither.

use serde_json::{Value, json};

use crate::build::build;
use crate::scenario::parse_scenario;
use crate::sim::Simulation;
use crate::{CaseError, RunError, run, run_many};

const SECOND_PS: u64 = 1_000_000_000_000;

/// Flows of 80 % of a megabit each way along a chain of strict priority ports.
fn chain(flows: u64, hops: usize, duration_ps: u64, poisson: bool) -> String {
    let node = |n: usize| format!("n{n}");
    let queues: Vec<Value> = (0..4)
        .map(|q| json!({"name": q.to_string(), "limit_packets": 100}))
        .collect();
    let rules: Vec<Value> = (0..4)
        .map(|q| json!({"match": {"cos": [q]}, "queue": q}))
        .collect();
    let egress = json!({
        "queues": queues, "rules": rules, "scheduler": {"kind": "strict", "order": [0, 1, 2, 3]},
    });
    let ports = json!([{"name": "in"}, {"name": "out", "egress": egress}]);
    let path: Vec<Value> = (0..hops).map(|n| json!([node(n), "out"])).collect();
    let nodes: Vec<Value> = (0..=hops)
        .map(|n| json!({"name": node(n), "ports": ports}))
        .collect();
    let links: Vec<Value> = (0..hops)
        .map(|n| {
            let (a, b) = (json!([node(n), "out"]), json!([node(n + 1), "in"]));
            json!({"a": a, "b": b, "rate_bps": 1_000_000, "delay_ps": 3_000_000, "framing": "none"})
        })
        .collect();
    let kind = if poisson { "poisson" } else { "cbr" };
    let flows: Vec<Value> = (0..flows)
        .map(|n| {
            let rate = 800_000 / flows;
            let start = n * 8_000_000_000 / flows;
            let source =
                json!({"kind": kind, "rate_bps": rate, "ip_bytes": 100, "start_ps": start});
            json!({"name": n.to_string(), "path": path, "packet": {"cos": n % 4}, "source": source})
        })
        .collect();
    json!({
        "version": 1, "duration_ps": duration_ps, "nodes": nodes, "links": links, "flows": flows,
    })
    .to_string()
}

fn ran(scenario: &str) -> Simulation {
    let mut simulation = build(&parse_scenario(scenario).unwrap(), 1).unwrap();
    simulation.run(|| false).unwrap();
    assert_eq!(simulation.under_way(), 0);
    simulation
}

#[test]
fn work_is_linear_in_packets_and_hops() {
    for flows in [1, 40] {
        let one = ran(&chain(flows, 1, SECOND_PS, false));
        let longer = ran(&chain(flows, 1, 10 * SECOND_PS, false));
        let farther = ran(&chain(flows, 8, SECOND_PS, false));
        let packets = |s: &Simulation| s.flows.iter().map(|f| f.meter.sent).sum::<u64>();
        assert_eq!(packets(&one), packets(&farther));
        for (simulation, hops) in [(&one, 1), (&longer, 1), (&farther, 8)] {
            // A source's event, and per hop the end of a frame and an arrival.
            assert_eq!(simulation.handled, packets(simulation) * (1 + 2 * hops));
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_duration() {
    for poisson in [false, true] {
        let short = ran(&chain(20, 3, SECOND_PS, poisson));
        let long = ran(&chain(20, 3, 20 * SECOND_PS, poisson));
        assert!(long.handled > 15 * short.handled);
        let (before, after) = (short.footprint(), long.footprint());
        // Random traffic may queue a little higher in a longer run.
        let slack = if poisson { 100 } else { 0 };
        assert!(after.0 <= before.0 + slack, "packets {before:?} {after:?}");
        // One of each source, and per line a frame under way and those in flight.
        assert!(after.1 <= 20 + 3 * 10, "events {after:?}");
    }
}

#[test]
fn many_cases_give_what_each_gives() {
    let texts: Vec<String> = (1..12)
        .map(|n| chain(n, 2, SECOND_PS / n, n % 2 == 0))
        .collect();
    let cases: Vec<_> = texts.iter().map(String::as_str).zip(5..).collect();
    let each: Vec<_> = cases
        .iter()
        .map(|(text, seed)| run(text, *seed, || false).unwrap())
        .collect();
    for threads in [1, 2, 5, 40] {
        let threads = std::num::NonZeroUsize::new(threads);
        assert_eq!(run_many(&cases, threads, || false).unwrap(), each);
    }
    assert_eq!(run_many(&[], None, || false), Ok(Vec::new()));
}

#[test]
fn the_first_wrong_case_is_reported() {
    let good = chain(1, 1, SECOND_PS, false);
    let long = chain(1, 1, 10 * SECOND_PS, false);
    let mut cases = vec![(good.as_str(), 1); 30];
    cases[4].0 = &long;
    cases[7].0 = "{}";
    cases[5].0 = "no JSON";
    for _ in 0..5 {
        let CaseError { case, error } = run_many(&cases, None, || false).unwrap_err();
        assert_eq!(case, 5);
        assert!(matches!(error, RunError::Scenario(_)));
    }
}

#[test]
fn many_cases_can_be_stopped() {
    let endless = chain(1, 1, 1_000_000 * SECOND_PS, false);
    let cases = [(endless.as_str(), 1); 3];
    let mut asked = 0;
    let stopped = run_many(&cases, std::num::NonZeroUsize::new(2), || {
        asked += 1;
        asked == 2
    });
    assert_eq!(stopped.unwrap_err().error, RunError::Interrupted);
    assert_eq!(asked, 2);
}

#[test]
fn a_queue_without_an_end_is_refused_before_memory_is() {
    let scenario = json!({
        "version": 1, "duration_ps": 10 * SECOND_PS,
        "nodes": [
            {"name": "a", "ports": [{"name": "out", "egress": {
                "queues": [{"name": "q", "limit_packets": 1_000_000_000}],
                "scheduler": {"kind": "fifo"},
            }}]},
            {"name": "b", "ports": [{"name": "in"}]},
        ],
        "links": [{"a": ["a", "out"], "b": ["b", "in"], "rate_bps": 1000, "delay_ps": 0, "framing": "none"}],
        "flows": [{"name": "f", "path": [["a", "out"]], "packet": {},
                   "source": {"kind": "cbr", "rate_bps": 10_000_000_000u64, "ip_bytes": 64}}],
    });
    let Err(RunError::Scenario(error)) = run(&scenario.to_string(), 1, || false) else {
        panic!("it was carried");
    };
    assert_eq!(error.path, "nodes");
    assert!(
        error
            .problem
            .starts_with("more than 4194304 packets are under way at ")
    );
    assert!(
        error.problem.ends_with("most of them at a out"),
        "{}",
        error.problem
    );
}
