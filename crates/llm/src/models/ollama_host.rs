//! `OLLAMA_HOST`: where Ollama's server is, as its own programs read it. A host, a port, both, or an address with `http://` or
//! `https://`; what a server listens to on every network is asked on this machine.

use std::net::{IpAddr, Ipv6Addr};

use reqwest::Url;

pub const VARIABLE: &str = "OLLAMA_HOST";

/// Where it listens if nothing is said.
const PORT: u16 = 11434;

/// The address for requests; `None` if it is none.
pub(super) fn base_url(host: &str) -> Option<String> {
    let host = host.trim().trim_matches(['"', '\'']);
    let has_scheme = host.contains("://");
    let host = host.trim_end_matches('/');
    if host.is_empty() {
        return None;
    }
    let is_ipv6 = host.parse::<Ipv6Addr>().is_ok();
    let whole = match host {
        _ if has_scheme => host.to_string(),
        _ if is_ipv6 => format!("http://[{host}]"),
        // Only a port.
        _ if host.starts_with(':') => format!("http://127.0.0.1{host}"),
        _ => format!("http://{host}"),
    };
    let mut url = Url::parse(&whole).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let says_port = !is_ipv6 && host.rsplit_once(']').map_or(host, |(_, rest)| rest).contains(':');
    // With a scheme, the scheme's own port is meant.
    if !has_scheme && !says_port {
        url.set_port(Some(PORT)).ok()?;
    }
    let address = url.host_str()?.trim_matches(['[', ']']).parse::<IpAddr>();
    if address.is_ok_and(|address| address.is_unspecified()) {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    Some(url.as_str().trim_end_matches('/').to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{self, ModelRegistry};

    #[test]
    fn it_is_read_as_ollamas_own_programs_do() {
        for (host, expected) in [
            ("127.0.0.1:9999", "http://127.0.0.1:9999"),
            ("box", "http://box:11434"),
            ("box:80", "http://box"),
            (":5000", "http://127.0.0.1:5000"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:7000", "http://127.0.0.1:7000"),
            ("[::]:7000", "http://127.0.0.1:7000"),
            ("::1", "http://[::1]:11434"),
            ("http://box:1234/", "http://box:1234"),
            ("https://ollama.example.com/base/", "https://ollama.example.com/base"),
            (" \"box\" ", "http://box:11434"),
        ] {
            assert_eq!(base_url(host).as_deref(), Some(expected), "{host}");
        }
        for host in ["", "  ", "ftp://box", "http://", "box:port", "a b"] {
            assert_eq!(base_url(host), None, "{host:?}");
        }
    }

    #[test]
    fn models_yml_stands_over_the_variable() {
        let address = |yaml: &str| {
            let mut registry = ModelRegistry::new(Ok(Some(models::parse(yaml).unwrap())));
            registry.set_ollama_host("box:9999");
            registry.provider("ollama").unwrap().base_url.clone()
        };
        assert_eq!(address(""), "http://box:9999");
        assert_eq!(address("providers: {ollama: {baseUrl: 'http://there:1'}}"), "http://there:1");
    }
}
