//! relay with real agents, each in a home of its own, against a scripted model server.

mod record;
