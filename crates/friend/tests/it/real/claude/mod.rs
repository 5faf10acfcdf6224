//! The friend claude with the real program, in a home of its own, and a model that does as scripted.

mod access;
mod answers;
mod failures;
mod fixture;
