//! Finding the files, reading them, and laying them over each other.

use std::path::Path;

use super::file::{self, FileError, Links};
use super::keys::KEYS;
use super::layer::{self, Layer, Owner};
use super::{ApprovalMode, Config, ConfigError, ConfigFault, Loaded, Origin, Remark, literal, user};

/// The names that a project's configuration may have; the first that is there is read.
pub const FILES: [&str; 6] = [
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
/// If a file is there and cannot be used.
pub fn load(root: &Path, home: Option<&Path>) -> Result<Loaded, ConfigError> {
    let own = home.map(own_layer).transpose()?.unwrap_or_default();
    let (file, project) = project_layer(root)?;
    let mut loaded = lay(own, project, file);
    loaded.file = file.map(|name| root.join(name));
    remark_on_limits(&mut loaded);
    Ok(loaded)
}

fn own_layer(home: &Path) -> Result<Layer, ConfigError> {
    let name = home.join(USER_FILE).display().to_string();
    let text = file::read(home, USER_FILE, FILE_BYTES, Links::Anywhere);
    let Some(text) = text.map_err(|error| unreadable(&name, &error))? else {
        return Ok(Layer::default());
    };
    let node = user::yaml(&text).map_err(|fault| ConfigError::literal(&name, fault))?;
    layer::read(&name, &node, Owner::User)
}

fn project_layer(root: &Path) -> Result<(Option<&'static str>, Layer), ConfigError> {
    let there = |name: &&str| root.join(name).symlink_metadata().is_ok();
    let mut names = FILES.into_iter().filter(there);
    let Some(name) = names.next() else {
        return Ok((None, Layer::default()));
    };
    let text = file::read(root, name, FILE_BYTES, Links::Inside);
    let Some(text) = text.map_err(|error| unreadable(name, &error))? else {
        return Ok((None, Layer::default()));
    };
    let json = name.ends_with(".json");
    let node = if json { literal::json(&text) } else { literal::module(&text) };
    let node = node.map_err(|fault| ConfigError::literal(name, fault))?;
    let mut layer = layer::read(name, &node, Owner::Project)?;
    if layer.setting("projectId").is_none() {
        let hint = "Add a line such as \"projectId\": \"my-app\",";
        return Err(ConfigError::whole(ConfigFault::ProjectId, name, "there is no `projectId`", hint));
    }
    layer.remarks.extend(about_file(name, &names.collect::<Vec<_>>()));
    Ok((Some(name), layer))
}

/// What there is to say about the file as such.
fn about_file(name: &str, others: &[&str]) -> Option<Remark> {
    let remark = |text| Some(Remark { file: name.to_string(), line: 0, text });
    if !others.is_empty() {
        return remark(format!("{name} is read; not read: {}. Keep one of them", others.join(", ")));
    }
    match name {
        "relaycode.config.json" => None,
        "relay.config.json" => remark("the present name of this file is relaycode.config.json".to_string()),
        _ => remark(
            "this file is read without running it; relaycode.config.json is the usual form".to_string(),
        ),
    }
}

/// Lays the user's and the project's settings over the defaults.
fn lay(own: Layer, project: Layer, file: Option<&str>) -> Loaded {
    let mut config = Config::default();
    let mut origins: Vec<_> = KEYS.iter().map(|key| (key.name, Origin::Default)).collect();
    let mut note = |name: &str, origin: Origin| {
        origins.iter_mut().filter(|(key, _)| *key == name).for_each(|(_, known)| *known = origin.clone());
    };
    for setting in &own.settings {
        setting.key.set(&mut config, &setting.value);
        note(setting.key.name, Origin::User { line: setting.at.line });
    }
    let without_project = config.clone();
    let mut remarks = own.remarks;
    remarks.extend(project.remarks);
    // A user who wants to be asked is asked.
    let strict = without_project.patch.approval_mode == ApprovalMode::Manual;
    for setting in &project.settings {
        if strict && setting.key.name == "patch.approvalMode" {
            if setting.value != setting.key.get(&without_project) {
                let text =
                    "`patch.approvalMode` does nothing here: your own configuration says manual".to_string();
                let file = file.unwrap_or_default().to_string();
                remarks.push(Remark { file, line: setting.at.line, text });
            }
            continue;
        }
        setting.key.set(&mut config, &setting.value);
        note(setting.key.name, Origin::Project { line: setting.at.line });
    }
    Loaded { config, without_project, origins, file: None, remarks }
}

fn remark_on_limits(loaded: &mut Loaded) {
    let patch = &loaded.config.patch;
    let Some(most) = patch.max_file_changes.filter(|most| patch.min_file_changes > *most) else {
        return;
    };
    let text = format!(
        "`patch.minFileChanges` ({}) is more than `patch.maxFileChanges` ({most}): every change asks",
        patch.min_file_changes
    );
    let file = loaded.file.as_ref().and_then(|file| file.file_name());
    let file = file.map_or(USER_FILE.into(), |name| name.to_string_lossy());
    let file = file.into_owned();
    loaded.remarks.push(Remark { file, line: 0, text });
}

fn unreadable(name: &str, error: &FileError) -> ConfigError {
    let hint = match error {
        FileError::System(_) => "Make it readable, or remove it",
        FileError::Link => "Put the file itself there",
        FileError::Kind => "Remove it, or put a file there",
        FileError::Large(_) => "A configuration has a few dozen lines; is this the right file?",
        FileError::Encoding { .. } | FileError::Wide => "Save it as UTF-8",
        FileError::Zero { .. } => "Write it anew",
    };
    let mut config = ConfigError::whole(ConfigFault::Unreadable, name, error.to_string(), hint);
    if let FileError::Encoding { line } | FileError::Zero { line } = error {
        config.line = *line;
    }
    config
}
