//! Files that the program serves under schemes of its own: `read` and `write` of `notes://today` go to it.

use std::sync::Arc;
use std::time::Duration;

use relaycode_llm::CancelToken;
use relaycode_tools::VirtualFiles;
use relaycode_tools::internal_urls::is_internal_scheme;
use schemars::JsonSchema;
use serde::Deserialize;

use super::client_requests::{ClientRequests, RequestEnd, RequestWait};
use super::error::RpcError;
use super::frame::{HostUriOperation, RpcFrame};
use super::outbox::Outbox;

/// Schemes of a program.
const MAX_SCHEMES: usize = 32;
/// How long a program may take for a file.
const WAIT: Duration = Duration::from_secs(60);
/// Schemes that mean something to everybody.
const RESERVED: [&str; 6] = ["file", "http", "https", "ftp", "data", "relay"];

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HostUriScheme {
    /// Without `://`: small letters, digits and `-`.
    pub(crate) scheme: String,
    /// Files can be written, too.
    #[serde(default)]
    pub(crate) writable: bool,
}

/// The answer about a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HostUriResult {
    /// What was read; after a write it may be left out.
    #[serde(default)]
    pub(crate) content: String,
    /// It failed; `content` says why.
    #[serde(default)]
    pub(crate) is_error: bool,
}

pub(crate) type HostUriRequests = ClientRequests<HostUriResult, ()>;

pub(crate) struct HostFiles {
    schemes: Vec<HostUriScheme>,
    requests: Arc<HostUriRequests>,
    outbox: Arc<Outbox>,
}

impl HostFiles {
    /// # Errors
    /// If a scheme is none, or relay's own.
    pub(crate) fn new(
        schemes: Vec<HostUriScheme>,
        requests: Arc<HostUriRequests>,
        outbox: Arc<Outbox>,
    ) -> Result<HostFiles, RpcError> {
        if schemes.len() > MAX_SCHEMES {
            return Err(RpcError::params(format!("at most {MAX_SCHEMES} schemes are possible")));
        }
        for HostUriScheme { scheme, .. } in &schemes {
            let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if scheme.is_empty() || scheme.len() > 32 || !scheme.chars().all(is_letter) {
                return Err(RpcError::params("a scheme has 1 to 32 small letters, digits and `-`"));
            }
            if RESERVED.contains(&scheme.as_str()) || is_internal_scheme(scheme) {
                return Err(RpcError::params(format!("`{scheme}://` is taken")));
            }
        }
        Ok(HostFiles { schemes, requests, outbox })
    }

    fn ask(
        &self,
        (operation, url): (HostUriOperation, &str),
        content: Option<&str>,
        cancel: &CancelToken,
    ) -> Result<String, String> {
        let timeout_ms = u64::try_from(WAIT.as_millis()).unwrap_or(u64::MAX);
        let frame = |id: &str| RpcFrame::HostUriRequest { id, operation, url, content, timeout_ms }.to_line();
        let withdraw = |id: &str| RpcFrame::HostUriCancel { id }.to_line();
        let wait = RequestWait { most: WAIT, cancel: Some(cancel) };
        match self.requests.ask(&self.outbox, &wait, &frame, Some(&withdraw), &mut |()| ()) {
            Ok(HostUriResult { content, is_error: false }) => Ok(content),
            Ok(HostUriResult { content, .. }) => Err(format!("`{url}`: {content}")),
            Err(RequestEnd::TimedOut) => {
                Err(format!("`{url}`: the program that serves it gave no answer within {} s", WAIT.as_secs()))
            }
            Err(RequestEnd::TooMany) => {
                Err(format!("`{url}`: too many requests wait for the program that serves it"))
            }
            Err(RequestEnd::Closed | RequestEnd::Cancelled) => {
                Err(format!("`{url}`: the program that serves it has gone"))
            }
        }
    }
}

impl VirtualFiles for HostFiles {
    fn schemes(&self) -> Vec<String> {
        self.schemes.iter().map(|known| known.scheme.clone()).collect()
    }

    fn read(&self, address: &str, cancel: &CancelToken) -> Result<Vec<u8>, String> {
        self.ask((HostUriOperation::Read, address), None, cancel).map(String::into_bytes)
    }

    fn write(&self, address: &str, content: &str, cancel: &CancelToken) -> Result<(), String> {
        let is_writable = |known: &&HostUriScheme| {
            known.writable && address.split_once("://").is_some_and(|(scheme, _)| scheme == known.scheme)
        };
        if self.schemes.iter().find(is_writable).is_none() {
            return Err(format!("`{address}` can only be read"));
        }
        self.ask((HostUriOperation::Write, address), Some(content), cancel).map(drop)
    }
}
