//! Matching of header fields and marks; resolved once per flow, hop and mark when a run is built.

use std::net::IpAddr;

use crate::error::ScenarioError;
use crate::scenario::{MarkSpec, MatchSpec, PacketSpec};

/// The marks a packet carries at some point of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    pub dscp: u8,
    pub cos: u8,
    /// A class chosen on input, known inside the box alone (QoS group, service queue).
    pub group: Option<u8>,
}

impl Mark {
    /// IP precedence: the upper three bits of the DSCP.
    pub fn precedence(self) -> u8 {
        self.dscp >> 3
    }

    pub fn with(self, set: &MarkSpec) -> Self {
        Self {
            dscp: set.dscp.unwrap_or(self.dscp),
            cos: set.cos.unwrap_or(self.cos),
            group: set.group.or(self.group),
        }
    }
}

/// The header fields that never change on the way.
#[derive(Debug, Clone)]
pub struct Header {
    pub protocol: u8,
    pub src: Option<IpAddr>,
    pub dst: Option<IpAddr>,
    pub src_port: Option<u16>,
    pub dst_port: Option<u16>,
    pub application: Option<String>,
    pub vlan: Option<u16>,
}

impl Header {
    /// `protocol`: of a flow that names none.
    pub fn read(
        spec: &PacketSpec,
        protocol: u8,
        path: &str,
    ) -> Result<(Self, Mark), ScenarioError> {
        let address = |text: &Option<String>, field: &str| match text {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| {
                let at = format!("{path}.{field}");
                ScenarioError::new(at, format!("{text:?} is no address"), "write 192.0.2.1")
            }),
        };
        check_dscp(Some(spec.dscp), path)?;
        check_cos(Some(spec.cos), path)?;
        let header = Self {
            protocol: spec.protocol.unwrap_or(protocol),
            src: address(&spec.src, "src")?,
            dst: address(&spec.dst, "dst")?,
            src_port: spec.src_port,
            dst_port: spec.dst_port,
            application: spec.application.clone(),
            vlan: spec.vlan,
        };
        let mark = Mark {
            dscp: spec.dscp,
            cos: spec.cos,
            group: None,
        };
        Ok((header, mark))
    }

    /// The same conversation seen from the other end.
    pub fn reversed(&self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            ..self.clone()
        }
    }
}

/// Refuses marks that the header field cannot hold.
pub fn check_marks(set: &MarkSpec, path: &str) -> Result<(), ScenarioError> {
    check_dscp(set.dscp, path)?;
    check_cos(set.cos, path)
}

fn check_dscp(value: Option<u8>, path: &str) -> Result<(), ScenarioError> {
    in_field(value, 63, &format!("{path}.dscp"))
}

fn check_cos(value: Option<u8>, path: &str) -> Result<(), ScenarioError> {
    in_field(value, 7, &format!("{path}.cos"))
}

fn in_field(value: Option<u8>, top: u8, path: &str) -> Result<(), ScenarioError> {
    match value {
        Some(v) if v > top => Err(ScenarioError::new(
            path,
            format!("{v} does not fit the field"),
            format!("use 0 to {top}"),
        )),
        _ => Ok(()),
    }
}

/// An address prefix.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    address: IpAddr,
    length: u32,
}

impl Prefix {
    fn read(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address.parse().ok()?, Some(length.parse().ok()?)),
            None => (text.parse().ok()?, None),
        };
        let width = if matches!(address, IpAddr::V4(_)) {
            32
        } else {
            128
        };
        let length = length.unwrap_or(width);
        (length <= width).then_some(Self { address, length })
    }

    fn holds(self, other: IpAddr) -> bool {
        let top = |bits: u128, width: u32| bits.checked_shr(width - self.length).unwrap_or(0);
        match (self.address, other) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                top(u32::from(a).into(), 32) == top(u32::from(b).into(), 32)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => top(a.into(), 128) == top(b.into(), 128),
            _ => false,
        }
    }
}

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
    any: Option<Vec<Matcher>>,
    not: Option<Box<Matcher>>,
}

impl Matcher {
    pub fn read(spec: &MatchSpec, path: &str) -> Result<Self, ScenarioError> {
        let any = match &spec.any {
            None => None,
            Some(list) => {
                non_empty(&spec.any, path, "any")?;
                let inner = list.iter().enumerate();
                let read = inner.map(|(i, m)| Self::read(m, &format!("{path}.any[{i}]")));
                Some(read.collect::<Result<_, _>>()?)
            }
        };
        let not = match &spec.not {
            None => None,
            Some(inner) => Some(Box::new(Self::read(inner, &format!("{path}.not"))?)),
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
            any,
            not,
        })
    }

    pub fn matches(&self, header: &Header, mark: Mark) -> bool {
        one_of(&self.dscp, Some(&mark.dscp))
            && one_of(&self.cos, Some(&mark.cos))
            && one_of(&self.precedence, Some(&mark.precedence()))
            && one_of(&self.group, mark.group.as_ref())
            && one_of(&self.application, header.application.as_ref())
            && one_of(&self.protocol, Some(&header.protocol))
            && one_of(&self.vlan, header.vlan.as_ref())
            && within(&self.src, header.src)
            && within(&self.dst, header.dst)
            && in_range(&self.src_ports, header.src_port)
            && in_range(&self.dst_ports, header.dst_port)
            && (in_range(&self.any_port, header.src_port)
                || in_range(&self.any_port, header.dst_port))
            && (self.any.as_ref()).is_none_or(|list| list.iter().any(|m| m.matches(header, mark)))
            && (self.not.as_ref()).is_none_or(|inner| !inner.matches(header, mark))
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

    fn matches(rule: &str, mark: Mark) -> bool {
        let spec: MatchSpec = serde_json::from_str(rule).unwrap();
        let packet: PacketSpec = serde_json::from_str(
            r#"{"src": "10.1.2.3", "dst": "10.9.0.1", "src_port": 80, "dst_port": 40000,
                "application": "http", "protocol": 6}"#,
        )
        .unwrap();
        let (header, _) = Header::read(&packet, 17, "p").unwrap();
        Matcher::read(&spec, "m").unwrap().matches(&header, mark)
    }

    #[test]
    fn terms_combine() {
        let mark = Mark {
            dscp: 34,
            cos: 5,
            group: None,
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
            (r#"{"any": [{"src": ["10.0.0.0/33"]}]}"#, "m.any[0].src[0]"),
            (r#"{"not": {"src_ports": [[2, 1]]}}"#, "m.not.src_ports[0]"),
        ] {
            let spec: MatchSpec = serde_json::from_str(rule).unwrap();
            assert_eq!(Matcher::read(&spec, "m").unwrap_err().path, path);
        }
    }
}
