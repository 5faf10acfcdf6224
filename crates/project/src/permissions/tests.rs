//! Rules and decisions.
