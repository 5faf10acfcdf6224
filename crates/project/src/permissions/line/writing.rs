//! Programs that print or write what they name: `sed`, `awk`, `tar`, and those that make, remove and replace files.

use super::looking::reads;
use super::options::{ProgramRow, WordMeaning, read_options, runs};
use super::reader::LineReader;
use super::scripts::{awk_only_prints, sed_only_prints};
use super::{CommandArgument, CommandRole, PathNamer, PathUseKind, StartedCommand};

const SED: ProgramRow = runs(
    "sed",
    "nErsuze:l:i!f!",
    "quiet silent regexp-extended expression: separate null-data unbuffered line-length: debug posix sandbox in-place! file!",
);
const TEE: ProgramRow = runs("tee", "aip", "append ignore-interrupts output-error?");
const MKDIR: ProgramRow = runs("mkdir", "pvm:", "parents verbose mode:");
const TOUCH: ProgramRow = runs("touch", "acmhd:t:r<", "no-create date: reference< time: no-dereference");
const TAR: ProgramRow = runs(
    "tar",
    "tvzjJaf:",
    "list file: verbose gzip bzip2 xz zstd auto-compress exclude: strip-components: wildcards numeric-owner full-time",
);

pub(super) fn read_sed(
    reader: &mut LineReader<'_>,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let (meanings, _) = read_options(&SED, arguments);
    let mut scripts: Vec<CommandArgument> = Vec::new();
    let mut files: Vec<&CommandArgument> = Vec::new();
    let (mut sure, mut in_place) = (true, false);
    for meaning in &meanings {
        match meaning {
            WordMeaning::Option { name, value, .. } if matches!(name.as_str(), "e" | "expression") => {
                scripts.push(value.clone().unwrap_or(CommandArgument::Any));
            }
            WordMeaning::Option { name, word, .. } if matches!(name.as_str(), "f" | "file") => {
                command.add_risk("its script is in a file", word.exact().map(ToString::to_string));
            }
            WordMeaning::Option { name, word, .. }
                if name == "in-place" || name == "i" || name.starts_with("in") =>
            {
                in_place = true;
                // `--i` could be anything that is not listed.
                let known = word
                    .exact()
                    .is_some_and(|text| !text.starts_with("--") || text.starts_with("--in-place"));
                if !known {
                    command.add_risk("this may be an option", word.exact().map(ToString::to_string));
                }
            }
            WordMeaning::Option { effect, word, .. } if *effect == super::options::OptionEffect::Risky => {
                in_place = true;
                command.add_risk("this may be an option", word.exact().map(ToString::to_string));
            }
            WordMeaning::Option { .. } => {}
            WordMeaning::Unknown(word) => {
                sure = false;
                in_place = true;
                command.add_risk("an option that is not known", word.exact().map(ToString::to_string));
                if word.exact().is_none() {
                    files.push(word);
                }
            }
            WordMeaning::Operand(word) => files.push(word),
        }
    }
    if scripts.is_empty() && !files.is_empty() {
        scripts.push(files.remove(0).clone());
    }
    for file in files {
        if !in_place {
            reads(reader, Some(file), false);
            continue;
        }
        for target in reader.targets(file) {
            reader.destroys("sed -i", target.clone());
            reader.uses(PathUseKind::Write, target, PathNamer::RuledCommand);
        }
    }
    let prints = |script: &CommandArgument| script.exact().is_some_and(sed_only_prints);
    for script in scripts.iter().filter(|script| !prints(script)) {
        let why = "its script is not one that surely only prints";
        command.add_risk(why, script.exact().map(ToString::to_string));
    }
    if sure && !in_place && !scripts.is_empty() && command.risky.is_empty() {
        command.role = CommandRole::ReadsOnly;
    }
}

/// Whether it only lists what is in an archive.
pub(super) fn read_tar_list(reader: &mut LineReader<'_>, arguments: &[CommandArgument]) -> bool {
    let mut words = arguments.to_vec();
    // `tzf`, as it was written before there were dashes: the values are the next words.
    if let Some(CommandArgument::Exact(first)) = arguments.first()
        && !first.starts_with('-')
    {
        let (letters, files): (String, String) = first.chars().partition(|letter| *letter != 'f');
        if files.len() != 1 || !letters.chars().all(|letter| "tvzjJa".contains(letter)) {
            return false;
        }
        words[0] = CommandArgument::Exact(format!("-{letters}"));
        words.insert(1, CommandArgument::Exact("-f".to_string()));
    }
    let (meanings, _) = read_options(&TAR, &words);
    let mut lists = words
        .first()
        .and_then(CommandArgument::exact)
        .is_some_and(|text| !text.starts_with("--") && text.starts_with('-') && text.contains('t'));
    let mut files = Vec::new();
    for meaning in &meanings {
        match meaning {
            WordMeaning::Option { name, .. } if name == "list" => lists = true,
            WordMeaning::Option { name, value, .. } if name == "f" || name == "file" => match value {
                // A colon stands behind the name of another machine, which is asked by a program.
                Some(CommandArgument::Exact(text)) if !text.contains(':') => files.extend(value.clone()),
                _ => return false,
            },
            WordMeaning::Unknown(_) => return false,
            _ => {}
        }
    }
    if lists && !files.is_empty() {
        files.iter().for_each(|file| reads(reader, Some(file), false));
    }
    lists && !files.is_empty()
}

pub(super) fn read_awk(
    reader: &mut LineReader<'_>,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
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
        reads(reader, Some(word), false);
    }
}

/// `mkdir`, `touch`, `tee`: all that they change is what they name.
pub(super) fn write_operands(
    reader: &mut LineReader<'_>,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let row = match name {
        "tee" => &TEE,
        "mkdir" => &MKDIR,
        _ => &TOUCH,
    };
    let (meanings, _) = read_options(row, arguments);
    let writer = reader.next_writer();
    let mut sure = true;
    for meaning in &meanings {
        match meaning {
            WordMeaning::Option { effect, value, .. } => {
                if *effect == super::options::OptionEffect::Reads {
                    reads(reader, value.as_ref(), false);
                }
                continue;
            }
            WordMeaning::Unknown(word) if word.exact().is_some() => {
                sure = false;
                continue;
            }
            // An option of theirs changes nothing else.
            WordMeaning::Unknown(word) | WordMeaning::Operand(word) => {
                for target in reader.targets(word) {
                    if name == "tee" {
                        reader.destroys(name, target.clone());
                    }
                    reader.uses(PathUseKind::Write, target, writer);
                }
            }
        }
    }
    if sure {
        command.role = CommandRole::WritesListed;
    }
}

/// What removes or replaces the files that it names. It needs a rule.
pub(super) fn destroy_operands(reader: &mut LineReader<'_>, name: &str, arguments: &[CommandArgument]) {
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
            reader.uses(kind, whole, PathNamer::RuledCommand);
        }
    }
    if name == "patch" {
        reader.destroys_uncommitted(name);
    }
}
