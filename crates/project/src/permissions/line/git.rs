//! git: which of its commands only look.

use super::CommandArgument;
use super::reader::LineReader;
use crate::permissions::line::{CommandRole, LineTarget, StartedCommand};

/// They only look, whatever follows but `RISKY`.
const READERS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "annotate",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "describe",
    "shortlog",
    "cat-file",
    "merge-base",
    "name-rev",
    "grep",
    "for-each-ref",
    "show-ref",
    "show-branch",
    "count-objects",
    "version",
    "whatchanged",
    "cherry",
    "diff-tree",
    "diff-index",
    "diff-files",
    "check-ignore",
    "check-attr",
    "range-diff",
    "var",
    "--version",
];
/// Options that write a file or run a program, whole; git takes their beginnings, too.
const RISKY: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "--filters",
    "--open-files-in-pager",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--contents",
];
/// What loses something: the command, and the word that makes it so (empty: any).
const DESTRUCTIVE: &[(&str, &str)] = &[
    ("clean", ""),
    ("checkout", ""),
    ("restore", ""),
    ("reset", ""),
    ("stash", ""),
    ("switch", ""),
    ("rm", ""),
    ("merge", ""),
    ("rebase", ""),
    ("pull", ""),
    ("cherry-pick", ""),
    ("revert", ""),
    ("am", ""),
    ("apply", ""),
    ("mv", ""),
    ("worktree", ""),
    ("read-tree", ""),
    ("checkout-index", ""),
    ("bisect", ""),
    ("submodule", ""),
    ("sparse-checkout", ""),
    ("branch", "-D"),
    ("branch", "-d"),
    ("branch", "--delete"),
    ("filter-branch", ""),
];

pub(super) fn read_git(reader: &mut LineReader<'_>, command: &mut StartedCommand) {
    let words = command.words.clone();
    let mut at = 1;
    let mut sure = true;
    while let Some(CommandArgument::Exact(word)) = words.get(at) {
        match word.as_str() {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" | "--no-replace-objects" => {
                at += 1;
            }
            "-C" => {
                let before = reader.directories.clone();
                reader.change_directory(words.get(at + 1));
                command.directories = std::mem::replace(&mut reader.directories, before);
                at += 2;
            }
            _ if word.starts_with('-') && word != "--version" => {
                sure = false;
                let takes_value = matches!(
                    word.as_str(),
                    "-c" | "--git-dir"
                        | "--work-tree"
                        | "--exec-path"
                        | "--namespace"
                        | "--config-env"
                        | "--super-prefix"
                );
                command.add_risk("an option of git can run a program", Some(word.clone()));
                if takes_value {
                    command.add_risk("an option of git can run a program", exact(words.get(at + 1)));
                    at += 1;
                }
                at += 1;
            }
            _ => break,
        }
    }
    let mut plain = vec![CommandArgument::Exact("git".to_string())];
    plain.extend(words.iter().skip(at).cloned());
    command.subcommand_words = Some(plain);
    let Some(CommandArgument::Exact(verb)) = words.get(at) else {
        if words.len() > at {
            command.add_risk("its command is only known when it runs", None);
        }
        return;
    };
    let arguments = &words[at + 1..];
    let texts: Vec<&str> = arguments
        .iter()
        .map_while(|word| match word {
            CommandArgument::Exact(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let all_known = texts.len() == arguments.len();
    let mut is_safe = true;
    for word in arguments {
        let text = match word {
            CommandArgument::Exact(text) if text == "--" => break,
            CommandArgument::Exact(text) => text.as_str(),
            word if word.may_be_option() => {
                is_safe = false;
                if READERS.contains(&verb.as_str()) {
                    command.add_risk("a word that is not known may be an option", None);
                }
                continue;
            }
            CommandArgument::BeginsWith(prefix) => prefix.as_str(),
            _ => continue,
        };
        let name = text.split('=').next().unwrap_or_default();
        let long =
            name.len() > 2 && name.starts_with("--") && RISKY.iter().any(|risky| risky.starts_with(name));
        let short =
            verb == "grep" && text.starts_with("-O") || verb == "cat-file" && name.starts_with("--te");
        if long || short {
            is_safe = false;
            command.add_risk("an option of git writes a file or runs a program", Some(text.to_string()));
        }
    }
    let only = |allowed: &[&str]| all_known && texts.iter().all(|text| allowed.contains(text));
    let first = texts.first().copied().unwrap_or_default();
    let reads = match verb.as_str() {
        "branch" => only(&[
            "-a",
            "-r",
            "-v",
            "-vv",
            "-l",
            "--list",
            "--all",
            "--remotes",
            "--show-current",
            "--no-color",
            "-av",
            "-avv",
            "-va",
            "--merged",
            "--no-merged",
        ]),
        "tag" => {
            all_known
                && (texts.is_empty() || matches!(first, "-l" | "--list" | "-n"))
                && !texts.iter().any(|text| matches!(*text, "-d" | "-f" | "-a" | "-m" | "-F"))
        }
        "remote" => only(&["-v", "--verbose"]) || all_known && first == "get-url",
        "config" => {
            all_known
                && matches!(first, "--get" | "--list" | "-l" | "--get-all" | "--get-regexp" | "get" | "list")
        }
        "stash" => all_known && (first == "list" || first == "show"),
        "worktree" => all_known && first == "list",
        "reflog" => all_known && (texts.is_empty() || first == "show"),
        "symbolic-ref" => {
            all_known
                && texts.iter().filter(|text| !text.starts_with('-')).count() == 1
                && !texts.iter().any(|text| text.starts_with("-d") || text.starts_with("--d"))
        }
        verb => READERS.contains(&verb),
    };
    if reads && is_safe && sure {
        command.role = CommandRole::ReadsOnly;
        return;
    }
    let destroys = DESTRUCTIVE
        .iter()
        .any(|(name, word)| name == verb && (word.is_empty() || !all_known || texts.contains(word)));
    if destroys && !reads {
        let act = format!("git {verb}");
        for directory in command.directories.clone() {
            let target = match (directory, verb.as_str(), texts.as_slice()) {
                (None, _, _) => LineTarget::Unknown,
                (Some(directory), "rm", [file]) if all_known && !file.starts_with('-') => {
                    LineTarget::Beneath(directory.join(file))
                }
                (Some(_), _, _) if !all_known || takes_ignored(verb, &texts) => {
                    LineTarget::Beneath(reader.place.root.clone())
                }
                (Some(_), _, _) => {
                    reader.destroys_uncommitted(&act);
                    continue;
                }
            };
            reader.destroys(&act, target);
        }
    }
}

/// Whether it also removes what git ignores.
fn takes_ignored(verb: &str, words: &[&str]) -> bool {
    let has = |letters: &[char]| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    match verb {
        "clean" => has(&['x', 'X']),
        "stash" => has(&['a']) || words.iter().any(|word| word.starts_with("--a")),
        _ => false,
    }
}

fn exact(word: Option<&CommandArgument>) -> Option<String> {
    match word {
        Some(CommandArgument::Exact(text)) => Some(text.clone()),
        _ => None,
    }
}
