//! What people and agents run all day, as a table: a project to run it in, the command, and what it has to leave behind.

use Outcome::{Asked, Refused, Works};

/// What becomes of a command with `--access workspace` and nobody to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It runs, and this line of shell holds afterwards.
    Works(&'static str),
    /// It would be asked about, with this as the reason.
    Asked(&'static str),
    /// It runs into the fence and fails; this is said.
    Refused(&'static str),
}

/// A command of every day.
pub(crate) struct EverydayCommand {
    /// Its words, divided by spaces; in `'…'` they are one.
    pub(crate) line: &'static str,
    /// The shell that makes what it needs, without a fence.
    pub(crate) prepare: &'static str,
    pub(crate) outcome: Outcome,
}

const fn row(line: &'static str, prepare: &'static str, outcome: Outcome) -> EverydayCommand {
    EverydayCommand { line, prepare, outcome }
}

/// A repository with a commit, and a change that is not in it.
const GIT: &str = "printf 'one\\ntwo\\n' > a.txt; mkdir d; echo b > d/b.txt; \
    git init -qb main; git config user.name A; git config user.email a@example.org; git config gc.auto 0; \
    git add -A; git commit -qm first; echo three >> a.txt; echo new > new.txt";
/// With a hook of its own, which runs in the fence as well.
const HOOKED: &str = "echo one > a.txt; git init -qb main; git config user.name A; git config user.email a@example.org; \
    git add -A; git commit -qm first; printf '#!/bin/sh\\ntouch ran\\n' > .git/hooks/pre-commit; \
    chmod +x .git/hooks/pre-commit; echo two >> a.txt";
/// With two branches that differ.
const BRANCHES: &str = "echo a > a.txt; git init -qb main; git config user.name A; git config user.email a@example.org; \
    git add -A; git commit -qm first; git switch -qc side; echo s > s.txt; git add -A; git commit -qm side; \
    git switch -q main; echo m > m.txt; git add -A; git commit -qm main";
/// With a dependency that lies in cargo's cache, as this repository has it too.
const RUST: &str = "git init -q; mkdir src; printf '[package]\\nname=\"demo\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n\
    [dependencies]\\nitoa=\"1\"\\n[workspace]\\n' > Cargo.toml; printf 'fn main() { println!(\"{}\", \
    itoa::Buffer::new().format(7)); }\\n#[test]\\nfn seven() { assert_eq!(3 + 4, 7); }\\n' > src/main.rs";
/// With a dependency that is packed.
const NODE: &str = "git init -q; mkdir left; echo '{\"name\":\"left\",\"version\":\"1.0.0\"}' > left/package.json; \
    echo 'module.exports = 7' > left/index.js; npm pack --silent ./left; \
    echo '{\"name\":\"demo\",\"version\":\"1.0.0\",\"dependencies\":{\"left\":\"file:left-1.0.0.tgz\"},\"scripts\":\
    {\"test\":\"node test.js\",\"build\":\"mkdir -p dist && cp test.js dist/\"}}' > package.json; \
    echo 'require(\"assert\").equal(require(\"left\"), 7)' > test.js; npm install --offline --silent --no-audit";
const PYTHON: &str = "git init -q; mkdir demo; echo 'SEVEN = 7' > demo/__init__.py; \
    printf 'import unittest, demo\\nclass T(unittest.TestCase):\\n    def test_seven(self):\\n        \
    self.assertEqual(demo.SEVEN, 7)\\n' > test_demo.py";
/// And a wheel, which is a zip file.
const WHEEL: &str = "git init -q; mkdir wheels; python3 -c \"import zipfile\n\
    z = zipfile.ZipFile('wheels/left-1.0-py3-none-any.whl', 'w')\n\
    z.writestr('left.py', 'SEVEN = 7')\n\
    z.writestr('left-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: left\\nVersion: 1.0\\n')\n\
    z.writestr('left-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
    z.writestr('left-1.0.dist-info/RECORD', '')\"";
const C: &str = "git init -q; printf '#include <stdio.h>\\nint main(void) { puts(\"seven\"); }\\n' > seven.c; \
    printf 'seven: seven.c\\n\\tcc -o seven seven.c\\ntest: seven\\n\\t./seven | grep -q seven\\nclean:\\n\\trm -f seven\\n' > Makefile";

/// All of them.
#[rustfmt::skip]
pub(crate) const EVERYDAY: &[EverydayCommand] = &[
    // cargo
    row("cargo build --offline", RUST, Works("test -x target/debug/demo")),
    row("cargo test --offline", RUST, Works("grep -q '1 passed' ../stdout")),
    row("cargo check --offline", RUST, Works("test -d target")),
    row("cargo run --offline", RUST, Works("grep -q 7 ../stdout")),
    row("cargo clippy --offline", RUST, Works("test -d target")),
    row("cargo fmt", RUST, Works("test $(wc -l < src/main.rs) -gt 3")),
    row("cargo doc --offline --no-deps", RUST, Works("test -f target/doc/demo/index.html")),
    row("cargo tree --offline", RUST, Works("grep -q itoa ../stdout")),
    // npm and node
    row("npm ci --offline", NODE, Works("test -f node_modules/left/index.js")),
    row("npm test", NODE, Works("true")),
    row("npm run build", NODE, Works("test -f dist/test.js")),
    row("node test.js", NODE, Works("true")),
    row("npm ls", NODE, Works("grep -q left@1.0.0 ../stdout")),
    row("npm pack", NODE, Works("test -f demo-1.0.0.tgz")),
    // python
    row("python3 -m venv .venv", PYTHON, Works("test -x .venv/bin/python3")),
    row("pip install --no-index --find-links wheels --target lib left", WHEEL, Works("test -f lib/left.py")),
    row("python3 -m unittest", PYTHON, Works("grep -q OK ../stderr")),
    row("pytest -q", PYTHON, Works("grep -q '1 passed' ../stdout")),
    row("python3 -m compileall -q demo", PYTHON, Works("test -d demo/__pycache__")),
    row("python3 -c 'from multiprocessing import Pool; print(sum(Pool(2).map(abs, [-3, 4])))'", PYTHON, Works("grep -q 7 ../stdout")),
    // make and compilers
    row("make", C, Works("test -x seven")),
    row("make test", C, Works("test -x seven")),
    row("make clean", "git init -q; printf 'clean:\\n\\trm -f seven\\n' > Makefile; touch seven", Works("test ! -e seven")),
    row("cc -O1 -o seven seven.c", C, Works("test -x seven")),
    row("javac Seven.java", "git init -q; echo 'class Seven { }' > Seven.java", Works("test -f Seven.class")),
    // git
    row("git status", GIT, Works("grep -q new.txt ../stdout")),
    row("git diff", GIT, Works("grep -q +three ../stdout")),
    row("git add -A", GIT, Works("git diff --cached --quiet && exit 1 || true")),
    row("git commit -am second", GIT, Works("test $(git rev-list --count HEAD) = 2")),
    row("git commit -qam second", HOOKED, Works("test -f ran && test $(git rev-list --count HEAD) = 2")),
    row("git log --oneline", GIT, Works("grep -q first ../stdout")),
    row("git show --stat", GIT, Works("grep -q a.txt ../stdout")),
    row("git switch -c feature", GIT, Works("test $(git branch --show-current) = feature")),
    row("git stash -u", GIT, Works("test ! -e new.txt")),
    row("git restore a.txt", GIT, Works("test $(wc -l < a.txt) = 2")),
    row("git reset --hard", GIT, Works("test $(wc -l < a.txt) = 2")),
    row("git clean -fd", GIT, Works("test ! -e new.txt")),
    row("git mv d e", GIT, Works("test -f e/b.txt")),
    row("git tag v1", GIT, Works("git rev-parse -q --verify v1")),
    row("git merge --no-edit side", BRANCHES, Works("test -f s.txt && test -f m.txt")),
    row("git rebase side", BRANCHES, Works("test -f s.txt && test -f m.txt")),
    row("git cherry-pick side", BRANCHES, Works("test -f s.txt")),
    row("git gc -q", BRANCHES, Works("ls .git/objects/pack/*.pack")),
    // files
    row("grep -rn two .", GIT, Works("grep -q a.txt ../stdout")),
    row("find . -name '*.txt' -newer d", GIT, Works("grep -q new.txt ../stdout")),
    row("sed -i s/two/2/ a.txt", GIT, Works("grep -q 2 a.txt")),
    row("tar czf all.tar.gz a.txt d", GIT, Works("test -s all.tar.gz")),
    row("sh -c 'mkdir -p out && cp a.txt out/ && mv out/a.txt out/z.txt'", GIT, Works("test -f out/z.txt")),
    row("perl -pi -e s/one/1/ a.txt", GIT, Works("grep -q 1 a.txt")),
    row("sqlite3 data.db 'create table t(x); insert into t values(7);'", "git init -q", Works("test -s data.db")),
    // What a fence does not do unasked.
    row("git config core.hooksPath hooks", GIT, Refused("it ran in a fence")),
    row("docker ps", GIT, Asked("talks to a service that can do anything on this machine")),
    row("ssh example.org true", GIT, Asked("needs the network and your keys")),
    row("git push origin main", GIT, Asked("needs the network and your keys")),
];
