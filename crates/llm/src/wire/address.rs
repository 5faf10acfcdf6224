//! Where a request goes, and how it authenticates.
//!
//! Invariant: a key is in one header and nowhere else, and never in a message.

use crate::failure::{ModelFailure, ModelResult};
use crate::models::model::Model;
use crate::request::{Auth, WireCall};
use crate::wire::WireHttpRequest;

/// OpenAI's longest id for a call, an item or a cache.
pub(crate) const MAX_OPENAI_ID: usize = 64;

/// `path` below the model's base, or below `usual` if it has none. A query of the base stays at the end.
///
/// # Errors
/// [`crate::FailureClass::Config`] for an invalid web address.
pub(crate) fn url(model: &Model, usual: &str, path: &str) -> ModelResult<String> {
    let base = if model.base_url.trim().is_empty() { usual } else { model.base_url.trim() };
    let known = base.starts_with("https://") || base.starts_with("http://");
    if !known || host(base).is_empty() || base.contains(char::is_whitespace) {
        let provider = &model.provider;
        return Err(ModelFailure::config(format!(
            "the base URL of {provider} is no address; it must begin with https:// or http://"
        )));
    }
    let (place, query) = base.split_once('?').map_or((base, None), |(place, query)| (place, Some(query)));
    let place = place.trim_end_matches('/');
    // Some write the whole address where the base is asked for.
    let place = place.strip_suffix(path).unwrap_or(place);
    Ok(match query {
        Some(query) => format!("{place}{path}?{query}"),
        None => format!("{place}{path}"),
    })
}

/// In lower case, without port.
pub(crate) fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.to_ascii_lowercase()
}

/// Whether `host` is `domain` or beneath it.
pub(crate) fn is_beneath(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Azure takes the key in a different header.
const AZURE: [&str; 3] = ["openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"];

pub(crate) fn is_azure(host: &str) -> bool {
    AZURE.iter().any(|domain| is_beneath(host, domain))
}

/// `None` if there is no key.
///
/// # Errors
/// [`crate::FailureClass::Config`] for a key that no header can hold.
pub(crate) fn checked_key<'a>(model: &Model, auth: &'a Auth) -> ModelResult<Option<&'a str>> {
    let Auth::Key(key) = auth else { return Ok(None) };
    let key = key.trim();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let provider = &model.provider;
        return Err(ModelFailure::config(format!(
            "the key of {provider} is empty or has characters that no key has; set it again with `relay keys set {provider}`"
        )));
    }
    Ok(Some(key))
}

/// The request for `path` at the model's server, or `to` another one if it names none.
///
/// # Errors
/// As [`url`] and [`checked_key`].
pub(crate) fn post(call: &WireCall<'_>, to: &str, path: &str, body: Vec<u8>) -> ModelResult<WireHttpRequest> {
    let headers = auth_headers(call.model, call.auth)?;
    Ok(WireHttpRequest { url: url(call.model, to, path)?, headers, body })
}

/// Fails as [`checked_key`] does.
fn auth_headers(model: &Model, auth: &Auth) -> ModelResult<Vec<(String, String)>> {
    let Some(key) = checked_key(model, auth)? else { return Ok(Vec::new()) };
    Ok(if is_azure(&host(&model.base_url)) {
        vec![("api-key".into(), key.into())]
    } else {
        vec![("authorization".into(), format!("Bearer {key}"))]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureClass;

    fn at(base: &str) -> Model {
        Model { base_url: base.into(), ..crate::models::model::tests::model() }
    }

    #[test]
    fn the_path_goes_before_the_query_of_the_base() {
        let url = |base: &str| url(&at(base), "https://usual.example/v1", "/responses").unwrap();
        assert_eq!(url(""), "https://usual.example/v1/responses");
        assert_eq!(url("http://[::1]:8080/v1/"), "http://[::1]:8080/v1/responses");
        assert_eq!(
            url("https://a.openai.azure.com/openai?api-version=2025-04-01"),
            "https://a.openai.azure.com/openai/responses?api-version=2025-04-01"
        );
        assert_eq!(url("https://a.example/v1/responses"), "https://a.example/v1/responses");
    }

    #[test]
    fn what_is_no_address_is_a_matter_of_settings() {
        for base in ["ftp://a", "api.example.com/v1", "https://", "https://a b"] {
            assert_eq!(url(&at(base), "", "/x").unwrap_err().class, FailureClass::Config, "{base}");
        }
    }

    #[test]
    fn a_host_is_found_behind_names_and_before_ports() {
        assert_eq!(host("https://me:pw@API.Example.com:8443/v1?x"), "api.example.com");
        assert_eq!(host("http://[::1]:1234/v1"), "::1");
        assert!(is_beneath("eu.api.example.com", "example.com"));
        assert!(!is_beneath("notexample.com", "example.com"));
    }

    #[test]
    fn a_key_goes_into_its_header_or_nowhere() {
        let headers = |base: &str, key: &str| auth_headers(&at(base), &Auth::Key(key.into()));
        assert_eq!(
            headers("https://a.example", " k1\n").unwrap(),
            [("authorization".into(), "Bearer k1".into())]
        );
        assert_eq!(headers("https://a.openai.azure.com", "k1").unwrap(), [("api-key".into(), "k1".into())]);
        for key in ["", "k\ny", "k\u{e9}y", "two words"] {
            let failure = headers("https://a.example", key).unwrap_err();
            assert_eq!(failure.class, FailureClass::Config);
            assert!(key.is_empty() || !failure.message.contains(key));
        }
        assert_eq!(auth_headers(&at("https://a.example"), &Auth::None).unwrap(), []);
    }
}
