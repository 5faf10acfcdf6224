//! Expectations that are not followed, each with its reason. They come from the test suites and logs of
//! other tools, and some of them record a bug of that tool or were damaged when they were collected. A rule
//! is preferred to a single case: it states what is wrong with the expectation and holds for other rows of
//! the same kind.
//!
//! A refusal needs no entry here: it is never wrong, only counted.

/// What a rule may use.
pub(crate) struct Facts<'a> {
    /// The case's id.
    pub id: &'a str,
    /// The patch or response of the case.
    pub request: &'a str,
    /// What the request must contain for its expectation to make sense.
    pub needs: Option<&'a str>,
    /// If it expects one.
    pub expected: Option<&'a str>,
    /// The resulting bytes, if any.
    pub got: Option<&'a [u8]>,
}

struct Rule {
    reason: &'static str,
    applies: fn(&Facts<'_>) -> bool,
}

/// A case by a part of its id: several suites hold copies of the same test.
struct Single {
    id_part: &'static str,
    reason: &'static str,
}

impl Facts<'_> {
    /// Whether the subject of the case was lost when it was collected: it cannot be judged.
    pub(crate) fn are_lost(&self) -> bool {
        let evaluated = |text: &str| text.contains("__stand(");
        self.needs.is_some_and(|needed| !self.request.contains(needed))
            // The collector ran part of the test's source instead of quoting it.
            || evaluated(self.request)
            || self.expected.is_some_and(evaluated)
    }
}

/// Whether `got` differs from `expected` only in the final newline, which other tools strip or add, while
/// relay keeps the file's own and ends new files with one.
pub(crate) fn only_final_newline(before: Option<&str>, expected: &str, got: &[u8]) -> bool {
    let expected = expected.as_bytes();
    let alike = got.strip_suffix(b"\n") == Some(expected) || expected.strip_suffix(b"\n") == Some(got);
    let kept = before
        .filter(|before| !before.is_empty())
        .is_none_or(|before| before.ends_with('\n') == got.ends_with(b"\n"));
    alike && kept
}

const RULES: &[Rule] = &[Rule {
    reason: "line endings: the patch mixes them, relay keeps those of the file line by line",
    applies: |facts| match (facts.expected, facts.got) {
        (Some(expected), Some(got)) => {
            let got = String::from_utf8_lossy(got);
            mixes_endings(facts.request) && got.replace("\r\n", "\n") == expected.replace("\r\n", "\n")
        }
        _ => false,
    },
}];

const SINGLES: &[Single] = &[Single {
    id_part: "should handle mixed indentation styles in the same file",
    reason: "wrong indentation: the other tool writes it over a line that the edit leaves alone",
}];

/// The reviewed reason why this case's expectation is not followed, if there is one.
pub(crate) fn reason(facts: &Facts<'_>) -> Option<&'static str> {
    RULES.iter().find(|rule| (rule.applies)(facts)).map(|rule| rule.reason).or_else(|| {
        SINGLES.iter().find(|single| facts.id.contains(single.id_part)).map(|single| single.reason)
    })
}

fn mixes_endings(text: &str) -> bool {
    let returns = text.matches("\r\n").count();
    returns > 0 && returns < text.matches('\n').count()
}
