//! Programs of sed and awk: whether they only print. What is not surely so is not.

/// Whether a script of sed runs nothing and writes nothing but its output.
pub(super) fn sed_only_prints(script: &str) -> bool {
    let signs: Vec<char> = script.chars().collect();
    let mut at = 0;
    while at < signs.len() {
        while signs.get(at).is_some_and(|c| c.is_ascii_whitespace() || matches!(c, ';' | '}' | '{')) {
            at += 1;
        }
        let Some(behind) = skip_addresses(&signs, at) else { return false };
        at = behind;
        let Some(command) = signs.get(at) else { return true };
        at += 1;
        match command {
            'p' | 'd' | 'D' | 'P' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' | 'z' => {}
            '{' | '}' => continue,
            'q' | 'Q' | 'l' => {
                while signs.get(at).is_some_and(char::is_ascii_digit) {
                    at += 1;
                }
            }
            's' | 'y' => {
                let Some(behind) = skip_substitution(&signs, at) else { return false };
                at = behind;
                while let Some(flag) = signs.get(at) {
                    match flag {
                        'g' | 'p' | 'i' | 'I' | 'm' | 'M' if *command == 's' => at += 1,
                        flag if *command == 's' && flag.is_ascii_digit() => at += 1,
                        _ => break,
                    }
                }
            }
            _ => return false,
        }
        while signs.get(at).is_some_and(|c| *c == ' ' || *c == '\t') {
            at += 1;
        }
        match signs.get(at) {
            None | Some(';' | '\n' | '}') => {}
            _ => return false,
        }
    }
    true
}

fn skip_addresses(signs: &[char], mut at: usize) -> Option<usize> {
    loop {
        match signs.get(at) {
            Some(c) if c.is_ascii_digit() || matches!(c, '$' | ',' | '+' | '~' | '!' | ' ' | '\t') => at += 1,
            Some('/') => {
                at = skip_delimited(signs, at + 1, '/')?;
                while matches!(signs.get(at), Some('I' | 'M')) {
                    at += 1;
                }
            }
            Some('\\') => return None,
            _ => return Some(at),
        }
    }
}

/// Behind the next sign that is not escaped. A bracket can hold the sign in some seds: that is not read.
fn skip_delimited(signs: &[char], mut at: usize, end: char) -> Option<usize> {
    let mut in_brackets = false;
    loop {
        match signs.get(at)? {
            '\\' => at += 1,
            '\n' => return None,
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            c if *c == end && in_brackets => return None,
            c if *c == end => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

fn skip_substitution(signs: &[char], at: usize) -> Option<usize> {
    let end = *signs.get(at)?;
    if end.is_ascii_alphanumeric() || end.is_whitespace() || end == '\\' || end == '[' {
        return None;
    }
    let behind = skip_delimited(signs, at + 1, end)?;
    // Brackets mean nothing in the replacement.
    let mut at = behind;
    loop {
        match signs.get(at)? {
            '\\' => at += 1,
            '\n' => return None,
            c if *c == end => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

/// Whether a program of awk runs nothing and writes nothing but its output.
pub(super) fn awk_only_prints(program: &str) -> bool {
    if program.contains("system")
        || program.contains("getline")
        // It could choose the files that it reads.
        || program.contains("ARG")
        || program.contains(['@', '\\']) && program.contains('@')
    {
        return false;
    }
    let without_or = program.replace("||", "");
    if without_or.contains('|') || program.contains("\\\n") {
        return false;
    }
    match program.find("print") {
        Some(at) => !program[at..].replace(">=", "").contains('>') && !program[at..].contains(">>"),
        None => true,
    }
}
