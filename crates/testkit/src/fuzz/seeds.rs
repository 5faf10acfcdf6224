//! Small cases to start from, one per way of writing a change, so that mutations begin close to
//! what the engine understands.

use super::FuzzCase;

const FILE: &str = "import { a } from './a';\n\nexport function one() {\n    if (a) {\n        return \"one\";\n    }\n    return 1;\n}\n\nexport function two() {\n    return 2;\n}\n";

const CONTROL: &str = "\n```yaml\nprojectId: demo\nuuid: 6f1c7a52-8f0e-4f5e-9d0a-0d6f3f0c1e2b\nchangeSummary:\n  - edit: src/a.ts\npromptSummary: change it\ngitCommitMsg: |\n  feat: change it\n\n  with a body\n```\n";

const RESPONSES: &[&str] = &[
    "Whole file.\n\n```ts // src/a.ts\nexport const a = 1;\n```\n",
    "```ts // src/a.ts replace\n// START\nexport const a = 1;\n// END\n```\n",
    "```ts // src/a.ts multi-search-replace\n<<<<<<< SEARCH\n    return 2;\n=======\n    return 3;\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n        return \"one\";\n=======\n        return 'one';\n>>>>>>> REPLACE\n```\n",
    "```ts // src/a.ts search-replace\n<<<<<<< SEARCH\n:start_line:10\n-------\nexport function two() {\n    return 2;\n=======\nexport function two() {\n    return 22;\n>>>>>>> REPLACE\n```\n",
    "```diff // src/a.ts new-unified\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -3,5 +3,6 @@\n export function one() {\n-    if (a) {\n+    if (a && b) {\n+        log();\n         return \"one\";\n     }\n     return 1;\n```\n",
    "```diff // src/a.ts standard-diff\n@@ ... @@\n export function two() {\n-    return 2;\n+    return two;\n }\n```\n",
    "diff --git a/src/a.ts b/src/a.ts\nindex 1111111..2222222 100644\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -10,3 +10,3 @@ export function one() {\n export function two() {\n-    return 2;\n+    return 4;\n }\n\\ No newline at end of file\n",
    "```\n*** Begin Patch\n*** Update File: src/a.ts\n@@ export function two() {\n-    return 2;\n+    return 5;\n }\n*** Add File: src/b.ts\n+export const b = 1;\n*** Delete File: src/old.ts\n*** End Patch\n```\n",
    "src/a.ts\n```ts\n<<<<<<< SEARCH\n    return 1;\n=======\n    return 11;\n>>>>>>> REPLACE\n```\n",
    "### `src/a.ts`\n\n```ts\n// src/a.ts\nexport function one() {\n    // ... rest of the code\n}\n```\n",
    "```json // rename-file\n{ \"from\": \"src/a.ts\", \"to\": \"src/c.ts\" }\n```\n\n```ts // \"src/with space.ts\"\n//TODO: delete this file\n```\n",
    "```json\n{\"command\": \"str_replace\", \"path\": \"src/a.ts\", \"old_str\": \"return 2\", \"new_str\": \"return 3\"}\n{\"file_path\": \"src/a.ts\", \"old_string\": \"    return\", \"new_string\": \"    yield\", \"replace_all\": true}\n```\n",
    "{\"name\": \"edit\", \"input\": {\"command\": \"insert\", \"path\": \"src/a.ts\", \"insert_line\": 2, \"insert_text\": \"// new\\n\"}}\n\n[{\"file_path\": \"src/b.ts\", \"content\": \"x\\n\"}]\n",
    "<replace_in_file>\n<path>src/a.ts</path>\n<diff>\n<<<<<<< SEARCH\n    return 1;\n=======\n    return 11;\n>>>>>>> REPLACE\n</diff>\n</replace_in_file>\n\n<edit path=\"src/a.ts\">\n<search>return 2</search>\n<replace>return 4</replace>\n</edit>\n",
    "<write_to_file>\n<path>src/b.ts</path>\n<content>\nexport const b = 1;\n</content>\n</write_to_file>\n",
    "```bash\nmkdir -p src\ncat > src/b.ts <<'EOF'\nexport const b = 1;\nEOF\ncat >> src/a.ts <<'EOF'\n// end\nEOF\nnpm test\n```\n\ngit apply <<'EOF'\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -10,3 +10,3 @@\n export function two() {\n-    return 2;\n+    return 3;\n }\nEOF\n",
    "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nSubject: [PATCH 1/2] Change two\n\n---\n src/a.ts | 2 +-\n\ndiff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -10,3 +10,3 @@\n export function two() {\n-    return 2;\n+    return 4;\n }\n-- \n2.43.0\n\n",
    "````md // README.md\n# Title\n\n```sh\nrun\n```\n````\n\n~~~py // tool.py\nprint(1)\n~~~\n",
    "```ts // src/a.ts search-replace\n<<<<<<< SEARCH\nexport function one() {\n...\n    return 1;\n=======\nexport function one() {\n...\n    return 100;\n>>>>>>> REPLACE\n```\n",
];

/// The seeds that need no other data.
pub fn built_in() -> Vec<FuzzCase> {
    let mut cases = Vec::new();
    for response in RESPONSES {
        let mut case = FuzzCase::with_file(response, "src/a.ts", FILE);
        case.files.push(("src/old.ts".to_owned(), b"old\n".to_vec()));
        case.files.push(("src/with space.ts".to_owned(), b"x\r\ny\r\n".to_vec()));
        cases.push(case.clone());
        case.response += CONTROL;
        case.files[0].1 = FILE.replace('\n', "\r\n").into_bytes();
        cases.push(case.clone());
        case.files[0].1 = FILE.replace("    ", "\t").into_bytes();
        cases.push(case);
    }
    cases
}
