//! `relay apply` of one, twenty and two hundred files: processor time of relay itself and its memory, without
//! a gate and with one that does nothing.

use std::time::Duration;

use tempfile::TempDir;

use super::project::{Form, Kind, Project, settle};
use crate::child::median;
use crate::measure::Measured;

/// Files, and the milliseconds of processor time to stay below.
const SIZES: &[(usize, f64)] = &[(1, 10.0), (20, 20.0), (200, 100.0)];
/// Megabytes of resident memory to stay below.
const MEMORY_BELOW: f64 = 25.0;
/// Runs of which the median counts.
const RUNS: usize = 9;
/// Runs of the plain program, which waits for the disk at every file.
const PLAIN_RUNS: usize = 3;
/// A linter that finds nothing, and takes no time for it.
const LINTER: &str = "true";
const NO_SYNTAX: &str = "--no-syntax";

/// Measures every kind of file, every form and every size.
pub(super) fn measure(
    wanted: &dyn Fn(&str) -> bool,
    keep: &mut impl FnMut(Measured),
    kept: &mut Vec<TempDir>,
) -> anyhow::Result<()> {
    for kind in [Kind::Code, Kind::Text] {
        for form in Form::ALL {
            for (files, below) in SIZES {
                let case = Case { kind, form, files: *files, below: *below };
                if wanted(&case.name("apply")) {
                    kept.push(case.without_gate(keep)?);
                }
                if kind == Kind::Code && wanted(&case.name("apply with a gate")) {
                    kept.push(case.with_gate(keep)?);
                }
            }
        }
    }
    Ok(())
}

struct Case {
    kind: Kind,
    form: Form,
    files: usize,
    below: f64,
}

impl Case {
    fn name(&self, what: &str) -> String {
        format!("door, {} .{}, {}, {what}", self.files, self.kind.extension(), self.form.name())
    }

    fn without_gate(&self, keep: &mut impl FnMut(Measured)) -> anyhow::Result<TempDir> {
        let mut project = Project::make(self.kind, self.files, None)?;
        let (mut unchecked, mut checked) = (Vec::new(), Vec::new());
        settle()?;
        for _ in 0..RUNS {
            unchecked.push(project.apply(self.form, &[NO_SYNTAX])?);
            if self.kind == Kind::Code {
                checked.push(project.apply(self.form, &[])?);
            }
        }
        let mut plain = Vec::new();
        for _ in 0..PLAIN_RUNS {
            plain.push(project.plainly()?);
        }
        plain.sort_unstable();
        let plain = plain.get(PLAIN_RUNS / 2).copied().unwrap_or_default();
        let cost = median(&unchecked);
        let mut measured = self.processor("apply", cost.processor, Some(self.below));
        measured.plain = Some(milliseconds(plain));
        measured.note = format!(
            "wall {:.0} ms; {:.1} × writing the files plainly",
            milliseconds(cost.wall),
            milliseconds(cost.processor) / milliseconds(plain)
        );
        keep(measured);
        if self.kind == Kind::Code {
            let syntax = median(&checked).processor.saturating_sub(cost.processor);
            keep(self.processor("syntax check", syntax, None));
        }
        if let Some(megabytes) = project.apply_peak(self.form, &[NO_SYNTAX])? {
            keep(Measured::single(self.name("memory"), "MB", megabytes, Some(MEMORY_BELOW)));
        }
        if self.kind == Kind::Code
            && let Some(megabytes) = project.apply_peak(self.form, &[])?
        {
            keep(Measured::single(self.name("syntax check, memory"), "MB", megabytes, None));
        }
        Ok(project.into_scratch())
    }

    fn with_gate(&self, keep: &mut impl FnMut(Measured)) -> anyhow::Result<TempDir> {
        let mut project = Project::make(self.kind, self.files, Some(LINTER))?;
        settle()?;
        let mut costs = Vec::new();
        for _ in 0..RUNS {
            costs.push(project.apply(self.form, &[NO_SYNTAX])?);
        }
        let cost = median(&costs);
        let mut measured = self.processor("apply with a gate", cost.processor, Some(self.below));
        measured.note = format!(
            "wall {:.0} ms; two linters with their keepers {:.1} ms",
            milliseconds(cost.wall),
            milliseconds(cost.with_children.saturating_sub(cost.processor))
        );
        keep(measured);
        if let Some(megabytes) = project.apply_peak(self.form, &[NO_SYNTAX])? {
            keep(Measured::single(self.name("gate, memory"), "MB", megabytes, Some(MEMORY_BELOW)));
        }
        Ok(project.into_scratch())
    }

    fn processor(&self, what: &str, time: Duration, below: Option<f64>) -> Measured {
        Measured::single(self.name(what), "ms", milliseconds(time), below)
    }
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
