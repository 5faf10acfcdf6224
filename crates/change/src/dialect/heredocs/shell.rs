//! A line of shell, as far as it is needed to know where a heredoc goes: words, quotes, redirections. What is not
//! understood is no heredoc that relay would carry out.

/// A word or an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ShellWord {
    text: String,
    is_operator: bool,
    /// Some of it stands in quotes.
    quoted: bool,
    /// The shell would put something else in its place.
    expands: bool,
}

/// A command that is fed by a heredoc.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeredocCommand {
    pub target: HeredocTarget,
    /// The line that ends it.
    pub delimiter: String,
    /// The shell leaves the text as it is.
    pub verbatim: bool,
    /// `<<-`: tabs at the beginning of lines do not count.
    pub drops_tabs: bool,
    /// Other commands stand on the line.
    pub has_others: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeredocTarget {
    Write(String),
    Append(String),
    /// `git apply` or `patch`; how many leading directories it removes, all if it does not say.
    Patch(Option<usize>),
    /// `apply_patch`.
    Envelope,
    /// Something else reads the text.
    Other,
    /// It would change files in a way that cannot be carried out; why.
    Refused(&'static str),
}

/// No line with a heredoc is longer.
const LINE_BYTES: usize = 4_096;

/// The heredoc that begins on a line, if one does.
pub(super) fn parse_heredoc(line: &str) -> Option<HeredocCommand> {
    if line.len() > LINE_BYTES || !line.contains("<<") {
        return None;
    }
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let words = split_words(line)?;
    let is =
        |word: &ShellWord, operators: &[&str]| word.is_operator && operators.contains(&word.text.as_str());
    let at = words.iter().position(|word| is(word, &["<<", "<<-"]))?;
    let delimiter = words.get(at + 1).filter(|word| !word.is_operator && !word.text.is_empty())?;
    let mut rest = words.clone();
    rest.drain(at..at + 2);
    let several = rest.iter().any(|word| is(word, &["<<", "<<-", "<", "<<<"]));
    let mut commands: Vec<(&str, Vec<ShellWord>)> = Vec::from([("", Vec::new())]);
    let mut own = 0;
    for (index, word) in rest.into_iter().enumerate() {
        if index == at {
            own = commands.len() - 1;
        }
        match ["|", "&&", "||", ";", "&"].into_iter().find(|operator| is(&word, &[operator])) {
            Some(operator) => commands.push((operator, Vec::new())),
            None => commands.last_mut()?.1.push(word),
        }
    }
    if at + 2 >= words.len() {
        own = commands.len() - 1;
    }
    let mut target = if several { HeredocTarget::Other } else { target_of(&commands[own].1) };
    let mut last = own;
    if target == HeredocTarget::Other
        && commands[own].1.iter().map(|word| word.text.as_str()).eq(["cat"])
        && commands.get(own + 1).is_some_and(|(operator, _)| *operator == "|")
    {
        last = own + 1;
        target = target_of(&commands[last].1);
    }
    let harmless =
        |(_, words): &(&str, Vec<ShellWord>)| words.first().is_some_and(|word| word.text == "mkdir");
    if target != HeredocTarget::Other {
        if !commands[..own].iter().all(harmless) {
            target = HeredocTarget::Refused("another command stands before it on the line");
        } else if commands.get(last + 1).is_some_and(|(operator, _)| ["|", "||", "&"].contains(operator)) {
            target = HeredocTarget::Refused("it is part of a longer command");
        }
    }
    Some(HeredocCommand {
        target,
        delimiter: delimiter.text.clone(),
        verbatim: delimiter.quoted,
        drops_tabs: words[at].text == "<<-",
        has_others: commands.len() > last + 1,
    })
}

/// Commands that change files which are there, and programs that do what a heredoc tells them.
const CHANGERS: &[&str] = &[
    "mv", "rm", "cp", "ln", "chmod", "rmdir", "unlink", "truncate", "touch", "install", "rename", "dd",
    "rsync",
];
const GIT_CHANGERS: &[&str] =
    &["mv", "rm", "checkout", "restore", "reset", "revert", "stash", "clean", "switch", "am", "merge"];
const INTERPRETERS: &[&str] = &["python", "python3", "perl", "ruby", "node", "sh", "bash", "zsh", "ed", "ex"];

/// Whether a line has a command that certainly changes files, or may be a script that does; the heredocs which relay
/// carries out are none.
pub(super) fn changes_files(line: &str) -> bool {
    if line.len() > LINE_BYTES {
        return false;
    }
    let line = line.trim_start();
    let Some(words) = split_words(without_prompt(line)) else { return false };
    words.split(is_divider).any(|command| {
        let is_prefix =
            |word: &ShellWord| word.text == "else" || COMMAND_PREFIXES.contains(&word.text.as_str());
        let command: Vec<&ShellWord> = command.iter().skip_while(|word| is_prefix(word)).collect();
        let texts: Vec<&str> = command.iter().map(|word| word.text.as_str()).collect();
        let is_fed = command.iter().any(|word| word.is_operator && word.text.starts_with("<<"));
        let writes = texts.windows(2).zip(&command).any(|(pair, word)| {
            word.is_operator && [">", ">>", ">|"].contains(&pair[0]) && !pair[1].starts_with("/dev/")
        });
        match texts.as_slice() {
            ["cat" | "tee" | "patch" | "apply_patch", ..] | ["git", "apply", ..] if is_fed => false,
            ["tee" | "patch", _, ..] => line.split_once("<<").is_none(),
            ["sed" | "perl", options @ ..]
                if options.iter().any(|option| option.starts_with("-i") || option.starts_with("-pi")) =>
            {
                true
            }
            ["git", name, ..] if GIT_CHANGERS.contains(name) => true,
            [name, ..] if CHANGERS.contains(name) || (is_fed && INTERPRETERS.contains(name)) => true,
            _ => writes && !is_fed,
        }
    })
}

const IN_OTHER_DIRECTORY: &str = "a command before it changes the directory";
const IN_CONDITION: &str = "it may stand inside of a condition or a loop";

/// Why what stands below a line may not be carried out, or not as it stands there.
pub(super) fn find_hindrance(line: &str) -> Option<&'static str> {
    let line = without_prompt(line);
    if line.starts_with('(') && line.ends_with(')') {
        return None;
    }
    let words = split_words(line.strip_suffix('\\').unwrap_or(line)).unwrap_or_default();
    // What is not understood still has a first word.
    let first = [line.split_whitespace().next().unwrap_or_default()];
    let commands = words.split(is_divider).filter_map(|command| {
        command.iter().map(|word| word.text.as_str()).find(|word| !COMMAND_PREFIXES.contains(word))
    });
    commands.chain(first).find_map(|name| match name {
        "exit" | "return" | "exec" => Some("a command before it ends the script"),
        "cd" | "pushd" | "popd" => Some(IN_OTHER_DIRECTORY),
        "for" | "while" | "until" | "if" | "case" | "function" | "{" | "(" | "else" | "elif" => {
            Some(IN_CONDITION)
        }
        _ => None,
    })
}

/// Whether a line of a text without fences is a command that hinders, and no sentence; `directly`: it stands directly
/// above a heredoc.
pub(super) fn find_hindrance_in_prose(line: &str, directly: bool) -> Option<&'static str> {
    let line = without_prompt(line.trim());
    let words = split_words(line.strip_suffix('\\').unwrap_or(line)).unwrap_or_default();
    let changes_directory = words.split(is_divider).any(|command| match command {
        [name] | [name, _] => ["cd", "pushd", "popd"].contains(&name.text.as_str()),
        _ => false,
    });
    if changes_directory && !line.ends_with(':') {
        return Some(IN_OTHER_DIRECTORY);
    }
    let opens = match words.as_slice() {
        [.., last] if ["{", "("].contains(&last.text.as_str()) => true,
        [last] => ["then", "do", "else"].contains(&last.text.as_str()),
        [.., divider, last] => divider.is_operator && ["then", "do", "else"].contains(&last.text.as_str()),
        [] => false,
    };
    (directly && (opens || goes_on(line))).then_some(IN_CONDITION)
}

/// Whether the next line belongs to a command on this one that may not come to it. Directories are made whatever
/// happens.
pub(super) fn goes_on(line: &str) -> bool {
    let line = without_prompt(line).trim_end();
    let bare = line.strip_suffix('\\').unwrap_or(line);
    let Some(words) = split_words(bare) else { return false };
    let ends_with = |operators: &[&str]| {
        words.last().is_some_and(|last| last.is_operator && operators.contains(&last.text.as_str()))
    };
    let only_directories =
        words.split(is_divider).all(|command| command.first().is_none_or(|name| name.text == "mkdir"));
    match ends_with(&["&&"]) || (ends_with(&[";"]) && bare.len() < line.len()) {
        true => !only_directories,
        false => bare.len() < line.len() || ends_with(&["||", "|"]),
    }
}

fn without_prompt(line: &str) -> &str {
    let line = line.trim_start();
    line.strip_prefix("$ ").unwrap_or(line)
}

/// Words before the name of a command.
const COMMAND_PREFIXES: &[&str] = &["sudo", "then", "do", "!", "command", "builtin", "time"];

fn is_divider(word: &ShellWord) -> bool {
    word.is_operator && ["|", "&&", "||", ";", "&"].contains(&word.text.as_str())
}

/// What a command without its heredoc does with the text.
fn target_of(words: &[ShellWord]) -> HeredocTarget {
    let plain = |word: &&ShellWord| word.text == "sudo" && !word.is_operator;
    let words = if words.first().as_ref().is_some_and(plain) { &words[1..] } else { words };
    let mut texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if texts.ends_with(&[">", "/dev/null"]) && texts.first() == Some(&"tee") {
        texts.truncate(texts.len() - 2);
    }
    let target = match texts.as_slice() {
        ["cat", ">" | ">|", path] | [">" | ">|", path, "cat"] | ["tee", path] if !path.starts_with('-') => {
            HeredocTarget::Write((*path).to_owned())
        }
        ["cat", ">>", path] | ["tee", "-a" | "--append", path] => HeredocTarget::Append((*path).to_owned()),
        ["cat", ..] if texts.contains(&">") || texts.contains(&">>") => {
            HeredocTarget::Refused("relay cannot tell which file it writes")
        }
        ["tee", _, ..] => HeredocTarget::Refused("relay cannot tell which file it writes"),
        ["git", "apply", options @ ..] => patch_target(options, Some(1)),
        ["patch", options @ ..] => patch_target(options, None),
        ["apply_patch"] => HeredocTarget::Envelope,
        _ => HeredocTarget::Other,
    };
    let odd = words.iter().any(|word| word.expands || (word.text.starts_with('~') && !word.quoted));
    match target {
        HeredocTarget::Write(_) | HeredocTarget::Append(_) if odd => {
            HeredocTarget::Refused("the shell would put something else in place of the path")
        }
        target => target,
    }
}

fn patch_target(options: &[&str], default: Option<usize>) -> HeredocTarget {
    let mut level = default;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "-" | "-v" | "--verbose" | "--index" | "-u" | "--3way" | "-3" | "-N" | "--forward" => {}
            "-p" => level = options.next().and_then(|number| number.parse().ok()),
            option => match option.strip_prefix("-p").or_else(|| option.strip_prefix("--strip=")) {
                Some(number) if number.parse::<usize>().is_ok() => level = number.parse().ok(),
                _ if option.starts_with("--whitespace=") => {}
                _ => return HeredocTarget::Refused("this option of the command is not known"),
            },
        }
    }
    HeredocTarget::Patch(level)
}

/// The words of a line; `None` if a quote is not closed.
fn split_words(line: &str) -> Option<Vec<ShellWord>> {
    let blank = ShellWord { text: String::new(), is_operator: false, quoted: false, expands: false };
    let mut words = Vec::new();
    let mut word: Option<ShellWord> = None;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let begun = word.is_some();
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '#' if !begun => break,
            '\'' | '"' => {
                let word = word.get_or_insert_with(|| blank.clone());
                word.quoted = true;
                loop {
                    match chars.next()?.1 {
                        end if end == c => break,
                        '\\' if c == '"' => word.text.push(chars.next()?.1),
                        inside => {
                            word.expands |= c == '"' && matches!(inside, '$' | '`');
                            word.text.push(inside);
                        }
                    }
                }
            }
            '\\' => {
                let word = word.get_or_insert_with(|| blank.clone());
                word.quoted = true;
                word.text.push(chars.next()?.1);
            }
            '<' | '>' | '|' | '&' | ';' => {
                words.extend(word.take());
                let operators = ["<<-", "<<<", "<<", ">>", ">|", "&&", "||", "&>"];
                let found = operators.iter().find(|operator| line[at..].starts_with(**operator));
                let text = found.map_or_else(|| c.to_string(), |operator| (*operator).to_owned());
                for _ in 1..text.len() {
                    chars.next();
                }
                words.push(ShellWord { text, is_operator: true, ..blank.clone() });
            }
            _ => {
                let word = word.get_or_insert_with(|| blank.clone());
                word.expands |= matches!(c, '$' | '`' | '*' | '?' | '{' | '(' | ')');
                word.text.push(c);
            }
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_change_files() {
        for line in [
            "mv a.new a",
            "cat > a <<'EOF' && rm b",
            "sed -i s/a/b/ a",
            "sudo chmod +x a",
            "git checkout a",
            "echo x > a",
            "python3 - <<'EOF'",
            "  rm -rf b",
            "test -f a && rm a",
            "patch -p1 < a.diff",
        ] {
            assert!(changes_files(line), "{line}");
        }
        for line in [
            "cat > a <<'EOF'",
            "tee a <<'EOF' > /dev/null",
            "cat <<'EOF' | tee a",
            "> a cat <<EOF",
            "git apply <<'EOF'",
            "mkdir -p a",
            "npm test",
            "npm test > /dev/null 2>&1",
            "# rm a",
            "git commit -m 'rm a'",
            "sed -n 1p a",
        ] {
            assert!(!changes_files(line), "{line}");
        }
    }

    #[test]
    fn commands_on_which_a_heredoc_below_depends() {
        for line in [
            "cd sub",
            "$ cd sub",
            "mkdir -p sub && cd sub",
            "mkdir sub; cd sub",
            "test -d sub && cd sub",
            "cd sub || exit 1",
            "set -e; if false; then",
            "command -v node || exit 1",
        ] {
            assert!(find_hindrance(line).is_some(), "{line}");
        }
        for line in
            ["npm ci", "(cd sub && npm ci)", "mkdir -p sub", "git add cd", "echo 'a && cd b'", "set -e"]
        {
            assert_eq!(find_hindrance(line), None, "{line}");
        }
        for line in ["false && \\", "[ -f a ] ||", "cat b |", "test -f a &&", "echo \\", "mkdir a || \\"] {
            assert!(goes_on(line), "{line}");
        }
        for line in ["npm ci", "mkdir -p a &&", "mkdir -p a && \\", "mkdir -p a; \\", "echo '||'"] {
            assert!(!goes_on(line), "{line}");
        }
        for line in
            ["if false; then", "while true; do", "[ -f a ] ||", "mkdir -p sub && cd sub", "cd sub", "{"]
        {
            assert!(find_hindrance_in_prose(line, true).is_some(), "{line}");
        }
        for line in [
            "Then cd into it:",
            "if you like, run this:",
            "for example",
            "First, what you do",
            "npm ci",
            "cd back and forth",
        ] {
            assert_eq!(find_hindrance_in_prose(line, true), None, "{line}");
        }
    }

    #[test]
    fn where_the_text_of_a_heredoc_goes() {
        let write = |path: &str| HeredocTarget::Write(path.to_owned());
        for (line, target) in [
            ("cat <<'EOF' > a.txt", write("a.txt")),
            ("cat > a.txt <<EOF", write("a.txt")),
            ("cat >a.txt<<-\"EOF\"", write("a.txt")),
            ("$ cat > 'my file.txt' <<\\EOF", write("my file.txt")),
            ("mkdir -p src && cat > src/a.txt <<'EOF'", write("src/a.txt")),
            ("cat > a.txt <<'EOF' && chmod +x a.txt", write("a.txt")),
            ("tee a.txt <<EOF >/dev/null", write("a.txt")),
            ("cat <<'EOF' | tee a.txt", write("a.txt")),
            ("cat >> a.txt <<EOF", HeredocTarget::Append("a.txt".to_owned())),
            ("tee -a a.txt <<EOF", HeredocTarget::Append("a.txt".to_owned())),
            ("git apply <<'EOF'", HeredocTarget::Patch(Some(1))),
            ("git apply -p0 - <<'EOF'", HeredocTarget::Patch(Some(0))),
            ("patch -p1 <<EOF", HeredocTarget::Patch(Some(1))),
            ("patch <<EOF", HeredocTarget::Patch(None)),
            ("apply_patch <<'EOF'", HeredocTarget::Envelope),
            ("python - <<'EOF'", HeredocTarget::Other),
            ("ssh host 'cat > a.txt' <<EOF", HeredocTarget::Other),
            ("cat <<EOF", HeredocTarget::Other),
        ] {
            let command = parse_heredoc(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((command.target, command.delimiter.as_str()), (target, "EOF"), "{line}");
        }
        for line in [
            "cd src && cat > a.txt <<'EOF'",
            "cat > $DIR/a.txt <<'EOF'",
            "cat > ~/a.txt <<'EOF'",
            "cat a b > c <<'EOF'",
            "cat > a.txt <<'EOF' | sh",
            "tee a b <<EOF",
            "git apply -R <<EOF",
            "patch -p1 a.txt <<EOF",
        ] {
            let command = parse_heredoc(line).unwrap_or_else(|| panic!("{line}"));
            assert!(matches!(command.target, HeredocTarget::Refused(_)), "{line}: {command:?}");
        }
        for line in ["cat > a.txt", "x << 3", "cat <<", "echo 'a << b", "# cat > a <<EOF"] {
            assert!(parse_heredoc(line).is_none_or(|it| it.target == HeredocTarget::Other), "{line}");
        }
    }
}
