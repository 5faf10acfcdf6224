//! Every model that can be used, and where each thing that is known of it comes from.
//!
//! Laid over each other in this order: what relay knows, what `models.yml` says of the provider, its overrides of single
//! models, its own models (one of the same name replaces), what servers on this machine answered, and the overrides
//! again. A bad file changes nothing: what relay knows stays, and the error is kept in [`Registry::trouble`].

use std::collections::BTreeMap;
use std::fmt;

use super::discover::{Found, Kind, Target};
use super::error::FileError;
use super::fields;
use super::file::{At, AuthKind, ModelsFile, Patch, ProviderEntry};
use crate::catalogue;
use crate::model::{Compat, Model, Price};
use crate::provider::{self, Provider};
use relaycode_text::nearest::nearest;

/// Tokens that a model can read and write together, where nothing says how many.
pub const ASSUMED_CONTEXT: u64 = 128_000;
/// Tokens that it can write, where nothing says how many.
pub const ASSUMED_ANSWER: u64 = 16_384;

/// Every model that can be used.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    /// Providers: those that relay knows, then the user's own.
    pub providers: Vec<Registered>,
    /// Models, those of one provider together, in the order of the providers.
    pub models: Vec<Known>,
    /// What `models.yml` says.
    pub file: ModelsFile,
    /// Why `models.yml` is not used.
    pub trouble: Option<FileError>,
}

/// A provider, after `models.yml`.
#[derive(Clone, PartialEq)]
pub struct Registered {
    /// Its name in selectors.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The wire.
    pub api: String,
    /// Where requests go.
    pub base_url: String,
    /// Environment variables that may hold the key.
    pub variables: &'static [&'static str],
    /// What `models.yml` says of the key: a variable's name, the key itself, or `!` and a command.
    pub api_key: Option<At<String>>,
    /// Whether it wants a key.
    pub auth: AuthKind,
    /// Where a person gets a key; empty if nobody knows.
    pub docs: &'static str,
    /// Its server can be asked what it has.
    pub discovery: Option<Kind>,
    /// Where its wire and address come from.
    pub from: BTreeMap<&'static str, Origin>,
    headers: BTreeMap<String, String>,
    compat: Compat,
    entry: Option<ProviderEntry>,
}

/// A model, and where each thing that is known of it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The model.
    pub model: Model,
    /// By the name that the thing has in `models.yml`.
    pub from: BTreeMap<&'static str, Origin>,
}

/// Where something that is known comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Relay knows it.
    BuiltIn,
    /// `models.yml` says so.
    File {
        /// On this line.
        line: usize,
    },
    /// Its server says so.
    Discovered,
    /// Nobody says so.
    Assumed,
}

/// What is known of a model, by its name in `models.yml`.
const FIELDS: [&str; 9] =
    ["name", "api", "baseUrl", "reasoning", "input", "cost", "contextWindow", "maxTokens", "compat"];

impl Registry {
    /// What relay knows and what the file says; a file that is not right is kept as [`Registry::trouble`].
    pub fn new(file: Result<Option<ModelsFile>, FileError>) -> Registry {
        let (file, trouble) = match file {
            Ok(file) => (file.unwrap_or_default(), None),
            Err(error) => (ModelsFile::default(), Some(error)),
        };
        let mut registry = Registry { trouble, ..Registry::default() };
        for provider in provider::ALL {
            registry.add(Registered::built_in(provider, entry_of(&file, provider.id)));
        }
        for entry in file.providers.iter().filter(|entry| Provider::by_id(&entry.id).is_none()) {
            registry.add(Registered::custom(entry));
        }
        registry.file = file;
        let disabled = &registry.file.disabled_providers;
        registry.providers.retain(|provider| !disabled.contains(&provider.id));
        registry.models.retain(|known| !disabled.contains(&known.model.provider));
        registry
    }

    fn add(&mut self, provider: Registered) {
        for row in catalogue::ALL.iter().filter(|row| row.provider == provider.id) {
            let Some(built_in) = Provider::by_id(row.provider) else { continue };
            let from = FIELDS.into_iter().map(|field| (field, Origin::BuiltIn)).collect();
            self.models.push(provider.laid_over(Known { model: row.model(built_in), from }));
        }
        for (id, patch) in provider.entry.iter().flat_map(|entry| &entry.models) {
            self.put(provider.custom_model(id, patch));
        }
        self.providers.push(provider);
    }

    /// Puts a model in the place of the one of its name, or behind the last.
    fn put(&mut self, known: Known) {
        let same =
            |other: &Known| other.model.provider == known.model.provider && other.model.id == known.model.id;
        match self.models.iter_mut().find(|other| same(other)) {
            Some(other) => *other = known,
            None => {
                let last = self.models.iter().rposition(|other| other.model.provider == known.model.provider);
                let at = last.map_or(self.models.len(), |last| last + 1);
                self.models.insert(at, known);
            }
        }
    }

    /// The provider of that name.
    pub fn provider(&self, id: &str) -> Option<&Registered> {
        self.providers.iter().find(|provider| provider.id == id)
    }

    /// Providers whose names are near this one.
    pub fn near_providers(&self, name: &str) -> Vec<&str> {
        nearest(name, self.providers.iter().map(|provider| provider.id.as_str()), 3)
    }

    /// The models of a provider.
    pub fn models_of<'r>(&'r self, provider: &'r str) -> impl Iterator<Item = &'r Known> {
        self.models.iter().filter(move |known| known.model.provider == provider)
    }

    /// Servers that can be asked what they have. One that the user did not name is on this machine.
    pub fn targets(&self) -> Vec<Target> {
        let target = |provider: &Registered| {
            let kind = provider.discovery?;
            Some(Target { provider: provider.id.clone(), kind, base_url: provider.base_url.clone() })
        };
        self.providers.iter().filter_map(target).collect()
    }

    /// Takes in what a server answered. What the user wrote counts more.
    pub fn discovered(&mut self, provider: &str, found: Vec<Found>) {
        let Some(provider) = self.provider(provider).cloned() else { return };
        for found in found {
            let written =
                provider.entry.iter().flat_map(|entry| &entry.models).any(|(id, _)| *id == found.id);
            if !written {
                self.put(provider.found_model(found));
            }
        }
    }

    /// A model of a provider of which relay knows nothing but the name: everything else is assumed.
    pub fn assumed(&self, provider: &Registered, id: &str) -> Known {
        provider.found_model(Found { id: id.to_string(), ..Found::default() }).assumed()
    }
}

fn entry_of(file: &ModelsFile, id: &str) -> Option<ProviderEntry> {
    file.providers.iter().find(|entry| entry.id == id).cloned()
}

/// Without headers: a key may be among them.
impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered")
            .field("id", &self.id)
            .field("api", &self.api)
            .field("base_url", &self.base_url)
            .field("auth", &self.auth)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

impl Registered {
    fn built_in(provider: &'static Provider, entry: Option<ProviderEntry>) -> Registered {
        let auth = if provider.needs_key() { AuthKind::ApiKey } else { AuthKind::None };
        let registered = Registered {
            id: provider.id.to_string(),
            name: provider.name.to_string(),
            api: provider.api.to_string(),
            base_url: provider.base_url.to_string(),
            variables: provider.variables,
            api_key: None,
            auth,
            docs: provider.docs,
            discovery: provider.local,
            from: [("api", Origin::BuiltIn), ("baseUrl", Origin::BuiltIn)].into(),
            headers: BTreeMap::new(),
            compat: provider.compat(),
            entry: None,
        };
        match entry {
            Some(entry) => registered.over(entry),
            None => registered,
        }
    }

    fn custom(entry: &ProviderEntry) -> Registered {
        let api = entry.discovery.as_ref().map(|kind| kind.value.api()).unwrap_or_default();
        let keyless = entry.api_key.is_none();
        let registered = Registered {
            id: entry.id.clone(),
            name: entry.id.clone(),
            api: api.to_string(),
            base_url: String::new(),
            variables: &[],
            api_key: None,
            auth: if keyless { AuthKind::None } else { AuthKind::ApiKey },
            docs: "",
            discovery: None,
            from: [("api", Origin::Assumed)].into(),
            headers: BTreeMap::new(),
            compat: Compat::default(),
            entry: None,
        };
        registered.over(entry.clone())
    }

    fn over(mut self, entry: ProviderEntry) -> Registered {
        if let Some(At { value, line }) = &entry.base_url {
            self.base_url = value.clone();
            self.from.insert("baseUrl", Origin::File { line: *line });
        }
        if let Some(At { value, line }) = &entry.api {
            self.api = (*value).to_string();
            self.from.insert("api", Origin::File { line: *line });
        }
        if let Some(auth) = &entry.auth {
            self.auth = auth.value;
        } else if entry.api_key.is_some() {
            self.auth = AuthKind::ApiKey;
        }
        if let Some(discovery) = &entry.discovery {
            self.discovery = Some(discovery.value);
        }
        if let Some(headers) = &entry.headers {
            self.headers = headers.value.clone();
        }
        if let Some(compat) = &entry.compat {
            fields::switched(&mut self.compat, &compat.value);
        }
        if let Some(auth_header) = &entry.auth_header {
            self.compat.auth_header = Some(auth_header.value);
        }
        if let Some(allowed) = &entry.allow_plain_http {
            self.compat.allow_plain_http = Some(allowed.value);
        }
        self.api_key.clone_from(&entry.api_key);
        self.entry = Some(entry);
        self
    }

    /// What `models.yml` says of the provider and of this model of it, over what is known of the model.
    fn laid_over(&self, mut known: Known) -> Known {
        known.model.api.clone_from(&self.api);
        known.model.base_url.clone_from(&self.base_url);
        known.from.extend(self.from.iter().map(|(field, origin)| (*field, *origin)));
        known.model.headers.extend(self.headers.clone());
        known.model.compat = self.compat.clone();
        if let Some(compat) = self.entry.as_ref().and_then(|entry| entry.compat.as_ref()) {
            known.from.insert("compat", Origin::File { line: compat.line });
        }
        let overrides = self.entry.iter().flat_map(|entry| &entry.model_overrides);
        for (id, patch) in overrides {
            if *id == known.model.id {
                known.patch(patch);
            }
        }
        known
    }

    fn bare(&self, id: &str) -> Known {
        let model = Model {
            id: id.to_string(),
            provider: self.id.clone(),
            name: id.to_string(),
            api: self.api.clone(),
            base_url: self.base_url.clone(),
            headers: BTreeMap::new(),
            reasoning: false,
            images: false,
            price: Price::default(),
            context_window: ASSUMED_CONTEXT,
            max_tokens: ASSUMED_ANSWER,
            compat: Compat::default(),
        };
        Known { model, from: FIELDS.into_iter().map(|field| (field, Origin::Assumed)).collect() }
    }

    fn custom_model(&self, id: &str, patch: &Patch) -> Known {
        let mut known = self.laid_over(self.bare(id));
        known.from.insert("id", Origin::File { line: patch.line });
        known.patch(patch);
        known.bound();
        known
    }

    fn found_model(&self, found: Found) -> Known {
        let mut known = self.bare(&found.id);
        known.from.insert("id", Origin::Discovered);
        let mut says = |field, said: bool| {
            if said {
                known.from.insert(field, Origin::Discovered);
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
        let mut known = self.laid_over(known);
        known.bound();
        known
    }
}

impl Known {
    fn patch(&mut self, patch: &Patch) {
        let model = &mut self.model;
        let from = &mut self.from;
        let mut put = |field: &'static str, line: usize| {
            from.insert(field, Origin::File { line });
        };
        if let Some(At { value, line }) = &patch.name {
            model.name.clone_from(value);
            put("name", *line);
        }
        if let Some(At { value, line }) = &patch.reasoning {
            model.reasoning = *value;
            put("reasoning", *line);
        }
        if let Some(At { value, line }) = &patch.images {
            model.images = *value;
            put("input", *line);
        }
        if let Some(At { value, line }) = &patch.cost {
            fields::priced(&mut model.price, value);
            put("cost", *line);
        }
        if let Some(At { value, line }) = &patch.context_window {
            model.context_window = *value;
            put("contextWindow", *line);
        }
        if let Some(At { value, line }) = &patch.max_tokens {
            model.max_tokens = *value;
            put("maxTokens", *line);
        }
        if let Some(At { value, .. }) = &patch.headers {
            model.headers.extend(value.clone());
        }
        if let Some(At { value, line }) = &patch.compat {
            fields::switched(&mut model.compat, value);
            put("compat", *line);
        }
    }

    /// What is assumed of the answer fits into the window.
    fn bound(&mut self) {
        if self.from.get("maxTokens") == Some(&Origin::Assumed) {
            self.model.max_tokens = self.model.max_tokens.min(self.model.context_window);
        }
    }

    fn assumed(mut self) -> Known {
        self.from.insert("id", Origin::Assumed);
        self
    }
}
