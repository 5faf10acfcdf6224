//! Reading and writing whole responses.
