//! Developer commands: `cargo xtask <command>`.
//!
//! This program stays light, so that it is there within seconds in a fresh checkout: it uses none of our crates and
//! hardly any other. What needs them is a program of its own, which [`programs`] builds and starts.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

mod figures;
mod programs;
mod rust_code;
mod test;
mod tidy;
mod workspace;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;

/// The commands of this program itself: words, and what they do.
pub(crate) const OWN: &[(&str, &str)] = &[
    ("test", "Run what CI runs: format check, tidy, lints, fresh docs, all tests but those with real agents"),
    ("test --only STEP", "Run one step of it: fmt, tidy, lint, macos, docs, tests, torture"),
    ("test --real", "Run instead the tests with real agents, which are installed if npm is there"),
    ("lint", "The same as `test --only lint`"),
    (
        "tidy",
        "Check the rules of the house: crate edges, lists, names, file lengths, licences, headers, links",
    ),
    ("figures", "Count lines, names and documentation of the product; `--root DIR`: of another checkout"),
];

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match run(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("  {cause}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let shown: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    match shown.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
        [] | ["help" | "--help" | "-h", ..] | ["test" | "lint" | "tidy" | "figures", "--help" | "-h"] => {
            help();
        }
        ["test"] => test::run(None)?,
        ["test", "--only", step] => test::run(Some(step))?,
        ["test", "--real"] => test::real::run()?,
        ["lint"] => test::run(Some("lint"))?,
        ["tidy"] => tidy::run()?,
        ["figures"] => figures::run(&workspace::root())?,
        ["figures", "--root", _] => figures::run(Path::new(&words[2]))?,
        [command, ..] => match programs::named(command) {
            Some(program) => return program.run(&words[1..]),
            None => bail!("`{}` is not a command; `cargo xtask help` lists them", shown.join(" ")),
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn help() {
    println!("Developer commands of this repository: cargo xtask COMMAND\n");
    let started = programs::ALL.iter().map(|program| (program.command, program.about));
    for (words, about) in OWN.iter().copied().chain(started) {
        println!("  {words:<18} {about}");
    }
}
