//! A film as an asciicast (version 2), for `asciinema play` and its player: from frame to frame only the
//! changes.

use serde_json::json;

use super::film::{COLUMNS, Film, ROWS};

pub(super) fn text(film: &Film) -> anyhow::Result<String> {
    let header = json!({
        "version": 2, "width": COLUMNS, "height": ROWS, "title": "relay watch", "env": {"TERM": "xterm-256color"},
    });
    let mut text = format!("{header}\n");
    let mut before = vt100::Parser::new(ROWS, COLUMNS, 0).screen().clone();
    let mut milliseconds = 0;
    let mut caption = "";
    for frame in &film.frames {
        let drawn = String::from_utf8(frame.screen.state_diff(&before))?;
        if caption != frame.caption {
            caption = frame.caption;
            text += &event(milliseconds, "m", caption);
        }
        text += &event(milliseconds, "o", &drawn);
        milliseconds += frame.milliseconds;
        before = frame.screen.clone();
    }
    // A player ends with the last event: the last frame should be seen, too.
    text += &event(milliseconds, "o", "");
    Ok(text)
}

fn event(milliseconds: u64, kind: &str, data: &str) -> String {
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000);
    format!("[{seconds}.{rest:03}, {}, {}]\n", json!(kind), json!(data))
}

#[cfg(test)]
mod tests {
    use super::super::film::Frame;
    use super::*;

    #[test]
    fn a_terminal_that_gets_the_events_shows_the_last_frame() {
        let first = Frame::of(b"$ relay watch\r\n", "start", 1_500);
        let second = Frame::of(b"$ relay watch\r\n\x1b[32mdone\x1b[m", "done", 500);
        let shown = second.screen.contents_formatted();
        let text = text(&Film { frames: vec![first, second] }).unwrap();
        let mut parser = vt100::Parser::new(ROWS, COLUMNS, 0);
        for line in text.lines().skip(1) {
            let event: (f64, String, String) = serde_json::from_str(line).unwrap();
            if event.1 == "o" {
                parser.process(event.2.as_bytes());
            }
        }
        assert_eq!(parser.screen().contents_formatted(), shown);
        assert!(text.ends_with("[2.000, \"o\", \"\"]\n"), "{text}");
    }
}
