//! Commands, options and arguments that relay does not have, or has otherwise.

use super::{project, typed};
use crate::relay_snapshot;

#[test]
fn the_words_of_other_tools_get_a_tip() {
    let lines = ["status", "diff", "rollback", "commit", "history", "record echo hi", "log a.txt"];
    let tips: Vec<String> = lines
        .iter()
        .flat_map(|line| {
            let ran = project().relay(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(ran.code, 2, "{ran:?}");
            ran.err.lines().filter(|line| line.contains("tip:")).map(str::to_string).collect::<Vec<_>>()
        })
        .collect();
    insta::assert_snapshot!(tips.join("\n"), @"
      tip: `relay log` lists what was done here, `relay doctor` says what works
      tip: `relay show --diff` shows what the last change did, `relay preview` what an answer would do
      tip: `relay undo` takes the last change back, `relay revert` any other
      tip: `relay git commit` commits the last change
      tip: `relay log` lists what was done here
      tip: put `--` before the command: `relay record -- echo ...`
      tip: `relay log --file a.txt` lists what changed one file
    ");
}

#[test]
fn commands_that_do_not_exist() {
    let lines = ["aply answer.md", "frobnicate", "git push", "config get linter", "help frobnicate", "Undo"];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay aply answer.md
    exit 2
    ----- stderr -----
    error: unrecognized subcommand 'aply'

      tip: a similar subcommand exists: 'apply'

    Usage: relay [OPTIONS] [COMMAND]

    For more information, try '--help'.

    # relay frobnicate
    exit 2
    ----- stderr -----
    error: unrecognized subcommand 'frobnicate'

    Usage: relay [OPTIONS] [COMMAND]

    For more information, try '--help'.

    # relay git push
    exit 2
    ----- stderr -----
    error: unrecognized subcommand 'push'

    Usage: relay git [OPTIONS] <COMMAND>

    For more information, try '--help'.

    # relay config get linter
    exit 2
    ----- stderr -----
    error: unrecognized subcommand 'get'

    Usage: relay config [OPTIONS] [COMMAND]

    For more information, try '--help'.

    # relay help frobnicate
    exit 2
    ----- stderr -----
    error: unrecognized subcommand 'frobnicate'

    Usage: relay [OPTIONS] [COMMAND]

    For more information, try '--help'.

    # relay Undo
    exit 2
    ----- stderr -----
    error: unrecognized subcommand 'Undo'

      tip: a similar subcommand exists: 'undo'

    Usage: relay [OPTIONS] [COMMAND]

    For more information, try '--help'.
    ");
}

#[test]
fn options_that_do_not_exist() {
    let lines = ["apply --frobnicate", "apply -z", "log --jsn", "undo --yse", "--verbose log"];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay apply --frobnicate
    exit 2
    ----- stderr -----
    error: unexpected argument '--frobnicate' found

      tip: to pass '--frobnicate' as a value, use '-- --frobnicate'

    Usage: relay apply [OPTIONS] [FILE|-]

    For more information, try '--help'.

    # relay apply -z
    exit 2
    ----- stderr -----
    error: unexpected argument '-z' found

      tip: to pass '-z' as a value, use '-- -z'

    Usage: relay apply [OPTIONS] [FILE|-]

    For more information, try '--help'.

    # relay log --jsn
    exit 2
    ----- stderr -----
    error: unexpected argument '--jsn' found

      tip: a similar argument exists: '--json'

    Usage: relay log --json

    For more information, try '--help'.

    # relay undo --yse
    exit 2
    ----- stderr -----
    error: unexpected argument '--yse' found

    Usage: relay undo [OPTIONS]

    For more information, try '--help'.

    # relay --verbose log
    exit 2
    ----- stderr -----
    error: unexpected argument '--verbose' found

      tip: a similar argument exists: '--version'

    Usage: relay --version

    For more information, try '--help'.
    ");
}

#[test]
fn options_with_values_that_they_do_not_have() {
    let lines = [
        "--color purple log",
        "log -n abc",
        "log -n -1",
        "ask why --timeout soon",
        "log -n",
        "log --since tomorrowish",
        "apply a.txt --allow everything",
        "apply a.txt --limit lines=9",
        "apply a.txt --limit text=lots",
        "completions foo",
        "review --base",
    ];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay --color purple log
    exit 2
    ----- stderr -----
    error: invalid value 'purple' for '--color <WHEN>'
      [possible values: auto, always, never]

    For more information, try '--help'.

    # relay log -n abc
    exit 2
    ----- stderr -----
    error: invalid value 'abc' for '--count <N>': give a number, such as 20

    For more information, try '--help'.

    # relay log -n -1
    exit 2
    ----- stderr -----
    error: invalid value '-1' for '--count <N>': give a number, such as 20

    For more information, try '--help'.

    # relay ask why --timeout soon
    exit 2
    ----- stderr -----
    error: invalid value 'soon' for '--timeout <SECONDS>': give a number of seconds, such as 600

    For more information, try '--help'.

    # relay log -n
    exit 2
    ----- stderr -----
    error: a value is required for '--count <N>' but none was supplied

    For more information, try '--help'.

    # relay log --since tomorrowish
    exit 2
    ----- stderr -----
    error: invalid value 'tomorrowish' for '--since <TIME>': `tomorrowish` is not a time such as 2h, 3d, yesterday or 2026-03-01

    For more information, try '--help'.

    # relay apply a.txt --allow everything
    exit 2
    ----- stderr -----
    error: invalid value 'everything' for '--allow <NAME,...>'
      [possible values: guarded, near, placeholder, fragment, overwrite, mass-deletion, hidden, syntax, key, gate]

    For more information, try '--help'.

    # relay apply a.txt --limit lines=9
    exit 2
    ----- stderr -----
    error: invalid value 'lines=9' for '--limit <NAME=N,...>': there is no limit `lines`; the names are text (bytes of the answer), files, file (bytes of one file), hunks, total (bytes of all files), work (steps)

    For more information, try '--help'.

    # relay apply a.txt --limit text=lots
    exit 2
    ----- stderr -----
    error: invalid value 'text=lots' for '--limit <NAME=N,...>': `lots` is not a number such as 500 or 8M

    For more information, try '--help'.

    # relay completions foo
    exit 2
    ----- stderr -----
    error: invalid value 'foo' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

    For more information, try '--help'.

    # relay review --base
    exit 2
    ----- stderr -----
    error: a value is required for '--base <REF>' but none was supplied

    For more information, try '--help'.
    ");
}

#[test]
fn arguments_that_are_missing_or_too_many() {
    let lines = [
        "blame",
        "completions",
        "record",
        "keys set",
        "git",
        "undo zzz",
        "redo 1",
        "apply a.txt src/b.txt",
        "show 1 2",
        "recover --keep --restore",
    ];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay blame
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <FILE[:LINE]>

    Usage: relay blame <FILE[:LINE]>

    For more information, try '--help'.

    # relay completions
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <SHELL>

    Usage: relay completions <SHELL>

    For more information, try '--help'.

    # relay record
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <COMMAND>...

    Usage: relay record -- <COMMAND>...

    For more information, try '--help'.

    # relay keys set
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      <PROVIDER>

    Usage: relay keys set <PROVIDER>

    For more information, try '--help'.

    # relay git
    exit 2
    ----- stderr -----
    Work with git

    Usage: relay git [OPTIONS] <COMMAND>

    Commands:
      commit  Commit what changes did, with the message of their author
      help    Print this message or the help of the given subcommand(s)

    Options:
      -C, --directory <DIR>  Run as if started in DIR [default: .]
          --json             Print one JSON object on stdout, the text for people on stderr
      -q, --quiet            Print only results and errors
          --color <WHEN>     When to use colour [default: auto] [possible values: auto, always, never]
      -h, --help             Print help (see more with '--help')

    # relay undo zzz
    exit 2
    ----- stderr -----
    error: unexpected argument 'zzz' found

      tip: `relay revert zzz` undoes one change by its number or id

    Usage: relay undo [OPTIONS]

    For more information, try '--help'.

    # relay redo 1
    exit 2
    ----- stderr -----
    error: unexpected argument '1' found

      tip: to bring back one change, run `relay revert` with the id of its undo from `relay log`

    Usage: relay redo [OPTIONS]

    For more information, try '--help'.

    # relay apply a.txt src/b.txt
    exit 2
    ----- stderr -----
    error: unexpected argument 'src/b.txt' found

    Usage: relay apply [OPTIONS] [FILE|-]

    For more information, try '--help'.

    # relay show 1 2
    exit 2
    ----- stderr -----
    error: unexpected argument '2' found

    Usage: relay show [OPTIONS] [ID|N]

    For more information, try '--help'.

    # relay recover --keep --restore
    exit 2
    ----- stderr -----
    error: the argument '--keep' cannot be used with '--restore'

    Usage: relay recover --keep

    For more information, try '--help'.
    ");
}

#[test]
fn directories_that_are_none() {
    let lines = ["-C missing log", "-C a.txt log", "-C missing/deeper init"];
    relay_snapshot!(typed(&project(), &lines), @"
    # relay -C missing log
    exit 2
    ----- stderr -----
    ✗ the directory missing cannot be used: No such file or directory (os error 2)
      give the project's directory with `-C DIR`

    # relay -C a.txt log
    exit 2
    ----- stderr -----
    ✗ the directory a.txt cannot be used: not a directory
      give the project's directory with `-C DIR`

    # relay -C missing/deeper init
    exit 2
    ----- stderr -----
    ✗ the directory missing/deeper cannot be used: No such file or directory (os error 2)
      give the project's directory with `-C DIR`
    ");
}
