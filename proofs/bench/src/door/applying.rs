//! `relay apply` of one, twenty and two hundred files: processor time of relay itself and its memory,
//! without a gate and with one that does nothing.

use std::time::Duration;

use tempfile::TempDir;

use super::project::{Form, Kind, Project, settle};
use crate::child::{median, repeated};
use crate::measure::{BenchReport, Measured, milliseconds};

/// Files, and the limit in milliseconds of processor time.
const SIZES: &[(usize, f64)] = &[(1, 10.0), (20, 20.0), (200, 100.0)];
/// Limit in megabytes of resident memory.
const MEMORY_BELOW: f64 = 25.0;
/// The median counts.
const RUNS: usize = 9;
/// Runs of the plain program, which waits for the disk at every file.
const PLAIN_RUNS: usize = 3;
/// Finds nothing, and takes no time for it.
const LINTER: &str = "true";
const NO_SYNTAX: &str = "--no-syntax";

/// Every kind of file, every form and every size.
pub(super) fn measure(report: &mut BenchReport, kept: &mut Vec<TempDir>) -> anyhow::Result<()> {
    for kind in [Kind::Code, Kind::Text] {
        for form in Form::ALL {
            for (files, below) in SIZES {
                let case = Case { kind, form, files: *files, below: *below };
                if report.wants(&case.name("apply")) {
                    kept.push(case.without_gate(report)?);
                }
                if kind == Kind::Code && report.wants(&case.name("apply with a gate")) {
                    kept.push(case.with_gate(report)?);
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

    fn without_gate(&self, report: &mut BenchReport) -> anyhow::Result<TempDir> {
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
        let row = self.processor("apply", cost.processor, Some(self.below)).plain(milliseconds(plain));
        report.add(row.note(format!(
            "wall {:.0} ms; {:.1} × writing the files plainly",
            milliseconds(cost.wall),
            milliseconds(cost.processor) / milliseconds(plain)
        )));
        if self.kind == Kind::Code {
            let syntax = median(&checked).processor.saturating_sub(cost.processor);
            report.add(self.processor("syntax check", syntax, None));
        }
        if let Some(megabytes) = project.apply_peak(self.form, &[NO_SYNTAX])? {
            report.add(Measured::single(self.name("memory"), "MB", megabytes).below(MEMORY_BELOW));
        }
        if self.kind == Kind::Code
            && let Some(megabytes) = project.apply_peak(self.form, &[])?
        {
            report.add(Measured::single(self.name("syntax check, memory"), "MB", megabytes));
        }
        Ok(project.into_scratch())
    }

    fn with_gate(&self, report: &mut BenchReport) -> anyhow::Result<TempDir> {
        let mut project = Project::make(self.kind, self.files, Some(LINTER))?;
        settle()?;
        let cost = repeated(RUNS, || project.apply(self.form, &[NO_SYNTAX]))?;
        report.add(self.processor("apply with a gate", cost.processor, Some(self.below)).note(format!(
            "wall {:.0} ms; two linters with their keepers {:.1} ms",
            milliseconds(cost.wall),
            milliseconds(cost.with_children.saturating_sub(cost.processor))
        )));
        if let Some(megabytes) = project.apply_peak(self.form, &[NO_SYNTAX])? {
            report.add(Measured::single(self.name("gate, memory"), "MB", megabytes).below(MEMORY_BELOW));
        }
        Ok(project.into_scratch())
    }

    fn processor(&self, what: &str, time: Duration, below: Option<f64>) -> Measured {
        Measured::single(self.name(what), "ms", milliseconds(time)).below(below)
    }
}
