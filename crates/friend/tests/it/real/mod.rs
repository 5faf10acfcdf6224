//! Real agents as friends, each in a home of its own, with the scripted model. Without them these tests are skipped
//! by name.

mod acp_contract;
mod claude;
mod codex;
mod fixture;
mod gemini;
mod opencode;
