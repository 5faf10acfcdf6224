//! The connection to providers: one HTTP client for all of them.
//!
//! It follows no redirect (a key would go with it), keeps no cookies, reads no environment and retries
//! nothing by itself. Invariant: a key never gets into an error or a log; what is read of an answer is
//! bounded; an answer that cannot be a model's is reported as such.

use std::{error::Error, io, sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;
use relaycode_text::escape;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Response, Url, redirect, retry};

use crate::failure::classify::{self, MAX_ERROR_BODY};
use crate::failure::{FailureClass, ModelFailure, ModelResult};
use crate::models::model::Model;
use crate::request::{Auth, ChatRequest, WireCall};
use crate::stream::proxy::{ProxyChooser, ProxySettings, is_loopback};
use crate::stream::{AnswerStream, StreamOptions};
use crate::wire::{Framing, Wire, WireHttpRequest};

#[cfg(test)]
mod tests;

/// For the body of an error.
const ERROR_BODY_TIME: Duration = Duration::from_secs(10);

/// How long an unused connection is kept: shorter than servers keep theirs, so that no dead one is used.
const IDLE_CONNECTION: Duration = Duration::from_secs(20);

/// How providers are reached.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    pub proxies: ProxySettings,
    pub connect_timeout: Duration,
}

impl Default for ClientSettings {
    fn default() -> ClientSettings {
        ClientSettings { proxies: ProxySettings::default(), connect_timeout: Duration::from_secs(10) }
    }
}

/// Clones share their connections.
#[derive(Debug, Clone)]
pub struct ModelClient {
    http: reqwest::Client,
    /// Why TLS does not work, if it does not: the system has no certificates.
    tls_problem: Option<Arc<str>>,
}

impl ModelClient {
    /// # Errors
    /// [`FailureClass::Config`] for an unusable proxy. If the system's certificates cannot be read, servers
    /// without TLS still work, such as those on this machine, and others are refused with the reason.
    pub fn new(settings: &ClientSettings) -> ModelResult<ModelClient> {
        let chooser = ProxyChooser::new(&settings.proxies)?;
        // Somebody else may have chosen first, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let chooser = chooser.clone();
            reqwest::Client::builder()
                .user_agent(concat!("relay/", env!("CARGO_PKG_VERSION")))
                .redirect(redirect::Policy::none())
                .retry(retry::never())
                .referer(false)
                .connect_timeout(settings.connect_timeout)
                .pool_idle_timeout(IDLE_CONNECTION)
                .tcp_nodelay(true)
                .no_proxy()
                .proxy(reqwest::Proxy::custom(move |url| chooser.choose(url)))
        };
        let first = match builder().build() {
            Ok(http) => return Ok(ModelClient { http, tls_problem: None }),
            Err(error) => root_cause(&error),
        };
        match builder().tls_certs_only([]).build() {
            Ok(http) => Ok(ModelClient { http, tls_problem: Some(first.into()) }),
            Err(error) => {
                Err(ModelFailure::config(format!("connections cannot be set up: {}", root_cause(&error))))
            }
        }
    }

    /// # Errors
    /// [`FailureClass::Config`] for an address with TLS if no certificate can be checked.
    fn check_tls(&self, provider: &str, url: &Url) -> ModelResult {
        match &self.tls_problem {
            Some(why) if url.scheme() == "https" => Err(ModelFailure::config(format!(
                "{provider} cannot be asked over https: this system has no certificates to check it with ({why}). Install them (the package is mostly called ca-certificates), or set SSL_CERT_FILE to a file that holds them"
            ))),
            _ => Ok(()),
        }
    }

    /// Asks `model` over its wire. Nothing is sent before [`AnswerStream::next`].
    pub fn stream(
        &self,
        model: &Model,
        auth: Auth,
        request: ChatRequest,
        options: StreamOptions,
    ) -> AnswerStream {
        match crate::wire::by_id(&model.api) {
            Some(wire) => self.stream_over(wire, model, auth, request, options),
            None => {
                let api = escape::escape_line(&model.api);
                let message =
                    format!("relay knows no wire `{api}`. Check api of {} in models.yml", model.provider);
                AnswerStream::failed(model, ModelFailure::config(message))
            }
        }
    }

    /// Asks `model` over a given wire.
    pub fn stream_over(
        &self,
        wire: &'static dyn Wire,
        model: &Model,
        auth: Auth,
        request: ChatRequest,
        options: StreamOptions,
    ) -> AnswerStream {
        AnswerStream::new(self.clone(), wire, model, auth, request, options)
    }

    /// Gets a small document, for example a server's list of models: at most `most` bytes, within `time`.
    ///
    /// # Errors
    /// As in [`classify::from_response`],
    /// [`FailureClass::Network`], [`FailureClass::Timeout`], [`FailureClass::TooLarge`],
    /// [`FailureClass::Config`].
    pub async fn get(
        &self,
        provider: &str,
        url: &str,
        headers: &[(String, String)],
        time: Duration,
        most: usize,
    ) -> ModelResult<Vec<u8>> {
        let url = parse_address(provider, url)?;
        self.check_tls(provider, &url)?;
        let headers = header_map(provider, headers.iter().map(|(name, value)| (&**name, &**value)))?;
        let got = async {
            let request = self.http.get(url.clone()).headers(headers);
            let mut response =
                request.send().await.map_err(|error| network_failure(provider, &url, &error))?;
            if !response.status().is_success() {
                return Err(response_failure(provider, response).await);
            }
            let body = read_body(&mut response, most).await;
            let (body, whole) = body.map_err(|error| network_failure(provider, &url, &error))?;
            let too_large = || ModelFailure::too_large(format!("{provider} sent more than {most} bytes"));
            if whole { Ok(body) } else { Err(too_large()) }
        };
        tokio::time::timeout(time, got).await.unwrap_or_else(|_| {
            let message = format!("{provider} took longer than {} s", time.as_secs());
            Err(ModelFailure::new(FailureClass::Timeout, message))
        })
    }

    /// Returns an answer whose body has not begun.
    pub(crate) async fn send(self, http_request: Arc<HttpRequest>) -> ModelResult<Response> {
        let HttpRequest { provider, url, headers, body, .. } = &*http_request;
        self.check_tls(provider, url)?;
        let request = self.http.post(url.clone()).headers(headers.clone()).body(body.clone());
        let response = request.send().await.map_err(|error| network_failure(provider, url, &error))?;
        if !response.status().is_success() {
            return Err(response_failure(provider, response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.unwrap_or_default().trim_start().to_ascii_lowercase().starts_with("text/html") {
            return Err(web_page_failure(provider));
        }
        Ok(response)
    }
}

/// A prepared request that can be sent repeatedly.
pub(crate) struct HttpRequest {
    pub(crate) provider: String,
    pub(crate) url: Url,
    headers: HeaderMap,
    body: Bytes,
}

impl HttpRequest {
    /// # Errors
    /// [`FailureClass::Config`] for a key, header or address that cannot be sent; the message does not
    /// contain it.
    pub(crate) fn new(post: WireHttpRequest, model: &Model, framing: Framing) -> ModelResult<HttpRequest> {
        let provider = &model.provider;
        let accept = match framing {
            Framing::Events => "text/event-stream",
            Framing::Lines => "application/x-ndjson",
        };
        let fixed = [(CONTENT_TYPE.as_str(), "application/json"), (ACCEPT.as_str(), accept)];
        let of_wire = post.headers.iter().map(|(name, value)| (&**name, &**value));
        let of_model = model.headers.iter().map(|(name, value)| (&**name, &**value));
        let headers = header_map(provider, fixed.into_iter().chain(of_wire).chain(of_model))?;
        let url = parse_address(provider, &post.url)?;
        Ok(HttpRequest { provider: provider.clone(), url, headers, body: post.body.into() })
    }
}

/// Puts the key into an `Authorization` header as well, if the user wants that (`authHeader`).
pub(crate) fn with_bearer(mut post: WireHttpRequest, call: &WireCall<'_>) -> WireHttpRequest {
    if let (Some(true), Auth::Key(key)) = (call.model.compat.auth_header, call.auth) {
        post.headers.push(("authorization".to_owned(), format!("Bearer {key}")));
    }
    post
}

/// # Errors
/// [`FailureClass::Config`] for a key that no header can carry: with a line end, an ellipsis, a blank.
pub(crate) fn check_key(auth: &Auth, provider: &str) -> ModelResult {
    match auth {
        Auth::None => Ok(()),
        Auth::Key(key) if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(()),
        Auth::Key(key) => {
            let odd = "has a line end, a blank or another character in it that no key has";
            let what = if key.is_empty() { "is empty" } else { odd };
            Err(ModelFailure::config(format!(
                "the key of {provider} {what}. Set it again: `relay keys set {provider}`"
            )))
        }
    }
}

/// A key does not cross the network in plain text, unless the user allows it. Headers of `models.yml` that
/// look like a key count as one.
///
/// # Errors
/// [`FailureClass::Config`]
pub(crate) fn check_plain_http(http_request: HttpRequest, call: &WireCall<'_>) -> ModelResult<HttpRequest> {
    const KEYS: [&str; 5] = ["authorization", "key", "token", "secret", "cookie"];
    let WireCall { model, auth, .. } = call;
    let host = http_request.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let keyed = *auth != &Auth::None
        || model.headers.keys().any(|name| KEYS.iter().any(|key| name.to_ascii_lowercase().contains(key)));
    let in_clear = http_request.url.scheme() == "http" && !is_loopback(host);
    if !(keyed && in_clear) || model.compat.allow_plain_http == Some(true) {
        return Ok(http_request);
    }
    let (provider, host) = (&model.provider, escape::escape_line(host));
    Err(ModelFailure::config(format!(
        "the key of {provider} is not sent to {host} over http://, where others can read it. Use https:// in baseUrl, \
             or set `allowPlainHttp: true` for {provider} in models.yml"
    )))
}

/// Later headers replace earlier ones of the same name.
fn header_map<'a>(provider: &str, list: impl Iterator<Item = (&'a str, &'a str)>) -> ModelResult<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in list {
        let bad = || {
            let name = escape::escape_line(name);
            ModelFailure::config(format!(
                "the header `{name}` of {provider} has a character in it that no header has. Check headers in models.yml"
            ))
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn parse_address(provider: &str, url: &str) -> ModelResult<Url> {
    let bad = || {
        ModelFailure::config(format!(
            "the address of {provider} is none that begins with http:// or https://. Check baseUrl in models.yml"
        ))
    };
    // The parser would take what follows for the host; somebody forgot it.
    let rest = url.trim_start().split_once("://").map_or("/", |(_, rest)| rest);
    if rest.starts_with(['/', '\\']) {
        return Err(bad());
    }
    let url = Url::parse(url).map_err(|_| bad())?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(url) } else { Err(bad()) }
}

/// For an answer that is not a model's.
async fn response_failure(provider: &str, mut response: Response) -> ModelFailure {
    let status = response.status();
    let headers = response.headers().clone();
    let read = tokio::time::timeout(ERROR_BODY_TIME, read_body(&mut response, MAX_ERROR_BODY)).await;
    let body = if let Ok(Ok((body, _))) = read { body } else { Vec::new() };
    if status.is_redirection()
        && let Some(to) = headers.get(LOCATION).and_then(|to| to.to_str().ok())
    {
        // Without its query and password.
        let to = response.url().join(to).ok().and_then(|url| url.host_str().map(str::to_owned));
        let to = to.unwrap_or_default();
        return classify::from_response(provider, status.as_u16(), &headers, to.as_bytes(), Timestamp::now());
    }
    classify::from_response(provider, status.as_u16(), &headers, &body, Timestamp::now())
}

/// At most `most` bytes of a body, and whether that is all.
async fn read_body(response: &mut Response, most: usize) -> reqwest::Result<(Vec<u8>, bool)> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = most - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok((body, false));
        }
    }
    Ok((body, true))
}

pub(crate) fn web_page_failure(provider: &str) -> ModelFailure {
    ModelFailure::config(format!(
        "the address of {provider} answers with a web page, not as a model does. Check baseUrl in models.yml"
    ))
}

/// One JSON text instead of a stream: an error with a success status, or a server that does not stream.
pub(crate) fn document_failure(provider: &str, body: &[u8]) -> ModelFailure {
    let value = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
    let first = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
    if first.get("error").is_some_and(|error| !error.is_null()) {
        return classify::from_stream_json(provider, first);
    }
    ModelFailure::config(format!(
        "{provider} answers with one JSON text where a stream should come. Check baseUrl and api in models.yml"
    ))
}

/// Could not connect, or the connection broke.
pub(crate) fn network_failure(provider: &str, url: &Url, error: &reqwest::Error) -> ModelFailure {
    let host = url.host_str().unwrap_or_default();
    let place = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let place = escape::escape_line(&place);
    let cause = root_cause(error);
    if let Some(rustls::Error::InvalidCertificate(_)) = find_source(error) {
        let message = format!("the certificate of {provider} at {place} is not trusted: {cause}");
        return ModelFailure::config(message);
    }
    if error.is_timeout() {
        let message = format!("{provider} could not be reached at {place} in time");
        return ModelFailure::new(FailureClass::Timeout, message);
    }
    if error.is_connect() {
        let local = host == "localhost" || host.starts_with("127.") || host == "[::1]";
        let running = if local { ". Is its server running?" } else { "" };
        return ModelFailure::network(format!("{provider} cannot be reached at {place}: {cause}{running}"));
    }
    if error.is_builder() {
        return ModelFailure::config(format!("{provider} cannot be asked: {cause}"));
    }
    ModelFailure::network(format!("the connection to {provider} at {place} broke: {cause}"))
}

/// The innermost error, which contains no address and so no key.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(inner) = last.source() {
        last = inner;
    }
    if last.is::<reqwest::Error>() {
        "no reason is known".to_owned()
    } else {
        classify::sanitize_words(&last.to_string())
    }
}

/// An error of that type among the sources; I/O errors keep theirs inside.
fn find_source<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = inside.map(|inside| inside as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
