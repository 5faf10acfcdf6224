//! The rules of codex, without codex.
