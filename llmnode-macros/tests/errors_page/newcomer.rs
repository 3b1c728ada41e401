//! How many mistakes of newcomers the compiler answers well.

use crate::caret::Answer;
use crate::case::Case;

/// What people wrote who knew the README alone, before anything was compiled, and what else comes to mind.
const FOLDERS: [&str; 5] = ["newcomer", "newcomer_second", "newcomer_third", "newcomer_fourth", "habits"];

/// Whether a folder has mistakes of a first day.
pub(crate) fn is_mistake(folder: &str) -> bool {
    FOLDERS.contains(&folder)
}

/// How many of a set's mistakes are answered by a mark, in words, in a help, and by judgement.
pub(crate) fn counts(cases: &[Case], topic: &str) -> [usize; 4] {
    let answers: Vec<_> = cases.iter().filter(|case| case.topic == topic).filter_map(Case::answer).collect();
    [Answer::Marked, Answer::InWords, Answer::Helped, Answer::Judged]
        .map(|kind| answers.iter().filter(|answer| **answer == kind).count())
}
