//! Who can be asked, as a table, and the conversations that go on by name.

use relaycode_friend::ask::live_test::LiveTestReport;
use relaycode_friend::friend::{FriendProbeReport, SessionSupport};
use relaycode_friend::session::FriendSession;
use relaycode_friend::{FriendAbilities, FriendSandbox};
use relaycode_text::width::cells;
use relaycode_tui::{Glyph, OutputStyle, PaintRole, clock, pluralize};

use crate::CommandResult;

pub(crate) struct FriendRow {
    pub(crate) name: String,
    pub(crate) can: FriendAbilities,
    pub(crate) presence: FriendProbeReport,
    /// What came of asking it, if it was asked.
    pub(crate) tested: Option<CommandResult<LiveTestReport>>,
}

/// A line for each friend, what is in its way below it, and what came of asking it.
pub(crate) fn friends_table(rows: &[FriendRow], look: &OutputStyle) -> String {
    let widest = rows.iter().map(|row| cells(&look.safe(&row.name))).max().unwrap_or_default();
    rows.iter().map(|row| friend_lines(row, widest, look)).collect()
}

fn friend_lines(row: &FriendRow, widest: usize, look: &OutputStyle) -> String {
    let presence = &row.presence;
    let there = presence.found.is_some();
    let fine = there && presence.trouble.is_none() && presence.signed_in != Some(false);
    let sign = match (there, fine) {
        (true, true) => look.paint(PaintRole::Good, look.glyph(Glyph::Done)),
        (true, false) => look.paint(PaintRole::Attention, "!"),
        (false, _) => look.paint(PaintRole::Dim, look.glyph(Glyph::Minus)),
    };
    let mut parts = Vec::new();
    match there {
        false => parts.push("not there".to_string()),
        true => {
            parts.extend(presence.version.clone());
            parts.push(match presence.signed_in {
                Some(true) => "signed in".to_string(),
                Some(false) => "not signed in".to_string(),
                None => "there".to_string(),
            });
            parts.push(abilities(&row.can));
        }
    }
    let dot = format!(" {} ", look.glyph(Glyph::Dot));
    let mut text = table_line(&sign, &look.safe(&row.name), widest, &look.safe(&parts.join(&dot)), look);
    if let Some(trouble) = &presence.trouble {
        text += &table_line(" ", "", widest, &look.safe(trouble), look);
    }
    match &row.tested {
        None => {}
        // What is in its way says so already.
        Some(Err(_)) if !there => {}
        Some(Ok(passed)) => {
            let model = passed.model.as_ref().map(|model| format!(", {model}")).unwrap_or_default();
            let LiveTestReport { took, way, said, .. } = passed;
            let said = format!("answered in {:.1} s by {way}{model}: {said}", took.as_secs_f64());
            text += &table_line(" ", "", widest, &look.safe(&said), look);
        }
        Some(Err(failure)) => {
            text += &table_line(" ", "", widest, &look.safe(&failure.message), look);
            if let Some(hint) = &failure.hint {
                text += &table_line(" ", "", widest, &look.safe(hint), look);
            }
        }
    }
    text
}

fn table_line(sign: &str, name: &str, widest: usize, said: &str, look: &OutputStyle) -> String {
    let indent = widest + 4;
    let wrapped = look.wrap(&format!("{}{said}", " ".repeat(indent)), indent);
    let name = format!("{name}{}", " ".repeat(widest.saturating_sub(cells(name))));
    format!("{sign} {name}  {}\n", wrapped.trim_start()).replace("  \n", "\n")
}

fn abilities(can: &FriendAbilities) -> String {
    let words = [
        (can.reads_files, "reads files"),
        (!can.reads_files, "sees only what it is given"),
        (can.writes_files, "changes files"),
        (!can.writes_files, "answers with patches"),
        (can.streams, "streams"),
        (can.review, "reviews by itself"),
        (can.sessions == SessionSupport::Own, "remembers sessions"),
        (can.schema, "follows schemas"),
        (can.sandbox == FriendSandbox::Own, "has a sandbox of its own"),
        (can.sandbox == FriendSandbox::Fence, "works in relay's fence"),
    ];
    words.iter().filter(|(does, _)| *does).map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

pub(crate) fn sessions_table(sessions: &[FriendSession], look: &OutputStyle) -> String {
    if sessions.is_empty() {
        let said = "  no conversation goes on by name; `relay ask … --session NAME` begins one";
        return look.wrap(said, 2) + "\n";
    }
    let widest = sessions.iter().map(|session| cells(&session.name)).max().unwrap_or_default();
    let one = |session: &FriendSession| {
        let dot = format!(" {} ", look.glyph(Glyph::Dot));
        let parts = [
            session.friend.clone(),
            pluralize(session.turns, "answer"),
            clock::ago(&session.used.to_string()),
            session.project.display().to_string(),
        ];
        table_line(" ", &look.safe(&session.name), widest, &look.safe(&parts.join(&dot)), look)
    };
    sessions.iter().map(one).collect()
}
