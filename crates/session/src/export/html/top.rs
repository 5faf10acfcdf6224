//! What stands before the first entry: the title and what the session was, the outline, and the tools to look around.

use std::io::Write;

use relaycode_text::html::{line, text};

use super::super::number::{counted, grouped, money, time};
use super::super::shown::Class;
use super::super::survey::Survey;
use super::super::{Conversation, ExportError, Options};

/// What the reader of a file had to report, in lines.
const MAX_ODD: usize = 200;

/// What may be shown: the script's name for it, and ours.
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

pub(super) fn write(
    conversation: &Conversation<'_>,
    options: &Options,
    survey: &Survey,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    writeln!(out, "<a class=\"skip\" href=\"#entries\">To the conversation</a>")?;
    writeln!(out, "<header class=\"top\">\n<h1>{}</h1>", line(&super::title(conversation, options, survey)))?;
    facts(conversation, survey, out)?;
    odd(conversation, survey, out)?;
    writeln!(out, "</header>")?;
    bar(out)?;
    writeln!(out, "<div class=\"columns\">")?;
    outline(options, survey, out)?;
    writeln!(out, "<main id=\"entries\" tabindex=\"-1\">")?;
    Ok(())
}

fn facts(conversation: &Conversation<'_>, survey: &Survey, out: &mut dyn Write) -> Result<(), ExportError> {
    let header = conversation.header;
    let mut tokens = format!("{} in · {} out", grouped(survey.read), grouped(survey.written));
    if survey.cached > 0 {
        tokens.push_str(&format!(" · {} cached", grouped(survey.cached)));
    }
    let mut entries = counted(survey.entries(), "entry", "entries");
    entries.push_str(&format!(", {}", counted(survey.messages, "message", "messages")));
    if survey.beside() > 0 {
        entries.push_str(&format!(", {} on other branches", grouped(survey.beside() as u64)));
    }
    let facts = [
        ("project", header.cwd.clone()),
        ("began", time(&header.timestamp)),
        ("last", time(&survey.last_time)),
        ("models", survey.models.join(", ")),
        ("tokens", if survey.read + survey.written > 0 { tokens } else { String::new() }),
        ("cost", money(survey.cost).unwrap_or_default()),
        ("holds", entries),
        ("session", header.id.clone()),
        ("comes from", header.parent_session.clone().unwrap_or_default()),
    ];
    writeln!(out, "<dl class=\"about\">")?;
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", line(value))?;
    }
    writeln!(out, "</dl>")?;
    Ok(())
}

/// What was wrong with the file.
fn odd(conversation: &Conversation<'_>, survey: &Survey, out: &mut dyn Write) -> Result<(), ExportError> {
    let orphans = (survey.orphans > 0).then(|| {
        let entries = counted(survey.orphans, "entry follows", "entries follow");
        format!("{entries} something that is not in the file; shown where the file has it")
    });
    if conversation.odd.is_empty() && orphans.is_none() {
        return Ok(());
    }
    writeln!(out, "<details class=\"odd\" open><summary>! the file was not in order</summary><ul>")?;
    for found in conversation.odd.iter().take(MAX_ODD).chain(&orphans) {
        writeln!(out, "<li>{}</li>", text(found))?;
    }
    if let Some(more) = conversation.odd.len().checked_sub(MAX_ODD).filter(|more| *more > 0) {
        writeln!(out, "<li>… {more} more</li>")?;
    }
    writeln!(out, "</ul></details>")?;
    Ok(())
}

/// Search, filters and theme: they need the script, and without it they are not shown.
fn bar(out: &mut dyn Write) -> Result<(), ExportError> {
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
    writeln!(out, "</dl><button class=\"close\" type=\"button\">Close</button></dialog>")?;
    Ok(())
}

fn outline(options: &Options, survey: &Survey, out: &mut dyn Write) -> Result<(), ExportError> {
    writeln!(
        out,
        "<nav aria-label=\"outline\"><details class=\"outline\" open><summary>outline</summary><ol>"
    )?;
    for found in &survey.outline {
        let active = survey.is_active(found.entry);
        if !active && !options.all_branches {
            continue;
        }
        let class = match found.class {
            Class::User => "user",
            Class::Summary => "summary",
            _ => "other",
        };
        let beside = if active { "" } else { " beside" };
        write!(out, "<li class=\"{class}{beside}\"><a href=\"#e{}\">", found.entry + 1)?;
        if !active {
            write!(out, "<span class=\"off\">other branch</span> ")?;
        }
        if let Some(label) = survey.label(found.entry) {
            write!(out, "<span class=\"label\">{}</span> ", line(label))?;
        }
        writeln!(out, "{}</a></li>", line(&found.text))?;
    }
    if survey.outline_left_out > 0 {
        writeln!(out, "<li>… {} more</li>", grouped(survey.outline_left_out as u64))?;
    }
    writeln!(out, "</ol></details></nav>")?;
    Ok(())
}
