//! relay with real agents, each in a home of its own, against a scripted model server.

mod asks;
mod ends;
mod faults;
mod record;
mod reviews;
mod stage;
mod works;
