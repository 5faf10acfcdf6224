//! The friend codex with a program that plays what codex was once heard to say.
