//! What is known to get through at level 2, in the access mode `workspace`. A fence that stops more or less than this is
//! a change that somebody has to look at.

/// Who gets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownUser {
    Both,
    Root,
}

/// By name. The reasons are in docs/decisions/2026-11-18-fence.md.
pub(crate) const KNOWN_AT_LEVEL_2: &[(&str, KnownUser)] = &[];

/// Whether it is on the list.
pub(crate) fn is_known(name: &str, root: bool) -> bool {
    KNOWN_AT_LEVEL_2.iter().any(|(known, who)| *known == name && (root || *who == KnownUser::Both))
}
