//! relay with real agents, each in a home of its own, against a scripted model server.

mod ask;
mod do_fence;
mod do_work;
mod fixture;
mod known_faults;
mod record;
mod review;
mod same_script;
mod timeout_and_interrupt;
