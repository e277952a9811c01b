//! A port's classifier rules, compiled; needed only while routes are resolved.

use crate::classify::{Header, Mark, Matcher, check_marks};
use crate::error::ScenarioError;
use crate::police::TokenBucket;
use crate::scenario::{EgressSpec, IngressSpec, MarkSpec, MatchSpec, PoliceSpec};

/// One rule; the last of a list matches everything.
#[derive(Debug)]
pub struct Rule {
    matcher: Matcher,
    set: MarkSpec,
    pub queue: usize,
    /// Index of its policer, and the marks of what exceeds (None: dropped).
    pub police: Option<(usize, Option<MarkSpec>)>,
}

impl Rule {
    pub fn mark(&self, mark: Mark) -> Mark {
        mark.with(&self.set)
    }
}

/// The first rule that matches, with its number.
pub fn classify<'a>(rules: &'a [Rule], header: &Header, mark: Mark) -> (usize, &'a Rule) {
    let last = rules.len() - 1;
    let found = rules[..last]
        .iter()
        .position(|r| r.matcher.matches(header, mark));
    let index = found.unwrap_or(last);
    (index, &rules[index])
}

/// Compiles rules; policers are added to the run's.
pub struct RuleReader<'a> {
    pub policers: &'a mut Vec<TokenBucket>,
}

impl RuleReader<'_> {
    pub fn ingress(&mut self, spec: &IngressSpec, path: &str) -> Result<Vec<Rule>, ScenarioError> {
        let mut rules = Vec::with_capacity(spec.rules.len() + 1);
        for (i, rule) in spec.rules.iter().enumerate() {
            let at = format!("{path}.rules[{i}]");
            let set = rule.set.clone().unwrap_or_default();
            rules.push(self.rule(&rule.matching, set, 0, rule.police.as_ref(), &at)?);
        }
        let rest = &spec.otherwise;
        let set = MarkSpec {
            dscp: rest.dscp,
            cos: rest.cos,
            group: rest.group,
        };
        let at = format!("{path}.otherwise");
        check_marks(&set, &at)?;
        let everything = MatchSpec::default();
        rules.push(self.rule(&everything, set, 0, rest.police.as_ref(), &at)?);
        Ok(rules)
    }

    /// `queues`: how many the port has, at least 1.
    pub fn egress(
        &mut self,
        spec: &EgressSpec,
        queues: usize,
        path: &str,
    ) -> Result<Vec<Rule>, ScenarioError> {
        let check = |queue: usize, at: &str| {
            if queue < queues {
                return Ok(());
            }
            let problem = format!("queue {queue} does not exist");
            let mend = format!("the port has {queues} queues, counted from 0");
            Err(ScenarioError::new(format!("{at}.queue"), problem, mend))
        };
        let mut rules = Vec::with_capacity(spec.rules.len() + 1);
        for (i, rule) in spec.rules.iter().enumerate() {
            let at = format!("{path}.rules[{i}]");
            check(rule.queue, &at)?;
            let set = rule.set.clone().unwrap_or_default();
            rules.push(self.rule(&rule.matching, set, rule.queue, rule.police.as_ref(), &at)?);
        }
        let rest = &spec.otherwise;
        let at = format!("{path}.otherwise");
        check(rest.queue, &at)?;
        let set = rest.set.clone().unwrap_or_default();
        let everything = MatchSpec::default();
        rules.push(self.rule(&everything, set, rest.queue, rest.police.as_ref(), &at)?);
        Ok(rules)
    }

    fn rule(
        &mut self,
        matching: &MatchSpec,
        set: MarkSpec,
        queue: usize,
        police: Option<&PoliceSpec>,
        path: &str,
    ) -> Result<Rule, ScenarioError> {
        check_marks(&set, &format!("{path}.set"))?;
        let police = match police {
            None => None,
            Some(police) => {
                let at = format!("{path}.police");
                if let Some(exceed) = &police.exceed {
                    check_marks(exceed, &format!("{at}.exceed"))?;
                }
                let bucket = TokenBucket::new(police.rate_bps, police.burst_bytes, &at)?;
                self.policers.push(bucket);
                Some((self.policers.len() - 1, police.exceed.clone()))
            }
        };
        Ok(Rule {
            matcher: Matcher::read(matching, &format!("{path}.match"))?,
            set,
            queue,
            police,
        })
    }
}
