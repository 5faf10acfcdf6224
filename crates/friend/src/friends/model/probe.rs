//! Servers on this machine: whether somebody listens, what they have, which version they are.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use relaycode_llm::ModelClient;
use relaycode_llm::models::discover::{DiscoveredModel, DiscoveryTarget, LocalServerKind};
use relaycode_llm::models::{RegisteredProvider, discover};
use relaycode_llm::stream::transport;
use serde_json::Value;

use crate::{FriendContext, FriendProbeReport};

/// How long a look at a server may take.
const LOOK: Duration = Duration::from_secs(3);
/// How long somebody on this machine may take to accept a connection.
const CONNECT: Duration = Duration::from_millis(300);
/// Bytes of what says a version.
const VERSION_BYTES: usize = 4 << 10;
/// Cells of a version.
const VERSION: usize = 40;

/// Whether the server is there, which version it is and how many models it has.
pub(super) async fn probe(provider: &RegisteredProvider, world: &FriendContext<'_>) -> FriendProbeReport {
    let id = &provider.id;
    let nobody = || FriendProbeReport {
        trouble: Some(format!("nobody answers at {}: is its server running?", provider.base_url)),
        ..FriendProbeReport::default()
    };
    if (world.stop_requested)() || nobody_listens(&provider.base_url) {
        return nobody();
    }
    let asked =
        tokio::time::timeout(LOOK, async { tokio::join!(list_models(provider), server_version(provider)) });
    let Ok((models, version)) = asked.await else { return nobody() };
    let Some(models) = models else { return nobody() };
    let is_ollama = provider.discovery == Some(LocalServerKind::Ollama);
    let pull = if is_ollama { "; `ollama pull NAME` gets one" } else { "" };
    FriendProbeReport {
        found: Some(provider.base_url.clone()),
        version,
        models: Some(models.len()),
        trouble: models.is_empty().then(|| format!("{id} has no model{pull}")),
        ..FriendProbeReport::default()
    }
}

/// What a server says it has; `None` if it does not answer.
pub(super) async fn list_models(provider: &RegisteredProvider) -> Option<Vec<DiscoveredModel>> {
    let kind = provider.discovery?;
    let target = DiscoveryTarget { provider: provider.id.clone(), kind, base_url: provider.base_url.clone() };
    discover::probe_all(vec![target]).await.pop()?.models
}

async fn server_version(provider: &RegisteredProvider) -> Option<String> {
    if provider.discovery != Some(LocalServerKind::Ollama) {
        return None;
    }
    let client = ModelClient::new(&transport::ClientSettings::default()).ok()?;
    let url = format!("{}/api/version", provider.base_url.trim_end_matches('/'));
    let body = client.get(&provider.id, &url, &[], LOOK, VERSION_BYTES).await.ok()?;
    let said: Value = serde_json::from_slice(&body).ok()?;
    Some(relaycode_text::width::clip_for_message(said.get("version")?.as_str()?, VERSION))
}

/// Whether an address is of this machine and nobody listens there. A server elsewhere may be slow: nothing is said of it.
pub(super) fn nobody_listens(base_url: &str) -> bool {
    let here = loopback_addresses(base_url);
    !here.is_empty() && !here.iter().any(|address| TcpStream::connect_timeout(address, CONNECT).is_ok())
}

/// Where on this machine an address is; nothing if it is elsewhere.
fn loopback_addresses(base_url: &str) -> Vec<SocketAddr> {
    let Some((scheme, rest)) = base_url.split_once("://") else { return Vec::new() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    let port: u16 = port.unwrap_or(if scheme == "https" { 443 } else { 80 });
    let host = host.trim_matches(['[', ']']);
    let found = if host.eq_ignore_ascii_case("localhost") {
        Some(vec![([127, 0, 0, 1], port).into(), SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port))])
    } else {
        // A number is looked up nowhere.
        let address: Option<std::net::IpAddr> = host.parse().ok();
        address.and_then(|address| Some((address, port).to_socket_addrs().ok()?.collect()))
    };
    found.unwrap_or_default().into_iter().filter(|address| address.ip().is_loopback()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_knocked_at() {
        assert_eq!(loopback_addresses("http://127.0.0.1:11434"), ["127.0.0.1:11434".parse().unwrap()]);
        assert_eq!(loopback_addresses("http://u:p@[::1]:8080/v1"), ["[::1]:8080".parse().unwrap()]);
        assert_eq!(loopback_addresses("https://localhost/v1")[0], "127.0.0.1:443".parse().unwrap());
        for elsewhere in
            ["https://api.openai.com/v1", "http://10.0.0.1:80", "nonsense", "http://", "http://:x"]
        {
            assert!(loopback_addresses(elsewhere).is_empty(), "{elsewhere}");
        }
    }
}
