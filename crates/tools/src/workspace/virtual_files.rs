//! Addresses that whoever wires the session serves.

use std::sync::{Arc, PoisonError};

use super::ToolWorkspace;
use crate::internal_urls::VirtualFiles;

impl ToolWorkspace {
    /// From now on these are served; `None`: none are.
    pub fn set_virtual_files(&self, files: Option<Arc<dyn VirtualFiles>>) {
        *self.virtual_files.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Who serves this address.
    pub(crate) fn virtual_files_at(&self, address: &str) -> Option<Arc<dyn VirtualFiles>> {
        let (scheme, _) = address.split_once("://")?;
        self.virtual_files().filter(|files| files.schemes().iter().any(|known| known == scheme))
    }

    pub(crate) fn virtual_schemes(&self) -> Vec<String> {
        self.virtual_files().map(|files| files.schemes()).unwrap_or_default()
    }

    fn virtual_files(&self) -> Option<Arc<dyn VirtualFiles>> {
        self.virtual_files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
