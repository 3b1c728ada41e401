//! What around a name in a sentence denies it, doubts it or takes it back: `I doubt that it is RED.`
//!
//! Words before a name count in its whole sentence, since a denial may stand far from what it denies; behind it, only
//! those close to it, since what follows is mostly the reason: `Negative: they did not like it.`

/// How many characters before a mention are looked at.
const BEFORE: usize = 400;
/// How many words behind a mention, in the same part of the sentence, may deny it.
const BEHIND: usize = 4;
/// How many words of a later part or sentence may take it back.
const BEGINNING: usize = 2;
/// How many later sentences and parts are looked at.
const LATER: usize = 16;
/// What denies or doubts a name, or puts another one beside it, in the languages that models mostly write.
const DENIALS: &str = "\
    not no never cannot without neither nor except excluding exclude than instead rather non \
    hardly against avoid avoiding or either unlike dont isnt cant wont doesnt wrong incorrect \
    false unlikely impossible versus vs nicht kein keine oder weder pas jamais ou nunca ni não \
    niet geen nessuno doubt doubts doubtful far mistake misleading mislead wish whether if \
    unless could might may possibly almost nearly half opposite contrary anything everything \
    refuse refuses few little less nobody nothing none nowhere rarely seldom scarcely barely \
    fail fails failed failing lack lacks lacking missing assuming suppose supposing supposedly \
    option options unable hesitate premature too decline declined wanted wants previously \
    formerly once used until before disagree excluded excludes rule ruled below under above \
    beyond between exceeds unclear untrue mustn mustnt shouldn shouldnt wouldnt couldnt arent \
    wasnt werent didnt hasnt havent aint stop stops stopped ceased denies deny denied refuted \
    absurd nein aucun aucune sin sino sauf außer nessuna nulla niente";
/// What takes back, at the beginning of a later sentence or part of one, what was said.
const REVERSALS: &str = "but however actually kidding wait though although except unless contrary otherwise correction \
    scratch sorry yet then aber doch mais pero";
/// Signs that cross a name out, before or behind it.
pub(super) const CROSSES: [char; 11] = ['✗', '✘', '✖', '✕', '❌', '❎', '🚫', '⛔', '≠', '☐', '×'];

/// Whether a name between these texts is denied.
pub(super) fn denies(before: &[char], behind: &[char]) -> bool {
    let start = before.len().saturating_sub(BEFORE);
    let sentence: Vec<char> =
        before.iter().skip(start).rev().take_while(|c| !ends_sentence(**c)).copied().collect();
    if words(sentence.iter().rev()).iter().any(|word| is_denial(word)) || is_crossed_out(before, behind) {
        return true;
    }
    let next = words(behind.iter().take_while(|c| !ends_part(**c)).take(BEFORE));
    next.iter().take(BEHIND).any(|word| is_denial(word)) || is_taken_back(behind)
}

/// Whether a later part of the sentence begins with a denial, or anything later with a reversal.
fn is_taken_back(behind: &[char]) -> bool {
    let own = behind.iter().position(|c| ends_sentence(*c)).unwrap_or(behind.len());
    let (own, later) = behind.split_at(own);
    let reverses = |part: &[char]| {
        let words = words(part.iter().take(BEFORE));
        words.iter().take(BEGINNING).any(|word| REVERSALS.split_whitespace().any(|one| one == word))
    };
    let parts = || own.split(|c| ends_part(*c)).skip(1).take(LATER);
    let denied =
        parts().any(|part| words(part.iter().take(BEFORE)).first().is_some_and(|word| is_denial(word)));
    denied || parts().any(reverses) || later.split(|c| ends_sentence(*c)).take(LATER).any(reverses)
}

fn is_crossed_out(before: &[char], behind: &[char]) -> bool {
    let nearest = |c: &&char| !matches!(c, ' ' | '*' | '`' | '"' | '\u{fe0f}');
    let mut left = before.iter().rev().filter(nearest);
    let (last, last_but_one) = (left.next(), left.next());
    let crosses = |c: Option<&char>| c.is_some_and(|c| CROSSES.contains(c));
    crosses(last) || crosses(behind.iter().find(nearest)) || (last, last_but_one) == (Some(&']'), Some(&'['))
}

fn is_denial(word: &str) -> bool {
    word.ends_with("n't") || DENIALS.split_whitespace().any(|one| one == word)
}

pub(super) fn ends_part(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\n' | '\r' | '(' | ')' | '—' | '\\')
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\n' | '\r' | '\\')
}

/// The words of a text, in lower case.
pub(super) fn words<'t>(text: impl Iterator<Item = &'t char>) -> Vec<String> {
    let text: String = text.collect();
    let words = text
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
        .filter(|word| !word.is_empty());
    words.map(|word| word.to_lowercase().replace('’', "'").trim_matches('\'').to_owned()).collect()
}
