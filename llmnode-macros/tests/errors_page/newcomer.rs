//! The mistakes of a first day in a table, and how many of them the compiler answers well.

use crate::case::Case;
use crate::entry::{self, Entry};
use crate::shown::title;

pub(crate) const TITLE: &str = "Mistakes of a first day";

/// What someone wrote who knew the README alone, before anything was compiled.
pub(crate) const BLIND: &str = "newcomer";

/// What else comes to mind.
pub(crate) const FURTHER: &str = "habits";

/// Whether a folder has mistakes of a first day.
pub(crate) fn is_mistake(folder: &str) -> bool {
    [BLIND, FURTHER].contains(&folder)
}

/// The section: a table of each kind, whose messages are the entries of other sections.
pub(crate) fn section(cases: &[Case], entries: &[Entry<'_>]) -> String {
    format!(
        "\n## {TITLE}\n\nAn answer is good if it is one error, and underlines what the mend changes, at its own place or in the help \
         that belongs to it. Where what changes is a matter of judgement, the last column says why it counts.\n\n{}\n{}",
        table(
            cases,
            entries,
            BLIND,
            "mistakes that a newcomer made who had read the README and nothing else"
        ),
        table(cases, entries, FURTHER, "further ones, of habits from elsewhere")
    )
}

fn table(cases: &[Case], entries: &[Entry<'_>], topic: &str, what: &str) -> String {
    let cases: Vec<_> = cases.iter().filter(|case| case.topic == topic).collect();
    let well = cases.iter().filter(|case| case.well_answered()).count();
    let helped = cases.iter().filter(|case| case.helped()).count();
    let judged = cases.iter().filter(|case| case.well_answered() && case.judged.is_some()).count();
    let mut text = format!("Of {} {what}, {well} are answered so", cases.len());
    if helped + judged > 0 {
        text += &format!(
            ": {} at the error's own place, {helped} in its help, {judged} by judgement",
            well - helped - judged
        );
    }
    text += ".\n\n";
    text += "| mistake | message | underlined | mend | good |\n|---|---|---|---|---|\n";
    for case in cases {
        let message = case.printed.first().map(|error| title(error)).unwrap_or_default();
        let link = entry::of(entries, case).map(|entry| &*entry.anchor).unwrap_or_default();
        let underlined = case.underlined().map(|code| short(&code)).unwrap_or_default();
        let verdict = verdict(case);
        let cells = [&case.cause, &format!("[{message}](#{link})"), &underlined, &case.mend, &verdict];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

/// Whether the answer is good, and what is to be said of that.
fn verdict(case: &Case) -> String {
    match (&case.missed, &case.judged) {
        (Some(why), _) => format!("no: {why}"),
        (None, Some(why)) => format!("yes: {why}"),
        (None, None) if case.helped() => "yes, in its help".to_owned(),
        (None, None) => "yes".to_owned(),
    }
}

/// The code in backticks, its middle left out where it is long.
fn short(code: &str) -> String {
    let chars: Vec<char> = code.chars().collect();
    let code = match chars.len() {
        0..=40 => code.to_owned(),
        length => {
            let [begin, end] =
                [&chars[..18], &chars[length - 18..]].map(|part| part.iter().collect::<String>());
            format!("{begin}…{end}")
        }
    };
    if code.contains('`') { format!("`` {code} ``") } else { format!("`{code}`") }
}
