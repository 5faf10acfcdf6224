//! A failure: what happened, where, what to do, and the state of the project.

use crate::failure::{Exit, Failure};
use crate::terminal::{Look, Paint, Sign};

/// The failure in two or three lines.
pub(crate) fn text(failure: &Failure, look: &Look) -> String {
    let sign = look.paint(Paint::Bad, look.sign(Sign::Refused));
    let state = match failure.exit {
        Exit::Refused => "; nothing was changed",
        Exit::Done | Exit::Unexpected | Exit::Usage => "",
    };
    let mut lines = vec![format!("  {}{state}", look.safe(&failure.message))];
    if let Some(place) = &failure.place
        && !failure.message.contains(place.as_str())
    {
        lines.push(format!("  in {}", look.safe(place)));
    }
    if let Some(hint) = &failure.hint {
        lines.push(format!("  {}", look.safe(hint)));
    }
    let wrapped: String = lines.iter().map(|line| look.wrap(line, 2) + "\n").collect();
    format!("{sign} {}", wrapped.trim_start())
}
