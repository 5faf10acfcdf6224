//! Looking at a file to learn which of the known images it is. Nothing but `NotFound` counts as
//! absent, and a file that cannot be one of them is not read at all.

use std::io;

use relaycode_durable::fs::{is_link, is_not_regular, is_too_long};

use crate::paths::Places;
use crate::record::Image;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing.
    Nothing,
    /// A regular file with this image.
    File(Image),
    /// A regular file that is longer than any image it was compared with.
    Longer,
    /// Something that is no regular file.
    Other(&'static str),
    /// Nothing that this path leads to: its directory is something else by now.
    Unreachable(&'static str),
}

impl Seen {
    /// Its bytes are those of `image`.
    pub(crate) fn has_bytes_of(&self, image: &Image) -> bool {
        matches!(self, Seen::File(seen) if seen.hash == image.hash)
    }

    /// It is `image`: bytes and permission bits.
    pub(crate) fn is(&self, image: &Image) -> bool {
        *self == Seen::File(*image)
    }
}

/// Looks at `path`, reading it only if it is not longer than the longest of `images`.
pub(crate) fn look(places: &Places<'_>, path: &str, images: &[&Image]) -> io::Result<Seen> {
    let most = images.iter().map(|image| image.size).max().unwrap_or(0);
    let place = match places.place(path) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::Nothing),
        Err(error) if is_link(&error) => return Ok(Seen::Unreachable("beneath a symbolic link")),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Ok(Seen::Unreachable("beneath something that is no directory"));
        }
        Err(error) => return Err(error),
    };
    match places.fs().read(&place.dir, place.name, most) {
        Ok((bytes, stat)) => Ok(Seen::File(Image::of(&bytes, stat.mode))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Seen::Nothing),
        Err(error) if is_too_long(&error) => Ok(Seen::Longer),
        Err(error) if is_not_regular(&error) => Ok(Seen::Other("no regular file")),
        Err(error) if is_link(&error) => Ok(Seen::Other("a symbolic link")),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(Seen::Other("a directory")),
        Err(error) => Err(error),
    }
}
