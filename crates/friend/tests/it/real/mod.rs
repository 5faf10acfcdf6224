//! Real agents as friends, each in a home of its own, with the scripted model. Without them these tests are skipped
//! by name.

mod claude;
mod codex;
mod gemini;
mod house;
mod manners;
mod opencode;
