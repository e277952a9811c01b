//! The compiled form of `match`.

use std::net::IpAddr;

use super::address::{Mac, Prefix};
use super::{Header, Mark, in_field};
use crate::error::ScenarioError;
use crate::scenario::{Colour, MatchSpec};

/// A compiled `match`.
#[derive(Debug, Default)]
pub struct Matcher {
    dscp: Option<Vec<u8>>,
    cos: Option<Vec<u8>>,
    precedence: Option<Vec<u8>>,
    group: Option<Vec<u8>>,
    application: Option<Vec<String>>,
    protocol: Option<Vec<u8>>,
    src: Option<Vec<Prefix>>,
    dst: Option<Vec<Prefix>>,
    src_ports: Option<Vec<(u16, u16)>>,
    dst_ports: Option<Vec<(u16, u16)>>,
    any_port: Option<Vec<(u16, u16)>>,
    vlan: Option<Vec<u16>>,
    src_mac: Option<Vec<Mac>>,
    dst_mac: Option<Vec<Mac>>,
    input: Option<Vec<String>>,
    colour: Option<Vec<Colour>>,
    any: Option<Vec<Matcher>>,
    not: Option<Box<Matcher>>,
}

impl Matcher {
    /// `ports`: names of the node's ports.
    pub fn read(spec: &MatchSpec, ports: &[&str], path: &str) -> Result<Self, ScenarioError> {
        let any = match &spec.any {
            None => None,
            Some(list) => {
                non_empty(&spec.any, path, "any")?;
                let inner = list.iter().enumerate();
                let read = inner.map(|(i, m)| Self::read(m, ports, &format!("{path}.any[{i}]")));
                Some(read.collect::<Result<_, _>>()?)
            }
        };
        let not = match &spec.not {
            None => None,
            Some(inner) => Some(Box::new(Self::read(inner, ports, &format!("{path}.not"))?)),
        };
        Ok(Self {
            dscp: values(&spec.dscp, 63, path, "dscp")?,
            cos: values(&spec.cos, 7, path, "cos")?,
            precedence: values(&spec.precedence, 7, path, "precedence")?,
            group: non_empty(&spec.group, path, "group")?,
            application: non_empty(&spec.application, path, "application")?,
            protocol: non_empty(&spec.protocol, path, "protocol")?,
            src: prefixes(&spec.src, path, "src")?,
            dst: prefixes(&spec.dst, path, "dst")?,
            src_ports: ranges(&spec.src_ports, path, "src_ports")?,
            dst_ports: ranges(&spec.dst_ports, path, "dst_ports")?,
            any_port: ranges(&spec.any_port, path, "any_port")?,
            vlan: non_empty(&spec.vlan, path, "vlan")?,
            src_mac: macs(&spec.src_mac, path, "src_mac")?,
            dst_mac: macs(&spec.dst_mac, path, "dst_mac")?,
            input: inputs(&spec.input, ports, path)?,
            colour: non_empty(&spec.colour, path, "colour")?,
            any,
            not,
        })
    }

    /// `input`: the node's port the packet came in by.
    pub fn matches(&self, header: &Header, input: Option<&str>, mark: Mark) -> bool {
        let inner = |m: &Self| m.matches(header, input, mark);
        one_of(&self.dscp, Some(&mark.dscp))
            && one_of(&self.cos, Some(&mark.cos))
            && one_of(&self.precedence, Some(&mark.precedence()))
            && one_of(&self.group, mark.group.as_ref())
            && one_of(&self.application, header.application.as_ref())
            && one_of(&self.protocol, Some(&header.protocol))
            && one_of(&self.vlan, header.vlan.as_ref())
            && one_of(&self.src_mac, header.src_mac.as_ref())
            && one_of(&self.dst_mac, header.dst_mac.as_ref())
            && (self.input.as_ref())
                .is_none_or(|ports| input.is_some_and(|i| ports.iter().any(|p| p == i)))
            && one_of(&self.colour, Some(&mark.colour))
            && within(&self.src, header.src)
            && within(&self.dst, header.dst)
            && in_range(&self.src_ports, header.src_port)
            && in_range(&self.dst_ports, header.dst_port)
            && (in_range(&self.any_port, header.src_port)
                || in_range(&self.any_port, header.dst_port))
            && (self.any.as_ref()).is_none_or(|list| list.iter().any(inner))
            && (self.not.as_ref()).is_none_or(|m| !inner(m))
    }
}

fn one_of<T: PartialEq>(allowed: &Option<Vec<T>>, value: Option<&T>) -> bool {
    (allowed.as_ref()).is_none_or(|list| value.is_some_and(|v| list.contains(v)))
}

fn within(allowed: &Option<Vec<Prefix>>, value: Option<IpAddr>) -> bool {
    (allowed.as_ref()).is_none_or(|list| value.is_some_and(|v| list.iter().any(|p| p.holds(v))))
}

fn in_range(allowed: &Option<Vec<(u16, u16)>>, value: Option<u16>) -> bool {
    (allowed.as_ref()).is_none_or(|list| {
        value.is_some_and(|v| list.iter().any(|(low, high)| (*low..=*high).contains(&v)))
    })
}

fn non_empty<T>(
    list: &Option<Vec<T>>,
    path: &str,
    term: &str,
) -> Result<Option<Vec<T>>, ScenarioError>
where
    T: Clone,
{
    match list {
        Some(alternatives) if alternatives.is_empty() => Err(ScenarioError::new(
            format!("{path}.{term}"),
            "no alternative: it could never match",
            "name at least one value or leave the term out",
        )),
        _ => Ok(list.clone()),
    }
}

fn values(
    list: &Option<Vec<u8>>,
    top: u8,
    path: &str,
    term: &str,
) -> Result<Option<Vec<u8>>, ScenarioError> {
    for (i, value) in list.iter().flatten().enumerate() {
        in_field(Some(*value), top, &format!("{path}.{term}[{i}]"))?;
    }
    non_empty(list, path, term)
}

fn macs(
    list: &Option<Vec<String>>,
    path: &str,
    term: &str,
) -> Result<Option<Vec<Mac>>, ScenarioError> {
    let Some(texts) = non_empty(list, path, term)? else {
        return Ok(None);
    };
    let read = texts.iter().enumerate();
    let read = read.map(|(i, text)| Mac::read(text, &format!("{path}.{term}[{i}]")));
    read.collect::<Result<_, _>>().map(Some)
}

/// Refuses what is no port of the node.
fn inputs(
    list: &Option<Vec<String>>,
    ports: &[&str],
    path: &str,
) -> Result<Option<Vec<String>>, ScenarioError> {
    for (i, name) in list.iter().flatten().enumerate() {
        if !ports.contains(&name.as_str()) {
            let at = format!("{path}.input[{i}]");
            let problem = format!("the node has no port {name:?}");
            return Err(ScenarioError::new(at, problem, "name one of its ports"));
        }
    }
    non_empty(list, path, "input")
}

fn prefixes(
    list: &Option<Vec<String>>,
    path: &str,
    term: &str,
) -> Result<Option<Vec<Prefix>>, ScenarioError> {
    let Some(texts) = non_empty(list, path, term)? else {
        return Ok(None);
    };
    let read = texts.iter().enumerate().map(|(i, text)| {
        Prefix::read(text).ok_or_else(|| {
            let at = format!("{path}.{term}[{i}]");
            ScenarioError::new(at, format!("{text:?} is no prefix"), "write 192.0.2.0/24")
        })
    });
    read.collect::<Result<_, _>>().map(Some)
}

fn ranges(
    list: &Option<Vec<(u16, u16)>>,
    path: &str,
    term: &str,
) -> Result<Option<Vec<(u16, u16)>>, ScenarioError> {
    for (i, (low, high)) in list.iter().flatten().enumerate() {
        if low > high {
            return Err(ScenarioError::new(
                format!("{path}.{term}[{i}]"),
                format!("the range {low}-{high} is empty"),
                "put the lower port first",
            ));
        }
    }
    non_empty(list, path, term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::PacketSpec;

    const PORTS: [&str; 2] = ["ge1", "ge2"];

    fn matches(rule: &str, mark: Mark) -> bool {
        let spec: MatchSpec = serde_json::from_str(rule).unwrap();
        let packet: PacketSpec = serde_json::from_str(
            r#"{"src": "10.1.2.3", "dst": "10.9.0.1", "src_port": 80, "dst_port": 40000,
                "application": "http", "protocol": 6, "src_mac": "00:00:5e:00:53:01"}"#,
        )
        .unwrap();
        let (header, _) = Header::read(&packet, 17, "p").unwrap();
        let matcher = Matcher::read(&spec, &PORTS, "m").unwrap();
        matcher.matches(&header, Some("ge2"), mark)
    }

    #[test]
    fn terms_combine() {
        let mark = Mark {
            dscp: 34,
            cos: 5,
            group: None,
            colour: Colour::Yellow,
        };
        for (rule, expected) in [
            ("{}", true),
            (r#"{"dscp": [34], "cos": [5], "precedence": [4]}"#, true),
            (r#"{"dscp": [34], "cos": [4]}"#, false),
            (r#"{"src": ["10.0.0.0/8"], "dst": ["10.9.0.1"]}"#, true),
            (r#"{"src": ["0.0.0.0/0"]}"#, true),
            (r#"{"src": ["10.1.2.4/31"]}"#, false),
            (r#"{"src": ["::/0"]}"#, false),
            (r#"{"any_port": [[79, 80]]}"#, true),
            (r#"{"dst_ports": [[79, 80]]}"#, false),
            (r#"{"vlan": [10]}"#, false),
            (r#"{"src_mac": ["0000.5E00.5301"]}"#, true),
            (r#"{"src_mac": ["00-00-5e-00-53-02"]}"#, false),
            (r#"{"dst_mac": ["00-00-5e-00-53-01"]}"#, false),
            (r#"{"input": ["ge2"], "colour": ["yellow", "red"]}"#, true),
            (r#"{"input": ["ge1"]}"#, false),
            (r#"{"colour": ["green"]}"#, false),
            (r#"{"not": {"vlan": [10]}}"#, true),
            (
                r#"{"any": [{"protocol": [17]}, {"application": ["http"]}]}"#,
                true,
            ),
            (
                r#"{"any": [{"protocol": [17]}, {"application": ["ftp"]}]}"#,
                false,
            ),
        ] {
            assert_eq!(matches(rule, mark), expected, "{rule}");
        }
    }

    #[test]
    fn refuses_what_cannot_match() {
        for (rule, path) in [
            (r#"{"dscp": []}"#, "m.dscp"),
            (r#"{"dscp": [64]}"#, "m.dscp[0]"),
            (r#"{"colour": []}"#, "m.colour"),
            (r#"{"input": ["ge1", "ge3"]}"#, "m.input[1]"),
            (r#"{"dst_mac": ["00:00:5e:00:53"]}"#, "m.dst_mac[0]"),
            (r#"{"any": [{"src": ["10.0.0.0/33"]}]}"#, "m.any[0].src[0]"),
            (r#"{"not": {"src_ports": [[2, 1]]}}"#, "m.not.src_ports[0]"),
        ] {
            let spec: MatchSpec = serde_json::from_str(rule).unwrap();
            assert_eq!(Matcher::read(&spec, &PORTS, "m").unwrap_err().path, path);
        }
    }
}
