//! The user's `models.yml`: other addresses and keys of providers, models that relay does not know, roles, and what is
//! preferred.
//!
//! ```yaml
//! providers:
//!   anthropic:
//!     apiKey: "!pass show anthropic"       # a variable's name, the key itself, or a command
//!   work:
//!     baseUrl: https://models.example.com/v1
//!     api: openai-completions
//!     apiKey: WORK_KEY
//!     models: [{id: big, contextWindow: 200000, reasoning: true}]
//! roles: {default: anthropic/claude-opus-5-5:high, smol: haiku}
//! ```
//!
//! Invariant: what is read is whole and right, or an error says where it is not; a key that stands in it never
//! reaches a message.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::discover::LocalServerKind;
use super::error::YamlFileError;
use super::roles::ModelRole;
use super::yaml_fields::{self, table, text};
use crate::display_text;
use crate::models::keys;
use crate::models::provider;
use crate::models::provider::Provider;
use crate::stream::retry::RetryBudget;
use crate::user_directory::UserDirectory;
use crate::wire;
use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::yaml::{self, YamlEntry, YamlError, YamlNode, YamlValue};

/// The file, in relay's directory.
pub const NAME: &str = "models.yml";

/// Bytes of the file.
const FILE_BYTES: u64 = 1 << 20;

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelsFile {
    /// Providers, in the order of the file.
    pub providers: Vec<ProviderEntry>,
    /// Selectors of roles.
    pub roles: BTreeMap<ModelRole, AtLine<String>>,
    /// Providers to prefer, the first most.
    pub model_provider_order: Vec<String>,
    /// If not empty: only models that one of these patterns fits.
    pub enabled_models: Vec<String>,
    /// Providers that are not used.
    pub disabled_providers: Vec<String>,
    /// How failed requests are tried again.
    pub retry: RetrySettings,
}

/// A value and the line that it stands on.
#[derive(Clone, PartialEq)]
pub struct AtLine<T> {
    /// The value.
    pub value: T,
    /// The line, from 1.
    pub line: usize,
}

/// What the file says of a provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderEntry {
    /// Its name.
    pub id: String,
    /// The line that it begins on.
    pub line: usize,
    /// Where requests go.
    pub base_url: Option<AtLine<String>>,
    /// A variable's name, a key, or `!` and a command.
    pub api_key: Option<AtLine<String>>,
    /// The wire.
    pub api: Option<AtLine<&'static str>>,
    /// Headers of every request.
    pub headers: Option<AtLine<BTreeMap<String, String>>>,
    /// The key goes into an `Authorization` header, whatever the wire does with it.
    pub auth_header: Option<AtLine<bool>>,
    /// The key may go over plain HTTP to another machine.
    pub allow_plain_http: Option<AtLine<bool>>,
    /// Whether a key is needed.
    pub auth: Option<AtLine<AuthKind>>,
    /// Its server can be asked what it has.
    pub discovery: Option<AtLine<LocalServerKind>>,
    /// How its server differs from the wire.
    pub compat: Option<AtLine<Map<String, Value>>>,
    /// Other values for models that are known.
    pub model_overrides: Vec<(String, ModelPatch)>,
    /// Models that are not.
    pub models: Vec<(String, ModelPatch)>,
}

/// What the file says of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelPatch {
    /// The line that it begins on.
    pub line: usize,
    /// Its name for people.
    pub name: Option<AtLine<String>>,
    /// It can think.
    pub reasoning: Option<AtLine<bool>>,
    /// It can read images.
    pub images: Option<AtLine<bool>>,
    /// What it costs.
    pub cost: Option<AtLine<Vec<(&'static str, f64)>>>,
    /// Tokens it can read and write together.
    pub context_window: Option<AtLine<u64>>,
    /// Tokens it can write.
    pub max_tokens: Option<AtLine<u64>>,
    /// Headers of every request.
    pub headers: Option<AtLine<BTreeMap<String, String>>>,
    /// How its server differs from the wire.
    pub compat: Option<AtLine<Map<String, Value>>>,
}

/// Whether a provider wants a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthKind {
    /// Yes.
    ApiKey,
    /// No.
    None,
}

/// How failed requests are tried again; `None`: as relay does by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetrySettings {
    /// At all.
    pub enabled: Option<bool>,
    /// How often a request that got no answer is sent again.
    pub request_max_retries: Option<u64>,
    /// How often one whose answer broke off is.
    pub stream_max_retries: Option<u64>,
    /// How often a turn is tried again.
    pub max_retries: Option<u64>,
    /// Milliseconds before the first attempt.
    pub base_delay_ms: Option<u64>,
    /// Milliseconds between attempts at most.
    pub max_delay_ms: Option<u64>,
}

impl RetrySettings {
    /// What a provider is asked again; `enabled` and `maxRetries` are about whole turns, and another's business.
    pub fn budget(&self) -> RetryBudget {
        let usual = RetryBudget::default();
        let count = |set: Option<u64>, usual: u32| set.and_then(|set| set.try_into().ok()).unwrap_or(usual);
        RetryBudget {
            request_max_retries: count(self.request_max_retries, usual.request_max_retries),
            stream_max_retries: count(self.stream_max_retries, usual.stream_max_retries),
            base_delay: self.base_delay_ms.map_or(usual.base_delay, Duration::from_millis),
            max_delay: self.max_delay_ms.map_or(usual.max_delay, Duration::from_millis),
        }
    }
}

// A key may stand in it.
impl<T> fmt::Debug for AtLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)
    }
}

/// The file in `home`; `None` if there is none.
///
/// # Errors
/// If it is not the user's own, cannot be read, or is not right.
pub fn load(home: &UserDirectory) -> Result<Option<ModelsFile>, YamlFileError> {
    let path = home.path().map_or_else(|_| NAME.into(), |path| path.join(NAME));
    let bytes = match home.read(NAME, FILE_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) | Err(crate::user_directory::PrivateFileError::NoHome) => return Ok(None),
        Err(error) => return Err(YamlFileError::from_own_error(path, &error)),
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        YamlFileError {
            path: path.clone(),
            line,
            column: 0,
            message: "this is not text in UTF-8".to_string(),
        }
    })?;
    parse(&text).map(Some).map_err(|fault| YamlFileError { path, ..fault })
}

/// Reads the text of such a file.
///
/// # Errors
/// If it is not right; the path is only the file's name.
pub fn parse(text: &str) -> Result<ModelsFile, YamlFileError> {
    let read = yaml::read(text).and_then(|node| read_models_file(&node));
    read.map_err(|fault| YamlFileError::from_fault(NAME.into(), fault))
}

fn read_models_file(node: &YamlNode) -> Result<ModelsFile, YamlError> {
    const NAMES: [&str; 6] =
        ["providers", "roles", "modelProviderOrder", "enabledModels", "disabledProviders", "retry"];
    let YamlValue::Table(entries) = &node.value else {
        return Err(YamlError::new(
            node.position,
            format!("the file must be a table, not {}", node.value.kind()),
        ));
    };
    let mut file = ModelsFile::default();
    for entry in entries {
        match entry.name.as_str() {
            "providers" => {
                for entry in table(&entry.node, "providers")? {
                    file.providers.push(provider(entry)?);
                }
            }
            "roles" => file.roles = roles(&entry.node)?,
            "modelProviderOrder" => file.model_provider_order = yaml_fields::texts(&entry.node, &entry.name)?,
            "enabledModels" => file.enabled_models = patterns(&entry.node)?,
            "disabledProviders" => file.disabled_providers = yaml_fields::texts(&entry.node, &entry.name)?,
            "retry" => file.retry = retry(&entry.node)?,
            "proxy" => {
                let said = "proxies are set with HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, not here";
                return Err(YamlError::new(entry.position, said));
            }
            _ => return Err(yaml_fields::unknown_field(entry, "", &NAMES)),
        }
    }
    let named = |id: &str| Provider::by_id(id).is_some() || file.providers.iter().any(|entry| entry.id == id);
    for id in file.model_provider_order.iter().chain(&file.disabled_providers) {
        if !named(id) {
            let at = entries
                .iter()
                .find(|entry| entry.name == "disabledProviders" || entry.name == "modelProviderOrder");
            let near = did_you_mean(&nearest_names(id, provider::ALL.iter().map(|provider| provider.id), 2));
            let said = format!("there is no provider `{}`{near}", display_text(id));
            return Err(YamlError::new(at.map(|entry| entry.position).unwrap_or_default(), said));
        }
    }
    Ok(file)
}

fn provider(entry: &YamlEntry) -> Result<ProviderEntry, YamlError> {
    const NAMES: [&str; 11] = [
        "baseUrl",
        "apiKey",
        "api",
        "headers",
        "authHeader",
        "allowPlainHttp",
        "auth",
        "discovery",
        "compat",
        "modelOverrides",
        "models",
    ];
    let id = entry.name.clone();
    if !keys::is_provider_name(&id) {
        let said = "a provider's name has small letters, digits, `-`, `.` and `_`, and begins with a letter or digit";
        return Err(YamlError::new(entry.position, said));
    }
    let what = format!("providers.{id}");
    let mut read = ProviderEntry { id, line: entry.position.line, ..ProviderEntry::default() };
    let entries = table(&entry.node, &what)?;
    for field in entries {
        let name = format!("{what}.{}", display_text(&field.name));
        let node = &field.node;
        match field.name.as_str() {
            "baseUrl" => read.base_url = Some(yaml_fields::address(node, &name)?),
            "apiKey" => read.api_key = Some(text(node, &name)?),
            "api" => {
                let wires: Vec<&'static str> = wire::ALL.iter().map(|wire| wire.id()).collect();
                read.api = Some(yaml_fields::one_of(node, &name, &wires)?);
            }
            "headers" => read.headers = Some(yaml_fields::headers(node, &name)?),
            "authHeader" => read.auth_header = Some(yaml_fields::boolean(node, &name)?),
            "allowPlainHttp" => read.allow_plain_http = Some(yaml_fields::boolean(node, &name)?),
            "auth" => read.auth = Some(auth(node, &name)?),
            "discovery" => read.discovery = Some(discovery(node, &name)?),
            "compat" => read.compat = Some(yaml_fields::compat(node, &name)?),
            "modelOverrides" => {
                for model in table(node, &name)? {
                    let what = format!("{name}.{}", display_text(&model.name));
                    read.model_overrides.push((
                        model.name.clone(),
                        patch(model.position.line, table(&model.node, &what)?, &what)?,
                    ));
                }
            }
            "models" => read.models = custom_models(node, &name)?,
            _ => return Err(yaml_fields::unknown_field(field, &what, &NAMES)),
        }
    }
    check_complete(&read, entries, entry)?;
    Ok(read)
}

/// An override names something; a provider of its own names everything that is needed.
fn check_complete(read: &ProviderEntry, entries: &[YamlEntry], entry: &YamlEntry) -> Result<(), YamlError> {
    let id = &read.id;
    if entries.is_empty() {
        return Err(YamlError::new(
            entry.position,
            format!("`providers.{id}` says nothing: name a setting, or remove it"),
        ));
    }
    if Provider::by_id(id).is_some() {
        return Ok(());
    }
    let near = did_you_mean(&nearest_names(id, provider::ALL.iter().map(|provider| provider.id), 2));
    let keyless = read.auth.as_ref().is_some_and(|auth| auth.value == AuthKind::None);
    let missing: Vec<&str> = [
        ("baseUrl", read.base_url.is_none()),
        ("apiKey (or auth: none)", read.api_key.is_none() && !keyless && read.discovery.is_none()),
        ("api", read.api.is_none() && read.discovery.is_none()),
        ("models (or discovery)", read.models.is_empty() && read.discovery.is_none()),
    ]
    .into_iter()
    .filter_map(|(name, missing)| missing.then_some(name))
    .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let said = format!("`providers.{id}` is none that relay knows, and lacks {}{near}", missing.join(", "));
    Err(YamlError::new(entry.position, said))
}

fn auth(node: &YamlNode, what: &str) -> Result<AtLine<AuthKind>, YamlError> {
    let AtLine { value, line } = yaml_fields::one_of(node, what, &["apiKey", "none", "oauth"])?;
    let value = match value {
        "apiKey" => AuthKind::ApiKey,
        "none" => AuthKind::None,
        _ => {
            return Err(YamlError::new(
                node.position,
                format!("`{what}`: relay signs in with keys only; use apiKey or none"),
            ));
        }
    };
    Ok(AtLine { value, line })
}

fn discovery(node: &YamlNode, what: &str) -> Result<AtLine<LocalServerKind>, YamlError> {
    let mut kind = None;
    for entry in table(node, what)? {
        match entry.name.as_str() {
            "type" => {
                let names = LocalServerKind::ALL.map(LocalServerKind::name);
                let word = yaml_fields::one_of(&entry.node, &format!("{what}.type"), &names)?;
                kind = LocalServerKind::ALL.into_iter().find(|kind| kind.name() == word.value);
            }
            _ => return Err(yaml_fields::unknown_field(entry, what, &["type"])),
        }
    }
    kind.map(|value| AtLine { value, line: node.position.line })
        .ok_or_else(|| YamlError::new(node.position, format!("`{what}` lacks `type`")))
}

fn custom_models(node: &YamlNode, what: &str) -> Result<Vec<(String, ModelPatch)>, YamlError> {
    let mut models: Vec<(String, ModelPatch)> = Vec::new();
    for (index, item) in yaml_fields::list(node, what)?.iter().enumerate() {
        let what = format!("{what}[{index}]");
        let entries = table(item, &what)?;
        let id = entries.iter().find(|entry| entry.name == "id");
        let id = id.ok_or_else(|| YamlError::new(item.position, format!("`{what}` lacks `id`")))?;
        let id = text(&id.node, &format!("{what}.id"))?;
        if models.iter().any(|(other, _)| *other == id.value) {
            return Err(YamlError::new(item.position, format!("`{what}`: this id came before")));
        }
        models.push((id.value, patch(item.position.line, entries, &what)?));
    }
    Ok(models)
}

fn patch(line: usize, entries: &[YamlEntry], what: &str) -> Result<ModelPatch, YamlError> {
    const NAMES: [&str; 9] =
        ["id", "name", "reasoning", "input", "cost", "contextWindow", "maxTokens", "headers", "compat"];
    let custom = what.ends_with(']');
    let mut read = ModelPatch { line, ..ModelPatch::default() };
    for field in entries {
        let name = format!("{what}.{}", display_text(&field.name));
        let node = &field.node;
        match field.name.as_str() {
            "id" if custom => {}
            "name" => read.name = Some(text(node, &name)?),
            "reasoning" => read.reasoning = Some(yaml_fields::boolean(node, &name)?),
            "input" => read.images = Some(yaml_fields::input(node, &name)?),
            "cost" => read.cost = Some(yaml_fields::cost(node, &name)?),
            "contextWindow" => read.context_window = Some(yaml_fields::tokens(node, &name)?),
            "maxTokens" => read.max_tokens = Some(yaml_fields::tokens(node, &name)?),
            "headers" => read.headers = Some(yaml_fields::headers(node, &name)?),
            "compat" => read.compat = Some(yaml_fields::compat(node, &name)?),
            _ => return Err(yaml_fields::unknown_field(field, what, &NAMES)),
        }
    }
    Ok(read)
}

fn roles(node: &YamlNode) -> Result<BTreeMap<ModelRole, AtLine<String>>, YamlError> {
    let names = ModelRole::ALL.map(ModelRole::name);
    let mut roles = BTreeMap::new();
    for entry in table(node, "roles")? {
        let role = ModelRole::from_name(&entry.name)
            .ok_or_else(|| yaml_fields::unknown_field(entry, "roles", &names))?;
        roles.insert(role, text(&entry.node, &format!("roles.{}", entry.name))?);
    }
    Ok(roles)
}

fn patterns(node: &YamlNode) -> Result<Vec<String>, YamlError> {
    for item in yaml_fields::list(node, "enabledModels")? {
        let pattern = text(item, "enabledModels")?;
        if super::select::glob(&pattern.value).is_none() {
            return Err(YamlError::new(
                item.position,
                "`enabledModels`: this is no pattern; `anthropic/*` is one",
            ));
        }
    }
    yaml_fields::texts(node, "enabledModels")
}

fn retry(node: &YamlNode) -> Result<RetrySettings, YamlError> {
    const NAMES: [&str; 6] =
        ["enabled", "requestMaxRetries", "streamMaxRetries", "maxRetries", "baseDelayMs", "maxDelayMs"];
    /// Attempts at most.
    const OFTEN: u64 = 100;
    /// Milliseconds at most: an hour.
    const LONG: u64 = 3_600_000;
    let mut retry = RetrySettings::default();
    for entry in table(node, "retry")? {
        let name = format!("retry.{}", display_text(&entry.name));
        let often = || Ok(Some(yaml_fields::integer(&entry.node, &name, 0, OFTEN)?.value));
        let long = || Ok(Some(yaml_fields::integer(&entry.node, &name, 0, LONG)?.value));
        match entry.name.as_str() {
            "enabled" => retry.enabled = Some(yaml_fields::boolean(&entry.node, &name)?.value),
            "requestMaxRetries" => retry.request_max_retries = often()?,
            "streamMaxRetries" => retry.stream_max_retries = often()?,
            "maxRetries" => retry.max_retries = often()?,
            "baseDelayMs" => retry.base_delay_ms = long()?,
            "maxDelayMs" => retry.max_delay_ms = long()?,
            _ => return Err(yaml_fields::unknown_field(entry, "retry", &NAMES)),
        }
    }
    Ok(retry)
}
