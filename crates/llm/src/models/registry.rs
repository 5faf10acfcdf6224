//! Every usable model, and where each of its values comes from.
//!
//! Layers, in this order: what relay knows, what `models.yml` says about the provider, its overrides of
//! single models, its own models (one of the same name replaces), what servers on this machine answered,
//! and the overrides again. A bad file changes nothing: what relay knows stays, and the error is kept in
//! [`ModelRegistry::file_error`].

use std::{collections::BTreeMap, fmt};

use super::discover::{DiscoveredModel, DiscoveryTarget, LocalServerKind};
use super::models_file::{AtLine, AuthKind, ModelPatch, ModelsFile, ProviderEntry};
use super::{error::YamlFileError, ollama_host, yaml_fields};
use crate::models::catalogue;
use crate::models::model::{Model, ServerCompat};
use crate::models::provider::{self, Provider};
use relaycode_text::nearest::nearest_names;

/// Context size if nothing is known.
pub const ASSUMED_CONTEXT: u64 = 128_000;
/// Output limit if nothing is known.
pub const ASSUMED_ANSWER: u64 = 16_384;

#[derive(Debug, Clone, Default)]
pub struct ModelRegistry {
    /// Those that relay knows, then the user's own.
    pub providers: Vec<RegisteredProvider>,
    /// Grouped by provider, in the order of the providers.
    pub models: Vec<RegistryModel>,
    pub file: ModelsFile,
    /// Why `models.yml` is not used.
    pub file_error: Option<YamlFileError>,
}

/// A provider, after `models.yml`.
#[derive(Clone, Default, PartialEq)]
pub struct RegisteredProvider {
    /// In selectors.
    pub id: String,
    /// For people.
    pub name: String,
    pub api: String,
    pub base_url: String,
    /// Environment variables that may hold the key.
    pub variables: &'static [&'static str],
    /// The keys in `models.yml`: each a variable's name, the key itself, or `!` and a command.
    pub api_keys: Vec<AtLine<String>>,
    /// Whether it wants a key.
    pub auth: AuthKind,
    /// Where a person gets a key; empty if unknown.
    pub docs: &'static str,
    /// Its server can be asked for its models.
    pub discovery: Option<LocalServerKind>,
    /// Where its wire and address come from.
    pub origins: BTreeMap<&'static str, ModelFieldOrigin>,
    headers: BTreeMap<String, String>,
    compat: ServerCompat,
    entry: Option<ProviderEntry>,
}

/// A model, and where each of its values comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryModel {
    pub model: Model,
    /// By the name of the value in `models.yml`.
    pub origins: BTreeMap<&'static str, ModelFieldOrigin>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFieldOrigin {
    /// Relay knows it.
    BuiltIn,
    /// From `models.yml`.
    File { line: usize },
    /// From this variable of the environment.
    Variable(&'static str),
    /// Its server reported it.
    Discovered,
    /// A default.
    Assumed,
}

/// A model's values, by their names in `models.yml`.
const FIELDS: [&str; 9] =
    ["name", "api", "baseUrl", "reasoning", "input", "cost", "contextWindow", "maxTokens", "compat"];

impl ModelRegistry {
    /// An invalid file is kept as [`ModelRegistry::file_error`].
    pub fn new(file: Result<Option<ModelsFile>, YamlFileError>) -> ModelRegistry {
        let (file, trouble) = match file {
            Ok(file) => (file.unwrap_or_default(), None),
            Err(error) => (ModelsFile::default(), Some(error)),
        };
        let mut registry = ModelRegistry { file_error: trouble, ..ModelRegistry::default() };
        for provider in provider::ALL {
            registry.add(RegisteredProvider::built_in(provider, find_entry(&file, provider.id)));
        }
        for entry in file.providers.iter().filter(|entry| Provider::by_id(&entry.id).is_none()) {
            registry.add(RegisteredProvider::custom(entry));
        }
        registry.file = file;
        let disabled = &registry.file.disabled_providers;
        registry.providers.retain(|provider| !disabled.contains(&provider.id));
        registry.models.retain(|known| !disabled.contains(&known.model.provider));
        registry
    }

    fn add(&mut self, provider: RegisteredProvider) {
        for row in catalogue::ALL.iter().filter(|row| row.provider == provider.id) {
            let Some(built_in) = Provider::by_id(row.provider) else { continue };
            let from = FIELDS.into_iter().map(|field| (field, ModelFieldOrigin::BuiltIn)).collect();
            let (model, origins) = (row.to_model(built_in), from);
            self.models.push(provider.with_overrides(RegistryModel { model, origins }));
        }
        for (id, patch) in provider.entry.iter().flat_map(|entry| &entry.models) {
            self.put_model(provider.custom_model(id, patch));
        }
        self.providers.push(provider);
    }

    /// Replaces the model of the same name, or appends it.
    fn put_model(&mut self, known: RegistryModel) {
        let same = |other: &RegistryModel| {
            other.model.provider == known.model.provider && other.model.id == known.model.id
        };
        match self.models.iter_mut().find(|other| same(other)) {
            Some(other) => *other = known,
            None => {
                let last = self.models.iter().rposition(|other| other.model.provider == known.model.provider);
                let at = last.map_or(self.models.len(), |last| last + 1);
                self.models.insert(at, known);
            }
        }
    }

    /// Where Ollama's own programs look for its server ([`super::ollama_host`]), unless `models.yml` says where it is.
    pub fn set_ollama_host(&mut self, host: &str) {
        let Some(base_url) = ollama_host::base_url(host) else { return };
        let origin = ModelFieldOrigin::Variable(ollama_host::VARIABLE);
        let is_here = |provider: &&mut RegisteredProvider| {
            provider.id == LocalServerKind::Ollama.name()
                && provider.origins.get("baseUrl") == Some(&ModelFieldOrigin::BuiltIn)
        };
        let Some(provider) = self.providers.iter_mut().find(is_here) else { return };
        provider.base_url.clone_from(&base_url);
        provider.origins.insert("baseUrl", origin);
        let id = provider.id.clone();
        let own = |known: &&mut RegistryModel| {
            // One that the user wrote may have an address of its own.
            let written = matches!(known.origins.get("baseUrl"), Some(ModelFieldOrigin::File { .. }));
            known.model.provider == id && !written
        };
        for known in self.models.iter_mut().filter(own) {
            known.model.base_url.clone_from(&base_url);
            known.origins.insert("baseUrl", origin);
        }
    }

    pub fn provider(&self, id: &str) -> Option<&RegisteredProvider> {
        self.providers.iter().find(|provider| provider.id == id)
    }

    pub fn near_providers(&self, name: &str) -> Vec<&str> {
        nearest_names(name, self.providers.iter().map(|provider| provider.id.as_str()), 3)
    }

    pub fn models_of<'r>(&'r self, provider: &'r str) -> impl Iterator<Item = &'r RegistryModel> {
        self.models.iter().filter(move |known| known.model.provider == provider)
    }

    /// Servers that can be asked for their models. One that the user did not name is on this machine.
    pub fn discovery_targets(&self) -> Vec<DiscoveryTarget> {
        let target = |provider: &RegisteredProvider| {
            let kind = provider.discovery?;
            Some(DiscoveryTarget { provider: provider.id.clone(), kind, base_url: provider.base_url.clone() })
        };
        self.providers.iter().filter_map(target).collect()
    }

    /// What the user wrote takes precedence.
    pub fn add_discovered(&mut self, provider: &str, found: Vec<DiscoveredModel>) {
        let Some(provider) = self.provider(provider).cloned() else { return };
        for found in found {
            let mut written = provider.entry.iter().flat_map(|entry| &entry.models);
            if !written.any(|(id, _)| *id == found.id) {
                self.put_model(provider.discovered_model(found));
            }
        }
    }

    /// A model of which relay knows only the name: everything else is a default.
    pub fn assumed_model(&self, provider: &RegisteredProvider, id: &str) -> RegistryModel {
        provider
            .discovered_model(DiscoveredModel { id: id.to_string(), ..DiscoveredModel::default() })
            .mark_assumed()
    }
}

fn find_entry(file: &ModelsFile, id: &str) -> Option<ProviderEntry> {
    file.providers.iter().find(|entry| entry.id == id).cloned()
}

/// Without headers: they may include a key.
impl fmt::Debug for RegisteredProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredProvider")
            .field("id", &self.id)
            .field("api", &self.api)
            .field("base_url", &self.base_url)
            .field("auth", &self.auth)
            .field("from", &self.origins)
            .finish_non_exhaustive()
    }
}

impl RegisteredProvider {
    fn built_in(provider: &'static Provider, entry: Option<ProviderEntry>) -> RegisteredProvider {
        let registered = RegisteredProvider {
            id: provider.id.to_string(),
            name: provider.name.to_string(),
            api: provider.api.to_string(),
            base_url: provider.base_url.to_string(),
            variables: provider.variables,
            auth: if provider.needs_key() { AuthKind::ApiKey } else { AuthKind::None },
            docs: provider.docs,
            discovery: provider.local,
            origins: [("api", ModelFieldOrigin::BuiltIn), ("baseUrl", ModelFieldOrigin::BuiltIn)].into(),
            compat: provider.compat(),
            ..RegisteredProvider::default()
        };
        match entry {
            Some(entry) => registered.with_entry(entry),
            None => registered,
        }
    }

    fn custom(entry: &ProviderEntry) -> RegisteredProvider {
        let api = entry.discovery.as_ref().map(|kind| kind.value.api()).unwrap_or_default();
        let registered = RegisteredProvider {
            id: entry.id.clone(),
            name: entry.id.clone(),
            api: api.to_string(),
            origins: [("api", ModelFieldOrigin::Assumed)].into(),
            ..RegisteredProvider::default()
        };
        registered.with_entry(entry.clone())
    }

    fn with_entry(mut self, entry: ProviderEntry) -> RegisteredProvider {
        if let Some(AtLine { value, line }) = &entry.base_url {
            self.base_url = value.clone();
            self.origins.insert("baseUrl", ModelFieldOrigin::File { line: *line });
        }
        if let Some(AtLine { value, line }) = &entry.api {
            self.api = (*value).to_string();
            self.origins.insert("api", ModelFieldOrigin::File { line: *line });
        }
        if let Some(auth) = &entry.auth {
            self.auth = auth.value;
        } else if !entry.api_keys.is_empty() {
            self.auth = AuthKind::ApiKey;
        }
        self.discovery = entry.discovery.as_ref().map(|kind| kind.value).or(self.discovery);
        if let Some(headers) = &entry.headers {
            self.headers = headers.value.clone();
        }
        if let Some(compat) = &entry.compat {
            yaml_fields::apply_compat(&mut self.compat, &compat.value);
        }
        let compat = &mut self.compat;
        let on = |set: &Option<AtLine<bool>>| set.as_ref().map(|set| set.value);
        compat.auth_header = on(&entry.auth_header).or(compat.auth_header);
        compat.allow_plain_http = on(&entry.allow_plain_http).or(compat.allow_plain_http);
        self.api_keys.clone_from(&entry.api_keys);
        self.entry = Some(entry);
        self
    }

    /// Applies what `models.yml` says about the provider and this model.
    fn with_overrides(&self, mut known: RegistryModel) -> RegistryModel {
        known.model.api.clone_from(&self.api);
        known.model.base_url.clone_from(&self.base_url);
        known.origins.extend(self.origins.iter().map(|(field, origin)| (*field, *origin)));
        known.model.headers.extend(self.headers.clone());
        known.model.compat = self.compat.clone();
        if let Some(compat) = self.entry.as_ref().and_then(|entry| entry.compat.as_ref()) {
            known.origins.insert("compat", ModelFieldOrigin::File { line: compat.line });
        }
        let overrides = self.entry.iter().flat_map(|entry| &entry.model_overrides);
        for (id, patch) in overrides {
            if *id == known.model.id {
                known.apply_patch(patch);
            }
        }
        known
    }

    fn default_model(&self, id: &str) -> RegistryModel {
        let model = Model {
            id: id.to_string(),
            provider: self.id.clone(),
            name: id.to_string(),
            api: self.api.clone(),
            base_url: self.base_url.clone(),
            context_window: ASSUMED_CONTEXT,
            max_tokens: ASSUMED_ANSWER,
            ..Model::default()
        };
        let origins = FIELDS.into_iter().map(|field| (field, ModelFieldOrigin::Assumed)).collect();
        RegistryModel { model, origins }
    }

    fn custom_model(&self, id: &str, patch: &ModelPatch) -> RegistryModel {
        let mut known = self.with_overrides(self.default_model(id));
        known.origins.insert("id", ModelFieldOrigin::File { line: patch.line });
        known.apply_patch(patch);
        known.clamp_max_tokens();
        known
    }

    fn discovered_model(&self, found: DiscoveredModel) -> RegistryModel {
        let mut known = self.default_model(&found.id);
        known.origins.insert("id", ModelFieldOrigin::Discovered);
        let mut says = |field, said: bool| {
            if said {
                known.origins.insert(field, ModelFieldOrigin::Discovered);
            }
        };
        says("name", found.name.is_some());
        says("reasoning", found.reasoning.is_some());
        says("input", found.images.is_some());
        says("contextWindow", found.context_window.is_some());
        let model = &mut known.model;
        model.name = found.name.unwrap_or(found.id);
        model.reasoning = found.reasoning.unwrap_or(false);
        model.images = found.images.unwrap_or(false);
        model.context_window = found.context_window.unwrap_or(ASSUMED_CONTEXT);
        let mut known = self.with_overrides(known);
        known.clamp_max_tokens();
        known
    }
}

/// Sets a value that the file has; its line.
fn set<T: Clone>(value: &mut T, given: &Option<AtLine<T>>) -> Option<usize> {
    let AtLine { value: given, line } = given.as_ref()?;
    value.clone_from(given);
    Some(*line)
}

impl RegistryModel {
    fn apply_patch(&mut self, patch: &ModelPatch) {
        let RegistryModel { model, origins } = self;
        let mut take = |field, line: Option<usize>| {
            origins.extend(line.map(|line| (field, ModelFieldOrigin::File { line })));
        };
        take("name", set(&mut model.name, &patch.name));
        take("reasoning", set(&mut model.reasoning, &patch.reasoning));
        take("input", set(&mut model.images, &patch.images));
        take("contextWindow", set(&mut model.context_window, &patch.context_window));
        take("maxTokens", set(&mut model.max_tokens, &patch.max_tokens));
        let promotion = patch.context_promotion_target.as_ref();
        if let Some(AtLine { value, line }) = promotion {
            model.context_promotion_target = Some(value.clone());
            take("contextPromotionTarget", Some(*line));
        }
        if let Some(AtLine { value, line }) = &patch.cost {
            yaml_fields::apply_price(&mut model.price, value);
            take("cost", Some(*line));
        }
        if let Some(AtLine { value, .. }) = &patch.headers {
            model.headers.extend(value.clone());
        }
        if let Some(AtLine { value, line }) = &patch.compat {
            yaml_fields::apply_compat(&mut model.compat, value);
            take("compat", Some(*line));
        }
    }

    /// The default output limit must fit into the window.
    fn clamp_max_tokens(&mut self) {
        if self.origins.get("maxTokens") == Some(&ModelFieldOrigin::Assumed) {
            self.model.max_tokens = self.model.max_tokens.min(self.model.context_window);
        }
    }

    fn mark_assumed(mut self) -> RegistryModel {
        self.origins.insert("id", ModelFieldOrigin::Assumed);
        self
    }
}
