//! git: which of its commands only look.

use super::looking::{is_risky_word, read_looking, reads};
use super::options::{OperandUse, OptionEffect, ProgramRow, WordMeaning, looks, read_options, runs};
use super::reader::LineReader;
use super::{CommandArgument, CommandRole, LineTarget, PathNamer, PathUseKind, StartedCommand};
use crate::permissions::path_pattern::resolve_links;

/// Commands that only look, with the options that do no more.
#[rustfmt::skip]
const LOOKING: &[ProgramRow] = &[
    looks("log diff show whatchanged diff-tree diff-index diff-files rev-list shortlog range-diff show-branch cherry", LOG_SHORT, LOG),
    looks("status", "sbvzu?M?", "short branch show-stash porcelain? long verbose untracked-files? ignore-submodules? ignored? column? no-column ahead-behind no-ahead-behind renames no-renames find-renames?"),
    looks("blame annotate", "lstfpwecbnM?C?L:S<h#", "root show-stats score-debug show-name show-number show-email line-porcelain porcelain incremental contents< date: color-lines color-by-age progress no-progress minimal abbrev: ignore-rev: ignore-revs-file< reverse first-parent since: encoding:"),
    looks("ls-files", "zcdomiskuvtfx:X<", "cached deleted others modified ignored stage directory no-empty-directory eol unmerged killed full-name recurse-submodules abbrev? error-unmatch with-tree: exclude: exclude-from< exclude-per-directory: exclude-standard debug deduplicate sparse format: resolve-undo"),
    looks("ls-tree", "drtlz", "name-only name-status object-only long full-name full-tree abbrev? format:"),
    looks("rev-parse", "q", "verify quiet sq short? not symbolic symbolic-full-name abbrev-ref? all branches? tags? remotes? glob: exclude: disambiguate: git-dir absolute-git-dir git-common-dir is-inside-git-dir is-inside-work-tree is-bare-repository is-shallow-repository show-cdup show-prefix show-toplevel show-superproject-working-tree shared-index-path show-object-format? show-ref-format git-path: path-format: revs-only no-revs flags no-flags default: prefix: since: after: until: before: local-env-vars"),
    looks("describe", "", "all tags contains abbrev: candidates: exact-match debug long match: exclude: always first-parent dirty? broken?"),
    looks("cat-file", "etsp", "batch? batch-check? batch-all-objects buffer unordered follow-symlinks allow-unknown-type mailmap no-mailmap use-mailmap filter: textconv! filters! path:"),
    looks("merge-base", "a", "all octopus independent is-ancestor fork-point"),
    looks("name-rev", "", "tags refs: exclude: all name-only no-undefined always"),
    looks("grep", "aIiwvhHEGPFnlLcpWqorzA:B:C:e:f<m:O!#", "cached untracked no-index exclude-standard no-exclude-standard text textconv! no-textconv ignore-case max-depth: recursive no-recursive word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only files-without-match null only-matching count color? no-color break heading show-function context: after-context: before-context: function-context max-count: threads: and or not all-match quiet open-files-in-pager! recurse-submodules parent-basename:").recursive("no-index"),
    looks("for-each-ref", "spt", "count: sort: format: color? shell perl python tcl points-at: merged? no-merged? contains? no-contains? ignore-case omit-empty exclude: include-root-refs stdin start-after:"),
    looks("show-ref", "dhqs?", "head heads tags branches dereference hash? verify exists abbrev? quiet exclude-existing?"),
    looks("count-objects", "vH", "verbose human-readable"),
    looks("version", "", "build-options"),
    looks("check-ignore", "qvzn", "quiet verbose stdin non-matching no-index"),
    looks("check-attr", "az", "all cached stdin source:"),
    looks("var", "l", ""),
    looks("branch", "arvqi", "all remotes show-current color? no-color column? no-column verbose abbrev? no-abbrev sort: format: ignore-case omit-empty").with(OperandUse::Nothing),
    looks("branch-list", "arvlqin?", "list all remotes show-current color? no-color column? no-column verbose abbrev? no-abbrev sort: format: points-at: merged? no-merged? contains? no-contains? ignore-case omit-empty").needing(LISTING),
    looks("tag", "i", "sort: format: column? no-column color? no-color ignore-case omit-empty").with(OperandUse::Nothing),
    looks("config", "lz", "get: get-all: get-regexp: get-urlmatch: list null name-only show-origin show-scope type: bool int path local global system worktree default: includes no-includes").needing("l get get-all get-regexp get-urlmatch list"),
    looks("symbolic-ref", "q", "quiet short recurse no-recurse").with(OperandUse::OneFile),
    looks("submodule-status", "q", "quiet cached recursive"),
    looks("stash-list reflog-show stash-show", LOG_SHORT, LOG),
    looks("worktree-list", "vz", "porcelain verbose expire:"),
    looks("notes-list notes-show", "", ""),
    looks("remote-get-url", "", "push all"),
    looks("remote", "v", "verbose").with(OperandUse::Nothing),
];
/// With one of these, `branch` and `tag` list, whatever names stand behind them.
const LISTING: &str = "l n list merged no-merged contains no-contains points-at";
const LOG_SHORT: &str = "abcghimpqrstuvwWzDRBefEFPB?C?M?n:U?S:G:O<X?l:L:I:#";
const LOG: &str = "patch no-patch unified? raw patch-with-raw patch-with-stat indent-heuristic no-indent-heuristic minimal patience histogram anchored: diff-algorithm: stat? stat-width: stat-count: stat-name-width: stat-graph-width: compact-summary numstat shortstat dirstat? cumulative dirstat-by-file? summary name-only name-status submodule? color? no-color color-moved? no-color-moved color-moved-ws: no-color-moved-ws word-diff? word-diff-regex: color-words? no-renames rename-empty no-rename-empty check ws-error-highlight: full-index binary abbrev? no-abbrev break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete diff-filter: pickaxe-all pickaxe-regex find-object: skip-to: rotate-to: relative? no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines: inter-hunk-context: function-context exit-code quiet no-ext-diff no-textconv ignore-submodules? src-prefix: dst-prefix: no-prefix default-prefix line-prefix: ita-invisible-in-index ita-visible-in-index cached staged merge-base base ours theirs no-index follow no-follow decorate? no-decorate decorate-refs: decorate-refs-exclude: clear-decorations source mailmap use-mailmap no-mailmap no-use-mailmap full-diff log-size max-count: skip: since: after: since-as-filter: until: before: author: committer: grep-reflog: grep: all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp remove-empty merges no-merges min-parents? max-parents? no-min-parents no-max-parents first-parent exclude-first-parent-only not all branches? tags? remotes? glob: exclude: exclude-hidden: reflog alternate-refs single-worktree ignore-missing bisect cherry-mark cherry-pick left-only right-only cherry walk-reflogs merge boundary simplify-by-decoration show-pulls full-history dense sparse simplify-merges ancestry-path? date-order author-date-order topo-order reverse no-walk? do-walk pretty? format? oneline abbrev-commit no-abbrev-commit encoding: expand-tabs? no-expand-tabs notes? no-notes show-notes? standard-notes no-standard-notes relative-date date: parents children left-right graph no-graph show-linear-break? cc combined-all-paths diff-merges: no-diff-merges remerge-diff count timestamp header objects no-object-names disk-usage? use-bitmap-index unpacked numbered summary email group? no-commit-id root always creation-factor? no-dual-color more? list independent current sha1-name topics output! ext-diff! textconv! stdin";
/// Commands that change something, with the options and words by which they run something else or write elsewhere.
#[rustfmt::skip]
const CHANGING: &[ProgramRow] = &[
    runs("clone", "u!c!o:b:j:", "upload-pack! config! template! reference: separate-git-dir> bundle-uri!").risky("ext::* fd::*"),
    runs("fetch pull push ls-remote", "o:j:", "upload-pack! receive-pack! exec! server-option: strategy!").risky("ext::* fd::*"),
    runs("remote", "t:m:", "").risky("add set-url"),
    runs("submodule", "b:", "branch: reference: name:").risky("foreach add"),
    runs("bisect", "", "").risky("run"),
    runs("rebase", "x!s!X:C:", "exec! strategy!"),
    runs("merge cherry-pick revert", "s!X:m:S?F<", "strategy! file<"),
    runs("difftool mergetool", "x!t!", "extcmd! tool!"),
    runs("archive", "o>", "output> exec! remote!"),
    runs("init", "b:", "template! separate-git-dir>"),
    runs("commit tag", "F<t<m:C:c:u:", "template< file< message:"),
    runs("format-patch", "o>", "output-directory> output!"),
    runs("worktree", "b:B:", "").risky("add move"),
    runs("apply am", "p:C:", "directory! unsafe-paths!"),
    runs("add rm mv restore checkout switch reset stash clean branch", "b:B:c:C:u:e!", "pathspec-from-file<"),
    runs("notes", "m:F<C:c:", "file<"),
    runs("gc prune fsck repack pack-refs update-index hash-object read-tree write-tree commit-tree update-ref ls-remote reflog sparse-checkout describe help", "w!", "web!"),
];
/// Options that write a file or run a program, whatever the command; git takes their beginnings, too.
const RISKY: ProgramRow = runs(
    "git",
    "",
    "output! ext-diff! textconv! filters! open-files-in-pager! upload-pack! receive-pack! exec! extcmd! template! config-env!",
);
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
                let value = words.get(at + 1);
                if value.is_none_or(|word| !word.is_one_word()) {
                    sure = false;
                    command.add_risk("it may be several words", None);
                }
                // A second one is relative to the first.
                let before = std::mem::replace(&mut reader.directories, command.directories.clone());
                command.directories = reader.directories_behind(value);
                reader.directories = before;
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
    let texts: Vec<&str> = arguments.iter().map_while(CommandArgument::exact).collect();
    let all_known = texts.len() == arguments.len();
    let reads = sure && only_looks(reader, verb, arguments, command) && is_own_repository(reader, command);
    if reads {
        command.role = CommandRole::ReadsOnly;
        return;
    }
    add_risks(reader, verb, arguments, command);
    let destroys = DESTRUCTIVE
        .iter()
        .any(|(name, word)| name == verb && (word.is_empty() || !all_known || texts.contains(word)));
    if destroys {
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

/// Whether git obeys the configuration of the project, which is protected. Other directories can hold any, and so can a
/// directory of the project that looks like a repository without files.
fn is_own_repository(reader: &LineReader<'_>, command: &StartedCommand) -> bool {
    let root = &reader.place.root;
    command.directories.iter().all(|directory| {
        let real = directory.as_deref().map(resolve_links);
        real.is_some_and(|directory| {
            let mut above = directory.ancestors().take_while(|above| above.starts_with(root));
            directory.starts_with(root)
                && !above.any(|above| above.join("HEAD").exists() && above.join("objects").exists())
        })
    })
}

/// Whether the command only looks; what it reads is listed.
fn only_looks(
    reader: &mut LineReader<'_>,
    verb: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) -> bool {
    let second = arguments.first().and_then(CommandArgument::exact).unwrap_or_default();
    let with_second = format!("{verb}-{second}");
    let two_words = [
        "stash-list",
        "stash-show",
        "reflog-show",
        "worktree-list",
        "submodule-status",
        "notes-list",
        "notes-show",
        "remote-get-url",
    ];
    let (name, arguments) = match (verb, second) {
        ("--version", _) => return arguments.is_empty(),
        ("config", "get") => return arguments.len() == 2 && !arguments[1].may_be_option(),
        ("config", "list") => return arguments.len() == 1,
        ("reflog", "") if arguments.is_empty() => return true,
        ("branch" | "tag", _) if lists_names(arguments) => ("branch-list", arguments),
        // With one name it tells the value.
        ("config", name) if arguments.len() == 1 && name.contains('.') && !name.starts_with('-') => {
            return true;
        }
        _ if two_words.contains(&with_second.as_str()) => (with_second.as_str(), &arguments[1..]),
        _ => (verb, arguments),
    };
    let Some(row) = LOOKING.iter().find(|row| row.is_for(name)) else { return false };
    let mut looking = StartedCommand { risky: Vec::new(), risky_words: Vec::new(), ..command.clone() };
    // Most of its words are names of commits, or of files of the project; these are files of any place.
    let names_files = matches!(name, "diff" | "blame" | "annotate") || has(arguments, "--no-index");
    let row =
        if names_files || row.operands != OperandUse::Files { *row } else { row.with(OperandUse::Words) };
    let before = std::mem::replace(&mut reader.directories, command.directories.clone());
    let piped = std::mem::replace(&mut reader.is_piped, true);
    read_looking(reader, &row, arguments, &mut looking);
    // `HEAD:file`
    for word in arguments.iter().filter(|_| matches!(name, "show" | "cat-file")) {
        if let Some((_, file)) = word.exact().and_then(|text| text.split_once(':')) {
            reads(reader, Some(&CommandArgument::Exact(file.to_string())), false);
        }
    }
    if name == "grep" {
        reads(reader, Some(&CommandArgument::Exact(".".to_string())), true);
    }
    reader.is_piped = piped;
    reader.directories = before;
    command.unlisted |= looking.unlisted;
    looking.role == CommandRole::ReadsOnly
}

fn lists_names(arguments: &[CommandArgument]) -> bool {
    let Some(row) = LOOKING.iter().find(|row| row.is_for("branch-list")) else { return false };
    read_options(row, arguments).0.iter().any(|meaning| match meaning {
        WordMeaning::Option { name, .. } => LISTING.split(' ').any(|known| known == name),
        _ => false,
    })
}

fn has(arguments: &[CommandArgument], option: &str) -> bool {
    arguments.iter().any(|word| word.exact() == Some(option))
}

/// By what a command could run something else: what `*` in a rule leaves out.
fn add_risks(
    reader: &mut LineReader<'_>,
    verb: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let why = "this word of git writes a file or runs a program";
    let text = |word: &CommandArgument| word.exact().map(ToString::to_string);
    let looking = LOOKING.iter().find(|row| row.is_for(verb));
    let changing = CHANGING.iter().find(|row| row.is_for(verb));
    // Its subcommands are few: another one is an alias, or something that the user has to name.
    let named = match verb {
        "config" => !has(arguments, "--get") && !has(arguments, "--list") && !has(arguments, "-l"),
        _ => looking.is_none() && changing.is_none(),
    };
    if named {
        command.add_risk("this command of git can run a program or write anywhere", Some(verb.to_string()));
    }
    let mut found: Vec<CommandArgument> = Vec::new();
    for row in looking.into_iter().chain(changing).chain([&RISKY]) {
        let mut operands = 0;
        for meaning in read_options(row, arguments).0 {
            match meaning {
                WordMeaning::Option { effect: OptionEffect::Risky, word, .. } => found.push(word),
                WordMeaning::Option { effect: OptionEffect::Writes, value, .. } => {
                    for target in value.iter().flat_map(|word| reader.targets(word)).collect::<Vec<_>>() {
                        reader.uses(PathUseKind::Write, target, PathNamer::RuledCommand);
                    }
                }
                WordMeaning::Unknown(word) if word.exact().is_none() => found.push(word),
                WordMeaning::Operand(word) => {
                    if is_risky_word(row, &word, operands == 0) {
                        found.push(word);
                    }
                    operands += 1;
                }
                _ => {}
            }
        }
    }
    found.dedup();
    for word in found {
        command.add_risk(why, text(&word));
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
