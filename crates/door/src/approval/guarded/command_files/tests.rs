use std::path::Path;

use super::*;

fn names(command: &str, path: &str) -> bool {
    let path: Vec<String> = path.split('/').map(str::to_string).collect();
    CommandFiles::parse(&[command.to_string()], Path::new("/home/me/app")).names_path(&path)
}

#[test]
fn a_script_is_found_however_the_line_names_it() {
    for (command, path) in [
        ("sh $PWD/lint.sh", "lint.sh"),
        ("sh \"$PWD\"/tools/lint", "tools/lint"),
        ("sh ${PWD}/lint", "lint"),
        ("sh /home/me/app/tools/lint", "tools/lint"),
        ("/elsewhere/link/tools/lint", "tools/lint"),
        ("D=tools; sh $D/lint.sh", "tools/lint.sh"),
        ("D=tools N=lint && sh \"$D/$N\"", "tools/lint"),
        ("export D=tools; sh $D/lint", "tools/lint"),
        ("for f in a b; do sh tools/$f; done", "tools/b"),
        ("for f in tools/*.sh; do sh $f; done", "tools/x.sh"),
        ("if true; then sh lint; fi", "lint"),
        ("sh tools/*.sh", "tools/a.sh"),
        ("sh tools/lint.?h", "tools/lint.sh"),
        ("sh tools/[a-l]int", "tools/lint"),
        ("sh {tools,scripts}/lint", "scripts/lint"),
        ("sh 'my tools/the lint.sh'", "my tools/the lint.sh"),
        ("sh my\\ tools/lint", "my tools/lint"),
        ("make -f Rules", "rules"),
        ("make -fRules check", "rules"),
        ("make --file=Rules", "rules"),
        ("make -C sub -fRules", "sub/rules"),
        ("python3 -m tools.lint", "tools/lint.py"),
        ("python3 -m tools.lint", "tools/lint/__main__.py"),
        ("python3 -m tools.lint", "tools/lint/__init__.py"),
        ("python3 -m tools.lint", "tools/__init__.py"),
        ("python3.12 -mtools.lint", "tools/lint.py"),
        ("python3 tools", "tools/__main__.py"),
        ("python3 ./tools", "tools/__main__.py"),
        ("cd x && python3 .", "x/__main__.py"),
        ("node lint", "lint.js"),
        ("node lint", "lint/index.mjs"),
        ("node lint", "lint/package.json"),
        ("node lint", "lint/lib/main.js"),
        ("node --require ./setup lint", "lint.js"),
        ("node -r setup lint", "setup"),
        ("cd tools && sh lint", "tools/lint"),
        ("cd tools; cd deep; sh lint", "tools/deep/lint"),
        ("(cd tools && sh lint)", "tools/lint"),
        ("cd a/../tools && sh lint", "tools/lint"),
        ("cd $UNKNOWN && sh lint", "anywhere/lint"),
        ("PATH=$PWD/bin:$PATH mylint", "bin/mylint"),
        ("PATH=$PWD/bin:$PATH mylint", "bin/other"),
        ("export PATH=bin:$PATH; mylint", "bin/mylint"),
        ("PATH=.:$PATH mylint", "grep"),
        ("PYTHONPATH=lib python3 x.py", "lib/a/b.py"),
        ("bash -c 'cd tools && sh lint'", "tools/lint"),
        ("bash -ec \"sh 'lint it'\"", "lint it"),
        ("sh <<X\nsh tools/lint\nX\n", "tools/lint"),
        ("eval sh lint", "lint"),
        ("sh < tools/lint", "tools/lint"),
        (". ./env && check", "env"),
        ("env A=1 -u B sh lint", "lint"),
        ("timeout -s KILL 10m sh lint", "lint"),
        ("nice -n 5 node lint", "lint.js"),
        ("uv run python -m tools.lint", "tools/lint.py"),
        ("uv run lint.py", "lint.py"),
        ("npx tsx lint", "lint.ts"),
        ("deno run lint", "lint.ts"),
        ("go run ./cmd/lint", "cmd/lint/main.go"),
        ("bun lint", "lint"),
        ("ruby lint", "lint.rb"),
        ("perl tools/lint", "tools/lint.pl"),
        ("npm --prefix web run lint", "web/package.json"),
        ("a || b && ! sh lint | tee out", "lint"),
        ("echo $(sh lint)", "lint"),
        ("echo `sh lint`", "lint"),
        ("echo ${A:-$(sh lint)}", "lint"),
        ("node -e \"require('./lint')\"", "lint.js"),
        ("python3 -c 'import tools.lint'", "tools/lint.py"),
        ("A=./hook.js; NODE_OPTIONS=--require=$A tsc", "hook.js"),
        ("mylint --rules 'rules/*.js'", "rules/a.js"),
    ] {
        assert!(names(command, path), "{command}: {path} passed");
    }
}

#[test]
fn what_cannot_be_known_guards_all_that_it_could_mean() {
    for command in [
        "sh $LINT",
        "sh $(find . -name lint)",
        "\"$LINT\" --all",
        "mylint $FILES",
        "sh 'unclosed",
        "eval $CODE",
        "find . -name '*.sh' -exec sh {} \\;",
        "git ls-files | xargs sh",
        "cat a | sh",
        "python3 -c 'exec(open(x).read())'",
    ] {
        assert!(names(command, "any/where.txt"), "{command}");
    }
    assert!(names("sh $DIR/lint.sh", "any/lint.sh"));
    assert!(!names("sh $DIR/lint.sh", "any/other.sh"));
    assert!(names("sh tools/$NAME", "tools/x/y"));
    assert!(!names("sh tools/$NAME", "src/y"));
}

#[test]
fn what_a_checker_looks_at_is_not_guarded() {
    for (command, path) in [
        ("eslint 'src/**/*.ts'", "src/a/b.ts"),
        ("npx eslint src/*.ts --max-warnings 0", "src/a.ts"),
        ("ruff check *.py", "a.py"),
        ("git ls-files '*.ts' | xargs eslint", "src/a.ts"),
        ("find . -name '*.py' -exec pylint {} +", "a.py"),
        ("! grep -rn 'foo.*' src", "src/foo.ts"),
        ("test $? = 0 && echo $X", "src/a.ts"),
        ("cargo clippy --all-targets -- -D warnings", "src/main.rs"),
        ("tsc --noEmit && eslint $FILES", "src/a.ts"),
        ("python3 -m pytest tests", "src/a.py"),
        ("if command -v ruff; then ruff check .; fi", "src/a.py"),
        ("node --check src/a.js", "src/b.js"),
        ("make -C sub check", "src/check"),
    ] {
        assert!(!names(command, path), "{command}: {path}");
    }
}
