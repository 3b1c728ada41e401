//! The mistakes of someone who knows only the README, each with its output, and how many the compiler answers well.

use crate::case::Case;
use crate::page::headline;

/// The folder below `tests/ui`.
pub(crate) const TOPIC: &str = "newcomer";

pub(crate) const TITLE: &str = "Mistakes of a first day";

/// Whether the case has one error, and its underline touches what has to change.
pub(crate) fn well_answered(case: &Case) -> bool {
    case.printed.len() == 1 && case.touches()
}

/// The section: all cases, in full.
pub(crate) fn section(cases: &[&Case]) -> String {
    let well = cases.iter().filter(|case| well_answered(case)).count();
    let mut text = format!(
        "\n## {TITLE}\n\nWhat someone may write who has read the README and nothing else. \
         {well} of the {} give one error whose underline touches what has to change. What the others lack, and why, is said with them.\n",
        cases.len()
    );
    for case in cases {
        let title = case.printed.first().map(|error| headline(error)).unwrap_or_default();
        let Case { cause, mend, printed, .. } = case;
        text += &format!("\n### {title}\n\nCause: {cause}\\\nMend: {mend}\n");
        if let Some(why) = &case.missed {
            text += &format!("\nNot as it should be: {why}\n");
        }
        text += &format!("\n```text\n{}```\n", printed.join("\n"));
    }
    text
}
