//! Where the repository is, what `cargo metadata` says about it, and its Rust sources.
//!
//! Everything a tidy rule looks at is read once, here; the rules themselves are pure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::rust_code::{RustCode, TypeName};

/// Folders whose `.rs` files are data or output, not sources of ours.
const NOT_SOURCES: &[&str] = &["target", "cases", "fixtures", "snapshots"];

/// The repository as the rules see it.
pub(crate) struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Our crates and everything they depend on, on every platform.
    pub(crate) packages: Vec<Package>,
    /// Every Rust source of ours, sorted by path.
    pub(crate) sources: Vec<Source>,
}

/// What `cargo metadata` says of a package.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The licence expression.
    pub(crate) license: Option<String>,
    /// It is a crate of ours.
    pub(crate) is_member: bool,
    /// It may be published.
    pub(crate) publishable: bool,
    /// Its `Cargo.toml`.
    pub(crate) manifest: PathBuf,
    /// Its library and its programs: where each begins, and whether it has tests of its own.
    pub(crate) targets: Vec<(PathBuf, bool)>,
    /// The names of the packages that it is built with: no development dependencies.
    pub(crate) built_with: Vec<String>,
}

/// One Rust source.
pub(crate) struct Source {
    /// Relative to the root, `/` between components.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
}

impl Workspace {
    /// Reads the repository that this program was started for.
    pub(crate) fn read() -> anyhow::Result<Workspace> {
        let root = root();
        Ok(Workspace { packages: packages(&metadata()?)?, sources: sources(&root)?, root })
    }

    /// The types of the product.
    pub(crate) fn product_types(&self) -> Vec<ProductType> {
        product_types(&self.sources)
    }

    /// The crates that are ours.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.is_member)
    }
}

/// Every Rust source of the checkout at `root`, sorted by path.
pub(crate) fn sources(root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    // Older checkouts have no proofs.
    for folder in
        ["crates", "proofs", "xtask"].map(|name| root.join(name)).iter().filter(|path| path.is_dir())
    {
        collect(root, folder, &mut sources)?;
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// A type of the product, and where it is defined.
pub(crate) struct ProductType {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) line: usize,
}

/// The sources of the product with their code: `crates/*/src` without testkit and without files of tests.
pub(crate) fn product_sources(sources: &[Source]) -> Vec<(&Source, RustCode)> {
    let mut product: Vec<(&Source, RustCode)> = sources
        .iter()
        .filter(|source| source.is_product())
        .map(|source| (source, RustCode::read(&source.text)))
        .collect();
    let tests: Vec<String> =
        product.iter().flat_map(|(source, code)| source.below(&code.test_modules)).collect();
    let is_test = |path: &str| {
        let module = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")).unwrap_or(path);
        tests.iter().any(|test| {
            module.strip_prefix(test).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    product.retain(|(source, _)| !is_test(&source.path));
    product
}

/// The types that they define.
pub(crate) fn product_types(sources: &[Source]) -> Vec<ProductType> {
    let types = |(source, code): (&Source, RustCode)| {
        let place = |one: TypeName| ProductType { name: one.name, path: source.path.clone(), line: one.line };
        code.types().into_iter().map(place).collect::<Vec<_>>()
    };
    product_sources(sources).into_iter().flat_map(types).collect()
}

fn metadata() -> anyhow::Result<Value> {
    let output = cargo().args(["metadata", "--format-version", "1", "--locked"]).output()?;
    if !output.status.success() {
        bail!("`cargo metadata --locked` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` writes no JSON")
}

fn packages(metadata: &Value) -> anyhow::Result<Vec<Package>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let members = list(&metadata["workspace_members"]);
    list(&metadata["packages"])
        .iter()
        .map(|package| {
            let text = |key: &str| package[key].as_str().map(str::to_owned);
            Ok(Package {
                name: text("name").context("a package without a name")?,
                version: text("version").unwrap_or_default(),
                license: text("license"),
                is_member: members.contains(&package["id"]),
                publishable: !package["publish"].as_array().is_some_and(Vec::is_empty),
                manifest: text("manifest_path").unwrap_or_default().into(),
                targets: list(&package["targets"])
                    .iter()
                    .filter(|target| target["kind"][0] == "lib" || target["kind"][0] == "bin")
                    .filter_map(|target| Some((target["src_path"].as_str()?.into(), target["test"] == true)))
                    .collect(),
                built_with: list(&package["dependencies"])
                    .iter()
                    .filter(|dependency| dependency["kind"] != "dev")
                    .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
                    .collect(),
            })
        })
        .collect()
}

impl Source {
    /// Whether it holds nothing but tests: `tests.rs`, or anything below a `tests` folder.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.split('/').any(|part| part == "tests")
    }

    /// Whether it is part of what is shipped, as far as its path tells.
    fn is_product(&self) -> bool {
        let mut parts = self.path.split('/');
        let [first, name, source] = [parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default);
        first == "crates" && name != "testkit" && source == "src" && !self.is_test()
    }

    /// Where these modules of the source are, without `.rs` or `/mod.rs`.
    fn below(&self, modules: &[String]) -> Vec<String> {
        let path = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let folder =
            ["/mod", "/lib", "/main"].iter().find_map(|root| path.strip_suffix(root)).unwrap_or(path);
        modules.iter().map(|module| format!("{folder}/{module}")).collect()
    }
}

/// The folder of the workspace's `Cargo.toml`, wherever xtask was started. What cargo says at run
/// time goes first: a build folder may be shared by several checkouts.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_path_buf).unwrap_or(here)
}

/// The cargo that started xtask, to be run in the root.
pub(crate) fn cargo() -> Command {
    let mut command = cargo_here();
    command.current_dir(root());
    command
}

/// The same, where the user is. What cargo says to xtask about xtask is not handed on: build scripts that look at it
/// would run again, and half of all crates with them, each time that somebody builds without xtask.
pub(crate) fn cargo_here() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|about| name.to_string_lossy().starts_with(about)) {
            command.env_remove(name);
        }
    }
    command
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() && !name.starts_with('.') && !NOT_SOURCES.contains(&&*name) {
            collect(root, &path, sources)?;
        } else if kind.is_file() && name.ends_with(".rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            sources.push(Source { path: relative(root, &path), text });
        }
    }
    Ok(())
}

/// `path` below `root`, with `/` on every system.
fn relative(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
