//! Friends with the real programs of others, where they are installed, and the scripted model server.

mod claude;
mod codex;
