//! Asks all servers at once.

use std::time::Duration;

use tokio::task::JoinSet;

use super::parse::{self, MAX_MODELS};
use super::{DiscoveredModel, DiscoveryTarget, LocalServerKind};

/// To connect: such servers are near.
const CONNECT: Duration = Duration::from_millis(300);
/// For one answer.
const ANSWER: Duration = Duration::from_millis(1500);
/// For all of it.
const ALL: Duration = Duration::from_secs(3);
/// Most bytes of one answer.
const BYTES: usize = 4 << 20;
/// Most models whose abilities are asked for one by one.
const SHOWN: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryResult {
    pub target: DiscoveryTarget,
    /// `None` if nobody answered.
    pub models: Option<Vec<DiscoveredModel>>,
}

/// Gives up on servers that do not answer soon. In the order of `targets`.
pub async fn probe_all(targets: Vec<DiscoveryTarget>) -> Vec<DiscoveryResult> {
    let mut answers: Vec<DiscoveryResult> =
        targets.into_iter().map(|target| DiscoveryResult { target, models: None }).collect();
    let Some(client) = client() else { return answers };
    let mut asked = JoinSet::new();
    for (place, answer) in answers.iter().enumerate() {
        let (client, target) = (client.clone(), answer.target.clone());
        asked.spawn(async move {
            (place, tokio::time::timeout(ALL, probe_server(&client, &target)).await.ok().flatten())
        });
    }
    while let Some(done) = asked.join_next().await {
        if let Ok((place, found)) = done
            && let Some(answer) = answers.get_mut(place)
        {
            answer.models = found;
        }
    }
    answers
}

/// No proxy, no redirects, short timeouts.
fn client() -> Option<reqwest::Client> {
    // Whoever installed one first did the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .ok()
}

async fn probe_server(client: &reqwest::Client, target: &DiscoveryTarget) -> Option<Vec<DiscoveredModel>> {
    let root = target.base_url.strip_suffix("/v1").unwrap_or(&target.base_url);
    let get = |path: &str| client.get(format!("{root}{path}"));
    match target.kind {
        LocalServerKind::Ollama => {
            let names = parse::ollama_tags(&bytes(get("/api/tags")).await?)?;
            let mut found = Vec::new();
            for (place, name) in names.into_iter().take(MAX_MODELS).enumerate() {
                let more = match place < SHOWN {
                    true => {
                        let body = serde_json::json!({ "model": &name }).to_string();
                        let post = client.post(format!("{root}/api/show"));
                        bytes(post.header("content-type", "application/json").body(body)).await
                    }
                    false => None,
                };
                match more {
                    Some(more) => found.extend(parse::ollama_show(&name, &more)),
                    None => found.push(DiscoveredModel { id: name, ..DiscoveredModel::default() }),
                }
            }
            Some(found)
        }
        LocalServerKind::LlamaCpp => {
            let mut found = parse::openai_models(&bytes(get("/v1/models")).await?)?;
            if let Some(props) = bytes(get("/props")).await {
                parse::llama_props(&props, &mut found);
            }
            Some(found)
        }
        LocalServerKind::LmStudio => {
            match bytes(get("/api/v0/models")).await.and_then(|answer| parse::lm_studio(&answer)) {
                Some(found) => Some(found),
                None => parse::openai_models(&bytes(get("/v1/models")).await?),
            }
        }
    }
}

/// The body of a successful answer that is not too long.
async fn bytes(request: reqwest::RequestBuilder) -> Option<Vec<u8>> {
    let mut response = request.send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut all = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        if all.len() + piece.len() > BYTES {
            return None;
        }
        all.extend_from_slice(&piece);
    }
    Some(all)
}
