//! Who is asked, by which rules, and which files always need a person.

pub mod approver;
pub mod guarded;
pub mod rules;
