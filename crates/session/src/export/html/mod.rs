//! The page: head, summary, outline, every entry in the order of the file, and the end.
//!
//! Invariants: style and script are the two files beside this one, and the page's policy names them by
//! their hashes, so nothing else runs, whatever the session holds. Foreign text reaches the page only
//! through [`relaycode_text::html`]. Anchors are our own numbers: no id or name of the session is one.

mod entry;
mod markdown_html;
mod page_head;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relaycode_text::html::escape_line;
use sha2::{Digest as _, Sha256};

use super::human_format::count_noun;
use super::survey::{EntryPosition, branch_origin};
use super::{ExportError, ExportRun, ExportSummary, ExportTheme};
use entry::HtmlExportState;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Entries that are laid out together when they come near: a page of ten thousand costs no more than what
/// is visible.
const ENTRIES_PER_BLOCK: usize = 40;

/// A button that copies the code beside it. Its label is in the style sheet, so that a search does not find
/// it.
const COPY: &str = "<button class=\"copy\" type=\"button\" aria-label=\"copy\"></button>";

pub(super) fn write(run: &ExportRun<'_>, out: &mut dyn Write) -> Result<ExportSummary, ExportError> {
    write_head(&run.title(), run.options.theme, out)?;
    page_head::write_page_head(run, out)?;
    let exported = write_entries(run, out)?;
    write_end(&exported, out)?;
    Ok(exported)
}

fn write_head(title: &str, theme: ExportTheme, out: &mut dyn Write) -> io::Result<()> {
    let theme = match theme {
        ExportTheme::Auto => "auto",
        ExportTheme::Light => "light",
        ExportTheme::Dark => "dark",
    };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\" data-theme=\"{theme}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; script-src {}; \
         img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        csp_hash(STYLE),
        csp_hash(SCRIPT),
        escape_line(title),
    )
}

/// As a content security policy names a style or a script.
fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

fn write_entries(run: &ExportRun<'_>, out: &mut dyn Write) -> Result<ExportSummary, ExportError> {
    let mut state = HtmlExportState::new(run.options.max_images);
    let (mut in_branch, mut block) = (false, 0);
    let skipped = run.for_each_entry(&mut |entry, here, place| {
        let leaves = in_branch && place != EntryPosition::BranchContinues;
        let begins = matches!(place, EntryPosition::BranchStart { .. });
        if block == ENTRIES_PER_BLOCK || (block > 0 && (leaves || begins)) {
            writeln!(out, "</div>")?;
            block = 0;
        }
        if leaves {
            writeln!(out, "</details>")?;
        }
        in_branch = place != EntryPosition::ActivePath;
        if let EntryPosition::BranchStart { after, entries } = place {
            begin_branch(after, entries, out)?;
        }
        if block == 0 {
            writeln!(out, "<div class=\"run\">")?;
        }
        block += 1;
        state.exported.entries += 1;
        Ok(entry::write_entry(entry, here, &run.survey, &mut state, out)?)
    })?;
    state.exported.skipped_entries = skipped;
    if block > 0 {
        writeln!(out, "</div>")?;
    }
    if in_branch {
        writeln!(out, "</details>")?;
    }
    Ok(state.exported)
}

fn begin_branch(after: Option<usize>, entries: usize, out: &mut dyn Write) -> io::Result<()> {
    let facts = format!("{} · {}", branch_origin(after), count_noun(entries, "entry", "entries"));
    write!(out, "<details class=\"branch\"><summary>another branch ")?;
    writeln!(out, "<span class=\"facts\">{facts}</span></summary>")
}

fn write_end(exported: &ExportSummary, out: &mut dyn Write) -> io::Result<()> {
    let mut words = Vec::new();
    if exported.skipped_entries > 0 {
        let left = count_noun(exported.skipped_entries, "entry", "entries");
        words.push(format!("{left} of other branches left out."));
    }
    if exported.skipped_images > 0 {
        let left = count_noun(exported.skipped_images, "image", "images");
        words.push(format!("{left} left out; each place says why."));
    }
    words.push(format!("Written by relay {}. Times are UTC.", env!("CARGO_PKG_VERSION")));
    write!(
        out,
        "<p class=\"none\" hidden>Nothing here fits.</p>\n<footer>{}</footer>\n</main>\n</div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        words.join(" ")
    )
}
