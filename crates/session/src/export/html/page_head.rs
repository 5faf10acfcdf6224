//! What comes before the first entry: the title, facts about the session, the outline, and the toolbar.

use std::io::{self, Write};

use relaycode_text::html::{escape_line, escape_text};

use super::super::entry_view::EntryClass;
use super::super::human_format::{count_noun, format_money, format_time, group_digits};
use super::super::survey::ExportSurvey;
use super::super::{ExportOptions, ExportRun, ExportSource};

/// Most lines about problems with the file.
const MAX_ODD: usize = 200;

/// Filters: the script's name, and the label.
const FILTERS: &[(&str, &str)] = &[
    ("all", "everything"),
    ("talk", "conversation"),
    ("no-tools", "no tools"),
    ("user", "only you"),
    ("labelled", "labelled"),
];

/// Keys of the page.
const KEYS: &[(&str, &str)] = &[
    ("/", "search"),
    ("n, p", "next and previous match, or message of yours"),
    ("Enter, Shift Enter", "the same while typing"),
    ("Esc", "leave the search, then clear it"),
    ("f", "show more or less"),
    ("e", "fold or unfold everything"),
    ("t", "light, dark, or as the system prefers"),
    ("?", "these keys"),
];

pub(super) fn write_page_head(run: &ExportRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let ExportRun { source, options, survey } = run;
    writeln!(out, "<a class=\"skip\" href=\"#entries\">To the conversation</a>")?;
    writeln!(out, "<header class=\"top\">\n<h1>{}</h1>", escape_line(&run.title()))?;
    write_facts(source, survey, out)?;
    write_issues(source, survey, out)?;
    writeln!(out, "</header>")?;
    write_toolbar(out)?;
    writeln!(out, "<div class=\"columns\">")?;
    write_outline(options, survey, out)?;
    writeln!(out, "<main id=\"entries\" tabindex=\"-1\">")
}

fn write_facts(source: &ExportSource<'_>, survey: &ExportSurvey, out: &mut dyn Write) -> io::Result<()> {
    let header = source.header;
    let mut tokens =
        format!("{} in · {} out", group_digits(survey.input_tokens), group_digits(survey.output_tokens));
    if survey.cached_tokens > 0 {
        tokens.push_str(&format!(" · {} cached", group_digits(survey.cached_tokens)));
    }
    let mut entries = count_noun(survey.entries(), "entry", "entries");
    entries.push_str(&format!(", {}", count_noun(survey.messages, "message", "messages")));
    if survey.off_path_count() > 0 {
        entries.push_str(&format!(", {} on other branches", group_digits(survey.off_path_count() as u64)));
    }
    let facts = [
        ("project", header.cwd.clone()),
        ("began", format_time(&header.timestamp)),
        ("last", format_time(&survey.last_time)),
        ("models", survey.models.join(", ")),
        ("tokens", if survey.input_tokens + survey.output_tokens > 0 { tokens } else { String::new() }),
        ("cost", format_money(survey.cost).unwrap_or_default()),
        ("holds", entries),
        ("session", header.id.clone()),
        ("comes from", header.parent_session.clone().unwrap_or_default()),
    ];
    writeln!(out, "<dl class=\"about\">")?;
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape_line(value))?;
    }
    writeln!(out, "</dl>")
}

/// What was wrong with the file.
fn write_issues(source: &ExportSource<'_>, survey: &ExportSurvey, out: &mut dyn Write) -> io::Result<()> {
    let orphans = (survey.orphans > 0).then(|| {
        let entries = count_noun(survey.orphans, "entry follows", "entries follow");
        format!("{entries} something that is not in the file; shown where the file has it")
    });
    if source.load_issues.is_empty() && orphans.is_none() {
        return Ok(());
    }
    writeln!(out, "<details class=\"odd\" open><summary>! the file was not in order</summary><ul>")?;
    for found in source.load_issues.iter().take(MAX_ODD).chain(&orphans) {
        writeln!(out, "<li>{}</li>", escape_text(found))?;
    }
    if let Some(more) = source.load_issues.len().checked_sub(MAX_ODD).filter(|more| *more > 0) {
        writeln!(out, "<li>… {more} more</li>")?;
    }
    writeln!(out, "</ul></details>")
}

/// Search, filters and theme need the script, and are not shown without it.
fn write_toolbar(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<div class=\"bar\" role=\"search\">")?;
    writeln!(
        out,
        "<input class=\"find\" type=\"search\" aria-label=\"search\" placeholder=\"search  /\" autocomplete=\"off\" spellcheck=\"false\">"
    )?;
    writeln!(out, "<output class=\"count\" aria-live=\"polite\"></output>")?;
    writeln!(out, "<div class=\"chips\" role=\"group\" aria-label=\"show\">")?;
    for (name, words) in FILTERS {
        let pressed = *name == "all";
        writeln!(
            out,
            "<button class=\"chip\" type=\"button\" data-show=\"{name}\" aria-pressed=\"{pressed}\">{words}</button>"
        )?;
    }
    writeln!(out, "</div>\n<div class=\"tools\"><button class=\"fold\" type=\"button\">unfold</button>")?;
    writeln!(out, "<button class=\"theme\" type=\"button\">theme: auto</button>")?;
    writeln!(out, "<button class=\"keys\" type=\"button\" aria-label=\"keys\">?</button></div>\n</div>")?;
    writeln!(out, "<dialog class=\"help\" aria-label=\"keys\"><h2>Keys</h2><dl>")?;
    for (key, words) in KEYS {
        writeln!(out, "<div><dt>{key}</dt><dd>{words}</dd></div>")?;
    }
    writeln!(out, "</dl><button class=\"close\" type=\"button\">Close</button></dialog>")
}

fn write_outline(options: &ExportOptions, survey: &ExportSurvey, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<nav aria-label=\"outline\">")?;
    writeln!(out, "<details class=\"outline\" open><summary>outline</summary><ol>")?;
    for found in &survey.outline {
        let active = survey.is_active(found.entry);
        if !active && !options.all_branches {
            continue;
        }
        let class = match found.class {
            EntryClass::User => "user",
            EntryClass::Summary => "summary",
            _ => "other",
        };
        let beside = if active { "" } else { " beside" };
        write!(out, "<li class=\"{class}{beside}\"><a href=\"#e{}\">", found.entry + 1)?;
        if !active {
            write!(out, "<span class=\"off\">other branch</span> ")?;
        }
        if let Some(label) = survey.label(found.entry) {
            write!(out, "<span class=\"label\">{}</span> ", escape_line(label))?;
        }
        writeln!(out, "{}</a></li>", escape_line(&found.text))?;
    }
    if survey.skipped_outline_lines > 0 {
        writeln!(out, "<li>… {} more</li>", group_digits(survey.skipped_outline_lines as u64))?;
    }
    writeln!(out, "</ol></details></nav>")
}
