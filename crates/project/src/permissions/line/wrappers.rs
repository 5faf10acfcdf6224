//! Commands that start other commands: what they would start is visited as if it stood in the line itself.

use super::looking::reads;
use super::options::{ProgramRow, WordMeaning, read_options, runs};
use super::reader::LineReader;
use super::{CommandArgument, LineTarget, PathNamer, PathUseKind, environment, programs};
use crate::command_line::ShellDialect;

/// Builtins and programs whose effect on the line is not followed.
#[rustfmt::skip]
const NOT_FOLLOWED: &[&str] = &[
    "coproc", "unalias", "shopt", "enable", "bind", "complete", "compgen", "hash", "fc", "let", "mapfile", "readarray", "getopts", "declare",
    "typeset", "local", "readonly", "parallel", "watch", "su", "runuser", "fish", "zsh", "ksh", "tcsh", "csh", "busybox", "pushd", "popd",
    "dirs", "caller", "ulimit", "umask", "suspend", "logout", "disown", "fg", "bg", "unshare", "nsenter", "chroot", "flock", "strace", "ltrace",
    "gdb", "expect", "at", "batch", "crontab", "systemd-run", "script", "taskset", "chrt", "prlimit", "setpriv", "pkexec", "dbus-run-session",
    "xvfb-run", "builtin", "doas", "entr", "ld.so", "/lib64/ld-linux-x86-64.so.2",
    "toybox", "sg", "newgrp", "rlwrap", "firejail", "bwrap", "catchsegv", "valgrind", "perf", "numactl", "cgexec", "fakeroot", "proxychains", "torsocks", "unbuffer", "nsenter",
];

/// The options of wrappers. With another one what they start is not followed.
const NOHUP: ProgramRow = runs("nohup", "", "").leading();
const SETSID: ProgramRow = runs("setsid", "cfw", "ctty fork wait").leading();
const NICE: ProgramRow = runs("nice", "n:#", "adjustment:").leading();
const IONICE: ProgramRow = runs("ionice", "c:n:t", "class: classdata: ignore").leading();
const STDBUF: ProgramRow = runs("stdbuf", "i:o:e:", "input: output: error:").leading();
const TIMEOUT: ProgramRow =
    runs("timeout", "k:s:fpv", "kill-after: signal: foreground preserve-status verbose").leading();
const TIME: ProgramRow = runs("time", "pqavlhf:", "portability verbose quiet append format:").leading();
const SUDO: ProgramRow =
    runs("sudo", "u:g:C:h:p:nEHSkb", "user: group: host: prompt: non-interactive").leading();
const ENV: ProgramRow = runs("env", "i0u:", "ignore-environment null unset:").leading();
const XARGS: ProgramRow = runs(
    "xargs",
    "0rtxn:P:L:d:s:I:a<E:",
    "null no-run-if-empty verbose exit max-args: max-procs: max-chars: delimiter: arg-file<",
)
.leading();

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
                reader.visit_later(&line);
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
        "nohup" => visit_behind(reader, words, started_by, &NOHUP, 0),
        "setsid" => visit_behind(reader, words, started_by, &SETSID, 0),
        "nice" => visit_behind(reader, words, started_by, &NICE, 0),
        "ionice" => visit_behind(reader, words, started_by, &IONICE, 0),
        "stdbuf" => visit_behind(reader, words, started_by, &STDBUF, 0),
        "timeout" => visit_behind(reader, words, started_by, &TIMEOUT, 1),
        "time" => visit_behind(reader, words, started_by, &TIME, 0),
        "sudo" => {
            let command = reader.new_command(words.to_vec(), started_by);
            reader.starts(command);
            visit_behind(reader, words, started_by, &SUDO, 0);
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
    row: &ProgramRow,
    skipped: usize,
) {
    let Some((_, at)) = known_options(row, &words[1..]) else {
        return not_followed(reader, words, started_by);
    };
    let at = at + 1;
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

/// The options in front of a command, and how many words they are; `None`: one of them is not known.
fn known_options(row: &ProgramRow, words: &[CommandArgument]) -> Option<(Vec<WordMeaning>, usize)> {
    let (meanings, at) = read_options(row, words);
    let known = |meaning: &WordMeaning| matches!(meaning, WordMeaning::Option { .. });
    meanings.iter().all(known).then_some((meanings, at))
}

fn visit_env(reader: &mut LineReader<'_>, words: &[CommandArgument], started_by: Option<&str>) {
    let Some((_, at)) = known_options(&ENV, &words[1..]) else {
        return not_followed(reader, words, started_by);
    };
    let mut at = at + 1;
    while let Some(word) = words.get(at) {
        match word {
            CommandArgument::Exact(text) if text == "-" => {}
            CommandArgument::Exact(text) => match text.split_once('=') {
                Some((name, value)) => {
                    let value = CommandArgument::Exact(value.to_string());
                    environment::check_assignment(reader, name, &value, true);
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
            CommandArgument::Exact(text) => text,
            CommandArgument::BeginsWith(text) if text.contains('=') => text,
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
    let Some((meanings, at)) = known_options(&XARGS, &words[1..]) else {
        return not_followed(reader, words, started_by);
    };
    let mut replaced: Option<String> = None;
    for meaning in &meanings {
        let WordMeaning::Option { name, value, .. } = meaning else { continue };
        match (name.as_str(), value) {
            ("I", Some(CommandArgument::Exact(sign))) if !sign.is_empty() => replaced = Some(sign.clone()),
            ("I", _) => return not_followed(reader, words, started_by),
            ("a" | "arg-file", value) => reads(reader, value.as_ref(), false),
            _ => {}
        }
    }
    let mut command: Vec<CommandArgument> = words.get(at + 1..).unwrap_or_default().to_vec();
    list_wrapper(reader, words, started_by);
    if command.is_empty() {
        command.push(CommandArgument::Exact("echo".to_string()));
    }
    match &replaced {
        Some(sign) => replace_sign(&mut command, sign, ""),
        None => command.push(CommandArgument::Any),
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

/// Tests and actions of `find` that only look: those without a value, and those with one.
const FIND_FLAGS: &str = "-depth -d -mount -xdev -follow -daystart -noleaf -warn -nowarn -empty -readable -writable -executable -nouser -nogroup -print -print0 -ls -prune -quit -true -false -not -and -or -a -o -ignore_readdir_race -noignore_readdir_race -H -L -P ( ) ! , -O0 -O1 -O2 -O3 -E -X -s -x --help --version";
const FIND_VALUES: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -used -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -samefile -printf -regextype -fstype -context -D";

fn is_find_value(text: &str) -> bool {
    let newer = text
        .strip_prefix("-newer")
        .is_some_and(|kinds| kinds.len() == 2 && kinds.chars().all(|c| "aBcmt".contains(c)));
    newer || FIND_VALUES.split(' ').any(|known| known == text)
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
                    reader.uses(PathUseKind::Remove, whole, PathNamer::RuledCommand);
                }
            }
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                command.role = super::CommandRole::Other;
                command.add_risk("it writes a file", Some(text.to_string()));
                if let Some(word) = words.get(at) {
                    for target in reader.targets(word) {
                        reader.destroys("find", target.clone());
                        reader.uses(PathUseKind::Write, target, PathNamer::Line);
                    }
                }
            }
            _ if is_find_value(text) => {
                match words.get(at) {
                    Some(value) if !value.is_one_word() && value.may_be_option() => {
                        reader.unclear("a word of `find` that is not known may be an action");
                    }
                    _ => {}
                }
                at += 1;
            }
            _ if text.starts_with('-') && !FIND_FLAGS.split(' ').any(|known| known == text) => {
                reader.unclear(format!("`{text}` of `find` may be an action"));
            }
            _ => {}
        }
    }
    reader.starts(command);
    if !inner.is_empty() {
        for target in &targets {
            let whole = match target {
                LineTarget::Path(path) => LineTarget::Beneath(path.clone()),
                other => other.clone(),
            };
            reader.uses(PathUseKind::Read, whole, PathNamer::Line);
        }
    }
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
