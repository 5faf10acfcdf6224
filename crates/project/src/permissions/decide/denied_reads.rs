//! The files that a rule says are never read, as they are now: a fence hides them from programs whose lines do not name them.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::PermissionEngine;
use crate::permissions::path_pattern::RulePathPattern;
use crate::permissions::rule::{PathVerb, PermissionEffect};

/// Directories that are looked at.
const MAX_DIRECTORIES: usize = 20_000;
/// Files and directories that are hidden.
const MAX_DENIED: usize = 200;

impl PermissionEngine {
    /// What exists and must not be read, within these bounds: of a directory that a rule names only the directory.
    pub fn denied_reads(&self) -> Vec<PathBuf> {
        let rules = self.path_rules(PathVerb::Read, PermissionEffect::Deny);
        let patterns: Vec<RulePathPattern> = rules.map(|(_, pattern)| pattern).collect();
        let mut denied = Vec::new();
        let root = &self.place.root;
        let mut waiting: VecDeque<PathBuf> = patterns.iter().map(RulePathPattern::fixed_beginning).collect();
        if waiting.is_empty() {
            return denied;
        }
        // A rule for any directory begins at the root of the project.
        waiting.retain(|path| path.starts_with(root) || !root.starts_with(path));
        waiting.push_back(root.clone());
        let mut looked_at = 0;
        while let Some(path) = waiting.pop_front() {
            looked_at += 1;
            if looked_at > MAX_DIRECTORIES || denied.len() >= MAX_DENIED {
                break;
            }
            if path.symlink_metadata().is_err() {
                continue;
            }
            if patterns.iter().any(|pattern| pattern.matches(&path)) {
                denied.push(path);
                continue;
            }
            look_into(&path, &patterns, &mut waiting, &mut denied);
        }
        denied.sort();
        denied.dedup();
        denied
    }
}

fn look_into(
    directory: &Path,
    patterns: &[RulePathPattern],
    waiting: &mut VecDeque<PathBuf>,
    denied: &mut Vec<PathBuf>,
) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if patterns.iter().any(|pattern| pattern.matches(&path)) {
            denied.push(path);
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && patterns.iter().any(|pattern| pattern.may_match_beneath(&path))
        {
            waiting.push_back(path);
        }
    }
}
