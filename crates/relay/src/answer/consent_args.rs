//! What is said of a change before anybody sees it: `-y`, `--allow` and `--diff`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use relaycode_door::{ApprovalRule, Consent, rules};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConsentArgs {
    /// Say yes to ordinary questions; not to what --allow names, and not to trust
    #[arg(short, long)]
    yes: bool,

    /// Say yes to these, too
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = allow_parser())]
    allow: Vec<&'static str>,

    /// Show the diff, too
    #[arg(long)]
    pub(crate) diff: bool,
}

impl ConsentArgs {
    pub(crate) fn to_consent(&self) -> Consent {
        Consent { yes: self.yes, allow: self.allow.clone() }
    }
}

/// The names of the rules that `--allow` takes, with what each is about.
fn allow_parser() -> impl TypedValueParser<Value = &'static str> {
    // Of those only an undo asks: it is taken, and not offered.
    let elsewhere = rules::foreign::ForeignChangeRule.text().name;
    let names = rules::allowable()
        .map(|rule| PossibleValue::new(rule.name).help(rule.description).hide(rule.name == elsewhere));
    PossibleValuesParser::new(names).try_map(|given| {
        let rule = rules::allowable().find(|rule| rule.name == given);
        rule.map(|rule| rule.name).ok_or_else(|| format!("there is no rule `{given}`"))
    })
}
