//! Real cases as seeds for the fuzzer: responses with the files they were about, and recorded operations
//! written as the blocks of a response.

use std::path::Path;

use relaycode_testkit::fuzz::FuzzCase;
use serde::Deserialize;

use relaycode_proof_corpus::rows::{self, Files};

/// Larger files would only make every case slower.
const MOST_BYTES: usize = 24 * 1024;
/// Only one in this many spoilt edits is used.
const EVERY: usize = 8;

/// The fields of any row that help to make a seed.
#[derive(Deserialize)]
struct Row {
    response: Option<String>,
    patch: Option<String>,
    path: Option<String>,
    search: Option<String>,
    replace: Option<String>,
    before: Option<serde_json::Value>,
    #[serde(default)]
    operations: Vec<Recorded>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    path: Option<String>,
    content: Option<String>,
    patch_strategy: Option<String>,
}

/// From every set in `dir`.
pub(super) fn seeds(dir: &Path) -> anyhow::Result<Vec<FuzzCase>> {
    let mut seeds = Vec::new();
    for set in rows::sets(dir)? {
        let mut number = 0;
        set.each_line(|line| {
            number += 1;
            let row: Row = serde_json::from_str(line)?;
            if row.search.is_none() || number % EVERY == 0 {
                seeds.extend(row.seed());
            }
            Ok(())
        })?;
    }
    Ok(seeds)
}

impl Row {
    fn seed(self) -> Option<FuzzCase> {
        let response = self.response_text()?;
        let mut files = Vec::new();
        let mut size = response.len();
        for (path, text) in self.files()? {
            let text = text.unwrap_or_default();
            size += text.len();
            files.push((path, text.into_bytes()));
        }
        (size <= MOST_BYTES).then_some(FuzzCase { response, files })
    }

    fn response_text(&self) -> Option<String> {
        if let Some(text) = self.response.as_ref().filter(|text| !text.is_empty()) {
            return Some(text.clone());
        }
        if let Some(patch) = &self.patch {
            return Some(format!("```text // file\n{patch}\n```\n"));
        }
        if let (Some(path), Some(search), Some(replace)) = (&self.path, &self.search, &self.replace) {
            return Some(format!(
                "{path}\n```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n"
            ));
        }
        let blocks: Vec<String> = self
            .operations
            .iter()
            .filter_map(|one| {
                let (path, strategy) = (one.path.as_ref()?, one.patch_strategy.as_ref()?);
                let content = one.content.as_ref()?;
                Some(format!("```text // \"{path}\" {strategy}\n{content}\n```\n"))
            })
            .collect();
        (!blocks.is_empty()).then(|| blocks.join("\n"))
    }

    fn files(&self) -> Option<Files> {
        match (&self.before, &self.path) {
            (Some(serde_json::Value::String(text)), Some(path)) => {
                Some(Files::from([(path.clone(), Some(text.clone()))]))
            }
            (Some(value), _) => serde_json::from_value(value.clone()).ok(),
            (None, _) => Some(Files::new()),
        }
    }
}
