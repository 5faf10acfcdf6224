//! What the program writes: lines, and the requests in them.

mod line_reader;
mod request;

pub use line_reader::MAX_LINE_BYTES;
pub(crate) use line_reader::{InputLine, LineReader};
pub(crate) use request::{RpcRequest, find_id};
