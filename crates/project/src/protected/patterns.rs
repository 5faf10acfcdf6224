//! The list of protected names, as data. Patterns are written in lower case; see [`super::matching`].

const CI: &str = "runs in CI";
const HOOK: &str = "is a git hook";
const EDITOR: &str = "is read by the editor, which may run it";
const AGENT: &str = "instructs agents";
const RELAY: &str = "configures relay";
const SECRET: &str = "may hold secrets";
const REVIEW: &str = "decides who reviews and merges";
const RELEASE: &str = "decides what is released";
const GIT: &str = "changes what git does";
const TOOL: &str = "is run by a tool when it starts";
const SHELL: &str = "is run by the shell";
const BUILD: &str = "is run by the project's check";
const LOCK: &str = "decides what code the project's check runs";

/// Guarded in every project.
#[rustfmt::skip]
pub const ALWAYS_GUARDED: &[(&str, &str)] = &[
    // CI
    (CI, ".github/workflows/ .github/actions/ .github/scripts/ .gitlab-ci* .gitlab/ci/ .gitlab/agents/ .circleci/ \
        jenkinsfile* .jenkins/ azure-pipelines* .azure-pipelines/ .azuredevops/ .travis.yml .travis.yaml .drone.* \
        bitbucket-pipelines.y* .woodpecker* .buildkite/ .ci/ .forgejo/ .gitea/ .teamcity/ .semaphore/ .appveyor.yml \
        appveyor.yml .cirrus.* cloudbuild.* buildspec.* codefresh.y* .builds/ .build.yml .goreleaser.y* netlify.toml \
        vercel.json .dagger/"),
    // hooks
    (HOOK, ".husky/ .huskyrc* .githooks/ .git-hooks/ .hooks/ .github/hooks/ .pre-commit-config.y* .pre-commit-hooks.y* \
        lefthook.* .lefthook.* lefthook-local.* .lefthook-local.* .lefthook/ .lintstagedrc* lint-staged.config.* \
        .overcommit.y* .simple-git-hooks.* simple-git-hooks.* .czrc .cz.* .cz-config.* commitlint.config.* .commitlintrc* \
        .gitlint gitlint.ini .captainhook.json captainhook.json .ghooks* grumphp.y*"),
    // who reviews, merges and releases
    (REVIEW, "codeowners .mergify.y* .mergify/ .kodiak.toml .bors.toml bors.toml .pullapprove.y* .prow.y* owners owners_aliases \
        .github/settings.y* .github/rulesets/ .github/dependabot.y* dependabot.y* renovate.json* .renovaterc* \
        .github/renovate.json*"),
    (RELEASE, ".releaserc* release.config.* .release-it.* .semrelrc .release-please* release-please-config.json .changeset/ \
        .goreleaser* .auto-shipit* .autorc .autorelease* .bumpversion.* .bumpversion.toml .versionrc*"),
    // editors and what they start
    (EDITOR, ".vscode/ *.code-workspace .idea/ .run/ .fleet/ .zed/ .vs/ .nova/ .helix/ *.sublime-project .vim/ .nvim/ \
        .nvim.lua .nvimrc .exrc .vimrc _vimrc .lvimrc .gvimrc .dir-locals*.el .emacs* .devcontainer/ .devcontainer.json \
        devcontainer.json .gitpod* .replit .idx/ .gdbinit* .lldbinit* .kakrc .nanorc .editrc .atom/ .theia/ .lapce/ .spacemacs* \
        .projectile .yvimrc .ideavimrc"),
    // agents
    (AGENT, ".cursor* .cursor/ .claude* .claude/ claude.md claude.local.md agents.md agents.override.md agent.md gemini.md \
        qwen.md warp.md crush.md .codex/ .gemini/ .geminiignore .qwen/ .mcp.json mcp.json .mcp/ .aider* .windsurf* \
        .windsurf/ .continue* .continue/ .github/copilot* .github/instructions/ .github/prompts/ .github/chatmodes/ \
        .github/agents/ .github/skills/ .copilot/ .opencode* .opencode/ opencode.json* .crush* crush.json .cline* \
        .clinerules/ .roo* .roo/ .kilocode* .kilocode/ .kiro/ .junie/ .amazonq/ .augment* .augment/ .trae/ .goose* \
        .goose/ .agents/ .agent/ .factory/ .openhands/ .serena/ .rules .zencoder/"),
    // relay itself
    (RELAY, "relaycode.config.* relay.config.* relaycode.json .relay* .relay/ .relaycode/"),
    // secrets
    (SECRET, ".env* .env/ .netrc _netrc .pypirc .pgpass .git-credentials .ssh/ .aws/ .gnupg/ .kube/ .docker/ .htpasswd .vault* \
        .dockercfg"),
    // git and its kin
    (GIT, ".gitattributes .gitmodules .gitconfig .lfsconfig .hg/ .hgrc .hgsub .svn/ .jj/ .bzr/"),
    // A directory with a `HEAD` may be a repository of its own, whose configuration runs.
    (GIT, "head"),
    // tools that run or obey what they find
    (TOOL, ".npmrc .yarnrc* .yarn/ .pnp.* .pnpmfile.* pnpmfile.* bunfig.toml .cargo/config* rust-toolchain* .tool-versions \
        mise*.toml .mise* .mise/ .config/mise/ .rtx.toml .bazelrc *.bazelrc .bazeliskrc .bazelversion tools/bazel .mvn/ \
        gradlew* mvnw* gradle/wrapper/ gradle.properties .sbtopts .jvmopts sitecustomize.py usercustomize.py *.pth \
        .pythonrc* .condarc .irbrc .pryrc .bundle/ .rprofile .renviron .direnv/ devenv.nix"),
    (TOOL, ".pdbrc* .ghci .ghci.* .iex.exs .ocamlinit .erlang .guile .octaverc .juliarc.jl startup.jl .tclshrc .wishrc .psqlrc \
        .sqliterc .duckdbrc .my.cnf .myclirc .mongorc.js .mongoshrc.js .perldb .byebugrc .rdbgrc .debugrc .ipython/ .jupyter/ \
        jupyter_*_config.py ipython_config.py .sbtrc .sbt/ .ammonite/ .scalafix.conf profiles.clj .lein/ .clojure/ .sdkmanrc \
        .java-version .nvmrc .node-version .python-version .ruby-version .go-version .terraform-version .terraformrc \
        terraform.rc pip.conf pip.ini .pip/ uv.toml .gemrc .curlrc .wgetrc .screenrc .tmux.conf .latexmkrc latexmkrc .htaccess \
        .user.ini php.ini ansible.cfg .ansible.cfg .vagrantfile vagrantfile tiltfile .buckconfig* .watchmanconfig .ackrc .ctags \
        .ctags.d/ .xcode.env* .swiftpm/ .r10k.yaml .chef/ .kitchen* nuget.config"),
    (SHELL, ".bashrc .bash_* .profile .zshrc .zshenv .zprofile .zlogin .zlogout .xinitrc .xprofile .xsession* .pam_environment \
        .config/fish/ .autoenv* .inputrc .envrc .direnv/"),
];

/// What a command in a fence does not write, of the reasons above: what others run or obey later, outside of it. It may well
/// change what the project is built with.
pub(super) const FENCED_REASONS: &[&str] = &[HOOK, EDITOR, AGENT, RELAY, SHELL];

/// What a line of a shell does not write unasked: also what changes git and the tools that people use in the project.
pub(super) const ASKED_REASONS: &[&str] = &[HOOK, EDITOR, AGENT, RELAY, SHELL, GIT, TOOL];

/// The same within git's own directory: each can make git run something.
pub(super) const FENCED_IN_GIT: &[&str] =
    &["hooks", "config", "config.worktree", "commondir", "info/attributes"];

/// Guarded when a gate is configured: it reads them as code before anybody has looked.
#[rustfmt::skip]
pub const GATE_GUARDED: &[(&str, &str)] = &[
    (BUILD, "makefile makefile.* gnumakefile *.mk justfile .justfile *.just taskfile.* magefile.go earthfile dodo.py \
        fabfile.py build.rs cargo.toml clippy.toml .clippy.toml build.zig* setup.py setup.cfg conftest.py pyproject.toml \
        pytest.ini tox.ini noxfile.py mypy.ini .mypy.ini ruff.toml .ruff.toml .flake8 .pylintrc pylintrc manage.py"),
    (LOCK, "requirements*.txt pipfile*"),
    (BUILD, "tsconfig*.json jsconfig*.json deno.json* biome.json* .eslintrc* eslint.config.* eslint-*.js .eslintignore \
        .oxlintrc* tslint.json .prettierrc* prettier.config.* .stylelintrc* stylelint.config.* vite.config.* \
        vitest.config.* vitest.workspace.* vitest.setup.* webpack.config.* webpack.*.js rollup.config.* rspack.config.* \
        esbuild.config.* esbuild.*js jest.config.* jest.setup.* jest.preset.* playwright.config.* cypress.config.* \
        karma.conf.* .mocharc* ava.config.* babel.config.* .babelrc* .swcrc postcss.config.* tailwind.config.* \
        tsup.config.* next.config.* nuxt.config.* svelte.config.* astro.config.* metro.config.* angular.json turbo.json \
        nx.json lerna.json project.json pnpm-workspace.y* gruntfile* gulpfile* rakefile* *.rake gemfile* *.gemspec \
        .rubocop*.yml .rspec build.gradle* settings.gradle* *.gradle *.gradle.kts buildsrc/ pom.xml build.sbt build.xml \
        cmakelists.txt *.cmake cmakepresets.json meson.build meson_options.txt configure configure.ac sconstruct \
        build.bazel build workspace workspace.bazel module.bazel *.bzl go.mod go.work .golangci.* composer.json \
        phpunit.xml* phpstan* mix.exs dune-project package.swift *.csproj *.fsproj *.vbproj *.props *.targets *.sln \
        flake.nix shell.nix default.nix"),
    (BUILD, ".shellcheckrc .yamllint* .markdownlint* .hadolint.y* .ansible-lint* .tflint.hcl .sqlfluff .credo.exs .formatter.exs \
        .dialyzer* .hlint.y* .php-cs-fixer* psalm.xml* phpcs.xml* .phpcs.xml* .scalafmt.conf checkstyle.xml detekt.y* \
        .swiftlint.yml .swiftformat .clang-format .clang-tidy cpplint.cfg deny.toml rustfmt.toml .rustfmt.toml .cspell* \
        cspell.* knip.* .lintr .luacheckrc selene.toml stylua.toml .perlcriticrc .proselintrc .vale.ini .codespellrc .bandit \
        .coveragerc .isort.cfg pyrightconfig.json .pyre_configuration* ty.toml wdio.conf.* nightwatch.conf.* protractor.conf.* \
        .nycrc* .c8rc* .parcelrc .terserrc* .browserslistrc .size-limit* .dependency-cruiser* .syncpackrc* .taprc .remarkrc* \
        .htmlhintrc svgo.config.* .lighthouserc* .solhint* hardhat.config.* foundry.toml truffle-config.js .editorconfig-checker*"),
    (LOCK, "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock* cargo.lock poetry.lock uv.lock pdm.lock \
        go.sum composer.lock mix.lock flake.lock deno.lock node_modules/ .venv/ venv/ vendor/"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one_that_can_fit() {
        for (reason, patterns) in ALWAYS_GUARDED.iter().chain(GATE_GUARDED) {
            for pattern in patterns.split(' ') {
                let plain = pattern.trim_end_matches('/').split('/').all(|part| {
                    !part.is_empty() && part.matches('*').count() <= 1 && part == part.to_ascii_lowercase()
                });
                assert!(plain, "{pattern}");
            }
            assert!(!reason.is_empty());
        }
    }
}
