//! The sentences that say what the answer is, as a table: `My final answer is RED.`
//!
//! A sentence is one of these from its beginning to its end, or to the reason that it gives, or it concludes nothing:
//! prose that denies, doubts, quotes or weighs a name is none of them.

use super::mention::Name;
use super::sentence::{Sentence, Word};

/// Where a form decides. Elsewhere it only counts against another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// In every sentence.
    Anywhere,
    /// In every sentence that begins behind the end of another one.
    Sentence,
    /// There, if the name is no word in small letters with more behind it: `The answer is simple. It is ..`.
    Written,
    /// Likewise, in the first sentence, or in the last one behind `So` or the like: what `it` is is open elsewhere.
    Subject,
    /// In the first sentence, or the last one on a line of its own.
    Alone,
}

/// The forms. `a|b` is one of these words, `a?` may be absent, capitals are a list of words below.
const FORMS: [(Where, &str); 13] = [
    (Where::Alone, "NAME"),
    (Where::Anywhere, "the|my? most? GOOD? ANSWER|LABEL : NAME"),
    (Where::Written, "the|my? most? GOOD? ANSWER is|would|should be? :? NAME"),
    (Where::Written, "the|my? most? GOOD? ANSWER to|for the|this|your question|TEXT is :? NAME"),
    (Where::Sentence, "the|my? most? GOOD? LABEL is :? NAME"),
    (Where::Sentence, "the|my? most? GOOD? LABEL of|for the|this|your TEXT is :? NAME"),
    (Where::Subject, "it|this|that is|would be? NAME"),
    (Where::Written, "i would|will|am? CHOOSE|going with? NAME"),
    (Where::Written, "i would|will? CLASSIFY it|this|the TEXT? as? NAME"),
    (Where::Written, "NAME is|would|seems|looks be|like|to? be? the|my most? GOOD ONE|ANSWER|LABEL?"),
    (Where::Written, "NAME is|would|seems be? the|my ANSWER"),
    (Where::Written, "NAME is one of the GOOD ONES"),
    (Where::Written, "the|my WORD QUOTED is the GOOD ONE|ANSWER|LABEL"),
];
/// What may stand before a form. Behind what concludes, `it` and a name alone are meant in the last sentence, too.
const LEADS: [(bool, &str); 5] = [
    (false, "sure|certainly|ok|okay|well ,?"),
    (true, "so|therefore|thus|hence|overall ,?"),
    (true, "in conclusion|short|summary ,?"),
    (true, "based on the|this|your given|provided|above? TEXT given|provided|above? ,"),
    (true, "i would|will? say|think|believe|conclude that?"),
];
const GOOD: &str = "final overall correct right best appropriate suitable fitting accurate likely";
const ANSWER: &str =
    "answer result output choice pick decision conclusion verdict prediction recommendation judgment value";
const LABEL: &str = "category class classification label rating sentiment";
const ONE: &str = "one option fit match";
const ONES: &str = "ones answers choices options picks fits matches categories classes labels values";
const TEXT: &str = "text review message email statement sentence comment ticket document question input image \
    description information context analysis";
const CHOOSE: &str = "say think choose pick select recommend suggest advise go answer";
const CLASSIFY: &str = "classify label rate categorize categorise mark tag";
/// How a reason begins, and how an explanation does.
const REASON: &str = "because since given due";
const EXPLAINS: &str = "because since given due the this that these those it they there a an";
/// What takes back what was said, in its own sentence or at the beginning of a later one.
const TURNS: &str = "but however actually though although except unless otherwise if wait yet instead rather \
    kidding joking sorry correction scratch strike ignore oops alternatively maybe perhaps or and plus let hold \
    hmm second again changed take mistake aber mais pero sino doch";
/// What denies. A name that is such a word is not denied by another one: `No. It is not spam.`
const DENIALS: &str = "not no never none nobody nothing nope neither nor cannot without hardly unlikely wrong \
    incorrect false untrue bad excluded rejected negative nicht nein kein pas non";
/// How many leads may follow one another, and how many words at the beginning of a later sentence may take back.
const MOST_LEADS: usize = 3;
const BEGINNING: usize = 2;
const SUBJECT_AND_VERB: usize = 4;

/// A name that a sentence says is the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conclusion<'s> {
    pub(super) name: &'s Name,
    /// The sentence.
    pub(super) at: usize,
    /// It does not merely count against another one.
    pub(super) decides: bool,
}

/// What the sentences conclude.
pub(super) fn all(sentences: &[Sentence]) -> Vec<Conclusion<'_>> {
    let mut found = Vec::new();
    let (mut first, mut asked) = (true, false);
    for (at, sentence) in sentences.iter().enumerate() {
        let stands = Stands { first, last: at + 1 == sentences.len(), asked };
        if let Some((name, decides)) = conclusion(sentence, stands) {
            found.push(Conclusion { name, at, decides });
        }
        first = first && is_lead(sentence);
        asked = sentence.asked;
    }
    found
}

/// The name that a sentence says is the answer, and whether that decides.
fn conclusion(sentence: &Sentence, stands: Stands) -> Option<(&Name, bool)> {
    let (mut words, mut concludes) = (sentence.words.as_slice(), false);
    for _ in 0..=MOST_LEADS {
        for (place, form) in FORMS {
            let Some((Some(name), rest)) = matched(form, words, None) else { continue };
            let alone = place == Where::Alone && stands.first;
            if !sentence.asked && is_reason(rest, name, alone, alone && stands.last) {
                let small = name.is_small(words.first().is_some_and(|word| word.name.is_some()));
                let only = stands.first && stands.last && rest.is_empty();
                let decides = stands.decides(place, sentence, concludes, small && !only);
                return Some((name, decides && !sentence.trails));
            }
        }
        let lead = |(leads, form): &(bool, &str)| Some((*leads, matched(form, words, None)?.1));
        let (leads, rest) = LEADS.iter().find_map(lead)?;
        (words, concludes) = (rest, concludes || leads);
    }
    None
}

/// Where a sentence stands in the text.
#[derive(Clone, Copy, Debug)]
struct Stands {
    first: bool,
    last: bool,
    /// Behind a question.
    asked: bool,
}

impl Stands {
    /// Whether a form decides here; `concludes`: behind a lead that does, `small`: its name looks like any other word.
    fn decides(self, place: Where, sentence: &Sentence, concludes: bool, small: bool) -> bool {
        let Stands { first, last, asked } = self;
        let whole = !sentence.loose;
        match place {
            Where::Anywhere => true,
            Where::Sentence => whole,
            Where::Written => whole && !small,
            Where::Subject => whole && !small && (first || (last && concludes)),
            Where::Alone => whole && (first || (last && (concludes || (sentence.begins_line && !asked)))),
        }
    }
}

/// Whether the sentences behind a conclusion leave it as it is.
pub(super) fn stands(later: &[Sentence], name: &Name) -> bool {
    let negative = is_negative(name);
    !later.iter().any(|sentence| {
        let words = || sentence.words.iter().map(|word| word.text.as_str());
        let subject = words().next().is_some_and(|word| within("i we it this that", word));
        let denied = words().take(if subject { SUBJECT_AND_VERB } else { 1 }).any(denies);
        words().take(BEGINNING).any(|word| within(TURNS, word)) || (denied && !negative)
    })
}

/// Whether a sentence that does not conclude speaks of the name and denies it, or something beside it.
pub(super) fn is_denied(sentence: &Sentence, name: &Name) -> bool {
    let mut words = sentence.words.iter();
    let speaks = words.clone().any(|word| word.name.as_ref().is_some_and(|one| one.index == name.index));
    speaks && !is_negative(name) && words.any(|word| denies(&word.text))
}

/// Whether what follows a form is nothing, or a reason that takes nothing back. A name `alone` may be explained, and
/// behind a comma only by what ends the text (`ends`): `True, ..` may admit something before it is denied.
fn is_reason(rest: &[Word], name: &Name, alone: bool, ends: bool) -> bool {
    let Some(first) = rest.first() else { return true };
    let second = rest.get(1);
    let begins = |words: &str, word: Option<&Word>| word.is_some_and(|word| within(words, &word.text));
    let reason = begins(REASON, Some(first))
        || (first.text == "," && begins(if ends { EXPLAINS } else { REASON }, second))
        || (within(": - – — ;", &first.text) && begins(EXPLAINS, second))
        || (alone && name.is_identifier() && first.capital && begins(EXPLAINS, Some(first)));
    let negative = is_negative(name);
    let turns = |word: &Word| within(TURNS, &word.text) || (!negative && denies(&word.text));
    reason && !rest.iter().any(turns)
}

fn denies(word: &str) -> bool {
    word.ends_with("n't") || within(DENIALS, word)
}

fn is_negative(name: &Name) -> bool {
    name.words().any(|word| denies(&word))
}

fn is_lead(sentence: &Sentence) -> bool {
    LEADS
        .iter()
        .any(|(_, form)| matched(form, &sentence.words, None).is_some_and(|(_, rest)| rest.is_empty()))
}

fn within(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// The name in the words that begin with this form, and the words behind it.
fn matched<'s>(
    form: &str,
    words: &'s [Word],
    name: Option<&'s Name>,
) -> Option<(Option<&'s Name>, &'s [Word])> {
    let (element, later) = form.split_once(' ').unwrap_or((form, ""));
    if element.is_empty() {
        return Some((name, words));
    }
    let (element, optional) = element.strip_suffix('?').map_or((element, false), |element| (element, true));
    if let Some((word, rest)) = words.split_first().filter(|(word, _)| is(element, word)) {
        let named = if matches!(element, "NAME" | "QUOTED") { word.name.as_ref() } else { name };
        if let Some(found) = matched(later, rest, named) {
            return Some(found);
        }
    }
    if optional { matched(later, words, name) } else { None }
}

/// Whether a word is what an element of a form asks for.
fn is(element: &str, word: &Word) -> bool {
    element.split('|').any(|one| match one {
        "NAME" => word.name.is_some(),
        "QUOTED" => word.name.as_ref().is_some_and(|name| name.marked),
        "WORD" => word.text.chars().all(char::is_alphabetic),
        "GOOD" => within(GOOD, &word.text),
        "ANSWER" => within(ANSWER, &word.text),
        "LABEL" => within(LABEL, &word.text),
        "ONE" => within(ONE, &word.text),
        "ONES" => within(ONES, &word.text),
        "TEXT" => within(TEXT, &word.text),
        "CHOOSE" => within(CHOOSE, &word.text),
        "CLASSIFY" => within(CLASSIFY, &word.text),
        one => one == word.text,
    })
}
