//! What happens in a session, determined by a seed: messages from ten bytes on, images, labels, branches,
//! compactions, titles, and flushes.

use relaycode_session::format::header::TitleSource;
use relaycode_session::{EntryBody, Session};
use relaycode_testkit::random::Random;
use serde_json::{Value, json};

use super::{Said, print};

/// What a step was.
pub(super) enum Done {
    /// An entry was appended.
    Entry(Said),
    /// The session has this many entries, and a title that says so.
    Title(usize),
    /// Everything so far is on disk.
    Flushed,
    /// Nothing that could be lost.
    Moved,
    /// The session is to be closed and opened again.
    Close,
}

/// Determines what is said.
pub(super) struct Talk {
    pub(super) random: Random,
    /// Messages have up to ten bytes, doubled this many times.
    pub(super) doublings: usize,
}

impl Talk {
    pub(super) fn step(&mut self, session: &mut Session) -> anyhow::Result<Done> {
        // The first prompt creates the file; before it nothing is on disk.
        if session.is_empty() {
            return self.say(session, "user");
        }
        match self.random.below(100) {
            0..35 => self.say(session, "user"),
            35..60 => self.say(session, "assistant"),
            60..72 => self.say(session, "toolResult"),
            72..80 => {
                // Any letters are base64, four by four.
                let data = self.letters(1_024 + self.random.clone().below(40_000)) + "QUJD";
                let data = data[..data.len() / 4 * 4].to_owned();
                let image = json!({ "type": "image", "data": data, "mimeType": "image/png" });
                self.append(session, message("user", &json!([{ "type": "text", "text": "look" }, image])))
            }
            80..84 => {
                let target = self.any(session);
                let label = format!("step {}", session.len());
                let body = EntryBody::Label { target_id: target, label: Some(label) };
                self.append(session, body)
            }
            84..87 => {
                let target = self.any(session);
                session.move_to(&target)?;
                Ok(Done::Moved)
            }
            87..89 => {
                let body = EntryBody::Compaction {
                    summary: self.letters(500),
                    short_summary: None,
                    first_kept_entry_id: self.any(session),
                    tokens_before: 1,
                    details: None,
                    preserve_data: None,
                    from_extension: None,
                };
                self.append(session, body)
            }
            89..92 => {
                let number = session.len();
                session.set_title(&title(number), TitleSource::User)?;
                Ok(Done::Title(number))
            }
            92..98 => {
                session.flush()?;
                Ok(Done::Flushed)
            }
            _ => Ok(Done::Close),
        }
    }

    fn say(&mut self, session: &mut Session, role: &str) -> anyhow::Result<Done> {
        let most = 10 << self.random.below(self.doublings + 1);
        let length = 10 + self.random.below(most);
        let text = self.letters(length);
        self.append(session, message(role, &json!([{ "type": "text", "text": text }])))
    }

    fn append(&mut self, session: &mut Session, body: EntryBody) -> anyhow::Result<Done> {
        let print = print(&body);
        let id = session.append(body)?;
        Ok(Done::Entry(Said { id, print }))
    }

    /// The id of any entry.
    fn any(&mut self, session: &Session) -> String {
        let rows = session.rows();
        rows[self.random.below(rows.len())].id.to_string()
    }

    fn letters(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 16);
        while text.len() < length {
            text.push_str(&format!("{:016x}", self.random.number()));
        }
        text.truncate(length);
        text
    }
}

/// The title of a session with this many entries.
pub(super) fn title(entries: usize) -> String {
    format!("{entries} entries")
}

fn message(role: &str, content: &Value) -> EntryBody {
    let mut message = json!({ "role": role, "content": content, "timestamp": 1 });
    match role {
        "assistant" => {
            message["provider"] = json!("scripted");
            message["model"] = json!("m");
        }
        "toolResult" => message["toolCallId"] = json!("t1"),
        _ => {}
    }
    EntryBody::Message { message }
}
