//! Variables by which other programs would be changed.

use super::looking::is_plain_program;
use super::reader::LineReader;
use super::{CommandArgument, CommandRole, StartedCommand, builtins};

/// Variables that change how much a program says, and nothing else.
const HARMLESS: &[&str] = &[
    "RUST_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "CI",
    "NODE_ENV",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "DEBUG",
    "COLUMNS",
    "LINES",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "CGO_ENABLED",
    "GOOS",
    "GOARCH",
    "VERBOSE",
    "SEED",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "PROPTEST_CASES",
    "INSTA_UPDATE",
    "DJANGO_SETTINGS_MODULE",
    "APP_ENV",
    "RAILS_ENV",
];
/// Beginnings of the names of variables that programs look at.
const WATCHED: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "NPM_",
    "npm_",
    "JAVA",
    "_JAVA",
    "JDK_",
    "MAVEN",
    "GRADLE",
    "CARGO",
    "RUST",
    "GO",
    "MAKE",
    "SSH_",
    "XDG_",
    "SSL_",
    "CURL",
    "DOCKER_",
    "KUBE",
    "AWS_",
    "MALLOC_",
    "GLIBC_",
    "PKG_CONFIG",
    "LESS",
    "MAN",
    "GREP_",
    "RIPGREP_",
    "FZF_",
    "BAT_",
    "TAR_",
    "ZIP",
    "UNZIP",
    "HIST",
    "LC_",
    "PIP_",
    "UV_",
    "YARN_",
    "PNPM_",
    "CMAKE",
    "CC",
    "CXX",
    "PYTEST_",
    "TOX_",
    "DENO_",
    "BUN_",
    "OPENSSL",
    "QT_",
    "GTK_",
    "GCONV",
    "LOC",
    "NLS",
    "HOST",
    "COMP_",
    "READLINE",
    "TERMINFO",
    "TZ",
    "BC_",
    "XZ_",
    "GZIP",
    "BZIP",
    "ZSTD_",
    "MORE",
    "PS_",
    "TREE_",
];
const WATCHED_NAMES: &[&str] = &[
    "PATH",
    "ENV",
    "IFS",
    "SHELLOPTS",
    "BASHOPTS",
    "PS1",
    "PS2",
    "PS4",
    "PROMPT_COMMAND",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "HOME",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SHELL",
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "FIGNORE",
    "TERMINFO",
    "TERMCAP",
    "WGETRC",
    "EXINIT",
    "VIMINIT",
    "AR",
    "AS",
    "LD",
    "NM",
    "POSIXLY_CORRECT",
    "DISPLAY",
    "USER",
    "LOGNAME",
    "PWD",
    "OLDPWD",
    "OPTIND",
    "OPTARG",
    "BASH",
    "UID",
    "EUID",
    "RANDOM",
    "SECONDS",
    "INPUTRC",
    "MAIL",
    "MAILPATH",
    "FUNCNEST",
    "TIMEFORMAT",
    "AWKPATH",
    "AWKLIBPATH",
    "JQ_COLORS",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "OSTYPE",
    "MACHTYPE",
    "HOSTTYPE",
    "DIRSTACK",
    "GROUPS",
    "PIPESTATUS",
    "REPLY",
    "LINENO",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "SRANDOM",
    "BASHPID",
    "HOSTALIASES",
    "RES_OPTIONS",
];

/// Builtins that may set variables in ways that are not followed.
const SETTERS: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "eval",
    "source",
    ".",
    "declare",
    "typeset",
    "local",
    "readonly",
    "export",
    "unset",
    "let",
    "getopts",
    "printf",
    "trap",
    "shopt",
    "set",
    "alias",
    "enable",
    "wait",
    "builtin",
    "command",
    "exec",
    "coproc",
    "history",
    "bind",
    "shift",
    "cd",
    "pushd",
    "popd",
];
/// Of those, what keeps the variables that are looked at.
pub(super) const KEEPS_VARIABLES: &[&str] =
    &["cd", "printf", "set", "exec", "command", "builtin", "wait", "shopt"];

pub(super) fn is_setting_builtin(name: &str) -> bool {
    SETTERS.contains(&name)
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Lists a variable that could make other programs do something else. `exported`: programs get it for certain.
pub(super) fn check_assignment(
    reader: &mut LineReader<'_>,
    name: &str,
    value: &CommandArgument,
    exported: bool,
) {
    if HARMLESS.contains(&name) || name == "LC_ALL" {
        return;
    }
    if matches!(name, "GIT_PAGER" | "PAGER")
        && matches!(value, CommandArgument::Exact(text) if text == "cat" || text.is_empty())
    {
        return;
    }
    // Directories of the project: its own code runs in its tests anyway.
    if name == "PYTHONPATH" && matches!(value, CommandArgument::Exact(text) if is_inside(text)) {
        return;
    }
    let upper = name.to_ascii_uppercase();
    let watched = WATCHED_NAMES.contains(&name)
        || WATCHED.iter().any(|prefix| name.starts_with(prefix))
        || upper.ends_with("_PROXY")
        || upper.ends_with("FLAGS")
        || upper.ends_with("_OPTIONS")
        || upper.ends_with("_OPTS")
        || upper.ends_with("PATH") && upper.len() > 4
        || upper.ends_with("RC");
    if watched {
        reader.unclear(changes(name));
    } else if exported {
        reader.exported.push(name.to_string());
    }
}

/// Nobody knows what other programs make of a variable. Those that only look have no use for it.
pub(super) fn check_exported(reader: &mut LineReader<'_>) {
    let is_plain = |command: &StartedCommand| {
        let name = command.words.first().and_then(CommandArgument::exact).unwrap_or_default();
        command.role == CommandRole::ReadsOnly && (is_plain_program(name) || builtins::is_builtin(name))
    };
    if !reader.reading.commands.iter().all(is_plain) {
        for name in std::mem::take(&mut reader.exported) {
            reader.unclear(changes(&name));
        }
    }
}

fn changes(name: &str) -> String {
    format!("it sets {name}, which can make programs do something else")
}

fn is_inside(text: &str) -> bool {
    !text.is_empty()
        && text.split(':').all(|path| {
            !path.starts_with('/') && !path.starts_with('~') && !path.split('/').any(|name| name == "..")
        })
}
