//! Commands that start other commands: what they would start is visited as if it stood in the line itself.

use super::reader::LineReader;
use super::{CommandArgument, LineTarget, PathUseKind, environment, programs};
use crate::command_line::ShellDialect;

/// Builtins and programs whose effect on the line is not followed.
const NOT_FOLLOWED: &[&str] = &[
    "coproc",
    "alias",
    "unalias",
    "shopt",
    "enable",
    "bind",
    "complete",
    "compgen",
    "hash",
    "history",
    "fc",
    "let",
    "mapfile",
    "readarray",
    "getopts",
    "declare",
    "typeset",
    "local",
    "readonly",
    "parallel",
    "watch",
    "su",
    "runuser",
    "fish",
    "zsh",
    "ksh",
    "tcsh",
    "csh",
    "busybox",
    "pushd",
    "popd",
    "dirs",
    "caller",
    "ulimit",
    "umask",
    "suspend",
    "logout",
    "disown",
    "fg",
    "bg",
    "unshare",
    "nsenter",
    "chroot",
    "flock",
    "strace",
    "ltrace",
    "gdb",
    "expect",
    "at",
    "batch",
    "crontab",
    "systemd-run",
    "script",
    "taskset",
    "chrt",
    "prlimit",
    "setpriv",
    "pkexec",
    "dbus-run-session",
    "xvfb-run",
    "builtin",
    "doas",
    "entr",
    "ld.so",
    "/lib64/ld-linux-x86-64.so.2",
];

/// Visits what `name` starts; `false`: it is no such command.
pub(super) fn visit(
    reader: &mut LineReader<'_>,
    name: &str,
    words: &[CommandArgument],
    started_by: Option<&str>,
) -> bool {
    let arguments = &words[1..];
    let in_shell = !reader.without_shell && started_by.is_none();
    match name {
        "sh" | "dash" | "bash" => return visit_shell(reader, name, words, started_by),
        "eval" if in_shell => visit_eval(reader, arguments),
        "source" | "." if in_shell => {
            // A file is run like any other script; a pipe or a descriptor holds whatever this line puts into it.
            let file = arguments.first().and_then(CommandArgument::exact);
            if file.is_none_or(|file| ["-", "/dev/", "/proc/"].iter().any(|prefix| file.starts_with(prefix)))
            {
                reader.unclear("what `source` reads is only known when it runs");
            }
            let command = reader.new_command(words.to_vec(), started_by);
            reader.starts(command);
            reader.forget_variables();
        }
        "trap" if in_shell => match arguments.first().and_then(CommandArgument::exact) {
            Some("-" | "") => {}
            Some(line) if !line.starts_with('-') => {
                let line = line.to_string();
                reader.visit_text(&line, ShellDialect::Bash);
            }
            _ => reader.unclear("what `trap` runs is only known when it runs"),
        },
        "export" if in_shell => visit_export(reader, arguments),
        "command" if in_shell => match arguments.first().and_then(CommandArgument::exact) {
            Some("-v" | "-V") => {
                let mut command = reader.new_command(words.to_vec(), started_by);
                command.role = super::CommandRole::ReadsOnly;
                reader.starts(command);
            }
            Some(text) if !text.starts_with('-') => {
                programs::visit_command(reader, arguments.to_vec(), started_by);
            }
            _ => not_followed(reader, words, started_by),
        },
        "exec" if in_shell => match arguments.first() {
            None => {}
            Some(word) if !word.may_be_option() => {
                programs::visit_command(reader, arguments.to_vec(), Some("exec"));
            }
            _ => not_followed(reader, words, started_by),
        },
        "env" => visit_env(reader, words, started_by),
        "nohup" | "setsid" => visit_behind(reader, words, started_by, &[], 0),
        "nice" => visit_behind(reader, words, started_by, &["-n"], 0),
        "ionice" => visit_behind(reader, words, started_by, &["-c", "-n"], 0),
        "stdbuf" => visit_behind(reader, words, started_by, &["-o", "-e", "-i"], 0),
        "timeout" => visit_behind(reader, words, started_by, &["-k", "-s", "--signal", "--kill-after"], 1),
        "time" => match arguments
            .iter()
            .any(|word| word.exact().is_none_or(|text| text.starts_with("-o") || text.starts_with("--o")))
        {
            true => not_followed(reader, words, started_by),
            false => visit_behind(reader, words, started_by, &["-f"], 0),
        },
        "sudo" => {
            let command = reader.new_command(words.to_vec(), started_by);
            reader.starts(command);
            visit_behind(reader, words, started_by, &["-u", "-g", "-C", "-h", "-p"], 0);
        }
        "xargs" => visit_xargs(reader, words, started_by),
        "find" => visit_find(reader, words, started_by),
        _ if NOT_FOLLOWED.contains(&name) => not_followed(reader, words, started_by),
        _ => return false,
    }
    true
}

fn not_followed(reader: &mut LineReader<'_>, words: &[CommandArgument], started_by: Option<&str>) {
    let command = reader.new_command(words.to_vec(), started_by);
    let text = command.text();
    reader.starts(command);
    reader.unclear(format!("what `{text}` starts is not followed"));
}

/// The wrapper itself is listed, too: it runs, and only looks.
fn list_wrapper(reader: &mut LineReader<'_>, words: &[CommandArgument], started_by: Option<&str>) {
    let mut command = reader.new_command(words.to_vec(), started_by);
    command.role = super::CommandRole::ReadsOnly;
    reader.starts(command);
}

/// The command behind the options and `skipped` words.
fn visit_behind(
    reader: &mut LineReader<'_>,
    words: &[CommandArgument],
    started_by: Option<&str>,
    with_value: &[&str],
    skipped: usize,
) {
    let mut at = 1;
    while let Some(text) = words.get(at).and_then(CommandArgument::exact) {
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') {
            break;
        }
        at += if with_value.contains(&text) { 2 } else { 1 };
    }
    let skipped_known = words.iter().skip(at).take(skipped).all(CommandArgument::is_one_word);
    let rest = words.get(at + skipped..).unwrap_or_default();
    let wrapper = words[0].exact().unwrap_or_default().to_string();
    match rest.first() {
        Some(word) if skipped_known && !word.may_be_option() => {
            list_wrapper(reader, words, started_by);
            programs::visit_command(reader, rest.to_vec(), Some(&wrapper));
        }
        None if at + skipped <= words.len() => list_wrapper(reader, words, started_by),
        _ => not_followed(reader, words, started_by),
    }
}

fn visit_env(reader: &mut LineReader<'_>, words: &[CommandArgument], started_by: Option<&str>) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let name_and_value =
            |text: &str| text.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()));
        match word {
            CommandArgument::Exact(text) if text == "-i" || text == "-" || text == "-0" => {}
            CommandArgument::Exact(text) if text == "-u" => at += 1,
            CommandArgument::Exact(text) if text.starts_with('-') => {
                return not_followed(reader, words, started_by);
            }
            CommandArgument::Exact(text) => match name_and_value(text) {
                Some((name, value)) => {
                    environment::check_assignment(reader, &name, &CommandArgument::Exact(value), true);
                }
                None => break,
            },
            CommandArgument::BeginsWith(text) if text.contains('=') => {
                let name = text.split('=').next().unwrap_or_default().to_string();
                environment::check_assignment(reader, &name, &CommandArgument::Any, true);
            }
            _ => return not_followed(reader, words, started_by),
        }
        at += 1;
    }
    list_wrapper(reader, words, started_by);
    if let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        programs::visit_command(reader, rest.to_vec(), Some("env"));
    }
}

fn visit_export(reader: &mut LineReader<'_>, arguments: &[CommandArgument]) {
    for word in arguments {
        let text = match word {
            CommandArgument::Exact(text) | CommandArgument::BeginsWith(text) => text,
            _ => return reader.unclear("which variable `export` sets is only known when it runs"),
        };
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        if !environment::is_name(name) {
            return reader.unclear("`export` with these words is not followed");
        }
        let value = match word {
            CommandArgument::Exact(_) => CommandArgument::Exact(value.to_string()),
            _ => CommandArgument::Any,
        };
        environment::check_assignment(reader, name, &value, true);
    }
}

fn visit_eval(reader: &mut LineReader<'_>, arguments: &[CommandArgument]) {
    let texts: Option<Vec<&str>> = arguments.iter().map(CommandArgument::exact).collect();
    match texts {
        Some(texts) => {
            let line = texts.join(" ");
            reader.visit_text(&line, ShellDialect::Bash);
        }
        None => reader.unclear("what `eval` runs is only known when it runs"),
    }
    reader.forget_variables();
}

/// `bash -c 'line'`; with a script, or with what it is given as input, a rule has to allow it.
fn visit_shell(
    reader: &mut LineReader<'_>,
    name: &str,
    words: &[CommandArgument],
    started_by: Option<&str>,
) -> bool {
    let mut at = 1;
    let mut is_line = false;
    while let Some(text) = words.get(at).and_then(CommandArgument::exact) {
        if text == "-o" || text == "+o" {
            if !matches!(
                words.get(at + 1).and_then(CommandArgument::exact),
                Some("pipefail" | "errexit" | "nounset")
            ) {
                not_followed(reader, words, started_by);
                return true;
            }
            at += 2;
            continue;
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
        if letters == "-version" {
            return false;
        }
        if !letters.chars().all(|c| "ceulx".contains(c)) {
            not_followed(reader, words, started_by);
            return true;
        }
        is_line |= letters.contains('c');
        at += 1;
    }
    if !is_line {
        if words.get(1..).unwrap_or_default().iter().any(|word| word.exact().is_none())
            || words.len() == 1
            || at > 1
        {
            not_followed(reader, words, started_by);
            return true;
        }
        return false;
    }
    match words.get(at).and_then(CommandArgument::exact) {
        Some(line) => {
            let line = line.to_string();
            list_wrapper(reader, words, started_by);
            let before = reader.directories.clone();
            let dialect = if name == "bash" { ShellDialect::Bash } else { ShellDialect::Posix };
            reader.visit_text(&line, dialect);
            reader.directories = before;
        }
        None => not_followed(reader, words, started_by),
    }
    true
}

fn visit_xargs(reader: &mut LineReader<'_>, words: &[CommandArgument], started_by: Option<&str>) {
    let mut at = 1;
    let mut replaced: Option<String> = None;
    while let Some(text) = words.get(at).and_then(CommandArgument::exact) {
        match text {
            "-0" | "-r" | "-t" | "--null" | "--no-run-if-empty" | "-0r" | "-r0" => at += 1,
            "-n" | "-P" | "-L" | "-d" | "-s" => at += 2,
            "-I" => {
                replaced = words.get(at + 1).and_then(CommandArgument::exact).map(ToString::to_string);
                if replaced.is_none() {
                    return not_followed(reader, words, started_by);
                }
                at += 2;
            }
            _ if text.starts_with("-I") => {
                replaced = Some(text[2..].to_string());
                at += 1;
            }
            _ if matches!(text.get(..2), Some("-n" | "-P" | "-L" | "-d" | "-s")) => at += 1,
            _ if text.starts_with('-') => return not_followed(reader, words, started_by),
            _ => break,
        }
    }
    let mut command: Vec<CommandArgument> = words.get(at..).unwrap_or_default().to_vec();
    list_wrapper(reader, words, started_by);
    if command.is_empty() {
        command.push(CommandArgument::Exact("echo".to_string()));
    }
    match &replaced {
        Some(sign) if !sign.is_empty() => replace_sign(&mut command, sign, ""),
        _ => command.push(CommandArgument::Any),
    }
    programs::visit_command(reader, command, Some("xargs"));
}

/// Puts an unknown text where the sign stands.
fn replace_sign(words: &mut [CommandArgument], sign: &str, known_beginning: &str) {
    for word in words {
        if let CommandArgument::Exact(text) = word
            && let Some(at) = text.find(sign)
        {
            let prefix = format!("{}{}", &text[..at], known_beginning);
            *word = CommandArgument::BeginsWith(prefix);
        }
    }
}

fn visit_find(reader: &mut LineReader<'_>, words: &[CommandArgument], started_by: Option<&str>) {
    let mut command = reader.new_command(words.to_vec(), started_by);
    command.role = super::CommandRole::ReadsOnly;
    let starts: Vec<&CommandArgument> = words[1..]
        .iter()
        .take_while(|word| {
            !word.may_be_option() && word.exact().is_none_or(|text| !matches!(text, "(" | "!" | ","))
        })
        .collect();
    let beginning = match starts.as_slice() {
        [] => ".".to_string(),
        [CommandArgument::Exact(only)] => only.clone(),
        _ => "./".to_string(),
    };
    let mut targets: Vec<LineTarget> = Vec::new();
    for start in &starts {
        targets.extend(reader.targets(start));
    }
    if starts.is_empty() {
        targets.extend(reader.targets(&CommandArgument::Exact(".".to_string())));
    }
    let mut at = 1;
    let mut inner: Vec<(Vec<CommandArgument>, bool)> = Vec::new();
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(text) = word.exact() else {
            if word.may_be_option() {
                reader.unclear("a word of `find` that is not known may be an action");
            }
            continue;
        };
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = &words[at..];
                let end = rest.iter().enumerate().position(|(index, word)| {
                    word.exact() == Some(";")
                        || word.exact() == Some("+") && index > 0 && rest[index - 1].exact() == Some("{}")
                });
                match end {
                    Some(end) => {
                        inner.push((rest[..end].to_vec(), text.ends_with("dir")));
                        at += end + 1;
                    }
                    None => reader.unclear("the command of `find -exec` has no end"),
                }
            }
            "-delete" => {
                command.role = super::CommandRole::Other;
                command.add_risk("it removes files", Some(text.to_string()));
                for target in &targets {
                    let whole = match target {
                        LineTarget::Path(path) => LineTarget::Beneath(path.clone()),
                        other => other.clone(),
                    };
                    reader.destroys("find -delete", whole.clone());
                    reader.uses(PathUseKind::Remove, whole, true);
                }
            }
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                command.role = super::CommandRole::Other;
                command.add_risk("it writes a file", Some(text.to_string()));
                if let Some(word) = words.get(at) {
                    for target in reader.targets(word) {
                        reader.destroys("find", target.clone());
                        reader.uses(PathUseKind::Write, target, false);
                    }
                }
            }
            _ => {}
        }
    }
    reader.starts(command);
    for (mut words, elsewhere) in inner {
        let before = reader.directories.clone();
        if elsewhere {
            reader.directories = vec![None];
        }
        replace_sign(&mut words, "{}", if elsewhere { "./" } else { &beginning });
        // With `+` there are several.
        words.push(CommandArgument::BeginsWith(if elsewhere { "./".to_string() } else { beginning.clone() }));
        if words.len() > 1 {
            programs::visit_command(reader, words, Some("find"));
        }
        reader.directories = before;
    }
}
