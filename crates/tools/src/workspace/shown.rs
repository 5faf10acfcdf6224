//! What the model was shown of which file, so that an anchor can be held against it. Not a cache: nothing is read from here.

use std::path::{Path, PathBuf};

use relaycode_change::hashline::{LineSplice, ShownFile};

/// Files that are remembered; the one that was used longest ago goes first.
pub const MAX_SHOWN_FILES: usize = 30;
/// Bytes of all of them together.
pub const MAX_SHOWN_BYTES: usize = 64 * 1024 * 1024;

/// Used last: at the end.
#[derive(Debug, Default)]
pub struct ShownFiles {
    files: Vec<(PathBuf, ShownFile)>,
}

impl ShownFiles {
    pub fn get(&self, path: &Path) -> Option<&ShownFile> {
        self.files.iter().find(|(other, _)| other == path).map(|(_, file)| file)
    }

    /// These lines (from 0) of a file were shown, which has this content and these lines.
    pub fn show(&mut self, path: &Path, bytes: &[u8], text: &[&str], lines: impl IntoIterator<Item = usize>) {
        let mut file = match self.take(path) {
            Some(file) if file.is(bytes) => file,
            _ => ShownFile::new(bytes, owned(text)),
        };
        file.show(lines);
        self.put(path, file);
    }

    /// An edit replaced these lines of a file that had the content `before`.
    pub fn advance(
        &mut self,
        path: &Path,
        before: &[u8],
        splices: &[LineSplice],
        (after, text): (&[u8], &[&str]),
    ) {
        let file = match self.take(path) {
            Some(mut file) if file.is(before) => {
                file.advance(splices, after, owned(text));
                file
            }
            _ => ShownFile::new(after, owned(text)),
        };
        self.put(path, file);
    }

    /// Nothing that was shown of a file counts any more.
    pub fn forget(&mut self, path: &Path) {
        self.take(path);
    }

    fn take(&mut self, path: &Path) -> Option<ShownFile> {
        let at = self.files.iter().position(|(other, _)| other == path)?;
        Some(self.files.remove(at).1)
    }

    fn put(&mut self, path: &Path, file: ShownFile) {
        self.files.push((path.to_path_buf(), file));
        let weight =
            |files: &[(PathBuf, ShownFile)]| files.iter().map(|(_, file)| file.weight()).sum::<usize>();
        while self.files.len() > MAX_SHOWN_FILES
            || (self.files.len() > 1 && weight(&self.files) > MAX_SHOWN_BYTES)
        {
            self.files.remove(0);
        }
    }
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}
