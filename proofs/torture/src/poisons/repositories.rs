//! Commands in git's configuration, attributes and hooks, and repositories that are not where they seem.

use std::fs;

use super::Poison;

/// Every hook that git knows.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "post-index-change",
    "query-watchman",
];

pub(super) const POISONS: &[Poison] = &[
    Poison::new("hooks", |ground| ground.programs(".git/hooks", HOOKS)),
    Poison::new("hooks-path", |ground| {
        ground.programs(".hooks", HOOKS)?;
        ground.config("[core]\n\thooksPath = .hooks\n")
    }),
    Poison::new("configured-hooks", |ground| {
        ground.config(
            "[hook \"x\"]\n\tcommand = @\n\tevent = pre-commit\n\tevent = post-index-change\n\
             \tevent = reference-transaction\n",
        )
    }),
    Poison::new("fsmonitor", |ground| ground.config("[core]\n\tfsmonitor = @\n")),
    Poison::new("fsmonitor-hook", |ground| {
        ground.programs(".git/hooks", &["fsmonitor-watchman", "query-watchman"])?;
        ground.config("[core]\n\tfsmonitor = .git/hooks/fsmonitor-watchman\n\tfsmonitorHookVersion = 2\n")
    }),
    Poison::new("fsmonitor-daemon", |ground| {
        ground.file(".git/fsmonitor--daemon/cookies/x", "")?;
        ground.file(".git/fsmonitor--daemon.ipc", "")?;
        ground.config("[core]\n\tfsmonitor = true\n[fsmonitor]\n\tsocketDir = .\n\tallowRemote = true\n")
    }),
    Poison::new("worktree-config", |ground| {
        ground.file(".git/config.worktree", &ground.filled("[core]\n\tfsmonitor = @\n\thooksPath = @\n"))?;
        ground.config("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n")
    }),
    Poison::new("diff-external", |ground| ground.config("[diff]\n\texternal = @\n")),
    Poison::new("textconv", |ground| {
        ground.file(".gitattributes", "* diff=x\n")?;
        ground.config("[diff \"x\"]\n\ttextconv = @\n\tcommand = @\n\tcachetextconv = true\n")
    }),
    Poison::new("filter", |ground| {
        ground.file(".gitattributes", "* filter=x\n")?;
        ground.config("[filter \"x\"]\n\tclean = @\n\tsmudge = @\n\trequired = true\n")
    }),
    Poison::new("filter-process", |ground| {
        ground.file(".gitattributes", "* filter=x\n")?;
        ground.config("[filter \"x\"]\n\tprocess = @\n\trequired = true\n")
    }),
    Poison::new("filter-odd-name", |ground| {
        ground.file(".gitattributes", "* filter=x.y=z\n")?;
        ground.config("[filter \"x.y=z\"]\n\tclean = @\n\tprocess = @\n")
    }),
    Poison::new("info-attributes", |ground| {
        ground.file(".git/info/attributes", "* filter=x diff=x merge=x\n")?;
        ground.config("[filter \"x\"]\n\tclean = @\n\tprocess = @\n[diff \"x\"]\n\ttextconv = @\n")
    }),
    Poison::new("attributes-file", |ground| {
        ground.file("attributes", "* filter=x\n")?;
        let file = ground.project.join("attributes").display().to_string();
        ground.config(&format!("[core]\n\tattributesFile = {file}\n[filter \"x\"]\n\tclean = @\n"))
    }),
    Poison::new("pager", |ground| {
        ground.config(
            "[core]\n\tpager = @\n[pager]\n\tstatus = @\n\tconfig = @\n\trev-parse = @\n\tdiff = @\n\
             \tls-files = @\n\tversion = @\n\tcommit = @\n",
        )
    }),
    Poison::new("alias", |ground| {
        let names = [
            "status",
            "config",
            "rev-parse",
            "commit",
            "add",
            "version",
            "ls-files",
            "cat-file",
            "update-index",
        ];
        let rows: String = names.iter().map(|name| format!("\t{name} = !@\n")).collect();
        ground.config(&format!("[alias]\n{rows}"))
    }),
    Poison::new("editors", |ground| {
        ground.config("[core]\n\teditor = @\n[sequence]\n\teditor = @\n[commit]\n\tverbose = true\n")
    }),
    Poison::new("promisor", |ground| {
        ground.config(
            "[core]\n\trepositoryformatversion = 1\n\tsshCommand = @\n\tgitProxy = @\n\taskPass = @\n\
             [extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = ssh://x.invalid/y\n\
             \tpromisor = true\n\tuploadpack = @\n",
        )?;
        let objects = ground.project.join(".git/objects");
        for entry in fs::read_dir(&objects)?.flatten() {
            // Blobs and trees are missing; the reference names the commit.
            if entry.file_name().len() == 2 && entry.path().is_dir() {
                fs::remove_dir_all(entry.path())?;
                break;
            }
        }
        Ok(())
    }),
    Poison::new("ext-remote", |ground| {
        ground.config(
            "[remote \"origin\"]\n\turl = \"ext::@ %S\"\n\tvcs = evil\n\tfetch = +refs/*:refs/*\n\
             [protocol \"ext\"]\n\tallow = always\n[url \"ext::@ \"]\n\tinsteadOf = https://\n",
        )
    }),
    Poison::new("gpg", |ground| {
        ground.config(
            "[gpg]\n\tprogram = @\n\tformat = ssh\n[gpg \"ssh\"]\n\tprogram = @\n\tdefaultKeyCommand = @\n\
             [commit]\n\tgpgSign = true\n[user]\n\tsigningKey = x\n[log]\n\tshowSignature = true\n",
        )
    }),
    Poison::new("credential", |ground| {
        ground.config("[credential]\n\thelper = !@\n[core]\n\taskPass = @\n[http]\n\tproxy = x\n")
    }),
    Poison::new("include", |ground| {
        ground.file("more", &ground.filled("[core]\n\tfsmonitor = @\n\thooksPath = @\n"))?;
        ground.config("[include]\n\tpath = ../more\n")
    }),
    Poison::new("include-if", |ground| {
        ground.file("more", &ground.filled("[core]\n\tfsmonitor = @\n[filter \"x\"]\n\tclean = @\n"))?;
        ground.file(".gitattributes", "* filter=x\n")?;
        ground.config(
            "[includeIf \"onbranch:**\"]\n\tpath = ../more\n[includeIf \"gitdir:/**\"]\n\tpath = ../more\n",
        )
    }),
    Poison::new("worktree-elsewhere", |ground| {
        fs::create_dir(ground.room.join("outside"))?;
        let outside = ground.room.join("outside").display().to_string();
        ground.config(&format!("[core]\n\tworktree = {outside}\n\tfsmonitor = @\n"))
    }),
    Poison::new("commondir", |ground| {
        fs::rename(ground.project.join(".git"), ground.project.join("real"))?;
        let config = ground.filled("[core]\n\tfsmonitor = @\n\thooksPath = @\n");
        fs::write(ground.project.join("real/config"), config)?;
        ground.file(".git/HEAD", "ref: refs/heads/main\n")?;
        ground.file(".git/commondir", "../real\n")
    }),
    Poison::new("git-file", |ground| {
        fs::rename(ground.project.join(".git"), ground.project.join("real"))?;
        let path = ground.project.join("real/config");
        let text = fs::read_to_string(&path)? + &ground.filled("[core]\n\tfsmonitor = @\n");
        fs::write(path, text)?;
        ground.programs("real/hooks", HOOKS)?;
        ground.file(".git", "gitdir: real\n")
    }),
    Poison::new("bare-as-root", |ground| {
        let git = ground.project.join(".git");
        for entry in fs::read_dir(&git)?.flatten() {
            fs::rename(entry.path(), ground.project.join(entry.file_name()))?;
        }
        fs::remove_dir(git)?;
        let text = ground.filled("[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = @\n");
        fs::write(ground.project.join("config"), text)?;
        ground.programs("hooks", HOOKS)
    }),
    Poison::new("bare-below", |ground| {
        let bare = ground.project.join("sub");
        ground.git(&["clone", "-q", "--bare", ".", "../bare"])?;
        for entry in fs::read_dir(ground.room.join("bare"))?.flatten() {
            fs::rename(entry.path(), bare.join(entry.file_name()))?;
        }
        let text = ground.filled("[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = @\n");
        fs::write(bare.join("config"), text)?;
        ground.programs("sub/hooks", HOOKS)
    }),
    Poison::new("submodule", |ground| {
        let sub = ground.project.join("module");
        fs::create_dir(&sub)?;
        for words in [&["init", "-q"][..], &["commit", "-q", "--allow-empty", "-m", "x"]] {
            ground.git_in(&sub, words)?;
        }
        ground.git(&["-c", "advice.addEmbeddedRepo=false", "add", "module"])?;
        ground.git(&["commit", "-q", "-m", "module"])?;
        let config = ground.filled("[core]\n\tfsmonitor = @\n[diff]\n\texternal = @\n");
        fs::write(sub.join(".git/config"), config)?;
        ground.programs("module/.git/hooks", HOOKS)?;
        ground.file(".gitmodules", "[submodule \"module\"]\n\tpath = module\n\turl = ./module\n")?;
        ground.config(
            "[submodule]\n\trecurse = true\n[status]\n\tsubmoduleSummary = true\n[diff]\n\tsubmodule = log\n",
        )
    }),
    Poison::new("gitmodules", |ground| {
        let text = "[submodule \"x\"]\n\tpath = sub\n\turl = -u./evil\n\tupdate = !@\n";
        ground.file(".gitmodules", &ground.filled(text))?;
        ground.config("[submodule \"x\"]\n\tupdate = !@\n\turl = ext::@\n\tactive = true\n")
    }),
    Poison::new("merge-driver", |ground| {
        ground.file(".gitattributes", "* merge=x\n")?;
        ground.config(
            "[merge \"x\"]\n\tdriver = @\n\tname = x\n[merge]\n\ttool = x\n[mergetool \"x\"]\n\tcmd = @\n",
        )
    }),
    Poison::new("server-side", |ground| {
        ground.config(
            "[uploadpack]\n\tpackObjectsHook = @\n[receive]\n\tprocReceiveRefs = refs\n[sendemail]\n\ttoCmd = @\n\
             [remote \"x\"]\n\treceivepack = @\n\tuploadpack = @\n[instaweb]\n\thttpd = @\n[man]\n\tviewer = @\n",
        )
    }),
    Poison::new("trailers", |ground| {
        ground.file("template", "x\n")?;
        ground.config(
            "[trailer \"x\"]\n\tcommand = @\n\tcmd = @\n\tkey = X\n[commit]\n\ttemplate = template\n\
             [interactive]\n\tdiffFilter = @\n[core]\n\tuntrackedCache = true\n[gc]\n\tauto = 1\n[maintenance]\n\tauto = true\n",
        )
    }),
    Poison::new("nothing-wrong", |_| Ok(())),
];
