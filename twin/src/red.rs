//! (Weighted) random early detection, after Floyd and Jacobson (1993) and IOS.

use crate::classify::Mark;
use crate::error::ScenarioError;
use crate::framing::{SECOND_PS, serialisation_ps};
use crate::rng::Stream;
use crate::scenario::{RedProfileSpec, RedSpec, RedUnit, Spacing};

/// One for each DSCP, colour and more.
const MAX_PROFILES: usize = 254;

#[derive(Debug, Clone, Copy)]
struct Profile {
    min: f64,
    max: f64,
    /// Drop probability where the average reaches `max`.
    top: f64,
}

/// Distances between the packets of one profile that are chosen, with uniform spacing: the
/// kernel counts them in each virtual queue (`red_vars` of `sch_gred.c`).
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// Packets since the last one chosen; below 0: none yet.
    since: f64,
    /// When the next one is chosen, in those packets times their chance.
    due: f64,
}

/// What a detector's units mean at its queue.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    pub limit_packets: Option<u64>,
    /// In frame bytes.
    pub limit_bytes: Option<u64>,
    /// Rate that turns times into bytes.
    pub drain_bps: u64,
    pub line_bps: u64,
}

/// What a detector finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Early {
    Pass,
    /// Chosen by chance: dropped, or marked if it may be.
    Chosen,
    /// The average is so high that all are dropped.
    Forced,
}

/// The detector of one queue.
#[derive(Debug)]
pub struct Red {
    weight: f64,
    in_bytes: bool,
    gentle: bool,
    uniform: bool,
    profiles: Vec<Profile>,
    /// One for each profile.
    gaps: Vec<Gap>,
    average: f64,
    idle_since: Option<u64>,
    idle_decay: bool,
    typical_ps: f64,
}

impl Red {
    pub fn new(spec: &RedSpec, scale: Scale, path: &str) -> Result<Self, ScenarioError> {
        let wrong = |field: &str, problem: &str, hint: &str| {
            Err(ScenarioError::new(format!("{path}.{field}"), problem, hint))
        };
        if !(..=16).contains(&spec.weight_exponent) {
            let problem = format!("{} is out of range", spec.weight_exponent);
            let hint = "use 0 (the queue as it is) to 16";
            return wrong("weight_exponent", &problem, hint);
        }
        if spec.profiles.len() > MAX_PROFILES {
            let hint = format!("use at most {MAX_PROFILES}");
            return wrong("profiles", "too many profiles", &hint);
        }
        if spec.mean_packet_bytes == 0 {
            return wrong(
                "mean_packet_bytes",
                "is 0",
                "give a usual size, such as 500",
            );
        }
        let Some((in_bytes, factor)) = unit(spec.unit, scale) else {
            let hint = "give the queue limit_packets or limit_bytes";
            return wrong("unit", "percent of a limit that is not there", hint);
        };
        let listed = spec.profiles.iter().enumerate();
        let mut profiles = listed
            .map(|(i, p)| read_profile(p, factor, &format!("{path}.profiles[{i}]")))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(default) = &spec.default {
            profiles.push(read_profile(default, factor, &format!("{path}.default"))?);
        }
        let gap = Gap {
            since: -1.0,
            due: 1.0,
        };
        Ok(Self {
            weight: 0.5f64.powi(i32::try_from(spec.weight_exponent).unwrap_or(9)),
            in_bytes,
            gentle: spec.gentle,
            uniform: spec.spacing == Spacing::Uniform,
            gaps: vec![gap; profiles.len()],
            profiles,
            average: 0.0,
            idle_since: Some(0),
            idle_decay: spec.idle_decay,
            typical_ps: serialisation_ps(spec.mean_packet_bytes, scale.line_bps) as f64,
        })
    }

    /// Judges an arrival that finds this much waiting. Whoever leaves the queue empty, by
    /// dropping too, calls `left_idle`.
    pub fn judge(
        &mut self,
        (packets, bytes): (usize, u64),
        profile: usize,
        now_ps: u64,
        stream: &mut Stream,
    ) -> Early {
        if let Some(since) = self.idle_since.take() {
            // While idle the average decays as if small packets had passed.
            let missed = (now_ps - since) as f64 / self.typical_ps;
            self.average *= (1.0 - self.weight).powf(missed);
        }
        let waiting = if self.in_bytes {
            bytes as f64
        } else {
            packets as f64
        };
        self.average += self.weight * (waiting - self.average);
        let (Some(profile), Some(gap)) = (self.profiles.get(profile), self.gaps.get_mut(profile))
        else {
            return Early::Pass;
        };
        let chance = if self.average < profile.min {
            gap.since = -1.0;
            return Early::Pass;
        } else if self.average < profile.max {
            let share = (self.average - profile.min) / (profile.max - profile.min);
            share * profile.top
        } else if self.gentle && self.average < 2.0 * profile.max {
            let share = (self.average - profile.max) / profile.max;
            profile.top + share * (1.0 - profile.top)
        } else {
            gap.since = -1.0;
            return Early::Forced;
        };
        let chosen = if self.uniform {
            gap.chosen(chance, stream)
        } else {
            stream.unit() < chance
        };
        if chosen { Early::Chosen } else { Early::Pass }
    }

    /// The queue ran empty.
    pub fn left_idle(&mut self, now_ps: u64) {
        self.idle_since = self.idle_decay.then_some(now_ps);
    }
}

impl Gap {
    /// Floyd and Jacobson with one draw for each gap, as `sch_red` does: the first packet above
    /// the minimum only begins to count.
    fn chosen(&mut self, chance: f64, stream: &mut Stream) -> bool {
        self.since += 1.0;
        let chosen = self.since > 0.0 && self.since * chance >= self.due;
        if chosen {
            self.since = 0.0;
        }
        if self.since == 0.0 {
            self.due = stream.unit();
        }
        chosen
    }
}

/// Whether a unit counts bytes, and how many of those (or packets) it is; None: no limit to
/// take percents of.
fn unit(unit: RedUnit, scale: Scale) -> Option<(bool, f64)> {
    match unit {
        RedUnit::Packets => Some((false, 1.0)),
        RedUnit::Bytes => Some((true, 1.0)),
        RedUnit::Percent => match (scale.limit_packets, scale.limit_bytes) {
            (Some(packets), _) => Some((false, packets as f64 / 100.0)),
            (None, Some(bytes)) => Some((true, bytes as f64 / 100.0)),
            (None, None) => None,
        },
        RedUnit::Ps => Some((true, scale.drain_bps as f64 / 8.0 / SECOND_PS as f64)),
    }
}

/// Number of the profile `mark` falls under.
pub fn profile_of(spec: &RedSpec, mark: Mark) -> Option<usize> {
    let named = |p: &RedProfileSpec| {
        p.match_dscp.iter().flatten().any(|d| *d == mark.dscp)
            || (p.precedence.iter().flatten()).any(|v| *v == mark.precedence())
            || p.cos.iter().flatten().any(|c| *c == mark.cos)
            || p.colour.iter().flatten().any(|c| *c == mark.colour)
    };
    let found = spec.profiles.iter().position(named);
    found.or(spec.default.as_ref().map(|_| spec.profiles.len()))
}

fn read_profile(spec: &RedProfileSpec, factor: f64, path: &str) -> Result<Profile, ScenarioError> {
    let wrong = |field: &str, problem: &str, hint: &str| {
        Err(ScenarioError::new(format!("{path}.{field}"), problem, hint))
    };
    if spec.min > spec.max || spec.max == 0 {
        return wrong("max", "is 0 or below min", "let min ≤ max and max ≥ 1");
    }
    if spec.mark_denominator == 0 {
        return wrong("mark_denominator", "is 0", "use 1 or more (10 means 1/10)");
    }
    if (spec.match_dscp.iter().flatten()).any(|d| *d > 63) {
        return wrong("match_dscp", "holds a value above 63", "use 0 to 63");
    }
    for (values, field) in [(&spec.precedence, "precedence"), (&spec.cos, "cos")] {
        if values.iter().flatten().any(|v| *v > 7) {
            return wrong(field, "holds a value above 7", "use 0 to 7");
        }
    }
    Ok(Profile {
        min: spec.min as f64 * factor,
        max: spec.max as f64 * factor,
        top: 1.0 / spec.mark_denominator as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Colour;

    const SCALE: Scale = Scale {
        limit_packets: None,
        limit_bytes: Some(200_000),
        drain_bps: 8_000_000,
        line_bps: 1_000_000,
    };

    fn spec(extra: &str) -> RedSpec {
        let text = format!(
            r#"{{"weight_exponent": 1, "profiles": [{{"match_dscp": [10], "min": 2, "max": 4,
                "mark_denominator": 2}}], "default": {{"min": 1, "max": 2, "mark_denominator": 1}}
                {extra}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    /// Shares of chosen and of forced drops once the average has settled.
    fn settled(spec: &RedSpec, waiting: (usize, u64), profile: usize) -> (f64, f64) {
        let mut red = Red::new(spec, SCALE, "red").unwrap();
        let mut stream = Stream::new(1, "red");
        let mut judge = || red.judge(waiting, profile, 0, &mut stream);
        for _ in 0..64 {
            judge();
        }
        let found: Vec<_> = (0..20_000).map(|_| judge()).collect();
        let share = |e| found.iter().filter(|f| **f == e).count() as f64 / 20_000.0;
        (share(Early::Chosen), share(Early::Forced))
    }

    #[test]
    fn probability_is_linear_up_to_the_denominator() {
        let spec = spec("");
        assert_eq!(settled(&spec, (1, 0), 0), (0.0, 0.0));
        assert!((settled(&spec, (3, 0), 0).0 - 0.25).abs() < 0.01);
        assert_eq!(settled(&spec, (4, 0), 0), (0.0, 1.0));
        assert_eq!(settled(&spec, (100, 0), 2), (0.0, 0.0));
    }

    #[test]
    fn gentle_grows_on_to_the_double() {
        let spec = spec(r#", "gentle": true"#);
        assert!((settled(&spec, (6, 0), 0).0 - 0.75).abs() < 0.01);
        assert_eq!(settled(&spec, (8, 0), 0), (0.0, 1.0));
    }

    #[test]
    fn uniform_spacing_doubles_the_share_and_bounds_the_gap() {
        let spec = spec(r#", "spacing": "uniform""#);
        let mut red = Red::new(&spec, SCALE, "red").unwrap();
        let mut stream = Stream::new(1, "red");
        let mut judge = || red.judge((3, 0), 0, 0, &mut stream);
        // Until the average has settled, behind a drop.
        while (0..64).map(|_| judge()).next_back() != Some(Early::Chosen) {}
        let (mut gap, mut longest, mut chosen) = (0, 0, 0);
        for _ in 0..20_000 {
            gap += 1;
            if judge() == Early::Chosen {
                longest = longest.max(gap);
                gap = 0;
                chosen += 1;
            }
        }
        // p = 1/4: gaps are uniform on 1 to 4 (mean 2.5), never longer.
        assert_eq!(longest, 4);
        assert!(
            (f64::from(chosen) / 20_000.0 - 0.4).abs() < 0.01,
            "{chosen}"
        );
    }

    #[test]
    fn packets_of_another_profile_do_not_shorten_a_gap() {
        let text = r#"{"weight_exponent": 1, "spacing": "uniform", "profiles": [
            {"match_dscp": [10], "min": 2, "max": 4, "mark_denominator": 20},
            {"match_dscp": [12], "min": 2, "max": 4, "mark_denominator": 2}]}"#;
        let mut red = Red::new(&serde_json::from_str(text).unwrap(), SCALE, "red").unwrap();
        let mut stream = Stream::new(1, "red");
        let mut chosen = [0, 0];
        for packet in 0..40_000 {
            let profile = packet % 2;
            let found = red.judge((3, 0), profile, 0, &mut stream);
            chosen[profile] += u32::from(found == Early::Chosen);
        }
        // Chances of 1/40 and 1/4: gaps of each profile's own packets are uniform up to 40 and 4.
        let share = |profile: usize| f64::from(chosen[profile]) / 20_000.0;
        assert!((share(0) - 1.0 / 20.5).abs() < 0.003, "{}", share(0));
        assert!((share(1) - 0.4).abs() < 0.01, "{}", share(1));
    }

    #[test]
    fn units() {
        // 3 % of 200,000 bytes; 3 ps at 1 byte/µs is next to nothing.
        let percent = spec(r#", "unit": "percent""#);
        assert!((settled(&percent, (0, 6_000), 0).0 - 0.25).abs() < 0.01);
        assert_eq!(settled(&percent, (0, 8_000), 0), (0.0, 1.0));
        let profile = r#"{"weight_exponent": 0, "unit": "ps", "default": {"min": 2000000000,
            "max": 4000000000, "mark_denominator": 2}}"#;
        let ps: RedSpec = serde_json::from_str(profile).unwrap();
        // 2 to 4 ms at 8 Mb/s are 2000 to 4000 bytes.
        assert_eq!(settled(&ps, (0, 1_999), 0), (0.0, 0.0));
        assert!((settled(&ps, (0, 3_000), 0).0 - 0.25).abs() < 0.01);
        assert_eq!(settled(&ps, (0, 4_000), 0), (0.0, 1.0));
        let scale = Scale {
            limit_bytes: None,
            ..SCALE
        };
        assert_eq!(
            Red::new(&percent, scale, "red").unwrap_err().path,
            "red.unit"
        );
    }

    #[test]
    fn idle_time_forgets() {
        let mut red = Red::new(&spec(""), SCALE, "red").unwrap();
        let mut stream = Stream::new(1, "red");
        for _ in 0..64 {
            red.judge((100, 0), 0, 0, &mut stream);
        }
        assert_eq!(red.judge((0, 0), 0, 0, &mut stream), Early::Forced);
        red.left_idle(0);
        let later = red.judge((0, 0), 0, 1_000_000_000_000, &mut stream);
        assert_eq!(later, Early::Pass);
    }

    #[test]
    fn without_idle_decay_only_packets_move_the_average() {
        let mut red = Red::new(&spec(r#", "idle_decay": false"#), SCALE, "red").unwrap();
        let mut stream = Stream::new(1, "red");
        for _ in 0..64 {
            red.judge((100, 0), 0, 0, &mut stream);
        }
        red.left_idle(0);
        let later = red.judge((0, 0), 0, 1_000_000_000_000, &mut stream);
        assert_eq!(later, Early::Forced);
    }

    #[test]
    fn profiles_by_mark() {
        let text = r#"{"profiles": [
            {"match_dscp": [10], "min": 2, "max": 4, "mark_denominator": 2},
            {"colour": ["red"], "min": 2, "max": 4, "mark_denominator": 2},
            {"cos": [3], "precedence": [7], "min": 2, "max": 4, "mark_denominator": 2}]}"#;
        let spec: RedSpec = serde_json::from_str(text).unwrap();
        let profile = |dscp, cos, colour| {
            let group = None;
            profile_of(
                &spec,
                Mark {
                    dscp,
                    cos,
                    group,
                    colour,
                },
            )
        };
        assert_eq!(profile(10, 0, Colour::Red), Some(0));
        assert_eq!(profile(11, 0, Colour::Red), Some(1));
        assert_eq!(profile(11, 3, Colour::Green), Some(2));
        assert_eq!(profile(56, 0, Colour::Green), Some(2));
        assert_eq!(profile(0, 0, Colour::Yellow), None);
    }
}
