//! Where a message bus listens: `unix:path=/run/user/1000/bus,guid=…;unix:abstract=…`.
//!
//! Only unix sockets of this machine are accepted; every other kind is skipped, so nothing is ever sent
//! over a network.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Longest address that is parsed, in bytes.
const LONGEST: usize = 4096;
/// Most alternatives tried of one address.
const MAX_ADDRESSES: usize = 8;

/// One socket where a bus may listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BusAddress {
    /// A socket in the file system.
    Path(PathBuf),
    /// Linux's abstract namespace.
    Abstract(Vec<u8>),
}

/// The supported alternatives, in order.
pub(super) fn parse(address: &str) -> Vec<BusAddress> {
    if address.len() > LONGEST {
        return Vec::new();
    }
    address.split(';').filter_map(parse_one).take(MAX_ADDRESSES).collect()
}

fn parse_one(address: &str) -> Option<BusAddress> {
    let pairs = address.strip_prefix("unix:")?;
    pairs.split(',').filter_map(|pair| pair.split_once('=')).find_map(|(key, value)| match key {
        "path" => Some(BusAddress::Path(OsString::from_vec(unescape(value)?).into())),
        "abstract" => Some(BusAddress::Abstract(unescape(value)?)),
        _ => None,
    })
}

/// Decodes `%2f` and the like; a broken escape makes the address unusable.
fn unescape(value: &str) -> Option<Vec<u8>> {
    let mut bytes = value.bytes();
    let mut out = Vec::with_capacity(value.len());
    while let Some(byte) = bytes.next() {
        out.push(if byte == b'%' { digit(bytes.next()?)? << 4 | digit(bytes.next()?)? } else { byte });
    }
    (!out.is_empty() && !out.contains(&0)).then_some(out)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> BusAddress {
        BusAddress::Path(path.into())
    }

    #[test]
    fn every_unix_place_of_an_address_is_found_in_order() {
        assert_eq!(parse("unix:path=/run/user/7/bus"), [path("/run/user/7/bus")]);
        assert_eq!(
            parse("tcp:host=x,port=1;unix:guid=0f,abstract=/tmp/dbus-a,x=y;unix:path=/b%20c%2Fd"),
            [BusAddress::Abstract(b"/tmp/dbus-a".to_vec()), path("/b c/d")]
        );
    }

    #[test]
    fn what_is_not_an_address_names_no_place() {
        for broken in
            ["", ";;", "unix:", "unix:path", "unix:path=", "unix:path=%", "unix:path=%2", "unix:path=%zz"]
        {
            assert_eq!(parse(broken), [], "{broken}");
        }
        for broken in [
            "unix:path=a%00b",
            "autolaunch:",
            "unixexec:path=/bin/sh",
            "tcp:host=localhost",
            "unix:tmpdir=/tmp",
        ] {
            assert_eq!(parse(broken), [], "{broken}");
        }
        assert_eq!(parse(&format!("unix:path=/{}", "x".repeat(5000))), []);
        assert_eq!(parse(&"unix:path=/b;".repeat(100)).len(), MAX_ADDRESSES);
    }
}
