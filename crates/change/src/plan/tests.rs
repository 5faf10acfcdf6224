//! Plans of whole proposals.
