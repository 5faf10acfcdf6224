//! Which proxy a request goes through, by the usual variables; the caller passes their values.
//!
//! `NO_PROXY` is a list of hosts (`example.com` includes its subdomains, with or without a leading dot),
//! addresses, networks (`10.0.0.0/8`), each with an optional port, and `*`. This machine is never reached
//! through a proxy: model servers run here. SOCKS proxies are refused with a message: relay speaks only
//! HTTP to proxies.

use std::net::IpAddr;

use reqwest::Url;

use crate::failure::{ModelFailure, ModelResult};

/// The configured proxies.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    /// `HTTP_PROXY`: for addresses without TLS.
    pub http: Option<String>,
    /// `HTTPS_PROXY`: for addresses with TLS.
    pub https: Option<String>,
    /// `ALL_PROXY`: if there is none of the above.
    pub all: Option<String>,
    /// `NO_PROXY`: hosts reached directly.
    pub no_proxy: Option<String>,
}

/// A proxy's address may contain a password.
impl std::fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let set = |value: &Option<String>| value.is_some();
        f.debug_struct("ProxySettings")
            .field("http", &set(&self.http))
            .field("https", &set(&self.https))
            .field("all", &set(&self.all))
            .field("no_proxy", &self.no_proxy)
            .finish()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ProxyChooser {
    http: Option<Url>,
    https: Option<Url>,
    direct: Vec<NoProxyRule>,
}

/// A host reached without a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NoProxyRule {
    hosts: NoProxyHosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NoProxyHosts {
    All,
    Host(String),
    Network(IpAddr, u8),
}

impl ProxyChooser {
    /// # Errors
    /// [`crate::FailureClass::Config`] for an invalid proxy address, or one that does not speak HTTP.
    pub(crate) fn new(proxies: &ProxySettings) -> ModelResult<ProxyChooser> {
        let of = |value: &Option<String>, name: &str| {
            let value = value.as_deref().map(str::trim).filter(|value| !value.is_empty());
            value.map(|value| address(value, name)).transpose()
        };
        let all = of(&proxies.all, "ALL_PROXY")?;
        Ok(ProxyChooser {
            http: of(&proxies.http, "HTTP_PROXY")?.or_else(|| all.clone()),
            https: of(&proxies.https, "HTTPS_PROXY")?.or(all),
            direct: parse_no_proxy(proxies.no_proxy.as_deref().unwrap_or_default()),
        })
    }

    pub(crate) fn choose(&self, url: &Url) -> Option<Url> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        let host = url.host_str()?.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let port = url.port_or_known_default();
        let direct = is_loopback(&host) || self.direct.iter().any(|rule| rule.covers(&host, port));
        if direct { None } else { proxy.clone() }
    }
}

/// Without a scheme it is HTTP. The message shows nothing of it: it may contain a password.
fn address(value: &str, name: &str) -> ModelResult<Url> {
    let full = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
    let bad = |why: &str| ModelFailure::config(format!("{name} {why}. Use http://host:port"));
    let url = Url::parse(&full).map_err(|_| bad("is no address of a proxy"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "socks4" | "socks4a" | "socks5" | "socks5h" => {
            Err(bad("names a SOCKS proxy, which relay does not speak to"))
        }
        _ => Err(bad("is no address of a proxy")),
    }
}

/// The host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

fn parse_no_proxy(list: &str) -> Vec<NoProxyRule> {
    list.split([',', ' ']).map(str::trim).filter(|item| !item.is_empty()).filter_map(parse_rule).collect()
}

/// One item of the list; nonsense covers no host.
fn parse_rule(item: &str) -> Option<NoProxyRule> {
    if item == "*" {
        return Some(NoProxyRule { hosts: NoProxyHosts::All, port: None });
    }
    if let Some((address, bits)) = item.split_once('/') {
        let address: IpAddr = address.parse().ok()?;
        let bits: u8 = bits.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let rule = NoProxyRule { hosts: NoProxyHosts::Network(address, bits), port: None };
        return (bits <= most).then_some(rule);
    }
    let (host, port) = match item.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        // More than one colon is an IPv6 address.
        None if item.matches(':').count() == 1 => {
            item.split_once(':').map_or((item, None), |(host, port)| (host, Some(port)))
        }
        None => (item, None),
    };
    let port = port.map(str::parse).transpose().ok()?;
    if let Ok(address) = host.parse::<IpAddr>() {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        return Some(NoProxyRule { hosts: NoProxyHosts::Network(address, bits), port });
    }
    let host = host.trim_start_matches("*.").trim_matches('.').to_ascii_lowercase();
    if host.is_empty() { None } else { Some(NoProxyRule { hosts: NoProxyHosts::Host(host), port }) }
}

impl NoProxyRule {
    fn covers(&self, host: &str, port: Option<u16>) -> bool {
        if self.port.is_some() && self.port != port {
            return false;
        }
        match &self.hosts {
            NoProxyHosts::All => true,
            NoProxyHosts::Host(name) => {
                host.strip_suffix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
            NoProxyHosts::Network(network, bits) => {
                host.parse::<IpAddr>().is_ok_and(|address| is_within(address, *network, *bits))
            }
        }
    }
}

fn is_within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    // The bits of an IPv4 address are the last ones.
    let value = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let width = if network.is_ipv4() { 32 } else { 128 };
    let differing = (value(address) ^ value(network)).checked_shr(width - u32::from(bits)).unwrap_or(0);
    address.is_ipv4() == network.is_ipv4() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureClass;

    fn goes_through(no_proxy: &str, url: &str) -> bool {
        let proxies = ProxySettings {
            all: Some("proxy.example:3128".into()),
            no_proxy: Some(no_proxy.into()),
            ..ProxySettings::default()
        };
        ProxyChooser::new(&proxies).unwrap().choose(&Url::parse(url).unwrap()).is_some()
    }

    #[test]
    fn the_list_of_exceptions_is_read_as_usual() {
        let cases = [
            ("", "https://api.example.com/v1", true),
            ("*", "https://api.example.com/v1", false),
            ("example.com", "https://api.example.com/v1", false),
            (".example.com", "https://example.com/v1", false),
            ("*.example.com", "https://api.example.com./v1", false),
            ("EXAMPLE.com", "https://api.example.COM", false),
            ("ample.com", "https://api.example.com/v1", true),
            ("example.com:8443", "https://example.com/", true),
            ("example.com:443", "https://example.com/", false),
            ("a.test, 10.0.0.0/8 b.test", "http://10.1.2.3/", false),
            ("10.0.0.0/8", "http://11.1.2.3/", true),
            ("0.0.0.0/0", "http://11.1.2.3/", false),
            ("192.168.1.7", "http://192.168.1.7:99/", false),
            ("fd00::/8", "http://[fd00::1]/", false),
            ("[fd00::1]:80", "http://[fd00::1]/", false),
            ("10.0.0.0/99, x:y:z, :", "http://10.0.0.1/", true),
            ("", "http://localhost:11434/", false),
            ("", "http://127.0.0.1:1234/", false),
            ("", "http://[::1]:1234/", false),
        ];
        for (list, url, through) in cases {
            assert_eq!(goes_through(list, url), through, "{list:?} {url}");
        }
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let proxies = ProxySettings {
            https: Some("http://a:1".into()),
            all: Some("b:2".into()),
            ..ProxySettings::default()
        };
        let chooser = ProxyChooser::new(&proxies).unwrap();
        let through = |url: &str| chooser.choose(&Url::parse(url).unwrap()).unwrap().to_string();
        assert_eq!(through("https://x.test"), "http://a:1/");
        assert_eq!(through("http://x.test"), "http://b:2/");
    }

    #[test]
    fn a_proxy_that_cannot_work_is_refused_without_its_password() {
        for value in ["socks5://u:secret@h:1", "http://u:secret@:1:2", "ftp://u:secret@h"] {
            let failure =
                ProxyChooser::new(&ProxySettings { http: Some(value.into()), ..ProxySettings::default() })
                    .unwrap_err();
            assert_eq!(failure.class, FailureClass::Config);
            assert!(
                failure.message.contains("HTTP_PROXY") && !failure.message.contains("secret"),
                "{failure}"
            );
        }
        assert!(
            !format!(
                "{:?}",
                ProxySettings { http: Some("http://u:secret@h".into()), ..ProxySettings::default() }
            )
            .contains("secret")
        );
    }
}
