//! Addresses and prefixes as rules write them.

use std::net::IpAddr;

use crate::error::ScenarioError;

/// A MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mac(u64);

impl Mac {
    /// Reads `00:00:5e:00:53:01`, `00-00-5e-00-53-01` or `0000.5e00.5301`.
    pub fn read(text: &str, path: &str) -> Result<Self, ScenarioError> {
        let digits: String = (text.chars().filter(|c| !matches!(c, ':' | '-' | '.'))).collect();
        let plain = digits.len() == 12 && digits.chars().all(|c| c.is_ascii_hexdigit());
        match u64::from_str_radix(&digits, 16) {
            Ok(value) if plain => Ok(Self(value)),
            _ => {
                let problem = format!("{text:?} is no MAC address");
                Err(ScenarioError::new(path, problem, "write 00:00:5e:00:53:01"))
            }
        }
    }
}

/// An address prefix.
#[derive(Debug, Clone, Copy)]
pub struct Prefix {
    address: IpAddr,
    length: u32,
}

impl Prefix {
    pub fn read(text: &str) -> Option<Self> {
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

    pub fn holds(self, other: IpAddr) -> bool {
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
