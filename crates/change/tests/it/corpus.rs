//! The folder `tests/corpus/<dialect>/<name>/`: `answer.md` is planned against `before/` and must give
//! exactly `after/`, or be refused with reasons that contain every line of `refused.txt`. `rungs.txt`, if
//! there is one, names the rung of every hunk, and `findings.txt` the kind of every finding. A new folder is a
//! new test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{NoSeenTexts, Plan, PlanRefusal, plan};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::response;

type Files = BTreeMap<String, Vec<u8>>;

/// With fewer cases the walk must have gone wrong.
const AT_LEAST: usize = 36;

#[test]
fn every_case_of_the_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut cases = Vec::new();
    for dialect in folders(&root) {
        cases.extend(folders(&dialect));
    }
    assert!(cases.len() >= AT_LEAST, "only {} cases", cases.len());
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let problem = run(case).err()?;
            let name = case.strip_prefix(&root).unwrap_or(case).display();
            Some(format!("{name}: {problem}"))
        })
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

fn run(case: &Path) -> Result<(), String> {
    let answer = fs::read_to_string(case.join("answer.md")).map_err(|e| e.to_string())?;
    let before = files(&case.join("before"));
    let mut tree = MemoryTree::default();
    for (path, bytes) in &before {
        tree.insert(RelPath::parse(path).map_err(|e| e.to_string())?, bytes.clone());
    }
    let limits = PlanLimits::default();
    let proposal = response::read(&answer, &limits).map_err(|e| e.to_string())?;
    let planned = plan(&proposal, &tree, &NoSeenTexts, &limits);
    let refused = fs::read_to_string(case.join("refused.txt")).ok();
    match (planned, refused) {
        (Err(reasons), Some(wanted)) => check_reasons(&reasons, &wanted),
        (Err(reasons), None) => Err(format!("refused: {}", json(&reasons))),
        (Ok(plan), Some(_)) => Err(format!("planned, although it must be refused: {plan:?}")),
        (Ok(plan), None) => {
            check_rungs(&plan, case)?;
            check_findings(&plan, case)?;
            check_files(&result(before, &plan), &files(&case.join("after")))
        }
    }
}

fn json(refused: &PlanRefusal) -> String {
    serde_json::to_string(&refused.refusals).unwrap()
}

fn check_reasons(refused: &PlanRefusal, wanted: &str) -> Result<(), String> {
    let reasons = json(refused);
    match wanted.lines().find(|line| !reasons.contains(line)) {
        None => Ok(()),
        Some(line) => Err(format!("no reason contains {line}: {reasons}")),
    }
}

fn check_rungs(plan: &Plan, case: &Path) -> Result<(), String> {
    let Ok(wanted) = fs::read_to_string(case.join("rungs.txt")) else {
        return Ok(());
    };
    let hunks = plan.files.iter().flat_map(|file| &file.hunks);
    let rungs: Vec<&str> = hunks.map(|hunk| hunk.rung).collect();
    if rungs == wanted.lines().collect::<Vec<_>>() {
        return Ok(());
    }
    Err(format!("rungs {rungs:?}"))
}

fn check_findings(plan: &Plan, case: &Path) -> Result<(), String> {
    let Ok(wanted) = fs::read_to_string(case.join("findings.txt")) else {
        return Ok(());
    };
    let kinds: Vec<&str> = plan.findings.iter().map(|finding| finding.kind.name()).collect();
    if kinds == wanted.lines().collect::<Vec<_>>() {
        return Ok(());
    }
    Err(format!("findings {kinds:?}"))
}

fn check_files(got: &Files, wanted: &Files) -> Result<(), String> {
    if got == wanted {
        return Ok(());
    }
    let text = |files: &Files| {
        let shown = files.iter().map(|(path, bytes)| format!("{path} {:?}", String::from_utf8_lossy(bytes)));
        shown.collect::<Vec<_>>().join("\n    ")
    };
    Err(format!("\n  wanted\n    {}\n  got\n    {}", text(wanted), text(got)))
}

/// The whole tree after the plan.
fn result(mut files: Files, plan: &Plan) -> Files {
    for file in &plan.files {
        if let Some(from) = &file.renamed_from {
            files.remove(from.as_str());
        }
        match &file.after {
            Some(bytes) => files.insert(file.path.to_string(), bytes.clone()),
            None => files.remove(file.path.as_str()),
        };
    }
    files
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Every file below `dir` by its path with `/`; empty if there is no such folder.
fn files(dir: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(dir).unwrap();
            let parts: Vec<&str> = name.iter().map(|part| part.to_str().unwrap()).collect();
            found.insert(parts.join("/"), fs::read(&path).unwrap());
        }
    }
    found
}
