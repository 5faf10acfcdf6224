//! Commands for which there is a better tool: a table by the first word. Nothing here is a wall: it saves the model a detour.

/// Programs, what makes them meant (`None`: always), the tool, and what to say.
struct BetterTool {
    programs: &'static [&'static str],
    applies: fn(&str) -> bool,
    tool: &'static str,
    message: &'static str,
}

const TABLE: &[BetterTool] = &[
    BetterTool {
        programs: &["cat", "head", "tail", "less", "more"],
        // With a redirection or a pipe it does something else than show a file.
        applies: |rest| !rest.is_empty() && !rest.contains(['|', '>', '<']),
        tool: "read",
        message: "`read` shows files with anchors that `edit` takes",
    },
    BetterTool {
        programs: &["grep", "rg", "ripgrep", "ag", "ack"],
        applies: |_| true,
        tool: "search",
        message: "`search` finds lines by a regular expression",
    },
    BetterTool {
        programs: &["find", "fd", "locate"],
        applies: |_| true,
        tool: "find",
        message: "`find` lists files by patterns",
    },
    BetterTool {
        programs: &["sed", "perl"],
        applies: |rest| rest.split_whitespace().any(edits_in_place),
        tool: "edit",
        message: "`edit` changes files, and every change is checked",
    },
    BetterTool {
        programs: &["echo", "printf"],
        applies: writes_file,
        tool: "write",
        message: "`write` makes files",
    },
];

/// Why a command should be another tool's call; `None`: it should not. `offered` says which tools there are.
pub(super) fn better_tool(command: &str, offered: &dyn Fn(&str) -> bool) -> Option<String> {
    let raw = command.trim();
    let found = [Some(raw), behind_cd(raw)].into_iter().flatten().find_map(|line| {
        let (program, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // `cat <<EOF > file` and the like.
        let program =
            if program == "cat" && rest.contains("<<") && writes_file(rest) { "echo" } else { program };
        TABLE.iter().find(|row| row.programs.contains(&program) && (row.applies)(rest.trim()))
    })?;
    let shown = relaycode_text::width::clip_for_message(raw, 200);
    offered(found.tool).then(|| format!("Blocked: {}. The command was: {shown}", found.message))
}

/// What follows a `cd DIR &&` at the beginning.
fn behind_cd(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("cd ")?;
    rest.split_once("&&").map(|(_, rest)| rest.trim())
}

fn edits_in_place(word: &str) -> bool {
    word.starts_with("--in-place")
        || (word.starts_with('-') && !word.starts_with("--") && word[1..].chars().take(4).any(|c| c == 'i'))
}

/// Whether it redirects into a file.
fn writes_file(rest: &str) -> bool {
    rest.split('>')
        .skip(1)
        .any(|target| !target.trim_start().starts_with(['&', '(']) && !target.contains("/dev/null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_better_tool_names_it() {
        let all = |_: &str| true;
        for (command, tool) in [
            ("cat src/main.rs", Some("read")),
            ("cd src && head -5 main.rs", Some("read")),
            ("cat a | wc -l", None),
            ("tail -f log > out", None),
            ("grep -rn x .", Some("search")),
            ("  rg x", Some("search")),
            ("find . -name '*.rs'", Some("find")),
            ("sed -i s/a/b/ x", Some("edit")),
            ("sed -n 1,5p x", None),
            ("perl -pi -e s/a/b/ x", Some("edit")),
            ("echo hi > a.txt", Some("write")),
            ("echo hi >> a.txt", Some("write")),
            ("echo hi >&2", None),
            ("echo hi", None),
            ("cat <<EOF > a.txt\nhi\nEOF", Some("write")),
            ("printf x 2>/dev/null", None),
            ("cargo test | grep FAILED", None),
            ("catalog", None),
        ] {
            let said = better_tool(command, &all);
            assert_eq!(said.is_some(), tool.is_some(), "{command}: {said:?}");
            if let (Some(said), Some(tool)) = (said, tool) {
                assert!(
                    said.starts_with(&format!("Blocked: `{tool}`"))
                        && said.contains(command.trim().lines().next().unwrap()),
                    "{said}"
                );
            }
        }
        assert_eq!(better_tool("cat a", &|tool| tool != "read"), None);
    }
}
