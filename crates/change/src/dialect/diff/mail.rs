//! Diffs below something else: mails of `git format-patch`, one or several in one text, and the output of
//! `git show` and `git log -p`. Which lines are the diff, and what the lines above it say.

use std::ops::Range;

/// Why a mail cannot be read.
const ENCODED: &str = "this mail is encoded (base64, quoted-printable or in parts), so its patch cannot be read as it is; send the output of `git format-patch --stdout` or `git diff`";

/// Longer subjects are no message.
const SUBJECT_BYTES: usize = 1_000;

/// What mails and commits say above their diffs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MailHeaders {
    /// Of the first one, without `[PATCH 1/2]`.
    pub(crate) subject: Option<String>,
    /// The first line (from 0) that says that the text is encoded, and the reason to refuse it.
    pub(crate) encoded: Option<(usize, &'static str)>,
}

/// Where a reader of headers is.
enum HeaderState {
    Outside,
    /// In the header of a mail; `subject`: the line above is its subject.
    Mail {
        subject: bool,
    },
    Commit,
}

/// Whether a text that begins with this line may be a mail or a commit.
pub(crate) fn begins_mail(line: &str) -> bool {
    ["From ", "commit ", "From: ", "Subject: "].iter().any(|start| line.starts_with(start))
}

/// `From 0123… Mon Sep 17 00:00:00 2001`, or `commit 0123…`: a mail or a commit begins.
fn is_boundary(line: &str) -> bool {
    let hash = line.strip_prefix("From ").or_else(|| line.strip_prefix("commit "));
    hash.and_then(|rest| rest.split(' ').next()).is_some_and(|hash| {
        (7..=64).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Reads the headers among `lines`. A `Subject:` outside of a mail counts only if it announces a patch.
pub(crate) fn read_headers<'a>(lines: impl Iterator<Item = &'a str>) -> MailHeaders {
    let mut headers = MailHeaders::default();
    let mut state = HeaderState::Outside;
    for (at, line) in lines.enumerate() {
        if is_boundary(line) {
            let mail = line.starts_with("From ");
            state = if mail { HeaderState::Mail { subject: false } } else { HeaderState::Commit };
            continue;
        }
        match &mut state {
            HeaderState::Outside if line.starts_with("Subject: [PATCH") => {
                headers.subject.get_or_insert_with(|| line[8..].to_owned());
                state = HeaderState::Mail { subject: false };
            }
            HeaderState::Outside => {}
            HeaderState::Mail { .. } if line.is_empty() => state = HeaderState::Outside,
            HeaderState::Mail { subject } => {
                if let Some(text) = line.strip_prefix("Subject: ").filter(|_| headers.subject.is_none()) {
                    headers.subject = Some(text.to_owned());
                    *subject = true;
                } else if let Some(more) =
                    headers.subject.as_mut().filter(|_| *subject && line.starts_with(' '))
                {
                    more.truncate(more.trim_end().len());
                    more.push(' ');
                    more.push_str(line.trim());
                } else {
                    *subject = false;
                }
                if headers.encoded.is_none() && is_encoded(line) {
                    headers.encoded = Some((at, ENCODED));
                }
            }
            HeaderState::Commit => {
                if let Some(title) = line.strip_prefix("    ") {
                    headers.subject.get_or_insert_with(|| title.to_owned());
                    state = HeaderState::Outside;
                } else if !line.is_empty() && !line.contains(": ") {
                    state = HeaderState::Outside;
                }
            }
        }
    }
    // An encoded subject is no message, nor is one that fills a screen.
    headers.subject = headers
        .subject
        .map(|subject| plain_subject(&subject))
        .filter(|subject| (1..=SUBJECT_BYTES).contains(&subject.len()) && !subject.contains("=?"));
    headers
}

/// Without the `[PATCH v2 1/3]` that is meant for the mail.
fn plain_subject(text: &str) -> String {
    let mut text = text.trim();
    while let Some((_, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        text = rest.trim_start();
    }
    text.to_owned()
}

fn is_encoded(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let value = |key: &str| line.strip_prefix(key).map(str::trim);
    value("content-transfer-encoding:").is_some_and(|how| ["base64", "quoted-printable"].contains(&how))
        || value("content-type:").is_some_and(|what| what.starts_with("multipart/"))
}

/// The lines of each diff in a text of mails or commits; `begins` says where one may begin. The `-- ` and the version
/// below a mailed patch belong to none.
pub(super) fn diff_ranges(lines: &[&str], begins: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let starts: Vec<usize> = (1..lines.len()).filter(|at| is_boundary(lines[*at])).collect();
    let mut ranges = Vec::with_capacity(starts.len() + 1);
    let mut from = 0;
    for end in starts.into_iter().chain([lines.len()]) {
        if let Some(start) = (from..end).find(|at| begins(*at)) {
            ranges.push(start..without_signature(lines, start, end));
        }
        from = end;
    }
    ranges
}

fn without_signature(lines: &[&str], start: usize, end: usize) -> usize {
    let last = (start..end).rev().find(|at| !lines[*at].trim().is_empty());
    match last {
        Some(last) if last > start && is_signature(lines[last - 1], lines[last], "") => last - 1,
        _ => end,
    }
}

/// Whether three lines are the `-- ` and the version number that git puts below a mailed patch, and what follows
/// them. A removed `- ` has a line of the diff below it.
pub(crate) fn is_signature(line: &str, version: &str, below: &str) -> bool {
    line.trim_end() == "--"
        && !version.trim().is_empty()
        && !version.starts_with(['+', '-', ' ', '@', '\\'])
        && (below.trim().is_empty() || is_boundary(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_without_what_is_meant_for_the_mail() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        for (text, subject) in [
            (
                format!(
                    "From {hash} Mon Sep 17 00:00:00 2001\nSubject: [PATCH v2 1/2] Fix a\n very long one\nX: y\n\nSubject: z\n"
                ),
                Some("Fix a very long one"),
            ),
            (
                format!(
                    "commit {hash} (HEAD -> main)\nAuthor: A <a@b.c>\nDate:   Mon\n\n    Fix it\n\n    Why.\n"
                ),
                Some("Fix it"),
            ),
            ("Hello\nSubject: [PATCH] Fix b\n".to_owned(), Some("Fix b")),
            ("Subject: lunch\n".to_owned(), None),
            (format!("From {hash} Mon\nSubject: =?UTF-8?q?=C3=A9?=\n"), None),
            ("commit to it\n\n    code\n".to_owned(), None),
        ] {
            assert_eq!(read_headers(text.lines()).subject.as_deref(), subject, "{text}");
        }
        let long = |count| format!("Subject: [PATCH] {}\n", "x".repeat(count));
        assert!(read_headers(long(SUBJECT_BYTES).lines()).subject.is_some());
        assert!(read_headers(long(SUBJECT_BYTES + 1).lines()).subject.is_none());
        let encoded = format!("From {hash} Mon\nSubject: x\nContent-Transfer-Encoding: Base64\n");
        assert_eq!(read_headers(encoded.lines()).encoded.map(|(at, _)| at), Some(2));
    }
}
