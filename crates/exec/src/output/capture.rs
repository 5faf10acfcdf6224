//! What is kept of a stream: its beginning, its end, and how much lay between.
//!
//! Memory is bounded by [`CaptureLimits::head`] plus [`CaptureLimits::tail`], however much comes. The first byte that does
//! not fit opens the spill file, which then gets everything from the stream's first byte on.

use std::path::PathBuf;

use crate::output::spill::SpillFile;
use crate::{CaptureLimits, CapturedOutput};

/// A stream while it comes in.
#[derive(Debug)]
pub(crate) struct OutputCapture {
    head: Vec<u8>,
    most_head: usize,
    /// The last bytes after `head`. Once full it is written round and round.
    ring: Vec<u8>,
    most_tail: usize,
    /// Where the ring's oldest byte is, once it is full.
    oldest: usize,
    dropped: u64,
    spill: SpillState,
}

/// How far the spill file is.
#[derive(Debug)]
enum SpillState {
    /// None is wanted, or it failed.
    Off,
    /// It is made when it is needed.
    Pending(PathBuf, u64),
    /// It is being written.
    Writing(SpillFile),
}

impl OutputCapture {
    /// Keeps this much. `suffix` is added to the spill file's name.
    pub(crate) fn new(kept: &CaptureLimits, suffix: &str) -> OutputCapture {
        let spill = match &kept.spill {
            None => SpillState::Off,
            Some(spill) => {
                let mut file = spill.file.clone().into_os_string();
                file.push(suffix);
                SpillState::Pending(file.into(), spill.max_bytes)
            }
        };
        OutputCapture {
            head: Vec::new(),
            most_head: kept.head,
            ring: Vec::new(),
            most_tail: kept.tail,
            oldest: 0,
            dropped: 0,
            spill,
        }
    }

    /// More has come.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.push_to_spill(bytes);
        let (first, rest) = bytes.split_at(bytes.len().min(self.most_head - self.head.len()));
        self.head.extend_from_slice(first);
        self.push_to_ring(rest);
    }

    /// All has come.
    pub(crate) fn finish(mut self) -> CapturedOutput {
        self.ring.rotate_left(self.oldest);
        let (mut head, mut tail) = (self.head, self.ring);
        if self.dropped == 0 {
            head.append(&mut tail);
        }
        let spilled = match self.spill {
            SpillState::Writing(file) => file.finish(),
            SpillState::Off | SpillState::Pending(..) => None,
        };
        CapturedOutput { head, tail, dropped: self.dropped, spill_file: spilled }
    }

    fn push_to_ring(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.most_tail - self.ring.len()));
        self.ring.extend_from_slice(first);
        if rest.is_empty() {
            return;
        }
        self.dropped += rest.len() as u64;
        if rest.len() >= self.most_tail {
            self.ring.copy_from_slice(&rest[rest.len() - self.most_tail..]);
            self.oldest = 0;
            return;
        }
        let (to_the_end, from_the_start) = rest.split_at(rest.len().min(self.most_tail - self.oldest));
        self.ring[self.oldest..self.oldest + to_the_end.len()].copy_from_slice(to_the_end);
        self.ring[..from_the_start.len()].copy_from_slice(from_the_start);
        self.oldest = (self.oldest + rest.len()) % self.most_tail;
    }

    /// Called before `bytes` are kept, so that what is in memory is all that came before them.
    fn push_to_spill(&mut self, bytes: &[u8]) {
        if let SpillState::Pending(path, most) = &self.spill {
            let fits = self.head.len() + self.ring.len() + bytes.len() <= self.most_head + self.most_tail;
            if fits {
                return;
            }
            // A file that cannot be made is missing from the result; the job goes on.
            self.spill = SpillFile::create(path.clone(), *most).map_or(SpillState::Off, |mut file| {
                file.push(&self.head);
                file.push(&self.ring);
                SpillState::Writing(file)
            });
        }
        if let SpillState::Writing(file) = &mut self.spill {
            file.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(head: usize, tail: usize) -> CaptureLimits {
        CaptureLimits { head, tail, spill: None }
    }

    #[test]
    fn head_and_tail_are_exact_for_every_length_and_every_chunk_size() {
        let all: Vec<u8> = (0..=255).collect();
        for (head, tail) in [(0, 0), (0, 5), (5, 0), (3, 4), (16, 16), (1, 100)] {
            for length in 0..60 {
                for size in 1..=40 {
                    let mut capture = OutputCapture::new(&keep(head, tail), "");
                    all[..length].chunks(size).for_each(|chunk| capture.push(chunk));
                    let captured = capture.finish();
                    if length <= head + tail {
                        assert_eq!(
                            captured,
                            CapturedOutput { head: all[..length].to_vec(), ..CapturedOutput::default() }
                        );
                    } else {
                        assert_eq!(captured.head, &all[..head]);
                        assert_eq!(captured.tail, &all[length - tail..length]);
                        assert_eq!(captured.dropped, (length - head - tail) as u64);
                    }
                }
            }
        }
    }
}
