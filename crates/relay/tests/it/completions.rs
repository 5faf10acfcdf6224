//! `relay completions` and the pages that describe every command.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::scratch_project::Project;
use crate::relay_snapshot;

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

/// The commands that `relay --help` lists.
fn commands(project: &Project) -> Vec<String> {
    let help = project.done(&["--help"]);
    let (_, below) = help.split_once("Commands:\n").unwrap();
    let (list, _) = below.split_once("\n\n").unwrap();
    list.lines()
        // What is indented further goes on with the line above.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

/// Whether a program is there, started like this.
fn exists(program: &str, arg: &str) -> bool {
    let run = Command::new(program).arg(arg).stdin(Stdio::null()).output();
    run.is_ok_and(|output| output.status.success())
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_shell_gets_a_script_with_every_command_and_nothing_hidden() {
    let project = Project::new(&[]);
    let commands = commands(&project);
    assert!(commands.len() > 6 && commands.contains(&"completions".to_owned()), "{commands:?}");
    assert!(commands.iter().all(|command| !command.starts_with("__")), "{commands:?}");
    for shell in SHELLS {
        let script = project.done(&["completions", shell]);
        for command in &commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("--json") || script.contains("-l json"), "{shell}: the options of all");
        for hidden in ["__man", "__keep"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
        assert_eq!(script, project.done(&["completions", shell]), "{shell}: the same each time");
    }
    assert!(project.listing().is_empty(), "nothing was written");
}

#[test]
fn the_script_for_bash_is_one_that_bash_reads() {
    let project = Project::new(&[]);
    project.put("script", project.done(&["completions", "bash"]).as_bytes());
    assert!(exists("bash", "--version"), "bash is needed to check what it is given");
    let output = Command::new("bash").arg("-n").arg(project.path("script")).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // What a user gets who types `relay re` and the tab key.
    let asks =
        "source ./script; COMP_WORDS=(relay re); COMP_CWORD=1; _relay relay re relay; echo ${COMPREPLY[*]}";
    let output = Command::new("bash").args(["-c", asks]).current_dir(project.path("")).output().unwrap();
    let wanted: Vec<String> =
        commands(&project).into_iter().filter(|command| command.starts_with("re")).collect();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), wanted.join(" "), "{output:?}");
}

#[test]
fn a_shell_that_relay_does_not_know_is_wrong_usage() {
    let project = Project::new(&[]);
    relay_snapshot!(project.relay(&["completions", "tcsh"]), @"
    exit 2
    ----- stderr -----
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
    let json = project.relay(&["completions", "bash", "--json"]).json();
    assert_eq!(json["shell"], "bash");
    assert_eq!(json["script"].as_str().unwrap(), project.done(&["completions", "bash"]));
}

#[test]
fn every_command_has_a_man_page_with_its_exit_codes() {
    let project = Project::new(&[]);
    let dir = project.path("man");
    project.done(&["__man", "man"]);
    let mut wanted: Vec<String> = commands(&project)
        .iter()
        .filter(|command| *command != "help")
        .map(|command| format!("relay-{command}.1"))
        .collect();
    wanted.push("relay.1".to_owned());
    wanted.sort();
    // Commands of commands have pages too.
    let all = names(&dir);
    assert!(wanted.iter().all(|page| all.contains(page)), "{all:?}");
    assert!(!all.iter().any(|page| page.contains("__") || page.contains("help")), "{all:?}");
    let groff = exists("groff", "--version");
    for page in &all {
        let text = fs::read_to_string(dir.join(page)).unwrap();
        let name = page.trim_end_matches(".1");
        assert!(text.contains(&format!("\n.TH {name} 1 \" \" \"relay ")), "{page}: {text}");
        for part in [
            ".SH NAME",
            ".SH SYNOPSIS",
            ".SH DESCRIPTION",
            ".SH OPTIONS",
            ".SH \"EXIT STATUS\"",
            ".SH \"SEE ALSO\"",
        ] {
            assert!(text.contains(part), "{page}: {part}");
        }
        assert!(!text.contains("__"), "{page} speaks of what is hidden");
        if groff {
            let output = Command::new("groff")
                .args(["-man", "-Tutf8", "-ww", "-P-cbou"])
                .arg(dir.join(page))
                .output()
                .unwrap();
            let (shown, said) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success() && said.is_empty(), "{page}: {said}");
            assert!(shown.contains("130") && shown.contains("Interrupted"), "{page}: {shown}");
            assert!(page == "relay.1" || shown.contains("relay(1)"), "{page}: {shown}");
        }
    }
    project.done(&["__man", "again", "--quiet"]);
    for page in &all {
        assert_eq!(fs::read(dir.join(page)).unwrap(), fs::read(project.path("again").join(page)).unwrap());
    }
}

#[test]
fn the_help_of_every_command_stands_on_one_page() {
    let project = Project::new(&[]);
    project.done(&["__man", "docs", "--markdown"]);
    assert_eq!(names(&project.path("docs")), ["commands.md"]);
    let page = project.text("docs/commands.md");
    for command in commands(&project).iter().filter(|command| *command != "help") {
        assert!(page.contains(&format!("\n## relay {command}\n\n```text\n")), "{command}");
    }
    assert!(!page.contains("__"), "{page}");
    assert!(page.lines().all(|line| line.trim_end() == line && line.chars().count() <= 100), "{page}");
    // The width of a terminal is nothing to the page.
    let mut narrow = project.command(&["__man", "narrow", "--markdown"]);
    assert!(narrow.env("COLUMNS", "40").output().unwrap().status.success());
    assert_eq!(project.text("narrow/commands.md"), page);
}

#[test]
fn pages_that_cannot_be_written_are_a_failure() {
    let project = Project::new(&[("file", "x")]);
    relay_snapshot!(project.relay(&["__man", "file/man"]), @"
    exit 1
    ----- stderr -----
    ✗ the pages cannot be written: Not a directory (os error 20)
      in file/man
    ");
}
