//! The user's `models.yml`: addresses and keys of providers, models that relay does not know, roles, and
//! preferences.
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
//! Invariant: what is read is complete and valid, or an error says where it is not; a key in it never
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

/// In relay's directory.
pub const NAME: &str = "models.yml";

const FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelsFile {
    /// In the order of the file.
    pub providers: Vec<ProviderEntry>,
    /// A selector per role.
    pub roles: BTreeMap<ModelRole, AtLine<String>>,
    /// Most preferred first.
    pub model_provider_order: Vec<String>,
    /// If not empty: only models that match one of these patterns.
    pub enabled_models: Vec<String>,
    /// Providers that are not used.
    pub disabled_providers: Vec<String>,
    /// How failed requests are retried.
    pub retry: RetrySettings,
}

#[derive(Clone, PartialEq)]
pub struct AtLine<T> {
    pub value: T,
    /// From 1.
    pub line: usize,
}

/// What the file says about a provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderEntry {
    pub id: String,
    /// Where it begins.
    pub line: usize,
    pub base_url: Option<AtLine<String>>,
    /// A variable's name, a key, or `!` and a command.
    pub api_key: Option<AtLine<String>>,
    pub api: Option<AtLine<&'static str>>,
    /// Added to every request.
    pub headers: Option<AtLine<BTreeMap<String, String>>>,
    /// The key goes into an `Authorization` header, whatever the wire does with it.
    pub auth_header: Option<AtLine<bool>>,
    /// The key may go over plain HTTP to another machine.
    pub allow_plain_http: Option<AtLine<bool>>,
    /// Whether a key is needed.
    pub auth: Option<AtLine<AuthKind>>,
    /// Its server can be asked for its models.
    pub discovery: Option<AtLine<LocalServerKind>>,
    /// How its server differs from the wire.
    pub compat: Option<AtLine<Map<String, Value>>>,
    /// Changes to known models.
    pub model_overrides: Vec<(String, ModelPatch)>,
    /// Models that relay does not know.
    pub models: Vec<(String, ModelPatch)>,
}

/// What the file says about a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelPatch {
    /// Where it begins.
    pub line: usize,
    pub name: Option<AtLine<String>>,
    /// It can think.
    pub reasoning: Option<AtLine<bool>>,
    /// It can read images.
    pub images: Option<AtLine<bool>>,
    pub cost: Option<AtLine<Vec<(&'static str, f64)>>>,
    /// Tokens it can read and write together.
    pub context_window: Option<AtLine<u64>>,
    /// Most tokens it can write.
    pub max_tokens: Option<AtLine<u64>>,
    /// Added to every request.
    pub headers: Option<AtLine<BTreeMap<String, String>>>,
    /// How its server differs from the wire.
    pub compat: Option<AtLine<Map<String, Value>>>,
}

/// Whether a provider wants a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthKind {
    ApiKey,
    None,
}

/// `None`: relay's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetrySettings {
    pub enabled: Option<bool>,
    /// For a request that got no answer.
    pub request_max_retries: Option<u64>,
    /// For a request whose answer broke off.
    pub stream_max_retries: Option<u64>,
    /// For a whole turn.
    pub max_retries: Option<u64>,
    /// Before the first retry.
    pub base_delay_ms: Option<u64>,
    /// Longest delay between attempts.
    pub max_delay_ms: Option<u64>,
}

impl RetrySettings {
    /// For single requests; `enabled` and `maxRetries` concern whole turns, which are not retried here.
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

// It may hold a key.
impl<T> fmt::Debug for AtLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)
    }
}

/// `None` if there is no file in `home`.
///
/// # Errors
/// If it is not private to the user, cannot be read, or is invalid.
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

/// # Errors
/// If it is invalid; the path is only the file's name.
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
    let label = format!("providers.{id}");
    let mut read = ProviderEntry { id, line: entry.position.line, ..ProviderEntry::default() };
    let entries = table(&entry.node, &label)?;
    for field in entries {
        let name = format!("{label}.{}", display_text(&field.name));
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
                    let label = format!("{name}.{}", display_text(&model.name));
                    read.model_overrides.push((
                        model.name.clone(),
                        patch(model.position.line, table(&model.node, &label)?, &label)?,
                    ));
                }
            }
            "models" => read.models = custom_models(node, &name)?,
            _ => return Err(yaml_fields::unknown_field(field, &label, &NAMES)),
        }
    }
    check_complete(&read, entries, entry)?;
    Ok(read)
}

/// An override changes something; a new provider names everything that is needed.
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

fn auth(node: &YamlNode, label: &str) -> Result<AtLine<AuthKind>, YamlError> {
    let AtLine { value, line } = yaml_fields::one_of(node, label, &["apiKey", "none", "oauth"])?;
    let value = match value {
        "apiKey" => AuthKind::ApiKey,
        "none" => AuthKind::None,
        _ => {
            return Err(YamlError::new(
                node.position,
                format!("`{label}`: relay signs in with keys only; use apiKey or none"),
            ));
        }
    };
    Ok(AtLine { value, line })
}

fn discovery(node: &YamlNode, label: &str) -> Result<AtLine<LocalServerKind>, YamlError> {
    let mut kind = None;
    for entry in table(node, label)? {
        match entry.name.as_str() {
            "type" => {
                let names = LocalServerKind::ALL.map(LocalServerKind::name);
                let word = yaml_fields::one_of(&entry.node, &format!("{label}.type"), &names)?;
                kind = LocalServerKind::ALL.into_iter().find(|kind| kind.name() == word.value);
            }
            _ => return Err(yaml_fields::unknown_field(entry, label, &["type"])),
        }
    }
    kind.map(|value| AtLine { value, line: node.position.line })
        .ok_or_else(|| YamlError::new(node.position, format!("`{label}` lacks `type`")))
}

fn custom_models(node: &YamlNode, label: &str) -> Result<Vec<(String, ModelPatch)>, YamlError> {
    let mut models: Vec<(String, ModelPatch)> = Vec::new();
    for (index, item) in yaml_fields::list(node, label)?.iter().enumerate() {
        let label = format!("{label}[{index}]");
        let entries = table(item, &label)?;
        let id = entries.iter().find(|entry| entry.name == "id");
        let id = id.ok_or_else(|| YamlError::new(item.position, format!("`{label}` lacks `id`")))?;
        let id = text(&id.node, &format!("{label}.id"))?;
        if models.iter().any(|(other, _)| *other == id.value) {
            return Err(YamlError::new(item.position, format!("`{label}`: this id came before")));
        }
        models.push((id.value, patch(item.position.line, entries, &label)?));
    }
    Ok(models)
}

fn patch(line: usize, entries: &[YamlEntry], label: &str) -> Result<ModelPatch, YamlError> {
    const NAMES: [&str; 9] =
        ["id", "name", "reasoning", "input", "cost", "contextWindow", "maxTokens", "headers", "compat"];
    let custom = label.ends_with(']');
    let mut read = ModelPatch { line, ..ModelPatch::default() };
    for field in entries {
        let name = format!("{label}.{}", display_text(&field.name));
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
            _ => return Err(yaml_fields::unknown_field(field, label, &NAMES)),
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
    /// Most attempts.
    const OFTEN: u64 = 100;
    /// Most milliseconds: an hour.
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
