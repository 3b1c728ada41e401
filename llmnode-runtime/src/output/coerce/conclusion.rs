//! The sentences that say what the answer is, as a table: `My final answer is RED.`
//!
//! A sentence is one of these from its beginning to its end, or to the reason that it gives, or it concludes nothing:
//! prose that denies, doubts, quotes or weighs a name is none of them.

use super::mention::Name;
use super::sentence::{Sentence, Word};

/// Where a form decides. Elsewhere it only counts against another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// In every sentence that begins behind the end of another one, or on a line behind one like it.
    Anywhere,
    /// Only behind the end of another one.
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
const ANSWER: &str = "answer result output choice option pick decision conclusion verdict prediction \
    recommendation judgment value";
const LABEL: &str = "category class classification label rating sentiment";
const ONE: &str = "one fit match";
const ONES: &str = "ones answers choices options picks fits matches categories classes labels values";
const TEXT: &str = "text review message email statement sentence comment ticket document question input image \
    description information context analysis";
/// Words that head what follows, and with it are no answer even where they are names: `Error: the text is empty.`
const HEADS: &str = "error warning info note notice hint tip summary title reason explanation example task";
const CHOOSE: &str = "say think choose pick select recommend suggest advise go answer";
const CLASSIFY: &str = "classify label rate categorize categorise mark tag";
/// How a reason begins; how an explanation does, behind a colon or dash; and behind a comma, where the name may have
/// been a mere `yes`.
const REASON: &str = "because since due";
const EXPLAINS: &str = "because since due the this that these those it they there a an";
const EXPLAINS_MORE: &str = "because since due the it";
/// How one speaks who did not answer, but greet, ask or promise: `Yes. I can help you.`
const CHATS: &str = "i we you please let can could what which how who";
/// What takes back what was said, in its own sentence or at the beginning of a later one.
const TURNS: &str = "but however actually though although except unless otherwise if wait yet instead rather still \
    nevertheless nonetheless kidding joking jk just sorry unfortunately alas correction scratch strike ignore oops \
    alternatively whatever then later next maybe perhaps probably guess suppose unsure depends hard or and plus let hold hang oh hmm on second again opposite contrary reverse \
    said changed take mistake reality truth fact edit update aber mais pero sino doch";
/// What denies. A name that is such a word is not denied by another one: `No. It is not spam.`
const DENIALS: &str = "not no never none nobody nothing nope neither nor cannot without hardly unlikely wrong \
    incorrect false untrue bad nah excluded rejected negative nicht nein kein pas non";
/// How many leads may follow one another, and how many words at the beginning of a later sentence may take back.
const MOST_LEADS: usize = 3;
const BEGINNING: usize = 3;

/// A name that a sentence says is the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conclusion<'s> {
    pub(super) name: &'s Name,
    /// What is said is a name and hardly more, or that `it` is this.
    pub(super) short: bool,
    /// It does not merely count against another one.
    pub(super) decides: bool,
}

/// What the sentences conclude, each.
pub(super) fn conclusions(sentences: &[Sentence]) -> Vec<Option<Conclusion<'_>>> {
    let mut found = Vec::new();
    let mut first = true;
    let mut before = &Sentence::default();
    for (at, sentence) in sentences.iter().enumerate() {
        let stands = Stands {
            first,
            last: at + 1 == sentences.len(),
            asked: before.asked,
            labelled: before.words.iter().any(|word| word.text == ":"),
        };
        found.push(conclusion(sentence, stands));
        first = first && is_lead(sentence);
        before = sentence;
    }
    found
}

/// What a sentence concludes.
fn conclusion(sentence: &Sentence, stands: Stands) -> Option<Conclusion<'_>> {
    let (mut words, mut concludes) = (sentence.words.as_slice(), false);
    for _ in 0..=MOST_LEADS {
        for (place, form) in FORMS {
            let Some((Some(name), rest)) = matched(form, words, None) else { continue };
            let behind =
                sentence.words.len().checked_sub(words.len() + 1).and_then(|at| sentence.words.get(at));
            // `So true!` is an exclamation.
            let exclaims = behind.is_some_and(|word| !within(", :", &word.text));
            if place == Where::Alone && (exclaims || heads(name)) {
                continue;
            }
            let alone = place == Where::Alone && stands.first;
            if !sentence.asked && is_reason(rest, name, alone, alone && stands.last) {
                let small = name.is_small(words.first().is_some_and(|word| word.name.is_some()));
                let only = stands.first && stands.last && rest.is_empty();
                let decides = stands.decides(place, sentence, concludes, small && !only);
                let short = matches!(place, Where::Alone | Where::Subject);
                return Some(Conclusion { name, short, decides: decides && !sentence.trails });
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
    /// Behind a line like `Reason: ..`.
    labelled: bool,
}

impl Stands {
    /// Whether a form decides here; `concludes`: behind a lead that does, `small`: its name looks like any other word.
    fn decides(self, place: Where, sentence: &Sentence, concludes: bool, small: bool) -> bool {
        let Stands { first, last, asked, labelled } = self;
        let whole = !sentence.loose;
        match place {
            Where::Anywhere => whole || labelled,
            Where::Sentence => whole,
            Where::Written => whole && !small,
            Where::Subject => whole && !small && (first || (last && concludes)),
            Where::Alone => whole && (first || (last && (concludes || (sentence.begins_line && !asked)))),
        }
    }
}

/// Whether a sentence behind a conclusion leaves it as it is. One that begins to say what the answer is, and concludes
/// nothing, names something else.
pub(super) fn leaves(later: &Sentence, concludes: bool, decided: &Conclusion<'_>) -> bool {
    let words = || later.words.iter().map(|word| word.text.as_str());
    let begins = |list: &str| words().next().is_some_and(|word| within(list, word));
    let speaks_of_it = begins("i we you it this that");
    // What explains a `yes` and denies may as well be the answer: `Yes. The text does not say so.`
    let affirms = decided.name.words().all(|word| within("yes true", &word));
    let denied = words().take(if speaks_of_it || affirms { usize::MAX } else { 1 }).any(denies);
    // `Yes. Understood.` explains nothing, `A. Paris` does.
    let greets = begins(CHATS) || (words().count() < 3 && !decided.name.is_letter());
    let explains = concludes || !(opens(later) || (decided.short && greets));
    let turns = words().take(BEGINNING).any(|word| within(TURNS, word));
    explains && !later.asked && !turns && (!denied || is_negative(decided.name))
}

/// Whether a sentence begins to say what the answer is.
fn opens(sentence: &Sentence) -> bool {
    let names = |(place, form): &(Where, &'static str)| {
        form.strip_suffix(" NAME").filter(|_| *place != Where::Subject)
    };
    FORMS.iter().filter_map(names).any(|form| matched(form, &sentence.words, None).is_some())
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
    // `A: ..` may be the answer to `Q: ..`, and `"Red", the user said` is a report.
    let letter = alone && name.is_letter();
    let admits = ends && !letter && !name.marked;
    let reason = begins(REASON, Some(first))
        || (first.text == "," && begins(if admits { EXPLAINS_MORE } else { REASON }, second))
        || (!letter && within(": - – — ;", &first.text) && begins(EXPLAINS, second))
        || (alone && name.is_identifier() && first.capital && begins(EXPLAINS, Some(first)));
    let negative = is_negative(name);
    let turns = |word: &Word| within(TURNS, &word.text) || (!negative && denies(&word.text));
    reason && !rest.iter().any(turns) && !names_another(rest, name)
}

/// Whether an explanation says that it is another name: `No, it is unknown.`
fn names_another(rest: &[Word], name: &Name) -> bool {
    let other = |from: usize| {
        FORMS.iter().filter(|(place, _)| *place != Where::Alone).any(|(_, form)| {
            matched(form, &rest[from..], None)
                .is_some_and(|(found, _)| found.is_some_and(|found| found.index != name.index))
        })
    };
    (0..rest.len().min(MOST_LEADS)).any(other)
}

fn denies(word: &str) -> bool {
    word.ends_with("n't") || within(DENIALS, word)
}

fn is_negative(name: &Name) -> bool {
    name.words().any(|word| denies(&word))
}

/// Whether a name heads what follows it.
fn heads(name: &Name) -> bool {
    name.words().all(|word| [ANSWER, LABEL, TEXT, HEADS].iter().any(|list| within(list, &word)))
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
