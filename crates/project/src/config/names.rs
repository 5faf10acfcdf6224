//! The values that are one of some names, and those names.

use super::{ApprovalMode, BranchTemplate, LogLevel, Strategy};

/// A value with a name.
pub(super) trait Named {
    fn name(&self) -> &'static str;
    /// Becomes the value of this name, if there is one.
    fn choose(&mut self, name: &str);
}

trait Choices: Copy + PartialEq + 'static {
    const ALL: &'static [(&'static str, Self)];
}

impl<T: Choices> Named for T {
    fn name(&self) -> &'static str {
        T::ALL.iter().find(|(_, value)| value == self).map_or("", |(name, _)| name)
    }

    fn choose(&mut self, name: &str) {
        if let Some((_, value)) = T::ALL.iter().find(|(other, _)| *other == name) {
            *self = *value;
        }
    }
}

impl Choices for LogLevel {
    const ALL: &'static [(&'static str, LogLevel)] = &[
        ("silent", LogLevel::Silent),
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
    ];
}

impl Choices for Strategy {
    const ALL: &'static [(&'static str, Strategy)] = &[
        ("auto", Strategy::Auto),
        ("replace", Strategy::Replace),
        ("new-unified", Strategy::NewUnified),
        ("multi-search-replace", Strategy::MultiSearchReplace),
    ];
}

impl Choices for ApprovalMode {
    const ALL: &'static [(&'static str, ApprovalMode)] =
        &[("auto", ApprovalMode::Auto), ("manual", ApprovalMode::Manual)];
}

impl Choices for BranchTemplate {
    const ALL: &'static [(&'static str, BranchTemplate)] =
        &[("uuid", BranchTemplate::Uuid), ("gitCommitMsg", BranchTemplate::GitCommitMsg)];
}

/// Their names, for whoever shows them.
macro_rules! as_str {
    ($($choice:ty),*) => {$(
        impl $choice {
            /// Its name, as in the file.
            pub fn as_str(self) -> &'static str {
                self.name()
            }
        }
    )*};
}

as_str!(LogLevel, Strategy, ApprovalMode, BranchTemplate);
