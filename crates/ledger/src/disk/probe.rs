//! Looking at a file to learn which of the known images it is. Nothing but `NotFound` counts as
//! absent, and a file that cannot be one of them is not read at all.

use std::io;

use relaycode_durable::{if_found, is_link, is_not_regular, is_too_long};

use crate::disk::PathResolver;
use crate::record::{FileImage, LINK_MODE};

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileProbe {
    Nothing,
    /// A regular file with this image; a symbolic link where one was looked for.
    File(FileImage),
    /// A regular file that is longer than any image it was compared with.
    Longer,
    /// Something that is no regular file.
    Other(&'static str),
    /// Nothing that this path leads to: its directory is something else by now.
    Unreachable(&'static str),
}

impl FileProbe {
    /// Its bytes are those of `image`.
    pub(crate) fn matches_bytes(&self, image: &FileImage) -> bool {
        matches!(self, FileProbe::File(seen) if seen.has_bytes_of(image))
    }

    /// It is `image`: bytes and permission bits.
    pub(crate) fn matches_image(&self, image: &FileImage) -> bool {
        *self == FileProbe::File(*image)
    }
}

impl PathResolver<'_> {
    /// Looks at `path`, reading it only if it is not longer than the longest of `images`.
    pub(crate) fn probe(&self, path: &str, images: &[&FileImage]) -> io::Result<FileProbe> {
        let most = images.iter().map(|image| image.size).max().unwrap_or(0);
        let place = match self.resolve(path) {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileProbe::Nothing),
            Err(error) if is_link(&error) => return Ok(FileProbe::Unreachable("beneath a symbolic link")),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Ok(FileProbe::Unreachable("beneath something that is no directory"));
            }
            Err(error) => return Err(error),
        };
        match self.fs().read(&place.dir, place.name, most) {
            Ok((bytes, stat)) => Ok(FileProbe::File(FileImage::of(&bytes, stat.mode))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileProbe::Nothing),
            Err(error) if is_too_long(&error) => Ok(FileProbe::Longer),
            Err(error) if is_not_regular(&error) => Ok(FileProbe::Other("no regular file")),
            Err(error) if is_link(&error) => {
                if !images.iter().any(|image| image.is_link()) {
                    return Ok(FileProbe::Other("a symbolic link"));
                }
                let target = if_found(self.fs().read_link(&place.dir, place.name))?;
                Ok(target
                    .map_or(FileProbe::Nothing, |target| FileProbe::File(FileImage::of(&target, LINK_MODE))))
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(FileProbe::Other("a directory")),
            Err(error) => Err(error),
        }
    }
}
