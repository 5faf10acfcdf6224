//! Tests of the server itself.
