//! (Weighted) random early detection, after Floyd and Jacobson (1993) and IOS.

use crate::classify::Mark;
use crate::error::ScenarioError;
use crate::framing::serialisation_ps;
use crate::rng::Stream;
use crate::scenario::{RedProfileSpec, RedSpec, RedUnit};

/// Packet size assumed for the packets an idle line could have sent.
const TYPICAL_BYTES: u32 = 500;

/// Index of a packet's drop profile in its queue; `NO_PROFILE`: only tail-dropped.
pub type ProfileIndex = u8;
pub const NO_PROFILE: ProfileIndex = u8::MAX;

#[derive(Debug, Clone, Copy)]
struct Profile {
    min: f64,
    max: f64,
    /// Drop probability where the average reaches `max`.
    top: f64,
}

/// The detector of one queue.
#[derive(Debug)]
pub struct Red {
    weight: f64,
    unit: RedUnit,
    profiles: Vec<Profile>,
    average: f64,
    idle_since: Option<u64>,
    typical_ps: f64,
}

impl Red {
    pub fn new(spec: &RedSpec, rate_bps: u64, path: &str) -> Result<Self, ScenarioError> {
        if !(..=16).contains(&spec.weight_exponent) {
            return Err(ScenarioError::new(
                format!("{path}.weight_exponent"),
                format!("{} is out of range", spec.weight_exponent),
                "use 0 (the queue as it is) to 16",
            ));
        }
        if spec.profiles.len() >= usize::from(NO_PROFILE) {
            let at = format!("{path}.profiles");
            return Err(ScenarioError::new(
                at,
                "too many profiles",
                "use at most 254",
            ));
        }
        let listed = spec.profiles.iter().enumerate();
        let mut profiles = listed
            .map(|(i, p)| read_profile(p, &format!("{path}.profiles[{i}]")))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(default) = &spec.default {
            profiles.push(read_profile(default, &format!("{path}.default"))?);
        }
        Ok(Self {
            weight: 0.5f64.powi(i32::try_from(spec.weight_exponent).unwrap_or(9)),
            unit: spec.unit,
            profiles,
            average: 0.0,
            idle_since: Some(0),
            typical_ps: serialisation_ps(TYPICAL_BYTES, rate_bps) as f64,
        })
    }

    /// Judges an arrival that finds this much waiting; true: drop it. Whoever leaves the queue
    /// empty, by dropping too, calls `left_idle`.
    pub fn drops(
        &mut self,
        (packets, bytes): (usize, u64),
        profile: ProfileIndex,
        now_ps: u64,
        stream: &mut Stream,
    ) -> bool {
        if let Some(since) = self.idle_since.take() {
            // While idle the average decays as if small packets had passed.
            let missed = (now_ps - since) as f64 / self.typical_ps;
            self.average *= (1.0 - self.weight).powf(missed);
        }
        let waiting = match self.unit {
            RedUnit::Packets => packets as f64,
            RedUnit::Bytes => bytes as f64,
        };
        self.average += self.weight * (waiting - self.average);
        let Some(profile) = self.profiles.get(usize::from(profile)) else {
            return false;
        };
        if self.average < profile.min {
            false
        } else if self.average >= profile.max {
            true
        } else {
            let share = (self.average - profile.min) / (profile.max - profile.min);
            stream.unit() < share * profile.top
        }
    }

    /// The queue ran empty.
    pub fn left_idle(&mut self, now_ps: u64) {
        self.idle_since = Some(now_ps);
    }
}

/// The profile `mark` falls under.
pub fn profile_index(spec: &RedSpec, mark: Mark) -> ProfileIndex {
    let named = |p: &RedProfileSpec| {
        let dscp = p.match_dscp.iter().flatten().any(|d| *d == mark.dscp);
        dscp || (p.precedence.iter().flatten()).any(|v| *v == mark.precedence())
    };
    let found = spec.profiles.iter().position(named);
    let fallback = spec.default.as_ref().map(|_| spec.profiles.len());
    (found.or(fallback))
        .and_then(|i| ProfileIndex::try_from(i).ok())
        .unwrap_or(NO_PROFILE)
}

fn read_profile(spec: &RedProfileSpec, path: &str) -> Result<Profile, ScenarioError> {
    let wrong = |field: &str, problem: &str, mend: &str| {
        Err(ScenarioError::new(format!("{path}.{field}"), problem, mend))
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
    if (spec.precedence.iter().flatten()).any(|p| *p > 7) {
        return wrong("precedence", "holds a value above 7", "use 0 to 7");
    }
    Ok(Profile {
        min: spec.min as f64,
        max: spec.max as f64,
        top: 1.0 / spec.mark_denominator as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> RedSpec {
        serde_json::from_str(
            r#"{"weight_exponent": 1, "profiles": [{"match_dscp": [10], "min": 2, "max": 4,
                "mark_denominator": 2}], "default": {"min": 1, "max": 2, "mark_denominator": 1}}"#,
        )
        .unwrap()
    }

    fn settled(waiting: usize, profile: ProfileIndex) -> f64 {
        let mut red = Red::new(&spec(), 1_000_000, "red").unwrap();
        let mut stream = Stream::new(1, "red");
        let mut judge = || red.drops((waiting, 0), profile, 0, &mut stream);
        for _ in 0..64 {
            judge();
        }
        f64::from((0..20_000).map(|_| u32::from(judge())).sum::<u32>()) / 20_000.0
    }

    #[test]
    fn probability_is_linear_up_to_the_denominator() {
        assert_eq!(settled(1, 0), 0.0);
        assert!((settled(3, 0) - 0.25).abs() < 0.01);
        assert_eq!(settled(4, 0), 1.0);
        assert_eq!(settled(100, NO_PROFILE), 0.0);
    }

    #[test]
    fn idle_time_forgets() {
        let mut red = Red::new(&spec(), 1_000_000, "red").unwrap();
        let mut stream = Stream::new(1, "red");
        for _ in 0..64 {
            red.drops((100, 0), 0, 0, &mut stream);
        }
        assert!(red.drops((0, 0), 0, 0, &mut stream));
        red.left_idle(0);
        assert!(!red.drops((0, 0), 0, 1_000_000_000_000, &mut stream));
    }

    #[test]
    fn profiles_by_mark() {
        assert_eq!(
            profile_index(
                &spec(),
                Mark {
                    dscp: 10,
                    cos: 0,
                    group: None
                }
            ),
            0
        );
        assert_eq!(
            profile_index(
                &spec(),
                Mark {
                    dscp: 0,
                    cos: 0,
                    group: None
                }
            ),
            1
        );
    }
}
