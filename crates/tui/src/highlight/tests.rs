//! Code in colours.
