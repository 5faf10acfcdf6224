//! What programs print for a terminal, as plain text.

/// What a terminal would show, without its control sequences; of a line that was written over, what was written last.
pub fn plain_terminal_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => match characters.next() {
                // A control sequence ends with a letter or one of `@[\]^_{|}~` and the back-tick.
                Some('[') => {
                    characters.by_ref().find(|c| ('\u{40}'..='\u{7e}').contains(c));
                }
                // A command of the operating system ends with BEL or ESC \.
                Some(']') => {
                    let end = characters.by_ref().find(|c| matches!(c, '\u{7}' | '\u{1b}'));
                    end.filter(|end| *end == '\u{1b}').and_then(|_| characters.next());
                }
                _ => {}
            },
            '\r' => {
                // A terminal makes CR CR LF of a line that ends in CR LF already.
                while characters.next_if_eq(&'\r').is_some() {}
                if characters.peek() != Some(&'\n') {
                    let line = plain.rfind('\n').map_or(0, |at| at + 1);
                    plain.truncate(line);
                }
            }
            '\u{8}' => {
                if plain.chars().next_back().is_some_and(|c| c != '\n') {
                    plain.pop();
                }
            }
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_read_as_it_looks_at_the_end() {
        let said = "\u{1b}[1;31mred\u{1b}[0m\r\n10%\r50%\r100%\r\n\u{1b}]0;title\u{7}abc\u{8}d\u{1b}]8;;x\u{1b}\\link\u{7}\r\n";
        assert_eq!(plain_terminal_text(said), "red\n100%\nabdlink\n");
        assert_eq!(plain_terminal_text("\u{1b}[31"), "");
        assert_eq!(plain_terminal_text("red\r\r\n10%\r20%\r\n"), "red\n20%\n");
    }
}
