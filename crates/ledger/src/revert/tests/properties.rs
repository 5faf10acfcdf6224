//! What holds for every project and every transaction.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::record::Record;
use crate::revert::tests::memory_project::{Files, World, change, edit};
use crate::transaction::FileChange;

const NAMES: [&str; 6] = ["a", "b", "c/d", "c/e/f", "g", "h"];

/// A file: few different lines, so that texts resemble each other, some of them no UTF-8 and some binary.
fn content() -> impl Strategy<Value = (Vec<u8>, u32)> {
    let pieces: Vec<&[u8]> = vec![b"a\n", b"b\n", b"\n", b"c\r\n", b"d\r", b"\xff\xfe\n", b"e", b"\0\n"];
    let bytes = prop::collection::vec(select(pieces), 0..8).prop_map(|pieces| pieces.concat());
    (bytes, select(vec![0o644, 0o755, 0o600, 0o444]))
}

#[derive(Debug, Clone)]
enum Wish {
    Write((Vec<u8>, u32)),
    Delete,
    Rename(Index, Option<(Vec<u8>, u32)>),
}

fn wishes() -> impl Strategy<Value = Vec<(Index, Wish)>> {
    let wish = prop_oneof![
        content().prop_map(Wish::Write),
        Just(Wish::Delete),
        (any::<Index>(), prop::option::of(content())).prop_map(|(to, after)| Wish::Rename(to, after)),
    ];
    prop::collection::vec((any::<Index>(), wish), 1..5)
}

/// Those of the wishes that one transaction can fulfil.
fn changes(world: &World, wishes: &[(Index, Wish)]) -> Vec<FileChange<'static>> {
    let mut used = BTreeSet::new();
    let mut changes = Vec::new();
    for (name, wish) in wishes {
        let name = NAMES[name.index(NAMES.len())];
        let now = world.files.get(name).cloned();
        let change = match wish {
            Wish::Write(after) => edit(world, None, name, Some(after.clone())),
            Wish::Delete if now.is_some() => edit(world, None, name, None),
            Wish::Rename(to, after) if now.is_some() => {
                let to = NAMES[to.index(NAMES.len())];
                if world.files.contains_key(to) || !used.insert(to.to_string()) {
                    continue;
                }
                edit(world, Some(name), to, after.clone().or(now))
            }
            _ => continue,
        };
        if used.insert(name.to_string()) {
            changes.push(change);
        }
    }
    changes
}

fn project() -> impl Strategy<Value = Files> {
    let file = (select(NAMES.to_vec()), content());
    prop::collection::vec(file, 0..5)
        .prop_map(|files| files.into_iter().map(|(name, content)| (name.to_string(), content)).collect())
}

/// A text of numbered lines, of which those at `edited` read differently.
fn numbered(lines: usize, edits: &[(&BTreeSet<usize>, &str)]) -> String {
    let mark = |n| edits.iter().find(|(edited, _)| edited.contains(&n)).map_or("", |(_, mark)| mark);
    (0..lines).map(|n| format!("line {n}{}\n", mark(n))).collect()
}

/// Two sets of lines with an untouched line between any two of different sets.
fn apart() -> impl Strategy<Value = (BTreeSet<usize>, BTreeSet<usize>)> {
    let owners = prop::collection::vec(0..3_u8, 1..12);
    owners.prop_map(|owners| {
        let of = |who: u8| {
            let blocks = owners.iter().enumerate().filter(move |(_, owner)| **owner == who);
            blocks.flat_map(|(block, _)| [3 * block, 3 * block + 1]).collect()
        };
        (of(1), of(2))
    })
}

const LINES: usize = 40;

proptest! {
    #[test]
    fn reverting_gives_the_exact_files_back_and_reverting_that_brings_them_again(
        files in project(),
        history in prop::collection::vec(wishes(), 1..4),
    ) {
        let mut world = World::of(files);
        let first = world.files.clone();
        let mut records: Vec<Record> = Vec::new();
        for wishes in &history {
            let changes = changes(&world, wishes);
            records.insert(0, world.commit(&changes));
        }
        let last = world.files.clone();
        let reversal = world.plan(&records.iter().collect::<Vec<_>>()).unwrap();
        prop_assert!(reversal.kept_edits.is_empty() && reversal.notes.is_empty(), "{reversal:?}");
        let reverted = world.commit(&reversal.changes);
        prop_assert_eq!(&world.files, &first);
        let again = world.plan(&[&reverted]).unwrap();
        world.commit(&again.changes);
        prop_assert_eq!(&world.files, &last);
        prop_assert!(world.plan(&[]).unwrap().changes.is_empty());
    }

    #[test]
    fn edits_of_other_lines_survive_a_revert((ours, theirs) in apart(), unreadable in any::<bool>()) {
        let text = |edits: &[(&BTreeSet<usize>, &str)]| {
            let mut bytes = numbered(LINES, edits).into_bytes();
            if unreadable {
                bytes.splice(0..0, *b"\xe9 is not UTF-8\n");
            }
            bytes
        };
        let mut world = World::default();
        world.files.insert("a".into(), (text(&[]), 0o644));
        let changed = edit(&world, None, "a", Some((text(&[(&ours, " written")]), 0o644)));
        let record = world.commit(&[changed]);
        let both = [(&ours, " written"), (&theirs, " edited")];
        world.files.insert("a".into(), (text(&both), 0o644));
        let reversal = world.plan(&[&record]).unwrap();
        world.commit(&reversal.changes);
        prop_assert_eq!(&world.files["a"].0, &text(&[(&theirs, " edited")]));
    }

    #[test]
    fn a_transaction_comes_out_of_the_middle((first, second) in apart()) {
        let mut world = World::with(&[("a", &numbered(LINES, &[]), 0o644)]);
        let one = numbered(LINES, &[(&first, " one")]);
        let record = world.commit(&[change(&world, "a", &one, 0o644)]);
        let both = numbered(LINES, &[(&first, " one"), (&second, " two")]);
        let newer = world.commit(&[change(&world, "a", &both, 0o644)]);
        let reversal = world.plan(&[&record]).unwrap();
        world.commit(&reversal.changes);
        let two = numbered(LINES, &[(&second, " two")]);
        prop_assert_eq!(world.file("a"), Some((two.as_str(), 0o644)));
        let reversal = world.plan(&[&newer]).unwrap();
        world.commit(&reversal.changes);
        let none = numbered(LINES, &[]);
        prop_assert_eq!(world.file("a"), Some((none.as_str(), 0o644)));
    }

    #[test]
    fn whatever_was_done_since_a_plan_or_a_refusal_comes_out(
        files in project(),
        transaction in wishes(),
        since in wishes(),
    ) {
        let mut world = World::of(files);
        let done = changes(&world, &transaction);
        let record = world.commit(&done);
        let later = changes(&world, &since);
        world.commit(&later);
        for markers in [false, true] {
            let options = crate::revert::RevertOptions { file: None, markers };
            if let Ok(reversal) = world.plan_with(&[&record], &options) {
                let before = world.files.clone();
                let reverted = world.commit(&reversal.changes);
                // What was planned can itself be taken back.
                let back = world.plan(&[&reverted]).unwrap();
                world.commit(&back.changes);
                prop_assert_eq!(&world.files, &before);
            }
        }
    }
}
