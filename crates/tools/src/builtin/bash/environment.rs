//! What a command finds in its environment beside the user's variables: nothing that waits for a person, and no keys.

use std::collections::BTreeMap;
use std::ffi::OsString;

use relaycode_exec::JobEnvironment;
use relaycode_project::protected::SECRET_VARIABLES;

use crate::tool::ToolError;
use crate::workspace::{CommandSurroundings, ToolSettings};

/// Variables of one call.
const MAX_VARIABLES: usize = 100;
/// Bytes of their values together.
const MAX_VARIABLE_BYTES: usize = 32 << 10;

/// So that no program opens a pager or an editor, or asks for a password or a yes.
const UNATTENDED: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("BAT_PAGER", "cat"),
    ("DELTA_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "false"),
    ("GIT_ASKPASS", "false"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("npm_config_yes", "true"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_fund", "false"),
    ("npm_config_audit", "false"),
    ("PIP_NO_INPUT", "1"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("HOMEBREW_NO_AUTO_UPDATE", "1"),
    ("COMPOSER_NO_INTERACTION", "1"),
];

/// How a command's environment differs from relay's; `more` comes last.
pub(super) fn command_environment(
    surroundings: &CommandSurroundings,
    settings: &ToolSettings,
    (is_pty, is_fenced): (bool, bool),
    more: Vec<(OsString, OsString)>,
) -> JobEnvironment {
    let mut set: Vec<(OsString, OsString)> =
        UNATTENDED.iter().map(|(name, value)| (name.into(), value.into())).collect();
    if settings.bash_ci {
        set.push(("CI".into(), "1".into()));
    }
    set.push(("TERM".into(), if is_pty { "xterm-256color" } else { "dumb" }.into()));
    set.extend(more);
    let known: Vec<OsString> = match is_fenced {
        true => SECRET_VARIABLES.iter().map(OsString::from).collect(),
        false => Vec::new(),
    };
    JobEnvironment {
        remove: [surroundings.secret_variables.clone(), known].concat(),
        // Functions of a shell that relay was started from, and what relay itself goes by.
        remove_prefixes: vec!["BASH_FUNC_".to_string(), "RELAY_".to_string()],
        set,
    }
}

/// The variables of one call.
///
/// # Errors
/// If one has a name that no shell takes, or they are too much.
pub(super) fn check_variables(variables: &BTreeMap<String, String>) -> Result<(), ToolError> {
    if let Some(name) = variables.keys().find(|name| !is_identifier(name)) {
        let shown = relaycode_text::width::clip_for_message(name, 60);
        return Err(ToolError::refused(format!("Invalid bash env name: {shown}")));
    }
    let bytes: usize = variables.iter().map(|(name, value)| name.len() + value.len()).sum();
    if variables.len() > MAX_VARIABLES || bytes > MAX_VARIABLE_BYTES {
        return Err(ToolError::refused(format!(
            "`env` has more than {MAX_VARIABLES} variables or {MAX_VARIABLE_BYTES} bytes; write a file and read it instead"
        )));
    }
    match variables.iter().find(|(_, value)| value.contains('\0')) {
        Some((name, _)) => Err(ToolError::refused(format!("the value of {name} has a NUL byte"))),
        None => Ok(()),
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
