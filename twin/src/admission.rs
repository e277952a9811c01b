//! What a queue does with packets of different marks beyond its limits: drop profiles,
//! weighted tail drop, early detection with ECN, a shared pool.

use crate::classify::{Header, Mark, Matcher};
use crate::error::ScenarioError;
use crate::pool::PoolShare;
use crate::red::{Early, Red, Scale, profile_of};
use crate::rng::Stream;
use crate::scenario::{QueueSpec, RedSpec, ThresholdSpec};

/// Index of a packet's treatment in its queue; `NO_PROFILE`: the queue's limits alone.
pub type ProfileIndex = u16;
pub const NO_PROFILE: ProfileIndex = ProfileIndex::MAX;

const MAX_THRESHOLDS: usize = 64;

/// How packets of one profile are treated.
#[derive(Debug, Clone, Copy)]
struct Treatment {
    /// Drop profile of the detector, or a number it has none for.
    red: usize,
    limit_packets: u64,
    limit_bytes: u64,
    /// Marked instead of dropped by chance.
    ect: bool,
}

/// The queue's limits, already in packets and bytes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub packets: Option<u64>,
    pub bytes: Option<u64>,
}

/// Why a packet was lost at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The queue's limits.
    Tail,
    /// A lower limit of the packet's marks.
    Threshold,
    Red,
    Police,
    Pool,
}

/// What becomes of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Keep,
    /// Kept, and marked as having met congestion.
    Mark,
    Lose(Loss),
}

/// The part at work in a queue.
#[derive(Debug)]
pub struct Admission {
    red: Option<Red>,
    treatments: Vec<Treatment>,
    pub pool: Option<PoolShare>,
}

impl Admission {
    /// `full`: the queue's own limits are reached.
    pub fn judge(
        &mut self,
        waiting: (usize, u64),
        (bytes, profile): (u32, ProfileIndex),
        full: bool,
        now_ps: u64,
        stream: &mut Stream,
    ) -> Verdict {
        let treatment = self.treatments.get(usize::from(profile)).copied();
        let (red, packets, limit, ect) = treatment
            .map_or((usize::MAX, u64::MAX, u64::MAX, false), |t| {
                (t.red, t.limit_packets, t.limit_bytes, t.ect)
            });
        let above = waiting.0 as u64 >= packets || waiting.1.saturating_add(bytes.into()) > limit;
        let early = match &mut self.red {
            Some(detector) => detector.judge(waiting, red, now_ps, stream),
            None => Early::Pass,
        };
        let marks = early == Early::Chosen && ect;
        let verdict = if early != Early::Pass && !marks {
            Verdict::Lose(Loss::Red)
        } else if above {
            Verdict::Lose(Loss::Threshold)
        } else if full {
            Verdict::Lose(Loss::Tail)
        } else if (self.pool.as_ref()).is_some_and(|pool| !pool.admits(bytes)) {
            Verdict::Lose(Loss::Pool)
        } else if marks {
            Verdict::Mark
        } else {
            Verdict::Keep
        };
        if matches!(verdict, Verdict::Lose(_)) && waiting.0 == 0 {
            self.left_idle(now_ps);
        }
        verdict
    }

    /// The queue ran empty.
    pub fn left_idle(&mut self, now_ps: u64) {
        if let Some(red) = &mut self.red {
            red.left_idle(now_ps);
        }
    }
}

/// Which packets fall under which treatment; needed only while routes are resolved.
#[derive(Debug)]
pub struct Profiles {
    red: Option<RedSpec>,
    thresholds: Vec<Matcher>,
}

impl Profiles {
    /// Reads a queue's profiles, for routes and for the run; `None`: the queue has only limits.
    pub fn read(
        spec: &QueueSpec,
        limits: Limits,
        (line_bps, pool): (u64, Option<PoolShare>),
        ports: &[&str],
        path: &str,
    ) -> Result<(Self, Option<Admission>), ScenarioError> {
        let scale = Scale {
            limit_packets: limits.packets,
            limit_bytes: limits.bytes,
            drain_bps: spec.drain_bps.unwrap_or(line_bps),
            line_bps,
        };
        let red = match &spec.red {
            Some(red) => Some(Red::new(red, scale, &format!("{path}.red"))?),
            None => None,
        };
        if spec.thresholds.len() > MAX_THRESHOLDS {
            let at = format!("{path}.thresholds");
            let hint = format!("use at most {MAX_THRESHOLDS}");
            return Err(ScenarioError::new(at, "too many thresholds", hint));
        }
        let mut matchers = Vec::new();
        let mut depths = Vec::new();
        for (i, threshold) in spec.thresholds.iter().enumerate() {
            let at = format!("{path}.thresholds[{i}]");
            depths.push(depth(threshold, limits, &at)?);
            let matching = &threshold.matching;
            matchers.push(Matcher::read(matching, ports, &format!("{at}.match"))?);
        }
        depths.push((u64::MAX, u64::MAX));
        let profiles = Self {
            red: spec.red.clone(),
            thresholds: matchers,
        };
        let mut treatments = Vec::new();
        for red in 0..profiles.red_profiles() {
            for (limit_packets, limit_bytes) in &depths {
                treatments.extend([false, true].map(|ect| Treatment {
                    red,
                    limit_packets: *limit_packets,
                    limit_bytes: *limit_bytes,
                    ect,
                }));
            }
        }
        let plain = red.is_none() && profiles.thresholds.is_empty() && pool.is_none();
        let admission = (!plain).then_some(Admission {
            red,
            treatments,
            pool,
        });
        Ok((profiles, admission))
    }

    /// The detector's profiles, and one number it has none for.
    fn red_profiles(&self) -> usize {
        let red = self.red.as_ref();
        red.map_or(1, |r| {
            r.profiles.len() + usize::from(r.default.is_some()) + 1
        })
    }

    /// The treatment of packets with these marks.
    pub fn index(&self, header: &Header, input: Option<&str>, mark: Mark) -> ProfileIndex {
        if self.red.is_none() && self.thresholds.is_empty() {
            return NO_PROFILE;
        }
        let red = self.red.as_ref().and_then(|r| profile_of(r, mark));
        let red = red.unwrap_or(self.red_profiles() - 1);
        let mut thresholds = self.thresholds.iter();
        let threshold = thresholds.position(|m| m.matches(header, input, mark));
        let threshold = threshold.unwrap_or(self.thresholds.len());
        let ect = header.ect && self.red.as_ref().is_some_and(|r| r.ecn);
        let index = (red * (self.thresholds.len() + 1) + threshold) * 2 + usize::from(ect);
        // 256 profiles × 65 thresholds × 2 fit.
        ProfileIndex::try_from(index).unwrap_or(NO_PROFILE)
    }
}

/// A threshold in packets and bytes.
fn depth(spec: &ThresholdSpec, limits: Limits, path: &str) -> Result<(u64, u64), ScenarioError> {
    let wrong = |problem: &str, hint: &str| Err(ScenarioError::new(path, problem, hint));
    let Some(percent) = spec.percent else {
        if spec.packets.is_none() && spec.bytes.is_none() {
            return wrong(
                "the threshold has no depth",
                "give packets, bytes or percent",
            );
        }
        return Ok((
            spec.packets.unwrap_or(u64::MAX),
            spec.bytes.unwrap_or(u64::MAX),
        ));
    };
    if spec.packets.is_some() || spec.bytes.is_some() {
        return wrong("percent beside packets or bytes", "give one of them");
    }
    if limits.packets.is_none() && limits.bytes.is_none() {
        let hint = "give the queue limit_packets or limit_bytes";
        return wrong("percent of a limit that is not there", hint);
    }
    if percent > 100 {
        return wrong("percent is above 100", "use 0 to 100");
    }
    let of = |limit: Option<u64>| {
        let part = |l: u64| u128::from(l) * u128::from(percent) / 100;
        limit.map_or(u64::MAX, |l| u64::try_from(part(l)).unwrap_or(u64::MAX))
    };
    Ok((of(limits.packets), of(limits.bytes)))
}
