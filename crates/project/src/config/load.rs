//! Finding the files, reading them, and laying them over each other.

use std::path::Path;

use super::keys::KEYS;
use super::layer::{self, ConfigLayer, LayerOwner};
use super::text_file::{self, LinkPolicy, TextFileError};
use super::{
    ApprovalMode, Config, ConfigError, ConfigErrorKind, ConfigOrigin, ConfigRemark, LoadedConfig, literal,
    user_yaml,
};

/// The names that a project's configuration may have; the first that is there is read.
pub const PROJECT_FILES: [&str; 6] = [
    "relaycode.config.json",
    "relay.config.json",
    "relaycode.config.ts",
    "relaycode.config.js",
    "relaycode.config.mjs",
    "relaycode.config.cjs",
];

/// The user's own configuration, in their directory of relay.
pub const USER_FILE: &str = "config.yml";

/// Bytes of a configuration.
const FILE_BYTES: u64 = 1 << 20;

/// The configuration of the project at `root` for the user whose directory of relay is `home`. A project
/// without a file has the defaults and what the user set.
///
/// # Errors
/// If a file is there and cannot be used: the first thing that is wrong.
pub fn load(root: &Path, home: Option<&Path>) -> Result<LoadedConfig, ConfigError> {
    let (loaded, errors) = load_all(root, home);
    errors.into_iter().next().map_or(Ok(loaded), Err)
}

/// The same, as far as it can be used, and everything that is wrong, in the order of the files.
pub fn load_all(root: &Path, home: Option<&Path>) -> (LoadedConfig, Vec<ConfigError>) {
    let mut errors = Vec::new();
    let mut collect = |read: Result<ReadLayer, ConfigError>| {
        let (file, layer, more) = read.unwrap_or_else(|error| (None, ConfigLayer::default(), vec![error]));
        errors.extend(more);
        (file, layer)
    };
    let own = home.map(|home| collect(user_layer(home))).unwrap_or_default().1;
    let (file, project) = collect(project_layer(root));
    let mut loaded = merge_layers(own, project, file);
    loaded.file = file.map(|name| root.join(name));
    remark_on_limits(&mut loaded);
    (loaded, errors)
}

/// What a file sets, under which of the names for a project's file it was found, and what is wrong with it.
type ReadLayer = (Option<&'static str>, ConfigLayer, Vec<ConfigError>);

fn user_layer(home: &Path) -> Result<ReadLayer, ConfigError> {
    let name = home.join(USER_FILE).display().to_string();
    let text = text_file::read_text(home, USER_FILE, FILE_BYTES, LinkPolicy::Anywhere);
    let text = text.map_err(|error| unreadable(&name, &error))?;
    let Some(text) = text else { return Ok(ReadLayer::default()) };
    let node = user_yaml::parse_yaml(&text).map_err(|fault| ConfigError::from_literal(&name, fault))?;
    let (layer, errors) = layer::read(&name, &node, LayerOwner::User);
    Ok((None, layer, errors))
}

fn project_layer(root: &Path) -> Result<ReadLayer, ConfigError> {
    let there = |name: &&str| root.join(name).symlink_metadata().is_ok();
    let mut names = PROJECT_FILES.into_iter().filter(there);
    let Some(name) = names.next() else { return Ok(ReadLayer::default()) };
    let text = text_file::read_text(root, name, FILE_BYTES, LinkPolicy::Inside);
    let text = text.map_err(|error| unreadable(name, &error))?;
    let Some(text) = text else { return Ok(ReadLayer::default()) };
    let json = name.ends_with(".json");
    let node = if json { literal::parse_json(&text) } else { literal::parse_module(&text) };
    let node = node.map_err(|fault| ConfigError::from_literal(name, fault))?;
    let (mut layer, mut errors) = layer::read(name, &node, LayerOwner::Project);
    let is_object = matches!(node.value, literal::LiteralValue::Table(_));
    if is_object
        && layer.setting("projectId").is_none()
        && errors.iter().all(|error| error.key != Some("projectId"))
    {
        let hint = "Add a line such as \"projectId\": \"my-app\",";
        let error = ConfigError::in_file(ConfigErrorKind::ProjectId, name, "there is no `projectId`", hint);
        errors.push(ConfigError { key: Some("projectId"), ..error });
    }
    layer.remarks.extend(file_remark(name, &names.collect::<Vec<_>>()));
    layer.has_older_names |= name != PROJECT_FILES[0];
    Ok((Some(name), layer, errors))
}

/// What there is to say about the file as such.
fn file_remark(name: &str, others: &[&str]) -> Option<ConfigRemark> {
    let remark = |text| Some(ConfigRemark { file: name.to_string(), line: 0, text });
    if !others.is_empty() {
        return remark(format!("relay reads {name} and ignores {}; keep one of them", others.join(", ")));
    }
    match name {
        "relaycode.config.json" => None,
        "relay.config.json" => remark("this file is now called relaycode.config.json".to_string()),
        _ => remark(
            "this file is read without running it; relaycode.config.json is the usual form".to_string(),
        ),
    }
}

/// Lays the user's and the project's settings over the defaults.
fn merge_layers(own: ConfigLayer, project: ConfigLayer, file: Option<&str>) -> LoadedConfig {
    let mut config = Config::default();
    let mut origins: Vec<_> = KEYS.iter().map(|key| (key.name, ConfigOrigin::Default)).collect();
    let mut note = |name: &str, origin: ConfigOrigin| {
        origins.iter_mut().filter(|(key, _)| *key == name).for_each(|(_, known)| *known = origin.clone());
    };
    for setting in &own.settings {
        setting.key.set(&mut config, &setting.value);
        note(setting.key.name, ConfigOrigin::User { line: setting.at.line });
    }
    let without_project = config.clone();
    let has_older_form = project.has_older_names;
    let mut remarks = own.remarks;
    remarks.extend(project.remarks);
    // A user who wants to be asked is asked.
    let strict = without_project.patch.approval_mode == ApprovalMode::Manual;
    for setting in &project.settings {
        if strict && setting.key.name == "patch.approvalMode" {
            if setting.value != setting.key.get(&without_project) {
                let text = "`patch.approvalMode` does nothing here: your own configuration says manual";
                let (file, text) = (file.unwrap_or_default().to_string(), text.to_string());
                remarks.push(ConfigRemark { file, line: setting.at.line, text });
            }
            continue;
        }
        setting.key.set(&mut config, &setting.value);
        note(setting.key.name, ConfigOrigin::Project { line: setting.at.line });
    }
    LoadedConfig { config, without_project, origins, file: None, has_older_form, remarks }
}

fn remark_on_limits(loaded: &mut LoadedConfig) {
    let patch = &loaded.config.patch;
    let Some(most) = patch.max_file_changes.filter(|most| patch.min_file_changes > *most) else { return };
    let least = patch.min_file_changes;
    let text = format!(
        "`patch.minFileChanges` ({least}) is more than `patch.maxFileChanges` ({most}): every change asks"
    );
    let file = loaded.file.as_ref().and_then(|file| file.file_name());
    let file = file.map_or(USER_FILE.into(), |name| name.to_string_lossy()).into_owned();
    loaded.remarks.push(ConfigRemark { file, line: 0, text });
}

fn unreadable(name: &str, error: &TextFileError) -> ConfigError {
    let hint = match error {
        TextFileError::Io(_) => "Make it readable, or remove it",
        TextFileError::OutsideLink => "Put the file itself there",
        TextFileError::NotAFile => "Remove it, or put a file there",
        TextFileError::TooLarge(_) => "A configuration has a few dozen lines; is this the right file?",
        TextFileError::Encoding { .. } | TextFileError::Utf16 => "Save it as UTF-8",
        TextFileError::Nul { .. } => "Write it anew",
    };
    let mut config = ConfigError::in_file(ConfigErrorKind::Unreadable, name, error.to_string(), hint);
    if let TextFileError::Encoding { line } | TextFileError::Nul { line } = error {
        config.line = *line;
    }
    config
}
