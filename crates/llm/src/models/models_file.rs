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

use std::{collections::BTreeMap, fmt, time::Duration};

use serde_json::{Map, Value};

use super::yaml_fields::{self, YamlField};
use super::{discover::LocalServerKind, error::YamlFileError, roles::ModelRole};
use crate::models::provider::{self, Provider};
use crate::{display_text, models::keys, stream::retry::RetryBudget, user_directory::UserDirectory, wire};
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
    /// Who goes on where the model of a role fails, in this order.
    pub fallback_chains: BTreeMap<ModelRole, Vec<String>>,
    /// The first model is asked again once its failure is long enough ago.
    pub reverts_fallback: Option<bool>,
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
    /// Each a variable's name, a key, or `!` and a command.
    pub api_keys: Vec<AtLine<String>>,
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
    /// A model of the same provider that goes on when the window is full.
    pub context_promotion_target: Option<AtLine<String>>,
    /// Added to every request.
    pub headers: Option<AtLine<BTreeMap<String, String>>>,
    /// How its server differs from the wire.
    pub compat: Option<AtLine<Map<String, Value>>>,
}

/// Whether a provider wants a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthKind {
    ApiKey,
    #[default]
    None,
}

/// `None`: relay's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetrySettings {
    /// `false`: nothing is retried.
    pub enabled: Option<bool>,
    /// For a request that got no answer.
    pub request_max_retries: Option<u64>,
    /// For a request whose answer broke off.
    pub stream_max_retries: Option<u64>,
    /// For an answer in all, whatever the reason.
    pub max_retries: Option<u64>,
    /// Before the first retry.
    pub base_delay_ms: Option<u64>,
    /// Longest delay between attempts.
    pub max_delay_ms: Option<u64>,
}

impl RetrySettings {
    /// How often one answer is asked for again.
    pub fn budget(&self) -> RetryBudget {
        if self.enabled == Some(false) {
            return RetryBudget::NONE;
        }
        let usual = RetryBudget::default();
        let count = |set: Option<u64>, usual: u32| set.and_then(|set| set.try_into().ok()).unwrap_or(usual);
        RetryBudget {
            request_max_retries: count(self.request_max_retries, usual.request_max_retries),
            stream_max_retries: count(self.stream_max_retries, usual.stream_max_retries),
            max_retries: count(self.max_retries, usual.max_retries),
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
    let Some((path, bytes)) = YamlFileError::read(home, NAME, FILE_BYTES)? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|b| **b == b'\n').count() + 1;
        let message = "this is not text in UTF-8".to_string();
        YamlFileError { path: path.clone(), line, column: 0, message }
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
        let said = format!("the file must be a table, not {}", node.value.kind());
        return Err(YamlError::new(node.position, said));
    };
    let mut file = ModelsFile::default();
    for entry in entries {
        let field = YamlField::top(entry);
        match entry.name.as_str() {
            "providers" => file.providers = field.table()?.iter().map(provider).collect::<Result<_, _>>()?,
            "roles" => file.roles = roles(&field)?,
            "modelProviderOrder" => file.model_provider_order = field.texts()?,
            "enabledModels" => file.enabled_models = patterns(&field)?,
            "disabledProviders" => file.disabled_providers = field.texts()?,
            "retry" => retry(&field, &mut file)?,
            "proxy" => {
                let said = "proxies are set with HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, not here";
                return Err(YamlError::new(entry.position, said));
            }
            _ => return Err(yaml_fields::unknown_field(entry, "", &NAMES)),
        }
    }
    let named = |id: &str| Provider::by_id(id).is_some() || file.providers.iter().any(|entry| entry.id == id);
    if let Some(id) = file.model_provider_order.iter().chain(&file.disabled_providers).find(|id| !named(id)) {
        let lists = |entry: &&YamlEntry| ["disabledProviders", "modelProviderOrder"].contains(&&*entry.name);
        let at = entries.iter().find(lists).map(|entry| entry.position).unwrap_or_default();
        return Err(YamlError::new(
            at,
            format!("there is no provider `{}`{}", display_text(id), similar(id)),
        ));
    }
    Ok(file)
}

/// The providers that may be meant, as the end of a sentence.
fn similar(id: &str) -> String {
    did_you_mean(&nearest_names(id, provider::ALL.iter().map(|provider| provider.id), 2))
}

fn provider(entry: &YamlEntry) -> Result<ProviderEntry, YamlError> {
    const NAMES: &str =
        "baseUrl apiKey api headers authHeader allowPlainHttp auth discovery compat modelOverrides models";
    let id = entry.name.clone();
    if !keys::is_provider_name(&id) {
        let said = "a provider's name has small letters, digits, `-`, `.` and `_`, and begins with a letter or digit";
        return Err(YamlError::new(entry.position, said));
    }
    let provider = YamlField { node: &entry.node, label: format!("providers.{id}") };
    let mut read = ProviderEntry { id, line: entry.position.line, ..ProviderEntry::default() };
    let entries = provider.table()?;
    for entry in entries {
        let field = provider.child(entry);
        match entry.name.as_str() {
            "baseUrl" => read.base_url = Some(field.address()?),
            "apiKey" => read.api_keys = api_keys(&field)?,
            "api" => {
                let wires: Vec<&'static str> = wire::ALL.iter().map(|wire| wire.id()).collect();
                read.api = Some(field.one_of(&wires)?);
            }
            "headers" => read.headers = Some(field.headers()?),
            "authHeader" => read.auth_header = Some(field.boolean()?),
            "allowPlainHttp" => read.allow_plain_http = Some(field.boolean()?),
            "auth" => read.auth = Some(auth(&field)?),
            "discovery" => read.discovery = Some(discovery(&field)?),
            "compat" => read.compat = Some(field.compat()?),
            "modelOverrides" => {
                for model in field.table()? {
                    let patch = patch(model.position.line, &field.child(model))?;
                    read.model_overrides.push((model.name.clone(), patch));
                }
            }
            "models" => read.models = custom_models(&field)?,
            _ => return Err(provider.unknown_child(entry, &NAMES.split(' ').collect::<Vec<_>>())),
        }
    }
    check_complete(&read, entries, entry)?;
    Ok(read)
}

/// An override changes something; a new provider names everything that is needed.
fn check_complete(read: &ProviderEntry, entries: &[YamlEntry], entry: &YamlEntry) -> Result<(), YamlError> {
    let id = &read.id;
    if entries.is_empty() {
        let said = format!("`providers.{id}` says nothing: name a setting, or remove it");
        return Err(YamlError::new(entry.position, said));
    }
    if Provider::by_id(id).is_some() {
        return Ok(());
    }
    let keyless = read.auth.as_ref().is_some_and(|auth| auth.value == AuthKind::None);
    let required = [
        ("baseUrl", read.base_url.is_none()),
        ("apiKey (or auth: none)", read.api_keys.is_empty() && !keyless && read.discovery.is_none()),
        ("api", read.api.is_none() && read.discovery.is_none()),
        ("models (or discovery)", read.models.is_empty() && read.discovery.is_none()),
    ];
    let missing: Vec<&str> =
        required.into_iter().filter_map(|(name, missing)| missing.then_some(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (missing, near) = (missing.join(", "), similar(id));
    let said = format!("`providers.{id}` is none that relay knows, and lacks {missing}{near}");
    Err(YamlError::new(entry.position, said))
}

/// One, or a list of them.
fn api_keys(field: &YamlField<'_>) -> Result<Vec<AtLine<String>>, YamlError> {
    let YamlValue::List(items) = &field.node.value else { return Ok(vec![field.text()?]) };
    if items.is_empty() || items.len() > keys::MAX_KEYS {
        return Err(field.error(format!("must have 1 to {} keys", keys::MAX_KEYS)));
    }
    field.list()?.map(|item| item.text()).collect()
}

fn auth(field: &YamlField<'_>) -> Result<AtLine<AuthKind>, YamlError> {
    match field.one_of(&["apiKey", "none", "oauth"])?.value {
        "apiKey" => Ok(field.at_line(AuthKind::ApiKey)),
        "none" => Ok(field.at_line(AuthKind::None)),
        _ => {
            let said = format!("`{}`: relay signs in with keys only; use apiKey or none", field.label);
            Err(YamlError::new(field.node.position, said))
        }
    }
}

fn discovery(field: &YamlField<'_>) -> Result<AtLine<LocalServerKind>, YamlError> {
    let mut kind = None;
    for entry in field.table()? {
        if entry.name != "type" {
            return Err(field.unknown_child(entry, &["type"]));
        }
        let word = field.child(entry).one_of(&LocalServerKind::ALL.map(LocalServerKind::name))?;
        kind = LocalServerKind::ALL.into_iter().find(|kind| kind.name() == word.value);
    }
    kind.map(|value| field.at_line(value)).ok_or_else(|| field.error("lacks `type`"))
}

fn custom_models(field: &YamlField<'_>) -> Result<Vec<(String, ModelPatch)>, YamlError> {
    let mut models: Vec<(String, ModelPatch)> = Vec::new();
    for (index, item) in field.list()?.enumerate() {
        let item = YamlField { label: format!("{}[{index}]", item.label), ..item };
        let id = item.table()?.iter().find(|entry| entry.name == "id");
        let id = item.child(id.ok_or_else(|| item.error("lacks `id`"))?).text()?.value;
        let position = item.node.position;
        if models.iter().any(|(other, _)| *other == id) {
            return Err(YamlError::new(position, format!("`{}`: this id came before", item.label)));
        }
        models.push((id, patch(position.line, &item)?));
    }
    Ok(models)
}

fn patch(line: usize, model: &YamlField<'_>) -> Result<ModelPatch, YamlError> {
    const NAMES: [&str; 10] = [
        "id",
        "name",
        "reasoning",
        "input",
        "cost",
        "contextWindow",
        "maxTokens",
        "contextPromotionTarget",
        "headers",
        "compat",
    ];
    // A model of the user's own, which is in a list, has an id.
    let custom = model.label.ends_with(']');
    let mut read = ModelPatch { line, ..ModelPatch::default() };
    for entry in model.table()? {
        let field = model.child(entry);
        match entry.name.as_str() {
            "id" if custom => {}
            "name" => read.name = Some(field.text()?),
            "reasoning" => read.reasoning = Some(field.boolean()?),
            "input" => read.images = Some(field.input()?),
            "cost" => read.cost = Some(field.cost()?),
            "contextWindow" => read.context_window = Some(field.tokens()?),
            "maxTokens" => read.max_tokens = Some(field.tokens()?),
            "contextPromotionTarget" => read.context_promotion_target = Some(field.text()?),
            "headers" => read.headers = Some(field.headers()?),
            "compat" => read.compat = Some(field.compat()?),
            _ => return Err(model.unknown_child(entry, &NAMES)),
        }
    }
    Ok(read)
}

fn roles(field: &YamlField<'_>) -> Result<BTreeMap<ModelRole, AtLine<String>>, YamlError> {
    let names = ModelRole::ALL.map(ModelRole::name);
    let mut roles = BTreeMap::new();
    for entry in field.table()? {
        let role = ModelRole::from_name(&entry.name).ok_or_else(|| field.unknown_child(entry, &names))?;
        roles.insert(role, field.child(entry).text()?);
    }
    Ok(roles)
}

fn patterns(field: &YamlField<'_>) -> Result<Vec<String>, YamlError> {
    for item in field.list()? {
        if super::select::glob(&item.text()?.value).is_none() {
            let said = "`enabledModels`: this is no pattern; `anthropic/*` is one";
            return Err(YamlError::new(item.node.position, said));
        }
    }
    field.texts()
}

fn retry(field: &YamlField<'_>, file: &mut ModelsFile) -> Result<(), YamlError> {
    const NAMES: [&str; 8] = [
        "enabled",
        "requestMaxRetries",
        "streamMaxRetries",
        "maxRetries",
        "baseDelayMs",
        "maxDelayMs",
        "fallbackChains",
        "fallbackRevertPolicy",
    ];
    /// Most attempts.
    const OFTEN: u64 = 100;
    /// Most milliseconds: an hour.
    const LONG: u64 = 3_600_000;
    let mut retry = RetrySettings::default();
    for entry in field.table()? {
        let value = field.child(entry);
        let up_to = |most| Ok(Some(value.integer(0, most)?.value));
        match entry.name.as_str() {
            "enabled" => retry.enabled = Some(value.boolean()?.value),
            "requestMaxRetries" => retry.request_max_retries = up_to(OFTEN)?,
            "streamMaxRetries" => retry.stream_max_retries = up_to(OFTEN)?,
            "maxRetries" => retry.max_retries = up_to(OFTEN)?,
            "baseDelayMs" => retry.base_delay_ms = up_to(LONG)?,
            "maxDelayMs" => retry.max_delay_ms = up_to(LONG)?,
            "fallbackChains" => file.fallback_chains = fallback_chains(&value)?,
            "fallbackRevertPolicy" => {
                file.reverts_fallback = Some(value.one_of(&["cooldown-expiry", "never"])?.value != "never");
            }
            _ => return Err(field.unknown_child(entry, &NAMES)),
        }
    }
    file.retry = retry;
    Ok(())
}

/// For each role, the models that go on.
fn fallback_chains(field: &YamlField<'_>) -> Result<BTreeMap<ModelRole, Vec<String>>, YamlError> {
    let names: Vec<&str> = ModelRole::ALL.iter().map(|role| role.name()).collect();
    let chain = |entry: &YamlEntry| {
        let role = ModelRole::from_name(&entry.name).ok_or_else(|| field.unknown_child(entry, &names))?;
        Ok((role, field.child(entry).texts()?))
    };
    field.table()?.iter().map(chain).collect()
}
