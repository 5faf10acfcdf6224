//! Programs that only look, with the options that do no more. An option that is not here makes the line ask.

use super::options::{OperandUse, OptionEffect, ProgramRow, WordMeaning, looks, only_looks, read_options};
use super::reader::LineReader;
use super::{CommandArgument, CommandRole, LineTarget, PathNamer, PathUseKind, StartedCommand, builtins};
use crate::permissions::path_pattern::pattern_directory;

use OperandUse::{Format, Nothing, OneFile, Words};

/// Whatever their words are, they print something and end.
const ANY_WORDS: &[&str] = &[
    "true", "false", "echo", "printf", "pwd", "expr", "factor", "sleep", "seq", "basename", "dirname",
    "arch", "nproc", "uname", "whoami", "groups", "id", "logname", "tty", "uptime", "free", "ps", "which",
    "whereis", "printenv", "locale", "getconf", "lscpu", "lsblk", "test", "[", "pathchk",
];

#[rustfmt::skip]
const ROWS: &[ProgramRow] = &[
    only_looks("ls", "aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ#", "all almost-all author escape block-size: ignore-backups color? colour? directory classify? file-type format: full-time group-directories-first no-group human-readable si dereference-command-line dereference hide: hyperlink? indicator-style: inode ignore: kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style: reverse recursive size sort: time: time-style: tabsize: width: context zero help version"),
    only_looks("cat", "AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting help version"),
    only_looks("tac rev", "brs:", "before regex separator: help version"),
    only_looks("head", "c:n:qvz#", "bytes: lines: quiet silent verbose zero-terminated help version"),
    only_looks("tail", "c:fFn:qs:vzr#", "bytes: follow? lines: max-unchanged-stats: pid: quiet silent retry sleep-interval: verbose zero-terminated help version"),
    only_looks("wc", "cmlLw", "bytes chars lines max-line-length words total: help version"),
    only_looks("cut", "b:c:d:f:nsz", "bytes: characters: delimiter: fields: complement only-delimited output-delimiter: zero-terminated help version"),
    only_looks("tr", "cCdst", "complement delete squeeze-repeats truncate-set1 help version").with(Words),
    only_looks("nl", "b:d:f:h:i:l:n:ps:v:w:", "body-numbering: section-delimiter: footer-numbering: header-numbering: line-increment: join-blank-lines: number-format: no-renumber number-separator: starting-line-number: number-width: help version"),
    only_looks("od", "A:j:N:S:t:w?vabcdefhiloxX", "address-radix: endian: skip-bytes: read-bytes: strings? format: output-duplicates width? help version"),
    only_looks("hexdump hd", "bcCdovxn:s:e:f<", "canonical length: skip: no-squeezing one-byte-octal one-byte-char two-bytes-hex two-bytes-octal two-bytes-decimal help version"),
    only_looks("cmp", "bi:ln:s", "print-bytes ignore-initial: verbose bytes: quiet silent help version"),
    only_looks("comm", "123z", "check-order nocheck-order output-delimiter: total zero-terminated help version"),
    only_looks("join", "a:e:i1:2:j:o:t:v:z", "ignore-case check-order nocheck-order header zero-terminated help version"),
    only_looks("paste", "d:sz", "delimiters: serial zero-terminated help version"),
    only_looks("fold fmt", "bsw:ctup:g:#", "bytes spaces width: crown-margin prefix: split-only tagged-paragraph uniform-spacing goal: help version"),
    only_looks("expand unexpand", "it:af#", "initial tabs: all first-only help version"),
    only_looks("stat", "Lft c:", "dereference file-system cached: format: printf: terse help version"),
    only_looks("du", "0aAbB:cDd:HhklLmPSst:xX<", "null all apparent-size block-size: bytes total dereference-args max-depth: human-readable inodes kilobytes dereference count-links no-dereference separate-dirs si summarize threshold: time? time-style: exclude: exclude-from< one-file-system help version"),
    only_looks("df", "aB:hHiklPt:Tvx:", "all block-size: human-readable si inodes local no-sync output? portability sync type: print-type exclude-type: total help version"),
    only_looks("realpath readlink", "eEmLPqszfnv", "canonicalize-existing canonicalize-missing canonicalize logical physical quiet silent relative-to: relative-base: strip no-symlinks zero no-newline verbose help version"),
    only_looks("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum", "bctwzl:a:rs", "binary check tag text zero ignore-missing quiet status strict warn length: algorithm: untagged base64 raw sysv help version"),
    only_looks("base64 base32", "dDiw:", "decode ignore-garbage wrap: help version"),
    only_looks("column", "c:dEeH:Jlmn:N:O:o:p:R:r:s:S:T:tW:xi:L", "output-width: table table-columns: table-separator: separator: output-separator: fillrows json keep-empty-lines table-right: table-wrap: table-hide: table-noheadings table-name: help version"),
    only_looks("pgrep", "cd:flg:G:n onP:s:t:u:U:xvai r:", "count delimiter: list-name list-full full pgroup: group: ignore-case newest oldest parent: session: terminal: euid: uid: exact inverse help version").with(Words),
    only_looks("numfmt tsort users who cal look", "d:z#qHubTlmrapdtfn", "delimiter: field: format: from: to: header? invalid: padding: round: suffix: grouping heading all boot help version"),
    only_looks("grep egrep fgrep", "cEFGHhILlnoPqRrsTUuVvwxyZzib A:B:C:D:d:e:f<m:#", "extended-regexp fixed-strings basic-regexp perl-regexp regexp: file< ignore-case no-ignore-case word-regexp line-regexp null-data no-messages invert-match max-count: byte-offset line-number line-buffered with-filename no-filename label: only-matching quiet silent binary-files: text directories: devices: recursive dereference-recursive include: exclude: exclude-from< exclude-dir: files-without-match files-with-matches count initial-tab null before-context: after-context: context: color? colour? binary help version").recursive("r R recursive dereference-recursive"),
    only_looks("jq", "nrjaCMScseRf<L:", "null-input raw-input slurp compact-output raw-output raw-output0 join-output ascii-output sort-keys color-output monochrome-output tab indent: unbuffered stream stream-errors seq from-file< exit-status arg: argjson: slurpfile: rawfile: args jsonargs help version"),
    only_looks("diff", "abBcdeEhiI:nNpqrstTuUwWyxXF:L:C:D:S<", "normal brief report-identical-files context? unified? ed rcs side-by-side width: left-column suppress-common-lines show-c-function show-function-line: label: expand-tabs initial-tab tabsize: suppress-blank-empty recursive no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude: exclude-from< starting-file: from-file< to-file< ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines: text strip-trailing-cr line-format: horizon-lines: minimal speed-large-files color? palette: help version").recursive("r recursive"),
    looks("diff3", "ExX3aAeimTL:", "text show-all ed easy-only merge show-overlap initial-tab label: strip-trailing-cr overlap-only diff-program! help version"),
    only_looks("zcat gzcat bzcat xzcat zstdcat", "fqv", "force quiet verbose help version"),
    looks("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd", "cdqvfk#", "stdout to-stdout decompress uncompress quiet verbose force keep help version").needing("c stdout to-stdout"),
    looks("gzip-list gunzip-list bzip2-list bunzip2-list xz-list unxz-list zstd-list", "ltqv", "list test quiet verbose").needing("l t list test"),
    looks("unzip", "lvtpqZ1Cjs", "").needing("l v t p Z"),
    looks("nm", "aABCDgnopPrSsuvlt:f:", "debug-syms extern-only defined-only undefined-only demangle? dynamic no-demangle numeric-sort no-sort print-file-name print-size print-armap reverse-sort size-sort line-numbers radix: format: portability plugin! help version").risky("@*"),
    looks("size", "ABdoxt", "format: common totals radix: help version").risky("@*"),
    looks("strings", "afn:oet:s:T:wd#", "all data print-file-name bytes: radix: encoding: output-separator: include-all-whitespace help version").risky("@*"),
    looks("readelf", "ahlStgensrduVDIWA x:p:R:w?", "all file-header program-headers segments section-headers sections section-groups section-details headers syms symbols dyn-syms notes relocs unwind dynamic version-info arch-specific use-dynamic hex-dump: string-dump: relocated-dump: archive-index histogram wide demangle? help version").risky("@*"),
    looks("objdump", "afphxdDstTrRgeGClFwzj:M:b:m:i", "archive-headers file-headers private-headers headers section-headers all-headers disassemble? disassemble-all full-contents reloc dynamic-reloc syms dynamic-syms debugging stabs demangle? line-numbers file-offsets wide section: disassembler-options: start-address: stop-address: no-show-raw-insn show-raw-insn no-addresses visualize-jumps? architecture: target: info help version plugin!").risky("@*"),
    looks("sort", "bdfghinrRMVcCmsuzk:t:S:o!T!", "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort ignore-nonprinting month-sort numeric-sort random-sort random-source< reverse sort: version-sort batch-size: check? debug key: merge stable buffer-size: field-separator: parallel: unique zero-terminated output! compress-program! temporary-directory! files0-from! help version"),
    looks("rg", "0acFHhIiLlnNopPqsSuUvVwxz!.A:B:C:E:d:e:f<g:j:m:M:r:t:T:", "regexp: file< after-context: before-context: context: context-separator: color: colors: column no-column count count-matches crlf debug trace dfa-size-limit: encoding: engine: files files-with-matches files-without-match fixed-strings follow no-follow glob: glob-case-insensitive heading no-heading help hidden no-hidden iglob: ignore-case ignore-file: ignore-file-case-insensitive include-zero invert-match json line-buffered line-number no-line-number line-regexp max-columns: max-columns-preview max-count: max-depth: maxdepth: max-filesize: mmap no-mmap multiline multiline-dotall no-config no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs no-messages no-unicode null null-data one-file-system only-matching path-separator: passthru passthrough pcre2 no-pcre2 pretty quiet regex-size-limit: replace: search-zip! smart-case case-sensitive sort: sortr: stats stop-on-nonmatch text threads: trim no-trim type: type-not: type-list type-add: type-clear: unrestricted version vimgrep with-filename no-filename word-regexp pre! pre-glob! hostname-bin! hyperlink-format: binary").recursive("*"),
    looks("fd fdfind", "HIusigFaLp0lq1d:E:e:t:S:j:c:C:o:x!X!", "hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex fixed-strings absolute-path relative-path list-details follow full-path print0 max-depth: min-depth: exact-depth: exclude: prune type: extension: size: changed-within: changed-before: newer: older: owner: color: threads: max-results: base-directory: path-separator: search-path: strip-cwd-prefix? one-file-system and: ignore-file: quiet show-errors exec! exec-batch! help version").with(Words),
    looks("tree", "adfilpstuvcrUDFghLqnCANSXJQxP:I:L:o!R!H:T:", "dirsfirst filesfirst noreport prune matchdirs du si inodes device charset: filelimit: gitignore gitfile: ignore-case metafirst timefmt: sort: sort? nolinks help version"),
    looks("file", "bEhiklLNnprsSv0F:P:e:f<m!M!C!z!Z!", "brief mime mime-type mime-encoding dereference no-dereference separator: keep-going no-buffer no-pad preserve-date raw special-files print0 extension apple parameter: exclude: files-from< compile! magic-file! uncompress! uncompress-noreport! help version"),
    looks("date", "uRd:f<r<I?s!", "date: file< iso-8601? rfc-email rfc-3339: rfc-2822 reference< utc universal debug resolution set! help version").with(Format),
    looks("shuf", "ern:zi:o!", "echo head-count: input-range: random-source< repeat zero-terminated output! help version"),
    looks("less more", "eEfFgGiIJmMnNqQrRsSuUwWXx:h:j:y:z:b:~cdlp#o!O!k!T!t!", "chop-long-lines quit-if-one-screen no-init raw-control-chars RAW-CONTROL-CHARS line-numbers LINE-NUMBERS ignore-case IGNORE-CASE squeeze-blank-lines quit-at-eof QUIT-AT-EOF tabs: log-file! LOG-FILE! lesskey-file! lesskey-src! lesskey-content! tag! tag-file! help version").risky("+*"),
    looks("tput", "", "").with(Words).risky("init reset"),
    looks("ag", "cilLnorQsSvwzauUtHhfDF0A:B:C:G:g:m:p<", "nocolor color nogroup group noheading heading column nobreak break hidden ignore: ignore-case smart-case case-sensitive literal fixed-strings files-with-matches files-without-matches count only-matching nofilename filename numbers nonumbers max-count: depth: file-search-regex: context? before? after? vimgrep stats passthrough word-regexp all-text all-types unrestricted skip-vcs-ignores pager! help version").recursive("*"),
    looks("uniq", "cdDiuzf:s:w:#", "count repeated all-repeated? skip-fields: group? ignore-case skip-chars: unique zero-terminated check-chars: help version").with(OneFile),
    looks("xxd", "", "a b C d e E i u p ps v l: s: c: g: o: n: len: cols: seek: r! revert!").single_dash().with(OneFile),
    looks("hostname", "fsiIAdy", "fqdn long short ip-address all-ip-addresses all-fqdns domain help version").with(Nothing),
    looks("lsof", "nPtlwi?p:u:c:aUO", "").with(Words),
    looks("ss", "natulpxewmioresH46sf:", "tcp udp unix listening all numeric processes extended summary no-header ipv4 ipv6 help version").with(Words),
    looks("netstat", "natulpxewrisgcWo46e", "tcp udp unix listening all numeric programs route interfaces statistics help version").with(Nothing),
    looks("top", "bHciSn:d:p:u:o:w?1", "help version").with(Nothing).needing("b"),
    looks("man", "kfwWaKP!H!C!l!M!p!", "apropos whatis where path all pager! html! browser! config-file! local-file! manpath! preprocessor! help version").with(Words).risky("/* ./* ../* ~*"),
    looks("apropos whatis", "aels:", "exact and long sections: help version").with(Words),
    looks("bc", "lqsw", "mathlib quiet standard warn help version"),
];

pub(super) fn looking_row(name: &str) -> Option<&'static ProgramRow> {
    ROWS.iter().find(|row| row.is_for(name))
}

/// The same, where what a program does depends on its first option.
pub(super) fn row_for(name: &str, arguments: &[CommandArgument]) -> Option<&'static ProgramRow> {
    let lists = arguments.first().and_then(CommandArgument::exact).is_some_and(|text| {
        text == "--list" || text == "--test" || text.starts_with("-l") || text.starts_with("-t")
    });
    let listing = lists.then(|| looking_row(&format!("{name}-list"))).flatten();
    listing.or_else(|| looking_row(name))
}

pub(super) fn takes_any_words(name: &str) -> bool {
    ANY_WORDS.contains(&name)
}

/// Whether it is itself in what it does: no file of the project says which program is started by this name.
pub(in crate::permissions) fn is_reader(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "git", "sed", "awk", "gawk", "mawk", "tar", "find", "xargs", "sh", "dash", "bash", "env", "nice",
        "time", "timeout",
    ];
    let name = name.strip_prefix("/usr/bin/").or_else(|| name.strip_prefix("/bin/")).unwrap_or(name);
    takes_any_words(name)
        || looking_row(name).is_some()
        || builtins::is_builtin(name)
        || OTHERS.contains(&name)
}

/// Whether the environment can make it do no more than look, either.
pub(super) fn is_plain_program(name: &str) -> bool {
    takes_any_words(name) || looking_row(name).is_some_and(|row| row.any_option)
}

/// A program that may only look. `words`: what stands behind it.
pub(super) fn read_looking(
    reader: &mut LineReader<'_>,
    row: &ProgramRow,
    words: &[CommandArgument],
    command: &mut StartedCommand,
) {
    let (meanings, _) = read_options(row, words);
    check_option_files(row, words, command);
    let is_among = |list: &str, name: &str| list.split(' ').any(|known| known == name);
    let mut sure = row.needs.is_empty();
    let mut is_recursive = row.recursive == "*";
    let mut has_unknown = false;
    let mut operands: Vec<&CommandArgument> = Vec::new();
    for meaning in &meanings {
        match meaning {
            WordMeaning::Option { name, effect, value, word } => {
                sure |= is_among(row.needs, name);
                is_recursive |= is_among(row.recursive, name);
                match effect {
                    OptionEffect::Risky | OptionEffect::Writes | OptionEffect::WorksIn => command.add_risk(
                        "this word can make it write a file or run a program",
                        word.exact().map(ToString::to_string),
                    ),
                    OptionEffect::Reads => reads(reader, value.as_ref(), false),
                    _ => {}
                }
            }
            WordMeaning::Unknown(word) => match word.exact() {
                Some(_) => has_unknown = true,
                None if row.any_option => operands.push(word),
                None => {
                    let why = "a word that is not known may be an option; `./*` could not be one";
                    command.add_risk(why, None);
                    operands.push(word);
                }
            },
            WordMeaning::Operand(word) => operands.push(word),
        }
    }
    check_operands(row, &operands, command);
    if row.operands != Words {
        // Without a file it goes through the directory, unless something is given to it.
        if is_recursive && operands.len() < 2 && !reader.is_piped {
            reads(reader, Some(&CommandArgument::Exact(".".to_string())), true);
        }
        for word in operands {
            reads(reader, Some(word), is_recursive);
        }
    }
    if has_unknown && command.risky.is_empty() {
        command.unlisted = true;
    }
    if sure && !has_unknown && command.risky.is_empty() {
        command.role = CommandRole::ReadsOnly;
    }
}

fn check_operands(row: &ProgramRow, operands: &[&CommandArgument], command: &mut StartedCommand) {
    for (at, word) in operands.iter().enumerate() {
        // A page of the manual that is a file.
        let is_page = row.is_for("man") && word.exact().is_some_and(|text| text.contains('/'));
        if is_page || is_risky_word(row, word, at == 0) {
            command.add_risk(
                "this word can make it run or write something",
                word.exact().map(ToString::to_string),
            );
        }
    }
    let is_format = |word: &CommandArgument| match word {
        CommandArgument::Exact(text) | CommandArgument::BeginsWith(text) => text.starts_with('+'),
        _ => false,
    };
    let several = operands.iter().any(|word| !word.is_one_word());
    let (risk, why) = match row.operands {
        OneFile => (operands.len() > 1 || several, "it writes the second file"),
        Nothing => (!operands.is_empty(), "with a word it changes something"),
        Format => (!operands.iter().all(|word| is_format(word)), "it sets the clock"),
        _ => (false, ""),
    };
    if risk {
        command.add_risk(why, None);
    }
}

/// `@file` stands for the words in the file, wherever it is.
pub(super) fn check_option_files(row: &ProgramRow, words: &[CommandArgument], command: &mut StartedCommand) {
    if !row.risky_words.split(' ').any(|risky| risky == "@*") {
        return;
    }
    for word in words {
        if matches!(word, CommandArgument::Exact(text) if text.starts_with('@')) {
            command.add_risk("it reads options from a file", word.exact().map(ToString::to_string));
        }
    }
}

/// Whether a word that is no option can run or write something.
pub(super) fn is_risky_word(row: &ProgramRow, word: &CommandArgument, is_first: bool) -> bool {
    row.risky_words.split_ascii_whitespace().any(|risky| match (risky.strip_suffix('*'), word) {
        (Some(beginning), CommandArgument::Exact(text)) => text.starts_with(beginning),
        (None, CommandArgument::Exact(text)) => is_first && text == risky,
        (Some(beginning), CommandArgument::OneOf(texts)) => {
            texts.iter().any(|text| text.starts_with(beginning))
        }
        (None, CommandArgument::OneOf(texts)) => is_first && texts.iter().any(|text| text == risky),
        (Some(beginning), CommandArgument::BeginsWith(text) | CommandArgument::FileNames(text)) => {
            let known = text.split(['*', '?', '[']).next().unwrap_or_default();
            known.starts_with(beginning) || beginning.starts_with(known)
        }
        (None, CommandArgument::BeginsWith(text) | CommandArgument::FileNames(text)) => {
            is_first && risky.starts_with(text.split(['*', '?', '[']).next().unwrap_or_default())
        }
        (_, CommandArgument::Any) => true,
    })
}

/// A file that is read, or a directory with all in it.
pub(super) fn reads(reader: &mut LineReader<'_>, word: Option<&CommandArgument>, with_all: bool) {
    // `~/.ssh/$x` is most likely there.
    if let Some(CommandArgument::BeginsWith(beginning)) = word
        && let Some((directory, _)) = beginning.rsplit_once('/')
    {
        let directory = if directory.is_empty() { "/" } else { directory };
        reads(reader, Some(&CommandArgument::Exact(directory.to_string())), true);
    }
    for target in word.map(|word| reader.targets(word)).unwrap_or_default() {
        let target = match target {
            LineTarget::Path(path) if with_all => LineTarget::Beneath(path),
            // Whatever it matches is beneath the directory in front of the first sign.
            LineTarget::Pattern(path) if with_all => LineTarget::Beneath(pattern_directory(&path)),
            other => other,
        };
        reader.uses(PathUseKind::Read, target, PathNamer::Line);
    }
}
