//! Functions of Python whose body became `...`: valid code that does nothing, where there was some.

use std::collections::HashMap;

use crate::plan::findings::text_lines;

/// A function and its stub, if it is one.
struct PythonFunction<'t> {
    name: &'t str,
    /// The line (from 1) with the dots.
    dots: Option<usize>,
}

/// The lines (from 1) with the dots of functions that had a body.
pub(super) fn new_stubs(before: &str, after: &str) -> Vec<usize> {
    if !text_lines(after).any(|line| line.trim_end().ends_with("...")) {
        return Vec::new();
    }
    let mut had_body: HashMap<&str, bool> = HashMap::new();
    for function in functions(before) {
        *had_body.entry(function.name).or_insert(true) &= function.dots.is_none();
    }
    let had_body = |function: &PythonFunction<'_>| had_body.get(function.name) == Some(&true);
    functions(after).into_iter().filter(had_body).filter_map(|function| function.dots).collect()
}

fn functions(text: &str) -> Vec<PythonFunction<'_>> {
    let mut found: Vec<PythonFunction<'_>> = Vec::new();
    // The functions around a line: how far they are indented, and their place in the list.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (index, line) in text_lines(text).enumerate() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ')', ']']) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        while open.last().is_some_and(|(around, _)| *around >= indent) {
            open.pop();
        }
        let head = bare.strip_prefix("async ").unwrap_or(bare).strip_prefix("def ");
        if let Some((name, rest)) = head.and_then(|head| head.split_once('(')) {
            open.push((indent, found.len()));
            let dots = rest.ends_with(": ...").then_some(index + 1);
            found.push(PythonFunction { name: name.trim(), dots });
        } else if bare == "..."
            && let Some(function) = open.last().and_then(|(_, at)| found.get_mut(*at))
        {
            function.dots = function.dots.or(Some(index + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_becomes_dots_is_found() {
        let before =
            "def f():\n    return 1\n\nclass A:\n    async def g(\n        self,\n    ):\n        return 2\n";
        for (after, lines) in [
            ("def f():\n    ...\n", vec![2]),
            ("def f(): ...\n", vec![1]),
            (
                "def f():\n    return 2\n\nclass A:\n    async def g(self):\n        \"\"\"Text.\"\"\"\n        ...\n",
                vec![7],
            ),
            ("def h():\n    ...\n", vec![]),
            ("def f():\n    return x[...]\n", vec![]),
        ] {
            assert_eq!(new_stubs(before, after), lines, "{after}");
        }
        assert_eq!(new_stubs("def f():\n    ...\n", "def f():\n    # why\n    ...\n"), Vec::<usize>::new());
    }
}
