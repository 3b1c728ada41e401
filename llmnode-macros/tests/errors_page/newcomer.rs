//! The mistakes of a first day in a table, and how many of them the compiler answers well.

use crate::caret::Answer;
use crate::case::Case;
use crate::entry::{self, Entry};
use crate::shown::title;

pub(crate) const TITLE: &str = "Mistakes of a first day";

/// What people wrote who knew the README alone, before anything was compiled, and what else comes to mind; with the words
/// of the page.
pub(crate) const SETS: [(&str, &str); 3] = [
    ("newcomer", "mistakes that a newcomer made who had read the README and nothing else"),
    (
        "newcomer_second",
        "mistakes that another newcomer made in the same way, with what should be underlined written down beforehand and taken \
         for what the mend changes (19 were answered so then)",
    ),
    ("habits", "further ones, of habits from elsewhere"),
];

/// The folders of the sets.
pub(crate) const FOLDERS: [&str; 3] = [SETS[0].0, SETS[1].0, SETS[2].0];

/// Whether a folder has mistakes of a first day.
pub(crate) fn is_mistake(folder: &str) -> bool {
    FOLDERS.contains(&folder)
}

/// The section: a table of each kind, whose messages are the entries of other sections.
pub(crate) fn section(cases: &[Case], entries: &[Entry<'_>]) -> String {
    let tables = SETS.map(|(topic, what)| table(cases, entries, topic, what));
    format!(
        "\n## {TITLE}\n\nAn answer is good if it is one error that reaches what the mend changes. What counts as reaching it: a mark \
         `^^^` that touches it, in the program or in the line of the prompt that the message itself shows; or, where rustc underlines a \
         whole prompt and draws nothing in it, the line and the column in the message's words; or a mark in the help that belongs to the \
         error. The underline of a whole prompt alone does not count. Where what changes is a matter of judgement, the last column says \
         why it counts.\n\n{}",
        tables.join("\n")
    )
}

/// How many of a set's mistakes are answered by a mark, in words, in a help, and by judgement.
pub(crate) fn counts(cases: &[Case], topic: &str) -> [usize; 4] {
    let answers: Vec<_> = cases.iter().filter(|case| case.topic == topic).filter_map(Case::answer).collect();
    [Answer::Marked, Answer::InWords, Answer::Helped, Answer::Judged]
        .map(|kind| answers.iter().filter(|answer| **answer == kind).count())
}

fn table(cases: &[Case], entries: &[Entry<'_>], topic: &str, what: &str) -> String {
    let [marked, in_words, helped, judged] = counts(cases, topic);
    let cases: Vec<_> = cases.iter().filter(|case| case.topic == topic).collect();
    let well = marked + in_words + helped + judged;
    let mut text = format!("Of {} {what}, {well} are answered so", cases.len());
    if well > marked {
        let ways = [
            (marked, "by a mark"),
            (in_words, "by line and column in words"),
            (helped, "in the help"),
            (judged, "by judgement"),
        ];
        let ways = ways.iter().filter(|(count, _)| *count > 0);
        let ways: Vec<_> = ways.map(|(count, way)| format!("{count} {way}")).collect();
        text += &format!(": {}", ways.join(", "));
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
    match (&case.missed, &case.judged, case.answer()) {
        (Some(why), ..) => format!("no: {why}"),
        (None, Some(why), _) => format!("yes: {why}"),
        (None, None, Some(Answer::Helped)) => "yes, in its help".to_owned(),
        (None, None, Some(Answer::InWords)) => "yes, in words".to_owned(),
        (None, None, _) => "yes".to_owned(),
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
