//! The agent as a server for other programs.
//!
//! This crate knows neither the terminal nor where models, sessions and projects come from: whoever wires it brings a
//! [`rpc::RpcBackend`] and the two streams. It never prints and never reads the environment.
//!
//! | module | for |
//! |---|---|
//! | [`rpc`] | commands and events as lines of JSON over two pipes |

pub mod rpc;
