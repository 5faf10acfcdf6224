//! Every kind of change.
