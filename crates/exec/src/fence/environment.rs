//! Variables that a command in a fence does not get from relay's environment: those by which code that somebody else chose runs
//! in every program, and those that name sockets it cannot use. What a job sets itself is not looked at.

use std::ffi::OsStr;

/// The variables, by how their names begin, where `*` ends them, else by name.
const SCRUBBED_VARIABLES: &[&str] = &[
    // The loader, shells, interpreters.
    "LD_*",
    "DYLD_*",
    "BASH_ENV",
    "BASH_FUNC_*",
    "ENV",
    "PROMPT_COMMAND",
    "PYTHON*",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    // Another repository, another configuration, other programs.
    "GIT_*",
    // The command has a directory of its own for these.
    "TMPDIR",
    "TMP",
    "TEMP",
];

/// The same for sockets: of use only where sockets with a path are allowed.
const SOCKET_VARIABLES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_*",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "DISPLAY",
    "WAYLAND_*",
    "XAUTHORITY",
    "TMUX",
    "VSCODE_IPC_*",
];

/// Who somebody is runs nothing.
const KEPT_VARIABLES: &[&str] = &["GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_TERMINAL_PROMPT"];

/// Whether a command in a fence does not get this variable; `sockets`: it may connect to those with a path.
pub(crate) fn is_scrubbed(name: &OsStr, sockets: bool) -> bool {
    let name = name.as_encoded_bytes();
    let is_of = |list: &[&str]| {
        list.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start.as_bytes()),
            None => name == known.as_bytes(),
        })
    };
    !is_of(KEPT_VARIABLES) && (is_of(SCRUBBED_VARIABLES) || (!sockets && is_of(SOCKET_VARIABLES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_code_goes_and_who_somebody_is_stays() {
        for gone in ["LD_PRELOAD", "BASH_ENV", "ENV", "GIT_DIR", "GIT_CONFIG_COUNT", "PYTHONPATH", "TMPDIR"] {
            assert!(is_scrubbed(gone.as_ref(), true), "{gone}");
        }
        for kept in ["PATH", "HOME", "ENVIRONMENT", "GIT_AUTHOR_NAME", "LDFLAGS", "RUSTFLAGS", "DISPLAY2"] {
            assert!(!is_scrubbed(kept.as_ref(), false), "{kept}");
        }
        for socket in ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY"] {
            assert!(is_scrubbed(socket.as_ref(), false) && !is_scrubbed(socket.as_ref(), true), "{socket}");
        }
    }
}
