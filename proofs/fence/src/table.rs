//! Every attempt at every level, as root and as a user, as a table.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use relaycode_exec::{FenceAccess, FenceLevel};

use crate::known::{KNOWN_AT_LEVEL_2, WRITES_PROJECT};
use crate::{ALL, Attempt, AttemptKind, AttemptOutcome, World, WorldUser, run_attempt};

/// Where worlds are made: seen by everybody, and not a place for temporary files, which a fence replaces.
const BASE: &str = "/var/lib";

/// Prints it, and fails if anything got through that should not, or does not work that should.
pub(crate) fn print(access: FenceAccess, only: Option<&str>) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        rustix::process::geteuid().is_root(),
        "the table is about root and a user: run it as root"
    );
    let base = tempfile::Builder::new().prefix("relaycode-proof-fence-").tempdir_in(BASE).context(BASE)?;
    rustix::fs::chmod(base.path(), rustix::fs::Mode::from_raw_mode(0o755))?;
    let program = base.path().join("proof");
    std::fs::copy(std::env::current_exe()?, &program)?;
    println!(
        "Levels are 1, 2 and 3; r is root, u a user. ✓ stopped, ✗ got through, – no different without a fence.\n"
    );
    println!("| attempt | 1 r | 1 u | 2 r | 2 u | 3 r | 3 u |\n|---|---|---|---|---|---|---|");
    let mut table = Table {
        access,
        base: base.path(),
        program: &program,
        worlds: 0,
        problems: Vec::new(),
        stopped: 0,
        hostile: 0,
    };
    for attempt in
        ALL.iter().copied().flatten().filter(|attempt| only.is_none_or(|only| attempt.name.contains(only)))
    {
        table.print_row(attempt)?;
    }
    println!("\n{} hostile attempts; {} of their runs at level 1 stopped.", table.hostile, table.stopped);
    if table.problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nProblems:\n");
    table.problems.iter().for_each(|problem| println!("- {problem}"));
    Ok(ExitCode::FAILURE)
}

struct Table<'t> {
    access: FenceAccess,
    base: &'t Path,
    program: &'t Path,
    worlds: u32,
    problems: Vec<String>,
    stopped: usize,
    hostile: usize,
}

impl Table<'_> {
    fn print_row(&mut self, attempt: &Attempt) -> anyhow::Result<()> {
        let hostile = !matches!(attempt.kind, AttemptKind::Allowed | AttemptKind::AllowedInNamespaces);
        self.hostile += usize::from(hostile);
        let mut cells = Vec::new();
        for level in FenceLevel::ALL {
            for user in [WorldUser::Own, WorldUser::Nobody] {
                cells.push((level, user, self.run(attempt, level, user)?));
            }
        }
        let without = |user| {
            cells
                .iter()
                .any(|(level, who, outcome)| *level == FenceLevel::Open && *who == user && outcome.through)
        };
        let mut row = format!("| `{}` |", attempt.name);
        let mut problems = Vec::new();
        for (level, user, outcome) in &cells {
            let sign = if hostile {
                match outcome.through {
                    true => "✗",
                    false if without(*user) => "✓",
                    false => "–",
                }
            } else if outcome.through {
                "works"
            } else {
                "fails"
            };
            row.push_str(&format!(" {sign} |"));
            self.stopped += usize::from(*level == FenceLevel::Namespaces && sign == "✓");
            if !self.is_expected(attempt, *level, outcome.through, without(*user)) {
                let number = level.number();
                problems.push(format!(
                    "`{}` at level {number} as {user:?}: {sign} {}",
                    attempt.name, outcome.details
                ));
            }
        }
        println!("{row}");
        self.problems.extend(problems);
        Ok(())
    }

    fn run(
        &mut self,
        attempt: &Attempt,
        level: FenceLevel,
        user: WorldUser,
    ) -> anyhow::Result<AttemptOutcome> {
        self.worlds += 1;
        let mut world = World::new(self.base, self.worlds, user, self.program)?;
        run_attempt(attempt, &mut world, level, self.access, self.program)
    }

    /// Whether this is what the documents say.
    fn is_expected(&self, attempt: &Attempt, level: FenceLevel, through: bool, without: bool) -> bool {
        let closed = self.access == FenceAccess::ReadOnly;
        match (attempt.kind, level) {
            (_, FenceLevel::Open) => true,
            (AttemptKind::Allowed, _) if closed && WRITES_PROJECT.contains(&attempt.name) => !through,
            (AttemptKind::Allowed, _) | (AttemptKind::AllowedInNamespaces, FenceLevel::Namespaces) => through,
            (AttemptKind::AllowedInNamespaces, FenceLevel::Rules) => true,
            (_, FenceLevel::Namespaces) => !through,
            // What does nothing without a fence says nothing about one.
            (_, FenceLevel::Rules) => {
                through == (without && !closed && KNOWN_AT_LEVEL_2.contains(&attempt.name))
            }
        }
    }
}
