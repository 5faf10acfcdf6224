//! Which model is meant by what somebody typed: `provider/id`, an id, a role, a pattern, or words that
//! match; each with an optional `:level`.
//!
//! An exact name always wins, even one with a colon. Among equally good matches the first wins by: its
//! provider has a key, `modelProviderOrder`, the order of the catalogue. So the same text means the same
//! model until keys or files change.

use globset::{GlobBuilder, GlobMatcher};

use super::fuzzy::{canonical, fuzzy_rank};
use super::registry::{ModelRegistry, RegistryModel};
use super::roles::ModelRole;
use crate::request::ThinkingLevel;
use relaycode_text::nearest::{did_you_mean, nearest_names};

/// Longest selector, in bytes.
const LONGEST: usize = 512;
/// How many roles may refer to one another.
const DEPTH: usize = 4;
/// Most suggestions in a message.
const OFFERED: usize = 3;

/// The model that was meant.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectedModel {
    pub entry: RegistryModel,
    /// If the selector says.
    pub level: Option<ThinkingLevel>,
    /// How it was found.
    pub matched_by: ModelMatchKind,
    /// Other equally good matches, as `provider/id`.
    pub alternatives: Vec<String>,
}

impl SelectedModel {
    /// Without an alternative.
    fn only(entry: RegistryModel, level: Option<ThinkingLevel>, matched_by: ModelMatchKind) -> SelectedModel {
        SelectedModel { entry, level, matched_by, alternatives: Vec::new() }
    }
}

/// How a model was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelMatchKind {
    /// By its full name.
    Exact,
    /// By its name alone, or by an equivalent one.
    Name,
    Pattern,
    /// By matching words.
    Fuzzy,
    /// By the name of a provider of which relay knows no models: everything else is a default.
    Assumed,
    /// The first usable one.
    First,
}

/// Why no model was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelSelectError {
    /// Nothing was typed, or too much.
    #[error("this is not a model name; `relay models` lists them")]
    NoName,
    /// Its provider is not used.
    #[error("`{0}` is disabled in models.yml (disabledProviders)")]
    Disabled(String),
    /// `near` has suggestions, as the end of a sentence.
    #[error("there is no model `{selector}`{near}")]
    Unknown { selector: String, near: String },
    /// A role refers to itself.
    #[error("the role `{0}` leads to itself in models.yml")]
    RoleCycle(String),
    /// Without a name there is no usable model.
    #[error("no provider has a key yet; `relay keys set anthropic` stores one")]
    NoKey,
}

type SelectResult = Result<SelectedModel, ModelSelectError>;

/// Tells which providers can be used: they have a key, or need none.
pub type HasKey<'k> = dyn Fn(&str) -> bool + 'k;

impl ModelRegistry {
    /// The model that `selector` means.
    pub fn select(&self, selector: &str, has_key: &HasKey<'_>) -> SelectResult {
        self.select_at(selector.trim(), has_key, 0)
    }

    /// The model of a role; without one that of the role `default`, and without that the first usable one.
    pub fn select_role(&self, role: ModelRole, has_key: &HasKey<'_>) -> SelectResult {
        self.select_role_at(role, has_key, 0)
    }

    fn select_role_at(&self, role: ModelRole, has_key: &HasKey<'_>, depth: usize) -> SelectResult {
        if depth > DEPTH {
            return Err(ModelSelectError::RoleCycle(role.name().to_string()));
        }
        let named = self.file.roles.get(&role).or_else(|| self.file.roles.get(&ModelRole::Default));
        if let Some(named) = named {
            return self.select_at(named.value.trim(), has_key, depth + 1);
        }
        let usable = self.enabled().filter(|known| has_key(&known.model.provider)).collect();
        // A local server is used if it is asked for, or if there is nothing else.
        let first = self.ranked(usable, has_key).into_iter().next().ok_or(ModelSelectError::NoKey)?;
        Ok(SelectedModel::only(first.clone(), None, ModelMatchKind::First))
    }

    fn select_at(&self, selector: &str, has_key: &HasKey<'_>, depth: usize) -> SelectResult {
        if selector.is_empty() || selector.len() > LONGEST {
            return Err(ModelSelectError::NoName);
        }
        let (base, level) = split_level(selector);
        for (text, level) in [(selector, None), (base, level)] {
            if let Some(known) = self.models.iter().find(|known| is_exact(known, text)) {
                return Ok(SelectedModel::only(known.clone(), level, ModelMatchKind::Exact));
            }
            let same: Vec<&RegistryModel> = self.enabled().filter(|known| known.model.id == text).collect();
            if let Some(chosen) = self.first_ranked(same, level, ModelMatchKind::Name, has_key) {
                return Ok(chosen);
            }
        }
        if let Some(role) = ModelRole::from_name(base) {
            let chosen = self.select_role_at(role, has_key, depth)?;
            return Ok(SelectedModel { level: level.or(chosen.level), ..chosen });
        }
        if let Some(disabled) = self.file.disabled_providers.iter().find(|id| has_provider_prefix(base, id)) {
            return Err(ModelSelectError::Disabled(disabled.clone()));
        }
        if let Some((provider, id)) = base.split_once('/')
            && let Some(provider) = self.provider(provider)
            && !id.is_empty()
            && !is_pattern(base)
            && self.models_of(&provider.id).next().is_none()
        {
            let known = self.assumed_model(provider, id);
            return Ok(SelectedModel::only(known, level, ModelMatchKind::Assumed));
        }
        if let Some(pattern) = glob(base).filter(|_| is_pattern(base)) {
            let found = self.enabled().filter(|known| matches_pattern(&pattern, known)).collect();
            return self
                .first_ranked(found, level, ModelMatchKind::Pattern, has_key)
                .ok_or_else(|| self.unknown_model(selector, base));
        }
        let wanted = canonical(base);
        let same = self.enabled().filter(|known| canonical(&known.model.id) == wanted).collect();
        if let Some(chosen) = self.first_ranked(same, level, ModelMatchKind::Name, has_key) {
            return Ok(chosen);
        }
        self.first_ranked(self.best_matches(base), level, ModelMatchKind::Fuzzy, has_key)
            .ok_or_else(|| self.unknown_model(selector, base))
    }

    /// The matching models, in the order of the catalogue: a full name or an id, a pattern, a role, or
    /// words.
    pub fn matching(&self, filter: &str, has_key: &HasKey<'_>) -> Vec<&RegistryModel> {
        let (base, _) = split_level(filter.trim());
        let exact: Vec<&RegistryModel> =
            self.models.iter().filter(|known| is_exact(known, filter) || known.model.id == filter).collect();
        if !exact.is_empty() {
            return exact;
        }
        if let Some(role) = ModelRole::from_name(base) {
            let chosen = self.select_role(role, has_key);
            let chosen = chosen.map(|chosen| chosen.entry.model.selector()).unwrap_or_default();
            return self.models.iter().filter(|known| known.model.selector() == chosen).collect();
        }
        if let Some(pattern) = glob(base).filter(|_| is_pattern(base)) {
            return self.models.iter().filter(|known| matches_pattern(&pattern, known)).collect();
        }
        self.models.iter().filter(|known| fuzzy_rank(base, &searchable_names(known)).is_some()).collect()
    }

    /// Whether `enabledModels` allows a model without its full name.
    pub fn is_enabled(&self, known: &RegistryModel) -> bool {
        let patterns = &self.file.enabled_models;
        patterns.is_empty()
            || patterns
                .iter()
                .filter_map(|pattern| glob(pattern))
                .any(|pattern| matches_pattern(&pattern, known))
    }

    fn enabled(&self) -> impl Iterator<Item = &RegistryModel> {
        self.models.iter().filter(|known| self.is_enabled(known))
    }

    /// The models that the words match best.
    fn best_matches(&self, words: &str) -> Vec<&RegistryModel> {
        let fitting =
            self.enabled().filter_map(|known| Some((fuzzy_rank(words, &searchable_names(known))?, known)));
        let fitting: Vec<_> = fitting.collect();
        let best = fitting.iter().map(|(fit, _)| *fit).min();
        fitting.into_iter().filter(|(fit, _)| Some(*fit) == best).map(|(_, known)| known).collect()
    }

    fn first_ranked(
        &self,
        found: Vec<&RegistryModel>,
        level: Option<ThinkingLevel>,
        how: ModelMatchKind,
        has_key: &HasKey<'_>,
    ) -> Option<SelectedModel> {
        let mut ranked = self.ranked(found, has_key).into_iter();
        let known = ranked.next()?.clone();
        let alternatives = ranked.map(|known| known.model.selector()).collect();
        Some(SelectedModel { alternatives, ..SelectedModel::only(known, level, how) })
    }

    fn ranked<'k>(&self, mut found: Vec<&'k RegistryModel>, has_key: &HasKey<'_>) -> Vec<&'k RegistryModel> {
        let order = &self.file.model_provider_order;
        // Stable: equal ones stay in the order of the catalogue.
        found.sort_by_cached_key(|known| {
            let provider = &known.model.provider;
            let place = order.iter().position(|other| other == provider).unwrap_or(order.len());
            (!has_key(provider), place)
        });
        found
    }

    fn unknown_model(&self, selector: &str, base: &str) -> ModelSelectError {
        let full: Vec<String> = self.models.iter().map(|known| known.model.selector()).collect();
        let ids = self.models.iter().map(|known| known.model.id.as_str());
        let names = if base.contains('/') { Vec::new() } else { ids.collect() };
        let near = did_you_mean(&nearest_names(base, full.iter().map(String::as_str).chain(names), OFFERED));
        ModelSelectError::Unknown { selector: crate::display_text(selector), near }
    }
}

/// The name, and the level after its last colon, if it is one.
pub fn split_level(selector: &str) -> (&str, Option<ThinkingLevel>) {
    match selector.rsplit_once(':') {
        Some((base, level)) if !base.is_empty() => match ThinkingLevel::from_name(level) {
            Some(level) => (base, Some(level)),
            None => (selector, None),
        },
        _ => (selector, None),
    }
}

/// A pattern for full names and ids, ignoring case.
pub(super) fn glob(pattern: &str) -> Option<GlobMatcher> {
    let built = GlobBuilder::new(pattern).case_insensitive(true).literal_separator(false).build();
    built.ok().map(|glob| glob.compile_matcher())
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn matches_pattern(pattern: &GlobMatcher, known: &RegistryModel) -> bool {
    pattern.is_match(known.model.selector()) || pattern.is_match(&known.model.id)
}

fn is_exact(known: &RegistryModel, text: &str) -> bool {
    has_provider_prefix(text, &known.model.provider)
        && text[known.model.provider.len() + 1..] == known.model.id
}

fn has_provider_prefix(text: &str, provider: &str) -> bool {
    text.strip_prefix(provider).is_some_and(|rest| rest.starts_with('/'))
}

/// All names of a model.
fn searchable_names(known: &RegistryModel) -> String {
    format!("{}/{} {}", known.model.provider, known.model.id, known.model.name)
}
