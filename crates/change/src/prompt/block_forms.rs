//! The forms of a block that the prompt explains: when to use each, what goes wrong with it, and one
//! example. The examples together are one answer.

use super::PromptStrategy;

pub(super) struct PromptForm {
    pub name: &'static str,
    /// What to mind.
    pub rules: &'static [&'static str],
    /// A block, with the sentence above it.
    pub example: &'static str,
    /// The example's row in the summary.
    pub row: &'static str,
}

/// Each with what to use it for; the usual one first.
pub(super) fn forms(strategy: PromptStrategy) -> Vec<(PromptForm, &'static str)> {
    let mut forms = match strategy {
        PromptStrategy::Auto => vec![
            (SEARCH, "for changes in a few places"),
            (DIFF, "for changes all over a file"),
            (WHOLE, "for a new file, or where little stays"),
        ],
        PromptStrategy::Replace => vec![(WHOLE, "for new and for changed files alike")],
        PromptStrategy::NewUnified => vec![(DIFF, EVERY_FILE), (WHOLE, NEW_FILE)],
        PromptStrategy::MultiSearchReplace => vec![(SEARCH, EVERY_FILE), (WHOLE, NEW_FILE)],
    };
    forms.extend([(DELETE, "to delete a file"), (RENAME, "to rename a file")]);
    forms
}

const EVERY_FILE: &str = "for every file that is there";
const NEW_FILE: &str = "only for a new file";

const SEARCH: PromptForm = PromptForm {
    name: "`multi-search-replace`",
    rules: &[
        "SEARCH holds whole lines, copied from the file character by character with their indentation, and enough of them that they occur only once in the file.",
        "Several places are several SEARCH/REPLACE pairs in the file's one block, from top to bottom.",
        "To insert, repeat a neighbouring line in both parts; to remove, leave the lines out of the second part.",
        "A line of content that looks like one of the three marker lines gets a backslash in front.",
    ],
    example: r#"An empty name is no name.
```python // "tools/check names.py" multi-search-replace
<<<<<<< SEARCH
    return len(name) < 40
=======
    return 0 < len(name) < 40
>>>>>>> REPLACE
```
"#,
    row: "edit: \"tools/check names.py\"",
};

const DIFF: PromptForm = PromptForm {
    name: "`new-unified`, a diff",
    rules: &[
        "Each line has a sign in its first column, a blank (stays), `-` (goes) or `+` (comes), and behind it the line with all of its own indentation.",
        "Give two or three lines that stay above and below each change; copy these and the ones that go exactly from the file.",
        "Each place gets a `@@ ... @@`, from top to bottom; line numbers are not needed.",
    ],
    example: "\
The sum of no prices failed for want of a first value.
```ts // src/cart.ts new-unified
@@ ... @@
 export function total(prices: number[]): number {
-  return prices.reduce((sum, price) => sum + price);
+  return prices.reduce((sum, price) => sum + price, 0);
 }
```
",
    row: "edit: src/cart.ts",
};

const WHOLE: PromptForm = PromptForm {
    name: "The whole file, without a name",
    rules: &["What stands between the fences is the file, from its first line to its last."],
    example: "\
The greeting gets a file of its own.
```ts // src/greet.ts
export const greet = (name: string) => `Hello, ${name}.`;
```
",
    row: "new: src/greet.ts",
};

const DELETE: PromptForm = PromptForm {
    name: "`//TODO: delete this file`, alone in a block",
    rules: &[],
    example: "\
Nothing uses this any more.
```ts // src/old.ts
//TODO: delete this file
```
",
    row: "delete: src/old.ts",
};

const RENAME: PromptForm = PromptForm {
    name: "`rename-file` in place of the path",
    rules: &["If the file changes as well, a block with its new path follows."],
    example: r#"It is about text.
```json // rename-file
{ "from": "src/util.ts", "to": "src/text/util.ts" }
```
"#,
    row: "rename: src/util.ts -> src/text/util.ts",
};
