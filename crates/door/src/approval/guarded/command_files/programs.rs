//! What programs make of their words, one row each. A program that is not in the list may read every file it is given
//! the name of, and run none of them by another name.

/// Words in code that find their files at run time.
pub(super) const DYNAMIC_CODE: &str = "glob listdir readdir iterdir walk argv environ getenv chdir eval exec system popen \
    subprocess spawn runpy importlib __import__ dofile opendir";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramRole {
    /// Runs nothing and obeys no file: what it prints or compares are only words.
    Plain,
    /// Its arguments are what it looks at. A pattern of them, or one that is not known, guards nothing: else every source file
    /// would be guarded.
    Checker,
    /// Any other program.
    Reader,
    /// `export A=b`
    Assigner,
    /// `cd`
    ChangeDirectory,
    /// Its words are a command line.
    Evaluator,
    /// Runs the command in its arguments.
    Wrapper,
    /// Runs the command behind `-exec`, with files that it finds.
    Finder,
    /// Runs what `package.json` names, or the command in its arguments.
    PackageRunner,
    /// `-c` is a command line; a script is named as it is.
    Shell,
    /// Runs a script by a name that may lack its ending or be a directory; `code` are options whose value is code, `module`
    /// one whose value is a module.
    Interpreter { code: &'static str, module: &'static str, main_files: &'static str },
}

pub(super) struct Program {
    names: &'static str,
    pub(super) role: ProgramRole,
    /// Options that take the next word.
    values: &'static str,
    /// Those of them that say where it works.
    directories: &'static str,
    /// Words before the command that it runs: `exec`, `run`. An interpreter that has some runs nothing without them.
    before: &'static str,
}

const fn program(names: &'static str, role: ProgramRole) -> Program {
    Program { names, role, values: "", directories: "", before: "" }
}

const fn interpreter(
    names: &'static str,
    code: &'static str,
    values: &'static str,
    main_files: &'static str,
) -> Program {
    let role = ProgramRole::Interpreter { code, module: "", main_files };
    Program { names, role, values, directories: "", before: "" }
}

const fn wrapper(names: &'static str, values: &'static str, before: &'static str) -> Program {
    Program { names, role: ProgramRole::Wrapper, values, directories: "", before }
}

/// What a program does that has no row.
const OTHER: Program = program("", ProgramRole::Reader);

/// A module, and the main file of a directory.
const PYTHON_MAIN: &str = "__main__.* __init__.*";
/// `package.json` names the main file, which may be any.
const NODE_MAIN: &str = "index.* package.json **";

#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    // the shell's own
    program("echo printf true false : test [ [[ exit return break continue set shift unset wait kill sleep umask ulimit read \
        pwd date which type hash seq basename dirname mkdir touch whoami uname nproc", ProgramRole::Plain),
    program("export readonly local declare typeset", ProgramRole::Assigner),
    program("cd pushd", ProgramRole::ChangeDirectory),
    program("eval trap concurrently npm-run-all run-s run-p", ProgramRole::Evaluator),
    program("sh bash dash zsh ksh mksh ash busybox fish yash", ProgramRole::Shell),
    interpreter(". source", "", "", ""),
    // interpreters
    Program {
        role: ProgramRole::Interpreter { code: "-c", module: "-m", main_files: PYTHON_MAIN },
        ..interpreter("python* pypy*", "", "-W -X --check-hash-based-pycs", "")
    },
    interpreter("node nodejs tsx ts-node ts-node-esm babel-node swc-node jiti esno", "-e --eval -p --print -pe",
        "-r --require --import --loader --experimental-loader -C --conditions --env-file", NODE_MAIN),
    interpreter("perl", "-e -E -ne -pe -le -ane -lne -0pe -0ne", "", ""),
    interpreter("ruby jruby", "-e -ne -pe", "-I -r -C", ""),
    interpreter("php", "-r", "-d -c", "index.php"),
    interpreter("lua luajit", "-e", "-l", "init.lua"),
    interpreter("rscript", "-e", "", ""),
    interpreter("tclsh wish osascript elixir escript guile racket groovy scala kotlin julia ghc runghc runhaskell stack", "-e --eval",
        "", ""),
    interpreter("pwsh powershell", "-c -command -e -encodedcommand", "", ""),
    interpreter("java", "", "-cp -classpath --class-path -p --module-path", ""),
    // they run a directory of sources
    Program { before: "run", ..interpreter("go", "", "-C -exec -mod -tags", "**") },
    Program { before: "run test eval", ..interpreter("deno", "", "-c --config --import-map", "") },
    // build tools: their own files are in the list of guarded files; other ones are named by an option
    Program { values: "-f --file --makefile -C --directory -I -o", directories: "-C --directory",
        ..program("make gmake bmake", ProgramRole::Reader) },
    Program { values: "-C -f -j", directories: "-C", ..program("ninja", ProgramRole::Reader) },
    Program { values: "-f --justfile -d --working-directory", directories: "-d --working-directory",
        ..program("just", ProgramRole::Reader) },
    Program { values: "-d --dir -t --taskfile", directories: "-d --dir", ..program("task go-task", ProgramRole::Reader) },
    Program { values: "-C", directories: "-C", ..program("git hg jj", ProgramRole::Checker) },
    Program { values: "-C --manifest-path -p --package --features --target", directories: "-C",
        ..program("cargo cross", ProgramRole::Checker) },
    // package.json
    Program { values: "-w --workspace --prefix -C --dir --filter -F", directories: "--prefix -C --dir --cwd",
        before: "run run-script exec x test start dlx workspace workspaces foreach",
        ..program("npm pnpm yarn turbo nx lerna wireit", ProgramRole::PackageRunner) },
    Program { values: "--cwd --filter", directories: "--cwd", before: "run x test exec",
        ..program("bun", ProgramRole::PackageRunner) },
    // they run another command
    wrapper("env", "-u --unset -C --chdir -S --split-string", ""),
    wrapper("timeout gtimeout", "-s --signal -k --kill-after", ""),
    wrapper("nice ionice chrt taskset", "-n --adjustment -c --class -p", ""),
    wrapper("xargs gxargs parallel", "-n -L -I -i -P -s -d -a -E --max-args --max-procs --replace --delimiter --arg-file -j", ""),
    wrapper("sudo doas su runuser", "-u --user -g --group -C -h -p", ""),
    wrapper("time exec command builtin nohup setsid stdbuf unbuffer chronic ts ltrace valgrind systemd-run script caffeinate \
        strace flock unshare nsenter chroot fakeroot watch entr",
        "-o -e -f --output -n -w --timeout", ""),
    wrapper("npx bunx pnpx cross-env dotenv dotenvx env-cmd dotenv-cli op doppler", "-p --package -e -f", "run exec --"),
    wrapper("uv uvx poetry pipenv pdm hatch rye pixi conda mamba tox nox",
        "-p --python --with --project --directory --env-file --group --extra -n -m --module", "run exec tool"),
    wrapper("bundle rbenv pyenv nodenv asdf mise rtx direnv nix nix-shell devenv devbox docker podman guix",
        "--command -c --run", "exec run develop shell x"),
    Program { role: ProgramRole::Finder, ..wrapper("find fd fdfind", "", "") },
    // what they are given is what they look at
    program("grep egrep fgrep rg ag ack sed awk gawk mawk jq yq head tail wc sort uniq cut tr diff cmp comm tee ls stat du file \
        tree codespell typos cspell", ProgramRole::Checker),
    program("eslint oxlint biome prettier tsc vue-tsc svelte-check stylelint standard xo jshint tslint markdownlint \
        markdownlint-cli2 htmlhint lint-staged depcheck knip madge", ProgramRole::Checker),
    program("ruff mypy flake8 pylint black isort pyright basedpyright pyre pytype bandit pydocstyle autopep8 yapf pytest py.test \
        unittest coverage", ProgramRole::Checker),
    program("rustc rustfmt clippy-driver gofmt goimports golangci-lint staticcheck vet javac kotlinc ktlint detekt checkstyle \
        swiftc swiftlint swiftformat clang clang-format clang-tidy gcc g++ cc c++ cppcheck cpplint rubocop standardrb reek \
        phpstan psalm phpcs php-cs-fixer pint shellcheck shfmt yamllint hadolint actionlint terraform tofu tflint ansible-lint \
        sqlfluff buf protolint zig dart flutter mix credo dialyzer ghcid hlint ormolu nixfmt statix deadnix", ProgramRole::Checker),
    program("jest vitest mocha ava tap jasmine playwright cypress karma bats rspec minitest phpunit pest", ProgramRole::Checker),
];

/// The row of a program, by its name in lower case and without a directory.
pub(super) fn find(name: &str) -> &'static Program {
    // `python3.12` and `**python` alike: something may stand where the name is not known.
    let fits = |row: &&str| match row.strip_suffix('*') {
        Some(start) => name.strip_prefix(start).is_some_and(is_version),
        None => {
            name == *row
                || name
                    .strip_prefix(row)
                    .is_some_and(|rest| rest.starts_with('-') && is_version(&rest[1..]) && rest.len() > 1)
        }
    };
    PROGRAMS.iter().find(|program| program.names.split(' ').any(|row| fits(&row))).unwrap_or(&OTHER)
}

fn is_version(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

impl Program {
    pub(super) fn takes_value(&self, option: &str) -> bool {
        lists(self.values, option)
    }

    /// Whether the value of the option is code: `-c`, and for a shell also `-ec`.
    pub(super) fn takes_code(&self, option: &str) -> bool {
        match self.role {
            ProgramRole::Shell => {
                option.starts_with('-') && !option.starts_with("--") && option.contains('c')
            }
            ProgramRole::Interpreter { code, .. } => lists(code, option),
            _ => false,
        }
    }

    /// Whether patterns among its arguments are what it looks at, or those of the command that it runs.
    pub(super) fn only_looks(&self) -> bool {
        use ProgramRole::{Checker, Finder, PackageRunner, Wrapper};
        matches!(self.role, Checker | Finder | PackageRunner | Wrapper) || !self.before.is_empty()
    }

    /// The arguments behind `run`, where one is needed.
    pub(super) fn behind_subcommand<'a>(&self, arguments: &'a [Vec<String>]) -> Option<&'a [Vec<String>]> {
        if self.before.is_empty() {
            return Some(arguments);
        }
        let at = arguments.iter().position(|word| word.iter().any(|word| lists(self.before, word)))?;
        Some(&arguments[at + 1..])
    }

    pub(super) fn takes_module(&self, option: &str) -> bool {
        match self.role {
            ProgramRole::Interpreter { module, .. } => !module.is_empty() && option.starts_with(module),
            _ => false,
        }
    }

    /// Where the arguments say it works.
    pub(super) fn directory_arguments<'a>(&self, arguments: &'a [Vec<String>]) -> Vec<&'a str> {
        let mut found = Vec::new();
        for (at, word) in arguments.iter().enumerate() {
            for option in self.directories.split(' ').filter(|option| !option.is_empty()) {
                for value in word {
                    match value.strip_prefix(option) {
                        Some("") => {
                            found.extend(arguments.get(at + 1).into_iter().flatten().map(String::as_str));
                        }
                        Some(rest) if option.len() == 2 => found.push(rest),
                        Some(rest) => found.extend(rest.strip_prefix('=')),
                        None => {}
                    }
                }
            }
        }
        found
    }

    /// Whether the command that it runs gets arguments that nobody knows yet.
    pub(super) fn feeds_arguments(&self) -> bool {
        lists(self.names, "xargs") || self.role == ProgramRole::Finder
    }

    /// The command in its arguments: from the first word on that is a program of the list, else from the first that
    /// is neither an option nor its value, an assignment or a number.
    pub(super) fn wrapped_command<'a>(&self, arguments: &'a [Vec<String>]) -> &'a [Vec<String>] {
        if self.role == ProgramRole::Finder {
            let runs = |word: &Vec<String>| {
                word.iter().any(|word| lists("-exec -execdir -ok -okdir -x -X --exec --exec-batch", word))
            };
            return arguments.iter().position(runs).map_or(&[], |at| &arguments[at + 1..]);
        }
        let known = arguments.iter().position(|word| {
            word.iter().any(|word| find(word.rsplit('/').next().unwrap_or(word)).role != ProgramRole::Reader)
        });
        let mut skips = false;
        let first = arguments.iter().position(|word| {
            if std::mem::take(&mut skips) {
                return false;
            }
            let Some(text) = word.first() else { return true };
            skips = self.takes_value(text);
            let number = text.starts_with(|c: char| c.is_ascii_digit())
                && text
                    .trim_end_matches(['s', 'm', 'h', 'd'])
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b == b'.');
            !(text.starts_with('-') || text.contains('=') || number || lists(self.before, text))
        });
        known.or(first).map_or(&[], |at| &arguments[at..])
    }
}
