//! `cargo xtask figures`: how large the product is and how it reads, in one table.
//!
//! With `--root DIR` it looks at another checkout, so that figures of before and after come from one program.
//! The product is what stands in `crates/*/src`, without testkit and without tests.

use std::fs;
use std::path::Path;

use crate::tidy::names::NameCount;
use crate::workspace::{self, Source, product_sources, product_types};

/// Prints the table for the checkout at `root`.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let sources = workspace::sources(root)?;
    let product = product_sources(&sources);
    let types = product_types(&sources);
    let names = NameCount::of(&types);
    let lines: usize = product.iter().map(|(_, code)| code.line_count()).sum();
    let docs: usize = product.iter().map(|(source, _)| doc_lines(source)).sum();
    let percent = |part: usize| format!("{part}, {:.1} %", part as f64 * 100.0 / types.len().max(1) as f64);
    let row = |name: &str, value: String| println!("{name:<46} {value}");
    row("product files", product.len().to_string());
    row("product lines: no blank ones, comments, tests", lines.to_string());
    row("lines of `///`", docs.to_string());
    row("types", types.len().to_string());
    row("  different names", percent(names.distinct));
    row("  names that no other type has", percent(names.unique));
    let binary = fs::metadata(root.join("target/release/relay"));
    let size = binary.map_or("not built".to_owned(), |file| format!("{:.1} MB", file.len() as f64 / 1e6));
    row("target/release/relay", size);
    Ok(())
}

fn doc_lines(source: &Source) -> usize {
    source.text.lines().filter(|line| line.trim_start().starts_with("///")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_doc_lines_of_items_are_counted() {
        let text = "//! Of the file.\n/// Of an item.\nfn a() {\n    /// Inside.\n    // Not.\n}\n";
        assert_eq!(doc_lines(&Source { path: "a.rs".into(), text: text.into() }), 2);
    }
}
