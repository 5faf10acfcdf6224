//! Looks through files on several threads. The files are taken in order, so that the same call finds the same matches, also where
//! it stops at enough of them.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use relaycode_llm::CancelToken;

use super::pattern::SearchPattern;
use crate::walk::threads;

/// Files that are searched before it is asked whether there are enough matches.
const BATCH: usize = 2_048;
/// Bytes of a file that is searched across lines.
const HEAP_LIMIT: usize = 64 * 1024 * 1024;

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileMatches {
    pub path: PathBuf,
    /// Numbers of the lines that match, from 1.
    pub lines: Vec<usize>,
    /// Where each of them begins, in bytes.
    pub offsets: Vec<u64>,
}

/// What was found, file by file.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    pub files: Vec<FileMatches>,
    /// There may be more.
    pub stopped: bool,
    /// Files that could not be searched, or not to their end.
    pub failed: Vec<PathBuf>,
    /// Files that are no text.
    pub binary: usize,
}

/// What came of one file.
struct FileScan {
    found: FileMatches,
    is_binary: bool,
    has_failed: bool,
}

/// Finds at least `most` matches, if there are so many.
pub(super) fn scan(
    files: &[PathBuf],
    pattern: &SearchPattern,
    most: usize,
    cancel: &CancelToken,
) -> ScanResult {
    let mut result = ScanResult::default();
    let mut count = 0;
    for (at, batch) in files.chunks(BATCH).enumerate() {
        for FileScan { found, is_binary, has_failed } in scan_batch(batch, pattern, most, cancel) {
            if has_failed {
                result.failed.push(found.path.clone());
            }
            result.binary += usize::from(is_binary);
            if found.lines.is_empty() {
                continue;
            }
            if count >= most {
                result.stopped = true;
                return result;
            }
            count += found.lines.len();
            // Its look may have ended early.
            result.stopped |= found.lines.len() >= most;
            result.files.push(found);
        }
        if cancel.is_cancelled() {
            return result;
        }
        if count >= most {
            result.stopped |= (at + 1) * BATCH < files.len();
            return result;
        }
    }
    result
}

fn scan_batch(
    files: &[PathBuf],
    pattern: &SearchPattern,
    most: usize,
    cancel: &CancelToken,
) -> Vec<FileScan> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads().min(files.len()) {
            scope.spawn(|| {
                let mut searcher = searcher(pattern);
                let mut mine = Vec::new();
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < files.len())
                {
                    if cancel.is_cancelled() {
                        break;
                    }
                    let mut sink = LineSink::new(most, cancel);
                    // A file that cannot be read is no reason to find nothing elsewhere.
                    let ended = searcher.search_path(&pattern.matcher, &files[at], &mut sink);
                    let LineSink { lines, offsets, is_binary, .. } = sink;
                    let has_failed = ended.is_err();
                    if !lines.is_empty() || is_binary || has_failed {
                        let found = FileMatches { path: files[at].clone(), lines, offsets };
                        mine.push((at, FileScan { found, is_binary, has_failed }));
                    }
                }
                if let Ok(mut all) = found.lock() {
                    all.append(&mut mine);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, file)| file).collect()
}

fn searcher(pattern: &SearchPattern) -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .multi_line(pattern.multi_line)
        .heap_limit(pattern.multi_line.then_some(HEAP_LIMIT))
        .build()
}

struct LineSink<'a> {
    lines: Vec<usize>,
    offsets: Vec<u64>,
    is_binary: bool,
    most: usize,
    cancel: &'a CancelToken,
}

impl<'a> LineSink<'a> {
    fn new(most: usize, cancel: &'a CancelToken) -> LineSink<'a> {
        LineSink { lines: Vec::new(), offsets: Vec::new(), is_binary: false, most, cancel }
    }
}

impl Sink for LineSink<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        let first = usize::try_from(found.line_number().unwrap_or(1)).unwrap_or(usize::MAX);
        let mut offset = found.absolute_byte_offset();
        for (number, line) in (first..).zip(found.lines()) {
            self.lines.push(number);
            self.offsets.push(offset);
            offset += line.len() as u64;
        }
        // A match of nothing at the end of a file has no line.
        if found.bytes().is_empty() {
            self.lines.push(first);
            self.offsets.push(offset);
        }
        Ok(self.lines.len() < self.most && !self.cancel.is_cancelled())
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> Result<bool, std::io::Error> {
        self.is_binary = true;
        Ok(true)
    }
}
