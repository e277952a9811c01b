use super::*;
use crate::queue::ClassQueue;
use crate::sched::testing::{Line, context};

fn tree(children: &str, queues: usize) -> Result<Tree, ScenarioError> {
    let spec = format!(r#"{{"children": {children}}}"#);
    Tree::new(&serde_json::from_str(&spec).unwrap(), context(queues))
}

/// kb/s of each queue on a line of 1 Mb/s.
fn rates(children: &str, sizes: &[u32]) -> Vec<f64> {
    let mut tree = tree(children, sizes.len()).unwrap();
    let bits = Line::new(sizes).run(&mut tree, 100.0);
    bits.iter().map(|b| b / 100.0 / 1e3).collect()
}

fn close(got: &[f64], expected: &[f64]) {
    for (a, b) in got.iter().zip(expected) {
        assert!((a - b).abs() <= 1.0 + 0.005 * b, "{got:?} for {expected:?}");
    }
}

const TWO_CUSTOMERS: &str = r#"[
    {"name": "A", "weight": 3, "children": [{"queue": 0, "weight": 1}, {"queue": 1, "weight": 2}]},
    {"name": "B", "weight": 7, "children": [{"queue": 2, "weight": 1}, {"queue": 3, "weight": 6}]}]"#;

#[test]
fn shares_multiply_down_the_tree() {
    close(
        &rates(TWO_CUSTOMERS, &[1500, 64, 700, 300]),
        &[100.0, 200.0, 100.0, 600.0],
    );
}

#[test]
fn what_a_child_leaves_stays_with_its_siblings() {
    close(
        &rates(TWO_CUSTOMERS, &[500, 500, 0, 500]),
        &[100.0, 200.0, 0.0, 700.0],
    );
    close(
        &rates(TWO_CUSTOMERS, &[500, 500, 0, 0]),
        &[333.3, 666.7, 0.0, 0.0],
    );
}

#[test]
fn a_shaped_parent_has_policies_inside() {
    // Shaped to 400 kb/s: low-latency queue first, then 3 : 1.
    let shaped = r#"[{"ceil_bps": 400000, "children": [
        {"queue": 0, "priority": 1, "ceil_bps": 100000},
        {"queue": 1, "rate_bps": 225000}, {"queue": 2, "rate_bps": 75000}]}]"#;
    close(&rates(shaped, &[200, 1500, 1500]), &[100.0, 225.0, 75.0]);
    close(&rates(shaped, &[0, 1500, 1500]), &[0.0, 300.0, 100.0]);
    close(&rates(shaped, &[200, 0, 0]), &[100.0, 0.0, 0.0]);
}

#[test]
fn priority_counts_among_siblings_only() {
    let nested = r#"[{"weight": 1, "children": [{"queue": 0, "priority": 0}, {"queue": 1}]},
        {"weight": 1, "queue": 2}]"#;
    close(&rates(nested, &[500, 500, 500]), &[500.0, 0.0, 500.0]);
}

#[test]
fn an_idle_child_saves_nothing_up() {
    let mut both = tree(r#"[{"queue": 0}, {"queue": 1}]"#, 2).unwrap();
    let mut line = Line::new(&[500, 0]);
    line.run(&mut both, 10.0);
    line.resize(1, 500);
    close(&line.run(&mut both, 1.0), &[500e3, 500e3]);
}

#[test]
fn police_drops_only_under_congestion() {
    let leaf = r#"[{"queue": 0, "priority": 0, "police": {"rate_bps": 8000, "burst_bytes": 500}}]"#;
    let mut tree = tree(leaf, 1).unwrap();
    let line = Line::new(&[500]);
    let item = *line.feed.queues[0].head().unwrap();
    let mut admits =
        |congested| Scheduler::<[ClassQueue]>::admits(&mut tree, 0, &item, 0, congested);
    assert_eq!(
        [false, true, true, false].map(&mut admits),
        [true, true, false, true]
    );
}

#[test]
fn police_drops_while_a_shaper_above_waits() {
    let shaped = r#"[{"ceil_bps": 8000, "burst_bytes": 1, "children": [
        {"queue": 0, "priority": 0, "police": {"rate_bps": 8, "burst_bytes": 500}},
        {"queue": 1}]}]"#;
    let mut tree = tree(shaped, 2).unwrap();
    let line = Line::new(&[500, 0]);
    let queues = &line.feed.queues[..];
    let item = *queues[0].head().unwrap();
    let admits =
        |tree: &mut Tree, now_ps| Scheduler::<[ClassQueue]>::admits(tree, 0, &item, now_ps, false);
    assert!((0..3).all(|_| admits(&mut tree, 0)));
    // The first frame leaves the shaper in debt for half a second.
    assert!(matches!(tree.pick(queues, 0), Pick::Queue(0)));
    assert_eq!([0; 2].map(|now| admits(&mut tree, now)), [true, false]);
    assert!(admits(&mut tree, 600_000_000_000));
}

#[test]
fn refusals_name_the_place() {
    for (children, path) in [
        ("[]", "s.children"),
        (r#"[{"queue": 1}]"#, "s.children[0].queue"),
        (r#"[{"queue": 0}, {"queue": 0}]"#, "s.children[1].queue"),
        (r#"[{"queue": 0, "weight": 0}]"#, "s.children[0].weight"),
        (
            r#"[{"queue": 0, "weight": 1, "rate_bps": 1}]"#,
            "s.children[0].weight",
        ),
        (r#"[{"queue": 0, "ceil_bps": 0}]"#, "s.children[0].ceil_bps"),
        (
            r#"[{"queue": 0, "ceil_bps": 1, "burst_bytes": 0}]"#,
            "s.children[0].burst_bytes",
        ),
        (
            r#"[{"queue": 0, "children": [{"queue": 0}]}]"#,
            "s.children[0].queue",
        ),
        (r#"[{"queue": 0, "rate_bps": 1000001}]"#, "s.children"),
        (
            r#"[{"ceil_bps": 9, "children": [{"queue": 0, "rate_bps": 10}]}]"#,
            "s.children[0].children",
        ),
        (
            r#"[{"queue": 0, "police": {"rate_bps": 0, "burst_bytes": 1}}]"#,
            "s.children[0].police.rate_bps",
        ),
        (
            r#"[{"police": {"rate_bps": 1, "burst_bytes": 1}, "children": [{"queue": 0}]}]"#,
            "s.children[0].police",
        ),
        (r#"[{"children": []}]"#, "s.children[0].children"),
    ] {
        assert_eq!(tree(children, 1).unwrap_err().path, path, "{children}");
    }
    let mixed = r#"[{"queue": 0, "rate_bps": 1}, {"queue": 1}]"#;
    assert_eq!(tree(mixed, 2).unwrap_err().path, "s.children[1]");
    assert_eq!(tree(r#"[{"queue": 0}]"#, 2).unwrap_err().path, "s.children");
}
