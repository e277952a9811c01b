//! A port's classifier rules and policers, compiled; needed only while routes are resolved.

use serde_json::Value;

use crate::classify::{Header, Mark, Matcher, check_marks};
use crate::error::ScenarioError;
use crate::filters::Side;
use crate::police::{self, Action, CellLine, Policer};
use crate::scenario::{EgressSpec, IngressSpec, ListedPolice, MarkSpec, MatchSpec};

/// An interface may have no more policers (IOS takes 100).
const MAX_LISTED: usize = 100;

/// A policer of the run, and what follows its outcomes.
#[derive(Debug)]
pub struct Policing {
    pub policer: usize,
    pub actions: [Action; 3],
}

/// One rule; the last of a list matches everything.
#[derive(Debug)]
pub struct Rule {
    matcher: Matcher,
    set: MarkSpec,
    pub queue: usize,
    pub police: Option<Policing>,
}

impl Rule {
    pub fn mark(&self, mark: Mark) -> Mark {
        mark.with(&self.set)
    }
}

/// A policer of an interface.
#[derive(Debug)]
pub struct Listed {
    matcher: Matcher,
    pub police: Policing,
}

/// What one side of a port does with packets before queues.
#[derive(Debug, Default)]
pub struct Rules {
    pub listed: Vec<Listed>,
    pub rules: Vec<Rule>,
}

impl Rules {
    /// The first rule that matches, with its number.
    pub fn classify(&self, header: &Header, input: Option<&str>, mark: Mark) -> (usize, &Rule) {
        let last = self.rules.len() - 1;
        let found = self.rules[..last]
            .iter()
            .position(|r| r.matcher.matches(header, input, mark));
        let index = found.unwrap_or(last);
        (index, &self.rules[index])
    }

    /// The first of the interface's policers from `from` on that matches.
    pub fn listed(
        &self,
        from: usize,
        header: &Header,
        input: Option<&str>,
        mark: Mark,
    ) -> Option<usize> {
        let rest = self.listed.iter().enumerate().skip(from);
        let mut found = rest.filter(|(_, l)| l.matcher.matches(header, input, mark));
        found.next().map(|(index, _)| index)
    }

    /// Policers of the interface's list, and by rule.
    pub fn policers(&self) -> (Vec<usize>, Vec<Option<usize>>) {
        let listed = self.listed.iter().map(|l| l.police.policer);
        let rules = self.rules.iter();
        let rules = rules.map(|r| r.police.as_ref().map(|p| p.policer));
        (listed.collect(), rules.collect())
    }
}

/// Compiles rules; policers are added to the run's.
pub struct RuleReader<'a> {
    pub policers: &'a mut Vec<Policer>,
    /// Names of the node's ports.
    pub ports: &'a [&'a str],
    pub rate_bps: u64,
}

impl RuleReader<'_> {
    pub fn ingress(&mut self, spec: &IngressSpec, path: &str) -> Result<Rules, ScenarioError> {
        let listed = self.listed(&spec.police, Side::Ingress, path)?;
        let mut rules = Vec::with_capacity(spec.rules.len() + 1);
        for (i, rule) in spec.rules.iter().enumerate() {
            let at = format!("{path}.rules[{i}]");
            let set = rule.set.clone().unwrap_or_default();
            let police = self.police(rule.police.as_ref(), Side::Ingress, &at)?;
            rules.push(self.rule(&rule.matching, set, 0, police, &at)?);
        }
        let rest = &spec.otherwise;
        let set = MarkSpec {
            dscp: rest.dscp,
            precedence: rest.precedence,
            cos: rest.cos,
            group: rest.group,
            colour: rest.colour,
        };
        let at = format!("{path}.otherwise");
        check_marks(&set, &at)?;
        let everything = MatchSpec::default();
        let police = self.police(rest.police.as_ref(), Side::Ingress, &at)?;
        rules.push(self.rule(&everything, set, 0, police, &at)?);
        Ok(Rules { listed, rules })
    }

    /// `queues`: how many the port has, at least 1.
    pub fn egress(
        &mut self,
        spec: &EgressSpec,
        queues: usize,
        path: &str,
    ) -> Result<Rules, ScenarioError> {
        let check = |queue: usize, at: &str| {
            if queue < queues {
                return Ok(());
            }
            let problem = format!("queue {queue} does not exist");
            let hint = format!("the port has {queues} queues, counted from 0");
            Err(ScenarioError::new(format!("{at}.queue"), problem, hint))
        };
        let listed = self.listed(&spec.police, Side::Egress, path)?;
        let mut rules = Vec::with_capacity(spec.rules.len() + 1);
        for (i, rule) in spec.rules.iter().enumerate() {
            let at = format!("{path}.rules[{i}]");
            check(rule.queue, &at)?;
            let set = rule.set.clone().unwrap_or_default();
            let police = self.police(rule.police.as_ref(), Side::Egress, &at)?;
            rules.push(self.rule(&rule.matching, set, rule.queue, police, &at)?);
        }
        let rest = &spec.otherwise;
        let at = format!("{path}.otherwise");
        check(rest.queue, &at)?;
        let set = rest.set.clone().unwrap_or_default();
        let everything = MatchSpec::default();
        let police = self.police(rest.police.as_ref(), Side::Egress, &at)?;
        rules.push(self.rule(&everything, set, rest.queue, police, &at)?);
        Ok(Rules { listed, rules })
    }

    /// The policer at `path`.police, if there is one.
    pub fn police(
        &mut self,
        spec: Option<&Value>,
        side: Side,
        path: &str,
    ) -> Result<Option<Policing>, ScenarioError> {
        let at = format!("{path}.police");
        spec.map(|value| self.policing(value, side, false, &at))
            .transpose()
    }

    fn listed(
        &mut self,
        specs: &[ListedPolice],
        side: Side,
        path: &str,
    ) -> Result<Vec<Listed>, ScenarioError> {
        if specs.len() > MAX_LISTED {
            let at = format!("{path}.police");
            let hint = format!("use at most {MAX_LISTED}");
            return Err(ScenarioError::new(at, "too many policers", hint));
        }
        let mut listed = Vec::with_capacity(specs.len());
        for (i, spec) in specs.iter().enumerate() {
            let at = format!("{path}.police[{i}]");
            let matching = &spec.matching;
            listed.push(Listed {
                matcher: Matcher::read(matching, self.ports, &format!("{at}.match"))?,
                police: self.policing(&spec.police, side, true, &format!("{at}.police"))?,
            });
        }
        Ok(listed)
    }

    fn policing(
        &mut self,
        value: &Value,
        side: Side,
        listed: bool,
        path: &str,
    ) -> Result<Policing, ScenarioError> {
        let line = CellLine {
            rate_bps: self.rate_bps,
            received: side == Side::Ingress,
        };
        let (policer, actions) = police::read(value, line, listed, path)?;
        self.policers.push(policer);
        Ok(Policing {
            policer: self.policers.len() - 1,
            actions,
        })
    }

    fn rule(
        &mut self,
        matching: &MatchSpec,
        set: MarkSpec,
        queue: usize,
        police: Option<Policing>,
        path: &str,
    ) -> Result<Rule, ScenarioError> {
        check_marks(&set, &format!("{path}.set"))?;
        Ok(Rule {
            matcher: Matcher::read(matching, self.ports, &format!("{path}.match"))?,
            set,
            queue,
            police,
        })
    }
}
