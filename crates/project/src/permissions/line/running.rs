//! Programs that a rule has to allow: the options by which they run something else, write, or work elsewhere, which `*` in a
//! rule does not cover. A program that is not here is allowed with whatever its options do.

use std::path::PathBuf;

use super::looking::{check_option_files, is_risky_word, looking_row, read_looking, reads};
use super::options::{OptionEffect, ProgramRow, WordMeaning, read_options, runs};
use super::reader::LineReader;
use super::{CommandArgument, CommandRole, PathNamer, PathUseKind, StartedCommand};

#[rustfmt::skip]
const ROWS: &[ProgramRow] = &[
    runs("make gmake", "bBdeikLnpqrRsStvwj?l?f!I!E!C/o:W:O?", "file! makefile! eval! include-dir! directory/ jobs? load-average? old-file: assume-old: what-if: new-file: assume-new: keep-going silent quiet dry-run just-print always-make").risky(".* SHELL* MAKE*"),
    runs("ninja", "f!C/t!d:j:l:k:", ""),
    runs("cmake", "P!E!D:C!G:S/B>A:T!", "build/ install! toolchain! preset! open! graphviz> trace trace-redirect> profiling-output> project-file!"),
    runs("cargo", "C/Z!p:j:F:", "config! manifest-path/ target-dir> artifact-dir> out-dir> lockfile-path> root! path! git! index! package: jobs: features: profile: target: bin: example: test: bench: message-format: color:").risky("install rustc rustdoc script login logout owner"),
    runs("rustc rustdoc", "o>C!Z!L:l:", "out-dir> codegen! sysroot! output>").risky("@*"),
    runs("npm", "g!C/c!", "prefix/ script-shell! userconfig! globalconfig! node-options! shell! global! git! call! location! cache> init-module! editor! viewer! browser! node-gyp! python! prefer-dedupe workspaces workspace: include-workspace-root if-present silent").risky("exec x config set explore edit init create innit"),
    runs("npx bunx pnpx", "c!p:", "call! package: script-shell! shell! node-options! userconfig! globalconfig! prefix/ cache>").leading(),
    runs("yarn", "", "cwd/ use-yarnrc! script-shell! modules-folder> global-folder> cache-folder> link-folder>").risky("exec dlx config set node global init create plugin"),
    runs("pnpm", "C/g!", "dir/ prefix/ script-shell! shell-mode global! global-dir! config! store-dir> virtual-store-dir> modules-dir> node-options! c!").risky("exec dlx config set init create env"),
    runs("go", "", "exec! toolexec! overlay! o> C/ vettool! ldflags! gccgoflags! compiler! modfile! coverprofile> cpuprofile> memprofile> blockprofile> mutexprofile> trace> outputdir> pkgdir> fuzzcachedir> test.outputdir> test.coverprofile> test.cpuprofile> test.memprofile> test.trace> run: tags: count: timeout:").single_dash().risky("env generate tool install get"),
    runs("pytest py.test", "qvsxlp!c!o!W:k:m:n:r:", "rootdir! confcutdir! pyargs! override-ini! pastebin! basetemp> junitxml> junit-xml> log-file> debug! report-log> html> cov? co cov-config! cov-report! config-file! import-mode: tb: durations: maxfail: ignore: deselect:").risky("@*"),
    runs("python python3 python2 pypy3", "c!m:X:W:Q:", "check-hash-based-pycs:").leading(),
    runs("node nodejs", "r!e!p!C:", "require! import! loader! experimental-loader! eval! print! test-reporter! env-file! env-file-if-exists! openssl-config! icu-data-dir! snapshot-blob! experimental-config-file! experimental-default-config-file! build-snapshot! build-snapshot-config! experimental-sea-config! test-reporter-destination> test-global-setup! diagnostic-dir> cpu-prof-dir> heap-prof-dir> redirect-warnings> report-dir> trace-event-file-pattern> tls-keylog> localstorage-file> run! test watch inspect").leading(),
    runs("perl", "e!E!M!m!I!x!i!d!D!", "").leading(),
    runs("ruby", "e!r!I!C/x!i!S!X/", "require! disable? enable?").leading(),
    runs("php", "r!B!R!F!E!d!c!z!f:S!", "run! define! php-ini! process-code! process-begin! process-end! zend-extension!").leading(),
    runs("lua luajit", "e!l!j!", "").leading(),
    runs("tar bsdtar", "tvzjJaxcrukmpOI!F!P!g!C>f:T<X<b:K:N:V:L:", "list extract get create to-command! checkpoint-action! use-compress-program! info-script! new-volume-script! rsh-command! rmt-command! absolute-names! listed-incremental! directory> one-top-level> index-file> volno-file> files-from< exclude-from< file: exclude: strip-components: transform:"),
    runs("zip", "T!O>b>t:n:", "test! unzip-command! output-file> temp-path> TT!").risky("@*"),
    runs("rsync", "e!M!f:B:T>", "rsh! rsync-path! remote-option! log-file> write-batch! only-write-batch! read-batch! temp-dir> backup-dir> partial-dir: daemon! config! files-from< exclude-from< include-from< password-file< early-input< exclude: include: filter: chmod: chown: usermap: groupmap: bwlimit: iconv: copy-as!").risky("rsync://*"),
    runs("curl", "o!O!K!T!c!D!J!E!d:F:H:X:u:A:b:e:m:w:x:y:Y:z:r:P:Q:t:U:C:", "output! remote-name! remote-name-all! remote-header-name! config! upload-file! cookie-jar! dump-header! trace! trace-ascii! output-dir! stderr! libcurl! etag-save! etag-compare< hsts! alt-svc! engine! cert! key! unix-socket! abstract-unix-socket! netrc-file! cacert< capath< data: data-ascii: data-binary: data-raw: data-urlencode: json: form: form-string: url-query: header: proxy-header: request: user: user-agent: write-out: url: variable! expand-url! expand-data! expand-output! ssl-sessions! dns-interface: pinnedpubkey<").risky("file:*"),
    runs("wget wget2", "O!P!o!a!e!i!B:t:T:w:Q:U:D:A:R:I:X:", "output-document! directory-prefix! use-askpass! output-file! append-output! execute! save-cookies! post-file! body-file! warc-file! warc-cdx! warc-dedup! warc-tempdir> config! rejected-log! input-file! hsts-file! load-cookies! certificate! private-key! ca-certificate< user: password: header:"),
    runs("ssh slogin", "o!F!E!S!L!R!D!W!w!I!J!p:l:i:b:B:c:e:m:O:Q:P!", ""),
    runs("scp sftp", "o!S!F!D!J!b!R!P:i:l:c:X:B:s:", ""),
    runs("docker podman nerdctl", "itdPqv!H!e:p:w:u:m:l:h:c:a:f:t:", "volume! mount! privileged! host! device! volumes-from! pid! ipc! network! net! userns! uts! cgroupns! cgroup-parent! cap-add! security-opt! group-add! device-cgroup-rule! gpus! runtime! config! context! env-file! tmpfs! volume-driver! sysctl! plugin! output! iidfile> cidfile> file: name: env: publish: workdir: user: entrypoint: label: add-host: tag: build-arg:").risky("cp save export exec plugin context swarm"),
    runs("vim vi nvim view ex vimdiff", "c!S!u!U!s!w!W!T:i!", "cmd! startuptime! listen! server! remote!").risky("+*"),
    runs("gcc g++ cc c++ clang clang++ tcc", "", "o> wrapper! fplugin! fuse-ld! specs! MF> load! fpass-plugin! Xlinker! Xassembler! Xpreprocessor! Xclang! iplugindir! resource-dir! dumpdir> dumpbase> aux-info> config! gcc-toolchain! B! plugin! fprofile-dir> save-temps").single_dash().risky("@* -B* -o* -fplugin* -specs* -fuse-ld* -Wl,* -Wa,* -Wp,* -MF* -Xclang* -ccc* -wrapper* -T*"),
    runs("javac java", "", "d> s> h> processor! processorpath! javaagent! agentlib! agentpath! cp: classpath: jar: source: target:").single_dash().risky("@* -J* -javaagent* -agentlib* -agentpath* -XX:On* -XX:Flags* -Xbootclasspath* -Xplugin* -Xlog* -Xrun*"),
    runs("eslint", "c!f!o>", "config! rulesdir! resolve-plugins-relative-to! format! output-file> parser! plugin! cache cache-location> cache-file> flag! env-info"),
    runs("prettier", "", "plugin! config! plugin-search-dir! cache cache-location> ignore-path< config-precedence: parser:"),
    runs("jest vitest", "c!r/", "config! globalSetup! globalTeardown! runner! testRunner! reporters! reporter! transform! setupFiles! setupFilesAfterEnv! testEnvironment! environment! resolver! rootDir! roots! root! dir! projects! project! preset! watch watchAll watchPlugins! snapshotSerializers! prettierPath! filter! testSequencer! testResultsProcessor! moduleLoader! coverage? coverageDirectory> coverage.reportsDirectory> outputFile> cacheDirectory> browser! workspace! execArgv! poolOptions! coverageReporters! coverageProvider! haste! moduleNameMapper! modulePaths! moduleDirectories! dependencyExtractor! api! ui! mergeReports! typecheck.checker!"),
    runs("mypy", "c!p:m:", "config-file! python-executable! junit-xml> cache-dir> html-report> txt-report> xml-report> linecount-report> linecoverage-report> lineprecision-report> any-exprs-report> cobertura-xml-report> xslt-html-report> xslt-txt-report> shadow-file! install-types! custom-typeshed-dir: custom-typing-module!").risky("@*"),
    runs("ruff", "o>", "config! output-file> cache-dir> stdin-filename: select: ignore:"),
    runs("black isort flake8 pylint", "", "config! settings-path! settings-file! append-config! rcfile! load-plugins! init-hook! output-file> output> tee enable-extensions! formatter!"),
    runs("tsc", "", "p/ b outdir> outfile> declarationdir> tsbuildinfofile> project/ build rootdir: generatetrace> generatecpuprofile> plugins!").single_dash(),
    runs("gradle gradlew", "I!b!p/c!g>D!P:x:", "init-script! build-file! project-dir/ settings-file! gradle-user-home! include-build! project-cache-dir> system-prop! project-prop: exclude-task:"),
    runs("mvn mvnw", "", "f/ s! P: pl: file/ settings! global-settings! toolchains! global-toolchains! gs! gt! t! log-file! l! define!").single_dash().risky("exec:* antrun:* org.* com.* -Dexec* -Dmaven.ext* -DargLine* -Djvm* -Dmaven.compiler* -Dmaven.repo*"),
    runs("pip pip3", "t>e!r<c<i:f!", "pre target> prefix> root! user! editable! requirement< constraint< config-settings! global-option! build-option! python! log> src> cache-dir> report> download> d> find-links! index-url! extra-index-url! trusted-host! cert: client-cert: proxy! use-feature:").risky("config"),
    runs("poetry pipenv hatch pdm rye", "C/P/", "directory/ project/ python!").leading(),
    runs("uv uvx", "p!", "directory/ project/ python! config-file! with: extra: group: index! index-url! default-index! extra-index-url! find-links! env-file! cache-dir> script! module:").risky("tool python self"),
    runs("bundle", "", "path> gemfile! retry: jobs:").risky("config plugin open"),
    runs("terraform tofu", "", "chdir/ plugin-dir! state> state-out> backup> out> generate-config-out> backend-config! config! var: target:").single_dash(),
    runs("git", "", ""),
    runs("sed awk gawk mawk find env xargs", "", ""),
];

/// Programs whose operands behind a word of theirs are a command: `uv run pytest`.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("hatch", "run"),
    ("pdm", "run"),
    ("rye", "run"),
    ("bundle", "exec"),
    ("yarn", ""),
    ("pnpm", ""),
    ("npx", ""),
    ("bunx", ""),
    ("pnpx", ""),
];
/// Programs that run the files that they are given, or what stands beside them.
const RUNS_OPERANDS: &[&str] = &[
    "pytest", "py.test", "python", "python2", "python3", "pypy3", "node", "nodejs", "ruby", "perl", "php",
    "lua", "go", "jest", "vitest", "bun", "deno", "tsc", "eslint", "prettier", "cmake", "npm", "pnpm",
    "yarn", "pip", "pip3",
];
/// Directories in which one command may work by its options.
const MAX_PLACES: usize = 32;
/// Runners within runners that are looked into.
const MAX_RUNNERS: usize = 4;

/// Whether its options are known, so that `*` in a rule leaves out those that can do anything.
pub(in crate::permissions) fn is_known_program(name: &str) -> bool {
    looking_row(name).is_some() || running_row(name).is_some()
}

fn running_row(name: &str) -> Option<&'static ProgramRow> {
    ROWS.iter().find(|row| row.is_for(name))
}

/// A program that needs a rule, and one that it starts by its words. `arguments`: what stands behind it.
pub(super) fn read_running(
    reader: &mut LineReader<'_>,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let (mut name, mut arguments) = (name.to_string(), arguments.to_vec());
    for _ in 0..MAX_RUNNERS {
        match running_row(&name) {
            Some(row) => read_row(reader, row, &name, &arguments, command),
            // It needs a rule all the same: what it is started with is not looked at.
            None => match looking_row(&name) {
                Some(row) => return read_looking_behind(reader, row, &arguments, command),
                None => return,
            },
        }
        match started_program(&name, &arguments) {
            Some((inner, rest)) => (name, arguments) = (inner, rest),
            None => return,
        }
    }
    command.add_risk("it starts programs by programs", None);
}

fn read_looking_behind(
    reader: &mut LineReader<'_>,
    row: &ProgramRow,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    read_looking(reader, row, arguments, command);
    command.role = CommandRole::Other;
}

fn read_row(
    reader: &mut LineReader<'_>,
    row: &ProgramRow,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let mut words = arguments.to_vec();
    if name == "tsc" {
        // It takes its options in any case.
        words.iter_mut().for_each(|word| {
            if let CommandArgument::Exact(text) = word {
                *text = text.to_lowercase();
            }
        });
    }
    if name.starts_with("python") {
        words.truncate(python_module(&words).map_or(words.len(), |(at, _, _)| at));
    }
    let risk = "this option can run something or write elsewhere";
    let (meanings, behind) = read_options(row, &words);
    check_option_files(row, &words, command);
    let mut scripts: Vec<Option<PathBuf>> = Vec::new();
    if RUNS_OPERANDS.contains(&name) {
        let given = meanings.iter().filter_map(|meaning| match meaning {
            WordMeaning::Operand(word) => Some(word),
            _ => None,
        });
        let script = words.get(behind).filter(|_| row.leading);
        for word in given.chain(script) {
            scripts.extend(reader.directories_behind(operand_place(word).as_ref()));
        }
    }
    let mut operands = 0;
    let mut places: Vec<Option<PathBuf>> = Vec::new();
    for meaning in &meanings {
        match meaning {
            WordMeaning::Option { name: option, effect, value, word } => match effect {
                OptionEffect::Risky => command.add_risk(risk, original(arguments, &words, word)),
                OptionEffect::Reads => reads(reader, value.as_ref(), false),
                OptionEffect::Writes => {
                    for target in value.iter().flat_map(|word| reader.targets(word)).collect::<Vec<_>>() {
                        reader.uses(PathUseKind::Write, target, PathNamer::RuledCommand);
                    }
                }
                OptionEffect::WorksIn => {
                    // A second one may count from the first.
                    let own = std::mem::take(&mut reader.directories);
                    for base in
                        std::iter::once(own.clone()).chain((!places.is_empty()).then(|| places.clone()))
                    {
                        reader.directories = base;
                        places.extend(reader.directories_behind(value.as_ref()));
                    }
                    reader.directories = own;
                    places.truncate(MAX_PLACES);
                }
                _ if value.as_ref().is_some_and(|value| is_risky_value(name, option, value)) => {
                    command.add_risk(risk, original(arguments, &words, word));
                }
                _ => {}
            },
            WordMeaning::Unknown(word) if word.exact().is_none() => {
                command.add_risk("a word that is not known may be an option", None);
            }
            WordMeaning::Unknown(word) | WordMeaning::Operand(word) => {
                let is_operand = matches!(meaning, WordMeaning::Operand(_));
                let is_first = is_operand && operands == 0;
                let is_toolchain = name == "cargo" && word.exact().is_some_and(|text| text.starts_with('+'));
                operands += usize::from(is_operand && !is_toolchain);
                if is_risky_word(row, word, is_first) || is_operand && is_risky_operand(name, word, is_first)
                {
                    let why = "this word can make it run or write something";
                    command.add_risk(why, original(arguments, &words, word));
                }
            }
        }
    }
    if places.len() == MAX_PLACES {
        places.push(None);
    }
    if !places.is_empty() {
        places.extend(scripts);
        command.directories = places;
    } else {
        command.directories.extend(scripts);
    }
    // Its rules come from another command.
    if matches!(name, "make" | "gmake")
        && reader.is_piped
        && words.iter().any(|word| word.exact() == Some("-"))
    {
        command.add_risk("it reads its rules from another command", None);
    }
}

/// Where the files are that an operand names.
fn operand_place(word: &CommandArgument) -> Option<CommandArgument> {
    match word {
        CommandArgument::Exact(_) => Some(word.clone()),
        CommandArgument::FileNames(pattern) => {
            let known = pattern.split(['*', '?', '[']).next().unwrap_or_default();
            let directory = known.rsplit_once('/').map_or(".", |(directory, _)| directory);
            let above = pattern.split('/').any(|name| name == "..");
            let directory = if directory.is_empty() { "/" } else { directory };
            (!above).then(|| CommandArgument::Exact(directory.to_string()))
        }
        _ => None,
    }
}

/// The word as it was written.
fn original(
    arguments: &[CommandArgument],
    words: &[CommandArgument],
    word: &CommandArgument,
) -> Option<String> {
    let at = words.iter().position(|other| other == word)?;
    arguments[at].exact().map(ToString::to_string)
}

fn is_risky_value(program: &str, option: &str, value: &CommandArgument) -> bool {
    let text = match value {
        CommandArgument::Exact(text) | CommandArgument::BeginsWith(text) => text.as_str(),
        _ => "",
    };
    match program {
        // `@file` is sent, `%output{file}` written.
        "curl" => {
            text.starts_with(['@', '<'])
                || text.contains("=@")
                || text.contains("=<")
                || text.contains("%output")
                || option == "data-urlencode" && text.contains('@')
                || option == "url" && text.starts_with("file:")
                || matches!(value, CommandArgument::BeginsWith(text) if text.is_empty())
        }
        "cmake" => ["COMPILER", "LAUNCHER", "LINKER", "TOOLCHAIN", "PROGRAM", "INCLUDE", "COMMAND", "EXE"]
            .iter()
            .any(|name| text.to_ascii_uppercase().split('=').next().unwrap_or_default().contains(name)),
        // A name of another machine, which is asked by a program.
        "tar" | "bsdtar" => matches!(option, "f" | "file") && text.contains(':'),
        "ssh" | "scp" | "sftp" => text.starts_with('-'),
        _ => false,
    }
}

fn is_risky_operand(program: &str, word: &CommandArgument, is_first: bool) -> bool {
    let Some(text) = word.exact() else { return false };
    match program {
        // A variable of a makefile can be any part of a command.
        "make" | "gmake" => text.split_once('=').is_some_and(|(_, value)| {
            let plain = ["", "y", "n", "yes", "no", "true", "false", "debug", "release", "Debug", "Release"];
            !plain.contains(&value) && !value.bytes().all(|byte| byte.is_ascii_digit())
        }),
        // Beginnings of its options have values, too; `f{i}le:` is a way to write `file:`.
        "curl" => {
            let scheme = text.split('/').next().unwrap_or_default().to_ascii_lowercase();
            let is_value = text.contains('@') && !text.contains("://")
                || text.contains("=<")
                || text.contains("%output");
            is_value || scheme.starts_with("file:") || scheme.contains(['{', '['])
        }
        // `xIf`, as it was written before there were dashes.
        "tar" | "bsdtar" => is_first && !text.contains('/') && text.contains(['I', 'F', 'P', 'C', 'g']),
        _ => false,
    }
}

/// The program that the words start, and its words.
fn started_program(name: &str, arguments: &[CommandArgument]) -> Option<(String, Vec<CommandArgument>)> {
    if name.starts_with("python") || name == "pypy3" {
        let (_, module, behind) = python_module(arguments)?;
        return Some((module, arguments.get(behind..).unwrap_or_default().to_vec()));
    }
    let (_, verb) = RUNNERS.iter().find(|(runner, _)| *runner == name)?;
    let row = running_row(name)?.leading();
    let mut rest = arguments.get(read_options(&row, arguments).1..)?;
    let first = rest.first()?.exact()?;
    match (*verb, first) {
        ("", "run" | "exec" | "x" | "dlx") => rest = &rest[1..],
        ("", _) => {}
        (verb, first) if verb == first => rest = &rest[1..],
        _ => return None,
    }
    let at = read_options(&row, rest).1;
    let program = rest.get(at)?.exact()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    Some((program.to_string(), rest[at + 1..].to_vec()))
}

/// `-m pytest`: where it stands, the module, and where its words begin.
fn python_module(arguments: &[CommandArgument]) -> Option<(usize, String, usize)> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let letters = word.exact()?.strip_prefix('-').filter(|letters| !letters.is_empty())?;
        let plain = letters.trim_start_matches(|c| "bBdEhiIOPqsSuvVx".contains(c));
        match plain.strip_prefix('m') {
            Some("") => {
                let module = arguments.get(at + 1)?.exact()?;
                return Some((at, module.to_string(), at + 2));
            }
            Some(module) => return Some((at, module.to_string(), at + 1)),
            None if plain.starts_with('c') => return None,
            // Their value is the next word.
            None if matches!(plain, "X" | "W") => at += 2,
            None => at += 1,
        }
    }
    None
}
