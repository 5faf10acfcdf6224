//! What is said of a change before anybody sees it: `-y`, `--allow` and `--diff`.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use relaycode_door::{AllowOption, Consent};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConsentArgs {
    /// Say yes to ordinary questions; not to what --allow names, and not to trust
    #[arg(short, long)]
    yes: bool,

    /// Say yes to these, too
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    allow: Vec<AllowArg>,

    /// Show the diff, too
    #[arg(long)]
    pub(crate) diff: bool,
}

impl ConsentArgs {
    pub(crate) fn to_consent(&self) -> Consent {
        Consent { yes: self.yes, allow: self.allow.iter().map(|allowed| allowed.0).collect() }
    }
}

/// What `--allow` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AllowArg(AllowOption);

impl ValueEnum for AllowArg {
    fn value_variants<'a>() -> &'a [AllowArg] {
        const ALL: [AllowArg; AllowOption::ALL.len()] = {
            let mut all = [AllowArg(AllowOption::Near); AllowOption::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = AllowArg(AllowOption::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.description()))
    }
}
