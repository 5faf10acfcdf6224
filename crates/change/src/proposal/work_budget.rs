//! How much work a plan may take. What grows with hunks times lines draws from one budget before it begins, so that no
//! text, however it is built, takes longer than its steps; and whoever draws notices that somebody asked to stop.
//!
//! A budget that is spent makes the plan refused, so that whoever draws in vain may return anything.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::limits::{PLACE_BYTES, PlanLimits};

/// Set by whoever wants reading and planning to end early; by default nobody.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Option<Arc<AtomicBool>>);

impl StopFlag {
    pub fn new(flag: Arc<AtomicBool>) -> StopFlag {
        StopFlag(Some(flag))
    }

    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl PartialEq for StopFlag {
    fn eq(&self, other: &StopFlag) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() == two.is_none(),
        }
    }
}

impl Eq for StopFlag {}

/// The steps that several plans took together, so that they have one limit; by default each has its own.
#[derive(Debug, Clone, Default)]
pub struct WorkMeter(Option<Arc<AtomicUsize>>);

impl WorkMeter {
    pub fn shared() -> WorkMeter {
        WorkMeter(Some(Arc::default()))
    }

    fn steps(&self) -> usize {
        self.0.as_ref().map_or(0, |steps| steps.load(Ordering::Relaxed))
    }

    fn add(&self, steps: usize) {
        if let Some(all) = &self.0 {
            all.fetch_add(steps, Ordering::Relaxed);
        }
    }
}

impl PartialEq for WorkMeter {
    fn eq(&self, other: &WorkMeter) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() == two.is_none(),
        }
    }
}

impl Eq for WorkMeter {}

/// What reading, comparing and recording a byte of a file takes.
const STEPS_PER_BYTE: usize = 3;

/// Steps that are left, each a few nanoseconds: a comparison of two lines, or a few bytes of text.
#[derive(Debug)]
pub struct WorkBudget {
    steps: Cell<usize>,
    bytes: Cell<usize>,
    /// Something was drawn that was not there.
    overdrawn: Cell<bool>,
    most: usize,
    /// What there was at the beginning.
    first: usize,
    meter: WorkMeter,
    stop: StopFlag,
}

impl Drop for WorkBudget {
    fn drop(&mut self) {
        self.meter.add(self.first - self.steps.get());
    }
}

impl WorkBudget {
    pub fn new(limits: &PlanLimits) -> WorkBudget {
        let first = limits.work.saturating_sub(limits.meter.steps());
        WorkBudget {
            steps: Cell::new(first),
            bytes: Cell::new(PLACE_BYTES),
            overdrawn: Cell::new(false),
            most: limits.work,
            first,
            meter: limits.meter.clone(),
            stop: limits.stop.clone(),
        }
    }

    /// Whether so many steps may be taken; from the first time that they may not, none may.
    pub(crate) fn draw(&self, steps: usize) -> bool {
        let left =
            self.steps.get().checked_sub(steps).filter(|_| !self.stop.is_set() && !self.overdrawn.get());
        self.overdrawn.set(left.is_none());
        self.steps.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether a file of so many bytes may be read or written. The first plan of several has its own limit for that.
    pub(crate) fn draw_file(&self, bytes: usize) -> bool {
        self.first == self.most || self.draw(bytes.saturating_mul(STEPS_PER_BYTE))
    }

    /// Draws for something that can be left out: only where that takes no more than half of what is left.
    pub(crate) fn draw_spare(&self, steps: usize) -> bool {
        self.can_spare(steps) && self.draw(steps)
    }

    /// Whether that is no more than half of what is left.
    pub(crate) fn can_spare(&self, steps: usize) -> bool {
        steps <= self.steps.get() / 2
    }

    /// Whether so many bytes more may be kept until the plan is made.
    pub(crate) fn keep(&self, bytes: usize) -> bool {
        let left = self.bytes.get().checked_sub(bytes);
        self.bytes.set(left.unwrap_or(0));
        left.is_some() || {
            self.overdrawn.set(true);
            false
        }
    }

    /// Whether more was drawn than there was, so that nothing further is of use.
    pub(crate) fn is_spent(&self) -> bool {
        self.overdrawn.get()
    }

    /// Why the plan is refused, if more was drawn than there was.
    pub(crate) fn refusal(&self) -> Option<String> {
        if !self.overdrawn.get() {
            return None;
        }
        Some(match self.stop.is_set() {
            true => "planning was stopped".to_owned(),
            false => format!(
                "finding the places of these edits takes more than the {} million steps of the limit `work`; \
                 send fewer edits at a time, each with lines that stand only once in the file",
                self.most.div_ceil(1_000_000)
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_at_its_limit_and_for_good() {
        let budget = WorkBudget::new(&PlanLimits { work: 10, ..PlanLimits::default() });
        assert!(!budget.draw_spare(6) && budget.draw_spare(5), "only half may be spared");
        assert!(budget.draw(5) && budget.refusal().is_none());
        assert!(!budget.draw(1) && !budget.draw(0));
        assert!(budget.refusal().unwrap().contains("the limit `work`"));
        let budget = WorkBudget::new(&PlanLimits::default());
        assert!(budget.keep(PLACE_BYTES) && budget.refusal().is_none());
        assert!(!budget.keep(1) && budget.refusal().is_some());
    }

    #[test]
    fn plans_with_one_meter_have_one_limit() {
        let limits = PlanLimits { work: 10, meter: WorkMeter::shared(), ..PlanLimits::default() };
        assert!(WorkBudget::new(&limits).draw(6));
        let other = limits.clone();
        assert!(WorkBudget::new(&other).draw(4));
        assert!(!WorkBudget::new(&limits).draw(1));
        let own = PlanLimits { work: 10, ..PlanLimits::default() };
        assert!(WorkBudget::new(&own).draw(10) && WorkBudget::new(&own).draw(10));
        assert!(limits == other && limits != own);
    }

    #[test]
    fn files_are_counted_from_the_second_plan_on() {
        let limits = PlanLimits { work: 10, meter: WorkMeter::shared(), ..PlanLimits::default() };
        let first = WorkBudget::new(&limits);
        assert!(first.draw_file(1_000) && first.draw(1));
        drop(first);
        let second = WorkBudget::new(&limits);
        assert!(second.draw_file(3) && !second.draw_file(1) && second.refusal().is_some());
    }

    #[test]
    fn a_stop_is_noticed_by_the_next_draw() {
        let flag = Arc::new(AtomicBool::new(false));
        let limits = PlanLimits { stop: StopFlag::new(flag.clone()), ..PlanLimits::default() };
        let budget = WorkBudget::new(&limits);
        assert!(budget.draw(1));
        flag.store(true, Ordering::Relaxed);
        assert!(!budget.draw(1));
        assert_eq!(budget.refusal().unwrap(), "planning was stopped");
        assert!(limits == limits.clone() && limits != PlanLimits::default());
    }
}
