//! What is staged: the content of a repository's index, without what git only remembers about files.
//!
//! git writes the index anew whenever somebody looks (`git status` notes sizes and times in it), so its bytes say
//! nothing. What counts is what the next commit would take: each path with its mode, object, stage and marks, and
//! the trees that git has already made of them, which it takes without looking at the paths again. It is read here
//! and not by git: there may be an index for each submodule, and a process for each is too much.
//!
//! Everything here is hostile: it is linear, bounded, and whatever is not understood is no index (`None`).

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};

use super::content::{CheckDigest, finish_digest};

/// Bytes of an index that are read.
pub(super) const MAX_INDEX_BYTES: u64 = 64 << 20;
/// Bytes of one path, and of all of them written out: one version of the format leaves out what a path shares with
/// the one before.
const NAME: usize = 64 << 10;
const NAMES: usize = 1 << 30;
/// Bytes of an object's name: SHA-1 or SHA-256.
const OBJECTS: [usize; 2] = [20, 32];

/// Marks of an entry that count: not looked at for changes, and its stage. The rest is the length of its name.
const MARKS: u16 = 0x8000 | 0x3000;
/// An entry with more marks; those that count: outside of a sparse checkout, and to be added later.
const MORE: u16 = 0x4000;
const MORE_MARKS: u16 = 0x4000 | 0x2000;

/// What is staged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StagedContent {
    /// Of every path, in order.
    entries: CheckDigest,
    /// The trees that are made already, by a digest of their path.
    trees: HashMap<CheckDigest, CheckDigest>,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GitIndexEntry<'a> {
    mode: &'a [u8],
    object: &'a [u8],
    flags: u16,
    extended_flags: u16,
}

/// An index in its parts.
struct GitIndexReader<'a> {
    bytes: &'a [u8],
    /// Bytes of an object's name.
    object: usize,
    version: u32,
    count: u32,
}

/// The parts after the entries that count.
struct GitIndexExtensions<'a> {
    trees: &'a [u8],
    /// Where most of the entries are, and which of those do not count.
    link: Option<&'a [u8]>,
}

impl StagedContent {
    /// Reads an index. `shared` gives the bytes of a file beside it, by name: most entries can stand there.
    pub(super) fn read(bytes: &[u8], shared: &dyn Fn(&str) -> Option<Vec<u8>>) -> Option<StagedContent> {
        let read = |object| StagedContent::from_index(&GitIndexReader::open(bytes, object)?, shared);
        OBJECTS.into_iter().find_map(read)
    }

    fn from_index(
        index: &GitIndexReader<'_>,
        shared: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Option<StagedContent> {
        let mut hash = Sha256::new();
        let mut starts = Vec::new();
        let end = index.entries(&mut |at, name, entry| {
            starts.push(at);
            entry.hash_into(&mut hash, name);
        })?;
        starts.push(end);
        let parts = index.extensions(&starts)?;
        let trees = read_tree_cache(parts.trees, index.object)?;
        if let Some(link) = parts.link {
            let (object, maps) = link.split_at_checked(index.object)?;
            if object.iter().any(|byte| *byte != 0) {
                let name: String = object.iter().map(|byte| format!("{byte:02x}")).collect();
                let bytes = shared(&format!("sharedindex.{name}"))?;
                hash = merge_split_index(index, &GitIndexReader::open(&bytes, index.object)?, maps)?;
            }
        }
        Some(StagedContent { entries: finish_digest(hash), trees })
    }

    /// Whether the next commit takes the same. A tree that is not known any more is made again; one that was not
    /// known before could be any.
    pub(super) fn commits_same_as(&self, before: &StagedContent) -> bool {
        self.entries == before.entries
            && self.trees.iter().all(|(path, tree)| before.trees.get(path) == Some(tree))
    }
}

impl GitIndexEntry<'_> {
    fn hash_into(&self, hash: &mut Sha256, name: &[u8]) {
        let (flags, extended) = (self.flags.to_be_bytes(), self.extended_flags.to_be_bytes());
        for part in [self.mode, self.object, &flags, &extended, name, &[0]] {
            hash.update(part);
        }
    }
}

impl<'a> GitIndexReader<'a> {
    fn open(bytes: &'a [u8], object: usize) -> Option<GitIndexReader<'a>> {
        let version = read_u32(bytes, 4)?;
        let known = bytes.starts_with(b"DIRC") && (2..=4).contains(&version);
        known.then_some(GitIndexReader { bytes, object, version, count: read_u32(bytes, 8)? })
    }

    /// Every entry with where it begins and its path; where they end.
    fn entries(&self, each: &mut dyn FnMut(usize, &[u8], GitIndexEntry<'a>)) -> Option<usize> {
        // Before the object: two times, device, number, mode, owner, group, size.
        const BEFORE: usize = 40;
        let (mut at, mut all) = (12, 0);
        let mut name: Vec<u8> = Vec::new();
        for _ in 0..self.count {
            let start = at;
            let mode = self.bytes.get(at + 24..at + 28)?;
            at += BEFORE;
            let object = self.bytes.get(at..at + self.object)?;
            at += self.object;
            let flags = self.read_u16(at)?;
            at += 2;
            let more = if flags & MORE == 0 { 0 } else { self.read_u16(at)? };
            at += if flags & MORE == 0 { 0 } else { 2 };
            if self.version == 4 {
                let strip = self.varint(&mut at)?;
                name.truncate(name.len().checked_sub(strip)?);
            } else {
                name.clear();
            }
            let rest = self.bytes.get(at..)?;
            let length = rest.iter().take(NAME).position(|byte| *byte == 0)?;
            name.extend_from_slice(&rest[..length]);
            at += length + 1;
            if self.version != 4 {
                // Filled up to a multiple of eight.
                at = start + (at - start).next_multiple_of(8);
            }
            all += name.len();
            if name.len() > NAME || all > NAMES || name.len().min(0xfff) != usize::from(flags & 0xfff) {
                return None;
            }
            let (flags, extended_flags) = (flags & MARKS, more & MORE_MARKS);
            each(start, &name, GitIndexEntry { mode, object, flags, extended_flags });
        }
        Some(at)
    }

    /// What stands after the entries, up to the digest at the end. `starts` is where each entry begins, and where
    /// the last one ends.
    fn extensions(&self, starts: &[usize]) -> Option<GitIndexExtensions<'a>> {
        let mut at = *starts.last()?;
        let mut parts = GitIndexExtensions { trees: &[], link: None };
        let end = self.bytes.len().checked_sub(self.object)?;
        while at < end {
            let name = self.bytes.get(at..at + 4)?;
            let size = read_offset(self.bytes, at + 4)?;
            let data = self.bytes.get(at + 8..(at + 8).checked_add(size)?)?;
            at += 8 + size;
            match name {
                b"TREE" => parts.trees = data,
                b"link" => parts.link = Some(data),
                b"sdir" => {}
                // Where git begins to read, with several threads; that must not be elsewhere.
                b"EOIE" if read_offset(data, 0)? != *starts.last()? => return None,
                b"IEOT" if !offsets_match(data, starts) => return None,
                // What nobody may pass over who does not know it.
                _ if !name[0].is_ascii_uppercase() => return None,
                _ => {}
            }
        }
        (at == end).then_some(parts)
    }

    fn read_u16(&self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?))
    }

    /// A number of any length, as the format has it.
    fn varint(&self, at: &mut usize) -> Option<usize> {
        let mut value = 0_usize;
        for _ in 0..4 {
            let byte = *self.bytes.get(*at)?;
            *at += 1;
            value = (value << 7) + usize::from(byte & 127);
            if byte & 128 == 0 {
                return Some(value);
            }
            value += 1;
        }
        None
    }
}

/// Whether a table of blocks of entries, each with its place and number, says where entries are.
fn offsets_match(table: &[u8], starts: &[usize]) -> bool {
    let mut count = 0_usize;
    let blocks = table.get(4..).unwrap_or_default().chunks(8);
    let right = blocks.into_iter().all(|block| {
        let (Some(at), Some(length)) = (read_offset(block, 0), read_offset(block, 4)) else { return false };
        let right = starts.get(count) == Some(&at);
        count = count.saturating_add(length);
        right
    });
    right && count + 1 == starts.len()
}

/// The entries of an index of which most stand in another one. Two maps say which of those are gone, and which
/// have new contents: these come first here, in order and without a name.
fn merge_split_index(index: &GitIndexReader<'_>, base: &GitIndexReader<'_>, maps: &[u8]) -> Option<Sha256> {
    let (mut all, mut own) = (Vec::new(), Vec::new());
    base.entries(&mut |_, name, entry| all.push((name.to_vec(), entry)))?;
    index.entries(&mut |_, name, entry| own.push((name.to_vec(), entry)))?;
    let (mut gone, mut replaced) = (Vec::new(), Vec::new());
    if !maps.is_empty() {
        let after;
        (gone, after) = decode_ewah(maps, all.len())?;
        replaced = decode_ewah(maps.get(after..)?, all.len())?.0;
    }
    let mut own = own.into_iter();
    for at in replaced {
        let (name, entry) = own.next()?;
        if !name.is_empty() {
            return None;
        }
        all.get_mut(at)?.1 = entry;
    }
    let mut kept: BTreeMap<(Vec<u8>, u16), GitIndexEntry<'_>> = BTreeMap::new();
    let mut gone = gone.into_iter().peekable();
    let stays = all.into_iter().enumerate().filter(|(at, _)| gone.next_if_eq(at).is_none());
    for (name, entry) in stays.map(|(_, entry)| entry).chain(own) {
        kept.insert((name, entry.flags & 0x3000), entry);
    }
    let mut hash = Sha256::new();
    kept.iter().for_each(|((name, _), entry)| entry.hash_into(&mut hash, name));
    Some(hash)
}

/// The numbers in a bitmap (EWAH), all below `most`; and how many bytes it takes.
fn decode_ewah(bytes: &[u8], most: usize) -> Option<(Vec<usize>, usize)> {
    let words = read_offset(bytes, 4)?;
    let end = words.checked_mul(8)?.checked_add(8)?;
    let data = bytes.get(8..end)?;
    bytes.get(end..end + 4)?;
    let mut words =
        data.chunks_exact(8).map(|word| word.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte)));
    let (mut numbers, mut at) = (Vec::new(), 0_usize);
    // A word says how often one bit is repeated, and how many words follow that stand for themselves.
    while let Some(run) = words.next() {
        let length = usize::try_from(run >> 1 & 0xffff_ffff).ok()?.checked_mul(64)?;
        let past = at.checked_add(length)?;
        if run & 1 == 1 {
            if past > most.next_multiple_of(64) {
                return None;
            }
            numbers.extend((at..past).filter(|number| *number < most));
        }
        at = past;
        for _ in 0..run >> 33 {
            let word = words.next()?;
            numbers.extend((0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| at.saturating_add(bit)));
            at = at.checked_add(64)?;
        }
    }
    numbers.iter().all(|number| *number < most).then_some((numbers, end + 4))
}

/// The trees that are made already: for each its name, how many entries it has (or −1: not made), how many trees
/// are in it, and its object. Those in it follow.
fn read_tree_cache(mut data: &[u8], object: usize) -> Option<HashMap<CheckDigest, CheckDigest>> {
    let mut found = HashMap::new();
    // Of each tree that is not complete: the digest of its path, and how many are still to come.
    let mut open: Vec<(CheckDigest, u64)> = Vec::new();
    while !data.is_empty() {
        let name = take_until(&mut data, 0)?;
        let entries = take_until(&mut data, b' ')?;
        let below: u64 = std::str::from_utf8(take_until(&mut data, b'\n')?).ok()?.parse().ok()?;
        let mut hash = Sha256::new();
        if let Some((path, left)) = open.last_mut() {
            hash.update(*path);
            *left = left.checked_sub(1)?;
        }
        hash.update(name);
        let path = finish_digest(hash);
        if entries != b"-1" {
            if entries.is_empty() || !entries.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let tree = data.get(..object)?;
            data = &data[object..];
            found.insert(path, finish_digest(Sha256::new_with_prefix(tree)));
        }
        open.push((path, below));
        while open.last().is_some_and(|(_, left)| *left == 0) {
            open.pop();
        }
    }
    Some(found)
}

fn take_until<'a>(data: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let cut = data.iter().position(|byte| *byte == end)?;
    let (part, rest) = (&data[..cut], &data[cut + 1..]);
    *data = rest;
    Some(part)
}

fn read_offset(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(read_u32(bytes, at)?).ok()
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}
