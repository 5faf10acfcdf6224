//! What known programs do with their words. A program that is not listed needs a rule.

use super::reader::LineReader;
use super::scripts::{awk_only_prints, sed_only_prints};
use super::{CommandArgument, CommandRole, PathUseKind, StartedCommand, environment, git, wrappers};

/// A program that only looks, but for some of its options.
struct ReaderRow {
    names: &'static [&'static str],
    /// Letters of options that write or run something.
    short: &'static str,
    /// Long options that do, whole; their beginnings count, too.
    long: &'static [&'static str],
    /// So many words that are no options are harmless; the next one is written.
    operands: usize,
}

const ANY_NUMBER: usize = usize::MAX;

const fn row(
    names: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
) -> ReaderRow {
    ReaderRow { names, short, long, operands: ANY_NUMBER }
}

#[rustfmt::skip]
const READERS: &[ReaderRow] = &[
    row(&["ls", "cat", "tac", "head", "tail", "wc", "cut", "tr", "rev", "nl", "od", "hexdump", "strings", "cmp", "comm", "join", "paste", "fold", "fmt",
        "expand", "unexpand", "stat", "du", "df", "basename", "dirname", "realpath", "readlink", "seq", "expr", "factor", "id", "whoami", "groups", "uname",
        "arch", "nproc", "uptime", "free", "ps", "pgrep", "which", "whereis", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum",
        "cksum", "sum", "base64", "base32", "column", "locale", "getconf", "lscpu", "lsblk", "tty", "printenv", "numfmt", "tsort", "sleep", "true", "false", "grep",
        "egrep", "fgrep", "jq", "nm", "size", "readelf", "pathchk", "logname", "users", "who", "cal", "look", "diff", "diff3", "zcat", "test", "["], "", &[]),
    row(&["sort"], "oT", &["--output", "--compress-program", "--temporary-directory", "--files0-from"]),
    row(&["rg"], "z", &["--pre", "--pre-glob", "--hostname-bin", "--search-zip"]),
    row(&["fd", "fdfind"], "xX", &["--exec", "--exec-batch"]),
    row(&["tree"], "oR", &["--output"]),
    row(&["file"], "CmzZ", &["--compile", "--magic-file", "--uncompress"]),
    row(&["date"], "s", &["--set"]),
    row(&["shuf"], "o", &["--output"]),
    row(&["less", "more"], "oOkTt", &["--log-file", "--LOG-FILE", "--lesskey-file", "--lesskey-src", "--tag"]),
    row(&["tput"], "STx", &[]),
    row(&["objdump"], "", &["--dwarf"]),
    row(&["ag"], "", &["--pager"]),
    ReaderRow { names: &["uniq"], short: "", long: &[], operands: 1 },
    ReaderRow { names: &["xxd"], short: "r", long: &["--revert"], operands: 1 },
    ReaderRow { names: &["hostname"], short: "Fb", long: &["--file", "--boot"], operands: 0 },
];

/// Builtins of the shell that change nothing outside of it, whatever their words.
const BUILTINS: &[&str] =
    &["echo", ":", "pwd", "exit", "return", "break", "continue", "shift", "type", "times", "jobs"];
/// Programs that print their version and end.
const VERSIONED: &[&str] = &[
    "node",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "bun",
    "deno",
    "python",
    "python3",
    "pip",
    "pip3",
    "cargo",
    "rustc",
    "rustup",
    "rustfmt",
    "go",
    "java",
    "javac",
    "gcc",
    "g++",
    "clang",
    "make",
    "cmake",
    "ninja",
    "docker",
    "ruby",
    "perl",
    "php",
    "tsc",
    "uv",
    "ruff",
    "gh",
    "rg",
    "fd",
    "jq",
    "bash",
    "zsh",
    "curl",
    "wget",
    "tar",
    "sed",
    "awk",
    "gawk",
    "find",
    "pytest",
    "kubectl",
    "terraform",
    "helm",
    "mvn",
    "gradle",
    "swift",
    "zig",
    "ghc",
    "cabal",
    "dotnet",
];
/// Options by which a program works in another directory, and takes its instructions from there.
const DIRECTORY_OPTIONS: &[(&str, &[&str])] = &[
    ("make", &["-C", "--directory"]),
    ("gmake", &["-C", "--directory"]),
    ("ninja", &["-C"]),
    ("npm", &["--prefix", "-C"]),
    ("yarn", &["--cwd"]),
    ("pnpm", &["-C", "--dir"]),
    ("cargo", &["-C", "--manifest-path"]),
    ("go", &["-C"]),
];
/// Options that run or load something of their own: `*` in a rule does not cover them.
const RISKY_OPTIONS: &[(&str, &[&str])] = &[
    ("cargo", &["--config"]),
    ("make", &["-f", "--file", "--makefile", "--eval", "-E", "-I", "--include-dir"]),
    ("gmake", &["-f", "--file", "--makefile", "--eval", "-E"]),
    (
        "npm",
        &["--script-shell", "--userconfig", "--globalconfig", "--node-options", "--shell", "-g", "--global"],
    ),
    ("npx", &["-c", "--call", "--script-shell", "--shell", "--node-options"]),
    ("go", &["-exec", "--exec", "-toolexec", "--toolexec", "-overlay", "-o"]),
    (
        "pytest",
        &[
            "-p",
            "-c",
            "--rootdir",
            "--confcutdir",
            "--pyargs",
            "-o",
            "--override-ini",
            "--pastebin",
            "--basetemp",
        ],
    ),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
            "-P",
            "--absolute-names",
        ],
    ),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    (
        "curl",
        &[
            "-o",
            "--output",
            "-O",
            "--remote-name",
            "-K",
            "--config",
            "-T",
            "--upload-file",
            "-c",
            "--cookie-jar",
            "-D",
            "--dump-header",
            "--trace",
            "--trace-ascii",
            "--output-dir",
        ],
    ),
    (
        "wget",
        &[
            "-O",
            "--output-document",
            "-P",
            "--directory-prefix",
            "--use-askpass",
            "-o",
            "--output-file",
            "-a",
            "-e",
            "--execute",
        ],
    ),
    ("ssh", &["-o", "-F", "-E"]),
    ("scp", &["-o", "-S", "-F"]),
    ("man", &["-P", "--pager", "-H", "--html", "-C", "-l"]),
    ("zip", &["-TT", "--unzip-command", "-T"]),
    ("docker", &["-v", "--volume", "--mount", "--privileged", "-H", "--host"]),
    ("node", &["-r", "--require", "--import", "--loader", "--experimental-loader"]),
    ("vim", &["-c", "--cmd", "-S", "-u"]),
    ("gcc", &["-wrapper", "-fplugin", "-B", "-specs"]),
    ("ruff", &["--config"]),
    (
        "eslint",
        &[
            "-c",
            "--config",
            "--rulesdir",
            "--resolve-plugins-relative-to",
            "-f",
            "--format",
            "-o",
            "--output-file",
            "--parser",
            "--plugin",
        ],
    ),
    ("tsc", &["--outDir", "--outFile", "--declarationDir", "--tsBuildInfoFile"]),
    ("python", &[]),
];

/// What one command with its words does; other commands in its words are visited, too.
pub(super) fn visit_command(
    reader: &mut LineReader<'_>,
    words: Vec<CommandArgument>,
    started_by: Option<&str>,
) {
    let name = match words.first() {
        Some(CommandArgument::Exact(name)) => name.clone(),
        Some(CommandArgument::OneOf(names)) => {
            for name in names.clone() {
                let mut words = words.clone();
                words[0] = CommandArgument::Exact(name);
                visit_command(reader, words, started_by);
            }
            return;
        }
        _ => {
            let command = reader.new_command(words, started_by);
            let text = command.text();
            reader.starts(command);
            return reader.unclear(format!("which program `{text}` starts is only known when it runs"));
        }
    };
    let plain =
        name.strip_prefix("/usr/bin/").or_else(|| name.strip_prefix("/bin/")).unwrap_or(&name).to_string();
    if wrappers::visit(reader, &plain, &words, started_by) {
        return;
    }
    let mut command = reader.new_command(words, started_by);
    read_program(reader, &plain, &mut command);
    reader.starts(command);
}

fn read_program(reader: &mut LineReader<'_>, name: &str, command: &mut StartedCommand) {
    let arguments: Vec<CommandArgument> = command.words[1..].to_vec();
    let texts: Vec<&str> = arguments.iter().filter_map(CommandArgument::exact).collect();
    let all_known = texts.len() == arguments.len();
    let in_shell = !reader.without_shell && command.started_by.is_none();
    if in_shell
        && (BUILTINS.contains(&name) || matches!(name, "cd" | "set" | "read" | "unset" | "printf" | "wait"))
    {
        return read_builtin(reader, name, &arguments, command);
    }
    if matches!(name, "test" | "[") && in_shell && !test_is_plain(&arguments) {
        return reader.unclear("`test -v` may run something");
    }
    if all_known
        && VERSIONED.contains(&name)
        && matches!(texts.as_slice(), ["--version" | "-V" | "version"])
        && name != "docker"
        || all_known && matches!((name, texts.as_slice()), ("node" | "npm" | "ruby" | "perl" | "php", ["-v"]))
    {
        command.role = CommandRole::ReadsOnly;
        return;
    }
    match name {
        "echo" | "printf" | "pwd" => command.role = CommandRole::ReadsOnly,
        "git" => git::read_git(reader, command),
        "sed" => read_sed(reader, &arguments, command),
        "awk" | "gawk" | "mawk" => read_awk(reader, &arguments, command),
        "mkdir" | "touch" | "tee" => write_operands(reader, name, &arguments, command),
        "rm" | "rmdir" | "unlink" | "shred" | "truncate" | "mv" | "cp" | "ln" | "install" | "rsync"
        | "dd" | "patch" | "chmod" | "chown" => {
            destroy_operands(reader, name, &arguments);
        }
        _ => match READERS.iter().find(|row| row.names.contains(&name)) {
            Some(row) => read_looking(reader, row, name, &arguments, command),
            None => read_other(reader, name, &arguments, command),
        },
    }
}

fn read_builtin(
    reader: &mut LineReader<'_>,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    command.role = CommandRole::ReadsOnly;
    let exact: Option<Vec<&str>> = arguments.iter().map(CommandArgument::exact).collect();
    match name {
        "cd" => {
            let target: Vec<&CommandArgument> =
                arguments.iter().filter(|word| word.exact() != Some("--")).collect();
            match target.as_slice() {
                [] => reader.change_directory(None),
                [word] if word.exact().is_none_or(|text| !text.starts_with('-') || text == "-") => {
                    reader.change_directory(Some(word));
                }
                _ => reader.change_directory(Some(&CommandArgument::Any)),
            }
        }
        "printf" => {
            let first = arguments.first();
            if first.is_none_or(|word| word.may_be_option() && word.exact() != Some("--")) {
                reader.unclear("`printf -v` sets a variable");
            }
        }
        "set" => {
            let plain = |text: &&str| {
                matches!(*text, "pipefail" | "errexit" | "nounset")
                    || text.len() > 1
                        && (text.starts_with('-') || text.starts_with('+'))
                        && text[1..].chars().all(|c| "euxo".contains(c))
            };
            if !exact.is_some_and(|texts| texts.iter().all(plain)) {
                reader.unclear("`set` with these words changes how the line is read");
            }
        }
        "read" | "unset" => {
            let plain =
                |text: &&str| environment::is_name(text) || matches!(*text, "-r" | "-f" | "-a" | "-n" | "-s");
            match exact {
                Some(texts) if texts.iter().all(plain) => {
                    for name in texts.iter().filter(|text| environment::is_name(text)) {
                        environment::check_assignment(reader, name, &CommandArgument::Any, false);
                    }
                }
                _ => reader.unclear(format!("`{name}` with these words may run something")),
            }
            reader.forget_variables();
        }
        "wait"
            if exact.is_none_or(|texts| texts.iter().any(|text| text.starts_with('-') && *text != "-n")) =>
        {
            reader.unclear("`wait -p` sets a variable");
        }
        _ => {}
    }
}

/// `test -v 'a[$(command)]'` runs a command, and so may unknown words.
fn test_is_plain(arguments: &[CommandArgument]) -> bool {
    !arguments.iter().any(|word| match word {
        CommandArgument::Exact(text) => text == "-v" || text == "-R",
        CommandArgument::OneOf(texts) => texts.iter().any(|text| text == "-v" || text == "-R"),
        CommandArgument::BeginsWith(_) | CommandArgument::FileNames(_) => false,
        CommandArgument::Any => true,
    })
}

fn read_looking(
    reader: &mut LineReader<'_>,
    row: &ReaderRow,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let mut operands = 0_usize;
    let mut only_operands = false;
    let harmless_options = row.short.is_empty() && row.long.is_empty();
    for word in arguments {
        if word.exact() == Some("--") && !only_operands {
            only_operands = true;
            continue;
        }
        if !only_operands && word.may_be_option() {
            let is_risky = match word.exact() {
                Some(text) => is_risky_option(row, name, text),
                None => !harmless_options,
            };
            if is_risky {
                command.add_risk(
                    "this word can make it write a file or run a program",
                    word.exact().map(ToString::to_string),
                );
            }
            if word.exact().is_some() {
                continue;
            }
        }
        if name == "less" && word.exact().is_some_and(|text| text.starts_with('+')) {
            command.add_risk("less runs commands behind `+`", word.exact().map(ToString::to_string));
        }
        if name == "date" && word.exact().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit())) {
            command.add_risk("it sets the clock", None);
        }
        operands += if matches!(word, CommandArgument::Any | CommandArgument::FileNames(_)) { 2 } else { 1 };
        if row.operands != ANY_NUMBER && operands > row.operands {
            command.add_risk("it writes the second file", word.exact().map(ToString::to_string));
        }
        if !matches!(name, "test" | "[" | "sleep" | "seq" | "expr" | "which") {
            for target in reader.targets(word) {
                reader.uses(PathUseKind::Read, target, false);
            }
        }
    }
    if command.risky.is_empty() {
        command.role = CommandRole::ReadsOnly;
    }
}

fn is_risky_option(row: &ReaderRow, name: &str, text: &str) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        let option = long.split('=').next().unwrap_or_default();
        return row.long.iter().any(|risky| risky[2..].starts_with(option) && (!option.is_empty()))
            && !(name == "rg" && matches!(option, "p" | "pr" | "h" | "s" | "se"));
    }
    // Options with a value: what follows them in the same word is no option.
    let value_letters = match name {
        "rg" => "ABCEefgjMmrtT",
        "sort" => "ktS",
        "fd" | "fdfind" => "edEtSjcg",
        "tree" => "LIP",
        "date" => "dfrI",
        _ => "",
    };
    for letter in text.chars().skip(1) {
        if row.short.contains(letter) {
            return true;
        }
        if value_letters.contains(letter) {
            return false;
        }
    }
    false
}

fn read_sed(reader: &mut LineReader<'_>, arguments: &[CommandArgument], command: &mut StartedCommand) {
    let mut scripts: Vec<&str> = Vec::new();
    let mut files: Vec<&CommandArgument> = Vec::new();
    let (mut sure, mut in_place, mut has_script, mut at) = (true, false, false, 0);
    while let Some(word) = arguments.get(at) {
        at += 1;
        match word.exact() {
            Some("-e" | "--expression") => {
                match arguments.get(at).and_then(CommandArgument::exact) {
                    Some(script) => scripts.push(script),
                    None => sure = false,
                }
                has_script = true;
                at += 1;
            }
            Some(
                "-n" | "-E" | "-r" | "-s" | "-z" | "-u" | "-nE" | "-nr" | "-En" | "-rn" | "--quiet"
                | "--silent" | "--regexp-extended",
            ) => {}
            Some(text)
                if text.starts_with("-i")
                    || "--in-place".starts_with(text.split('=').next().unwrap_or(text)) && text.len() > 2 =>
            {
                in_place = true;
                sure = false;
            }
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                in_place |= text.contains('i');
                sure = false;
            }
            Some(text) if !has_script => {
                scripts.push(text);
                has_script = true;
            }
            None if word.may_be_option() || !has_script => {
                sure = false;
                in_place = true;
                has_script = true;
                files.push(word);
            }
            _ => files.push(word),
        }
    }
    for file in &files {
        for target in reader.targets(file) {
            if in_place {
                reader.destroys("sed -i", target.clone());
                reader.uses(PathUseKind::Write, target, true);
            } else {
                reader.uses(PathUseKind::Read, target, false);
            }
        }
    }
    let prints = !scripts.is_empty() && scripts.iter().all(|script| sed_only_prints(script));
    if sure && prints {
        command.role = CommandRole::ReadsOnly;
    } else if !prints {
        command.add_risk(
            "its script is not one that surely only prints",
            scripts.first().map(ToString::to_string),
        );
    }
}

fn read_awk(reader: &mut LineReader<'_>, arguments: &[CommandArgument], command: &mut StartedCommand) {
    let mut at = 0;
    while let Some(text) = arguments.get(at).and_then(CommandArgument::exact) {
        match text {
            "-F" | "-v" => {
                if arguments.get(at + 1).is_some_and(|word| word.is_one_word()) {
                    at += 2;
                } else {
                    return command.add_risk("its program is only known when it runs", None);
                }
            }
            _ if text.starts_with("-F") || text.starts_with("-v") => at += 1,
            _ if text.starts_with('-') => {
                return command.add_risk("an option of awk can load a program", Some(text.to_string()));
            }
            _ => break,
        }
    }
    match arguments.get(at).and_then(CommandArgument::exact) {
        Some(program) if awk_only_prints(program) => command.role = CommandRole::ReadsOnly,
        Some(program) => {
            command.add_risk("its program is not one that surely only prints", Some(program.to_string()));
        }
        None => command.add_risk("its program is only known when it runs", None),
    }
    // Behind the program even gawk takes no options.
    for word in arguments.iter().skip(at + 1) {
        for target in reader.targets(word) {
            reader.uses(PathUseKind::Read, target, false);
        }
    }
}

/// `mkdir`, `touch`, `tee`: all that they change is what they name.
fn write_operands(
    reader: &mut LineReader<'_>,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let mut sure = true;
    let mut only_operands = false;
    for word in arguments {
        let option =
            !only_operands && word.exact().is_some_and(|text| text.starts_with('-') && text.len() > 1);
        if option {
            match word.exact() {
                Some("--") => only_operands = true,
                Some("-p" | "-v" | "-a" | "--parents" | "--append" | "-pv") => {}
                _ => sure = false,
            }
            continue;
        }
        for target in reader.targets(word) {
            if name == "tee" {
                reader.destroys(name, target.clone());
            }
            reader.uses(PathUseKind::Write, target, false);
        }
    }
    if sure {
        command.role = CommandRole::WritesListed;
    }
}

/// What removes or replaces the files that it names. It needs a rule.
fn destroy_operands(reader: &mut LineReader<'_>, name: &str, arguments: &[CommandArgument]) {
    let kind =
        if matches!(name, "rm" | "rmdir" | "unlink") { PathUseKind::Remove } else { PathUseKind::Write };
    let mut only_operands = false;
    let option_value = |text: &str| text.split_once('=').map(|(_, value)| value.to_string());
    for word in arguments {
        let mut word = word.clone();
        if let Some(text) = word.exact().map(ToString::to_string) {
            if text == "--" && !only_operands {
                only_operands = true;
                continue;
            }
            let named =
                name == "dd" && text.starts_with("of=") || text.starts_with("--") && text.contains('=');
            if named && !only_operands {
                let Some(value) = option_value(&text) else { continue };
                word = CommandArgument::Exact(value);
            } else if text.starts_with('-') && !only_operands {
                // `-tDIR` of cp and mv.
                match text.strip_prefix("-t").filter(|rest| !rest.is_empty()) {
                    Some(directory) => word = CommandArgument::Exact(directory.to_string()),
                    None => continue,
                }
            } else if name == "dd" {
                continue;
            }
        }
        for target in reader.targets(&word) {
            let whole = match target {
                super::LineTarget::Path(path) if name != "rmdir" => super::LineTarget::Beneath(path),
                other => other,
            };
            reader.destroys(name, whole.clone());
            reader.uses(kind, whole, true);
        }
    }
    if name == "patch" {
        reader.destroys_uncommitted(name);
    }
}

fn read_other(
    reader: &mut LineReader<'_>,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let of = |table: &[(&str, &'static [&'static str])]| {
        table.iter().find(|(program, _)| *program == name).map_or(&[][..], |(_, options)| *options)
    };
    let (moves, risky) = (of(DIRECTORY_OPTIONS), of(RISKY_OPTIONS));
    if moves.is_empty() && risky.is_empty() {
        return;
    }
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.exact() else {
            if word.may_be_option() {
                command.add_risk("a word that is not known may be an option", None);
            }
            continue;
        };
        // What stands behind it goes to the program's own program.
        if text == "--" {
            break;
        }
        let (option, value) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value.to_string())),
            None => (text, None),
        };
        let short_with_value =
            moves.iter().find(|known| known.len() == 2 && text.len() > 2 && text.starts_with(**known));
        if moves.contains(&option) || short_with_value.is_some() {
            let value = value.or_else(|| short_with_value.map(|_| text[2..].to_string()));
            let word = value.map(CommandArgument::Exact).or_else(|| arguments.get(at + 1).cloned());
            let before = reader.directories.clone();
            reader.change_directory(Some(&word.unwrap_or(CommandArgument::Any)));
            command.directories = std::mem::replace(&mut reader.directories, before);
        }
        let short = risky.iter().any(|known| {
            known.len() == 2
                && text.len() > 2
                && !text.starts_with("--")
                && text.starts_with(*known)
                && *known != "-o"
        });
        let long = option.starts_with("--")
            && option.len() > 3
            && risky.iter().any(|known| known.starts_with(option));
        let bundled = matches!(name, "make" | "gmake" | "curl" | "wget" | "tar")
            && text.starts_with('-')
            && !text.starts_with("--")
            && risky.iter().any(|known| known.len() == 2 && text.contains(&known[1..]));
        if risky.contains(&option) || short || long || bundled {
            command.add_risk("this option can run something or write elsewhere", Some(text.to_string()));
        }
    }
    // Its rules come from another command.
    if name == "make" && reader.is_piped && arguments.iter().any(|word| word.exact() == Some("-")) {
        command.add_risk("it reads its rules from another command", None);
    }
}

impl CommandArgument {
    pub(super) fn exact(&self) -> Option<&str> {
        match self {
            CommandArgument::Exact(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn may_be_option(&self) -> bool {
        let begins = |text: &str| text.is_empty() || text.starts_with(['-', '*', '?', '[']);
        match self {
            CommandArgument::Exact(text) => text.starts_with('-'),
            CommandArgument::OneOf(texts) => texts.iter().any(|text| text.starts_with('-')),
            CommandArgument::FileNames(text) | CommandArgument::BeginsWith(text) => begins(text),
            CommandArgument::Any => true,
        }
    }

    pub(super) fn is_one_word(&self) -> bool {
        !matches!(self, CommandArgument::Any | CommandArgument::FileNames(_))
    }
}

impl StartedCommand {
    pub(super) fn add_risk(&mut self, why: &str, word: Option<String>) {
        self.risky.push(match &word {
            Some(word) => format!("`{word}`: {why}"),
            None => why.to_string(),
        });
        self.risky_words.push(word);
    }
}
