//! The list of guarded files, as data. Patterns are written in lower case; see [`super::pattern`].

/// Files of one kind.
pub(super) struct GuardPattern {
    pub(super) pattern: &'static str,
    /// Goes after the file's name: "runs in CI".
    pub(super) reason: &'static str,
}

const fn entry(pattern: &'static str, why: &'static str) -> GuardPattern {
    GuardPattern { pattern, reason: why }
}

const CI: &str = "runs in CI";
const HOOK: &str = "is a git hook";
const EDITOR: &str = "is read by the editor, which may run it";
const AGENT: &str = "instructs agents";
const RELAY: &str = "configures relay";
const SECRET: &str = "may hold secrets";
const GIT: &str = "changes what git does";
const TOOL: &str = "is run by a tool when it starts";
const SHELL: &str = "is run by the shell";
const BUILD: &str = "is run by the gate";
const LOCK: &str = "decides what code the gate runs";

/// Guarded in every project.
#[rustfmt::skip]
pub(super) const ALWAYS_GUARDED: &[GuardPattern] = &[
    // CI
    entry(".github/workflows/", CI), entry(".github/actions/", CI), entry(".github/scripts/", CI),
    entry(".gitlab-ci*", CI), entry(".gitlab/ci/", CI), entry(".gitlab/agents/", CI), entry(".circleci/", CI),
    entry("jenkinsfile*", CI), entry(".jenkins/", CI), entry("azure-pipelines*", CI), entry(".azure-pipelines/", CI),
    entry(".azuredevops/", CI), entry(".travis.yml", CI), entry(".travis.yaml", CI), entry(".drone.*", CI),
    entry("bitbucket-pipelines.y*", CI), entry(".woodpecker*", CI), entry(".buildkite/", CI), entry(".ci/", CI),
    entry(".forgejo/", CI), entry(".gitea/", CI), entry(".teamcity/", CI), entry(".semaphore/", CI),
    entry(".appveyor.yml", CI), entry("appveyor.yml", CI), entry(".cirrus.*", CI), entry("cloudbuild.*", CI),
    entry("buildspec.*", CI), entry("codefresh.y*", CI), entry(".builds/", CI), entry(".build.yml", CI),
    entry(".goreleaser.y*", CI), entry("netlify.toml", CI), entry("vercel.json", CI), entry(".dagger/", CI),
    // hooks
    entry(".husky/", HOOK), entry(".huskyrc*", HOOK), entry(".githooks/", HOOK), entry(".git-hooks/", HOOK),
    entry(".hooks/", HOOK), entry(".github/hooks/", HOOK), entry(".pre-commit-config.y*", HOOK),
    entry(".pre-commit-hooks.y*", HOOK), entry("lefthook.*", HOOK), entry(".lefthook.*", HOOK), entry("lefthook-local.*", HOOK),
    entry(".lefthook-local.*", HOOK), entry(".lefthook/", HOOK), entry(".lintstagedrc*", HOOK), entry("lint-staged.config.*", HOOK),
    entry(".overcommit.y*", HOOK), entry(".simple-git-hooks.*", HOOK), entry("simple-git-hooks.*", HOOK), entry(".czrc", HOOK),
    // editors and what they start
    entry(".vscode/", EDITOR), entry("*.code-workspace", EDITOR), entry(".idea/", EDITOR), entry(".run/", EDITOR), entry(".fleet/", EDITOR),
    entry(".zed/", EDITOR), entry(".vs/", EDITOR), entry(".nova/", EDITOR), entry(".helix/", EDITOR), entry("*.sublime-project", EDITOR),
    entry(".vim/", EDITOR), entry(".nvim/", EDITOR), entry(".nvim.lua", EDITOR), entry(".nvimrc", EDITOR), entry(".exrc", EDITOR),
    entry(".vimrc", EDITOR), entry("_vimrc", EDITOR), entry(".lvimrc", EDITOR), entry(".gvimrc", EDITOR), entry(".dir-locals*.el", EDITOR),
    entry(".emacs*", EDITOR), entry(".devcontainer/", EDITOR), entry(".devcontainer.json", EDITOR), entry("devcontainer.json", EDITOR),
    entry(".gitpod*", EDITOR), entry(".replit", EDITOR), entry(".idx/", EDITOR), entry(".gdbinit", EDITOR), entry(".lldbinit", EDITOR),
    // agents
    entry(".cursor*", AGENT), entry(".cursor/", AGENT), entry(".claude*", AGENT), entry(".claude/", AGENT), entry("claude.md", AGENT),
    entry("claude.local.md", AGENT), entry("agents.md", AGENT), entry("agents.override.md", AGENT), entry("agent.md", AGENT),
    entry("gemini.md", AGENT), entry("qwen.md", AGENT), entry("warp.md", AGENT), entry("crush.md", AGENT), entry(".codex/", AGENT),
    entry(".gemini/", AGENT), entry(".geminiignore", AGENT), entry(".qwen/", AGENT), entry(".mcp.json", AGENT), entry("mcp.json", AGENT), entry(".mcp/", AGENT),
    entry(".aider*", AGENT), entry(".windsurf*", AGENT), entry(".windsurf/", AGENT), entry(".continue*", AGENT), entry(".continue/", AGENT),
    entry(".github/copilot*", AGENT), entry(".github/instructions/", AGENT), entry(".github/prompts/", AGENT),
    entry(".github/chatmodes/", AGENT), entry(".github/agents/", AGENT), entry(".github/skills/", AGENT), entry(".copilot/", AGENT),
    entry(".opencode*", AGENT), entry(".opencode/", AGENT), entry("opencode.json*", AGENT), entry(".crush*", AGENT), entry("crush.json", AGENT),
    entry(".cline*", AGENT), entry(".clinerules/", AGENT), entry(".roo*", AGENT), entry(".roo/", AGENT), entry(".kilocode*", AGENT), entry(".kilocode/", AGENT),
    entry(".kiro/", AGENT), entry(".junie/", AGENT), entry(".amazonq/", AGENT), entry(".augment*", AGENT), entry(".augment/", AGENT),
    entry(".trae/", AGENT), entry(".goose*", AGENT), entry(".goose/", AGENT), entry(".agents/", AGENT), entry(".agent/", AGENT),
    entry(".factory/", AGENT), entry(".openhands/", AGENT), entry(".serena/", AGENT), entry(".rules", AGENT), entry(".zencoder/", AGENT),
    // relay itself
    entry("relaycode.config.*", RELAY), entry("relay.config.*", RELAY), entry("relaycode.json", RELAY), entry(".relay*", RELAY), entry(".relay/", RELAY),
    // secrets
    entry(".env*", SECRET), entry(".env/", SECRET), entry(".netrc", SECRET), entry("_netrc", SECRET), entry(".pypirc", SECRET), entry(".pgpass", SECRET),
    entry(".git-credentials", SECRET), entry(".ssh/", SECRET), entry(".aws/", SECRET), entry(".gnupg/", SECRET), entry(".kube/", SECRET),
    entry(".docker/", SECRET), entry(".htpasswd", SECRET), entry(".vault*", SECRET), entry(".dockercfg", SECRET),
    // git and its kin
    entry(".gitattributes", GIT), entry(".gitmodules", GIT), entry(".gitconfig", GIT), entry(".lfsconfig", GIT), entry(".hg/", GIT), entry(".hgrc", GIT),
    entry(".hgsub", GIT), entry(".svn/", GIT), entry(".jj/", GIT), entry(".bzr/", GIT),
    // A directory with a `HEAD` may be a repository of its own, whose configuration runs.
    entry("head", GIT),
    // tools that run or obey what they find
    entry(".npmrc", TOOL), entry(".yarnrc*", TOOL), entry(".yarn/", TOOL), entry(".pnp.*", TOOL), entry(".pnpmfile.*", TOOL), entry("pnpmfile.*", TOOL),
    entry("bunfig.toml", TOOL), entry(".cargo/config*", TOOL), entry("rust-toolchain*", TOOL), entry(".tool-versions", TOOL),
    entry("mise*.toml", TOOL), entry(".mise*", TOOL), entry(".mise/", TOOL), entry(".config/mise/", TOOL), entry(".rtx.toml", TOOL), entry(".bazelrc", TOOL),
    entry("*.bazelrc", TOOL), entry(".bazeliskrc", TOOL), entry(".bazelversion", TOOL), entry("tools/bazel", TOOL), entry(".mvn/", TOOL),
    entry("gradlew*", TOOL), entry("mvnw*", TOOL), entry("gradle/wrapper/", TOOL), entry("gradle.properties", TOOL), entry(".sbtopts", TOOL), entry(".jvmopts", TOOL),
    entry("sitecustomize.py", TOOL), entry("usercustomize.py", TOOL), entry("*.pth", TOOL), entry(".pythonrc*", TOOL), entry(".condarc", TOOL),
    entry(".irbrc", TOOL), entry(".pryrc", TOOL), entry(".bundle/", TOOL), entry(".rprofile", TOOL), entry(".renviron", TOOL), entry(".direnv/", TOOL), entry("devenv.nix", TOOL),
    entry(".bashrc", SHELL), entry(".bash_*", SHELL), entry(".profile", SHELL), entry(".zshrc", SHELL), entry(".zshenv", SHELL),
    entry(".zprofile", SHELL), entry(".zlogin", SHELL), entry(".config/fish/", SHELL), entry(".autoenv*", SHELL), entry(".inputrc", SHELL),
];

/// Guarded when a gate is configured: it reads them as code before anybody has looked.
#[rustfmt::skip]
pub(super) const GATE_GUARDED: &[GuardPattern] = &[
    entry("makefile", BUILD), entry("makefile.*", BUILD), entry("gnumakefile", BUILD), entry("*.mk", BUILD), entry("justfile", BUILD), entry(".justfile", BUILD), entry("*.just", BUILD),
    entry("taskfile.*", BUILD), entry("magefile.go", BUILD), entry("earthfile", BUILD), entry("dodo.py", BUILD), entry("fabfile.py", BUILD),
    entry("build.rs", BUILD), entry("cargo.toml", BUILD), entry("clippy.toml", BUILD), entry(".clippy.toml", BUILD), entry("build.zig*", BUILD),
    entry("setup.py", BUILD), entry("setup.cfg", BUILD), entry("conftest.py", BUILD), entry("pyproject.toml", BUILD), entry("pytest.ini", BUILD), entry("tox.ini", BUILD),
    entry("noxfile.py", BUILD), entry("mypy.ini", BUILD), entry(".mypy.ini", BUILD), entry("ruff.toml", BUILD), entry(".ruff.toml", BUILD), entry(".flake8", BUILD),
    entry(".pylintrc", BUILD), entry("pylintrc", BUILD), entry("manage.py", BUILD), entry("requirements*.txt", LOCK), entry("pipfile*", LOCK),
    entry("tsconfig*.json", BUILD), entry("jsconfig*.json", BUILD), entry("deno.json*", BUILD), entry("biome.json*", BUILD),
    entry(".eslintrc*", BUILD), entry("eslint.config.*", BUILD), entry("eslint-*.js", BUILD), entry(".eslintignore", BUILD), entry(".oxlintrc*", BUILD), entry("tslint.json", BUILD),
    entry(".prettierrc*", BUILD), entry("prettier.config.*", BUILD), entry(".stylelintrc*", BUILD), entry("stylelint.config.*", BUILD),
    entry("vite.config.*", BUILD), entry("vitest.config.*", BUILD), entry("vitest.workspace.*", BUILD), entry("vitest.setup.*", BUILD),
    entry("webpack.config.*", BUILD), entry("webpack.*.js", BUILD), entry("rollup.config.*", BUILD), entry("rspack.config.*", BUILD), entry("esbuild.config.*", BUILD), entry("esbuild.*js", BUILD),
    entry("jest.config.*", BUILD), entry("jest.setup.*", BUILD), entry("jest.preset.*", BUILD), entry("playwright.config.*", BUILD), entry("cypress.config.*", BUILD), entry("karma.conf.*", BUILD), entry(".mocharc*", BUILD), entry("ava.config.*", BUILD),
    entry("babel.config.*", BUILD), entry(".babelrc*", BUILD), entry(".swcrc", BUILD), entry("postcss.config.*", BUILD), entry("tailwind.config.*", BUILD), entry("tsup.config.*", BUILD),
    entry("next.config.*", BUILD), entry("nuxt.config.*", BUILD), entry("svelte.config.*", BUILD), entry("astro.config.*", BUILD), entry("metro.config.*", BUILD), entry("angular.json", BUILD),
    entry("turbo.json", BUILD), entry("nx.json", BUILD), entry("lerna.json", BUILD), entry("project.json", BUILD), entry("pnpm-workspace.y*", BUILD),
    entry("gruntfile*", BUILD), entry("gulpfile*", BUILD), entry("rakefile*", BUILD), entry("*.rake", BUILD), entry("gemfile*", BUILD), entry("*.gemspec", BUILD), entry(".rubocop*.yml", BUILD), entry(".rspec", BUILD),
    entry("build.gradle*", BUILD), entry("settings.gradle*", BUILD), entry("*.gradle", BUILD), entry("*.gradle.kts", BUILD), entry("buildsrc/", BUILD), entry("pom.xml", BUILD), entry("build.sbt", BUILD), entry("build.xml", BUILD),
    entry("cmakelists.txt", BUILD), entry("*.cmake", BUILD), entry("cmakepresets.json", BUILD), entry("meson.build", BUILD), entry("meson_options.txt", BUILD), entry("configure", BUILD), entry("configure.ac", BUILD), entry("sconstruct", BUILD),
    entry("build.bazel", BUILD), entry("build", BUILD), entry("workspace", BUILD), entry("workspace.bazel", BUILD), entry("module.bazel", BUILD), entry("*.bzl", BUILD),
    entry("go.mod", BUILD), entry("go.work", BUILD), entry(".golangci.*", BUILD), entry("composer.json", BUILD), entry("phpunit.xml*", BUILD), entry("phpstan*", BUILD), entry("mix.exs", BUILD), entry("dune-project", BUILD),
    entry("package.swift", BUILD), entry("*.csproj", BUILD), entry("*.fsproj", BUILD), entry("*.vbproj", BUILD), entry("*.props", BUILD), entry("*.targets", BUILD), entry("*.sln", BUILD), entry("flake.nix", BUILD), entry("shell.nix", BUILD), entry("default.nix", BUILD),
    entry("package-lock.json", LOCK), entry("npm-shrinkwrap.json", LOCK), entry("yarn.lock", LOCK), entry("pnpm-lock.yaml", LOCK), entry("bun.lock*", LOCK),
    entry("cargo.lock", LOCK), entry("poetry.lock", LOCK), entry("uv.lock", LOCK), entry("pdm.lock", LOCK), entry("go.sum", LOCK), entry("composer.lock", LOCK), entry("mix.lock", LOCK), entry("flake.lock", LOCK), entry("deno.lock", LOCK),
    entry("node_modules/", LOCK), entry(".venv/", LOCK), entry("venv/", LOCK), entry("vendor/", LOCK),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one_that_can_fit() {
        for entry in ALWAYS_GUARDED.iter().chain(GATE_GUARDED) {
            let plain = entry.pattern.trim_end_matches('/').split('/').all(|part| {
                !part.is_empty() && part.matches('*').count() <= 1 && part == part.to_ascii_lowercase()
            });
            assert!(plain, "{}", entry.pattern);
            assert!(!entry.reason.is_empty());
        }
    }
}
