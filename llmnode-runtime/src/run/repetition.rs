//! Whether a model repeats its bad answer.

use std::fmt::Write;

use llmnode_model::internal::Sha256Text;
use llmnode_model::{Group, Retry};
use llmnode_reader::text::{floor_char_boundary, one_line};

use super::failure::Failure;

#[derive(Default)]
pub(super) struct Repetition {
    last: Option<[u8; 32]>,
    /// The model was told what is wrong with it. An answer that was only asked for
    /// again may come again.
    was_told: bool,
}

impl Repetition {
    pub(super) fn after_feedback(&mut self) {
        self.was_told = true;
    }

    pub(super) fn repeats(&mut self, failure: &Failure) -> bool {
        // Without a choice (OpenAI's `choices`) there is no answer: a failure of the transport.
        if failure.category.group() != Group::Answer || failure.retry == Some(Retry::Transport) {
            return false;
        }
        let answer = answer_and_complaints(failure);
        let was_told = std::mem::take(&mut self.was_told);
        self.last.replace(answer) == Some(answer) && was_told
    }
}

/// The hash of both: another complaint may yet bring another answer, or none about the same one.
fn answer_and_complaints(failure: &Failure) -> [u8; 32] {
    let mut hash = Sha256Text::default();
    // Writing to a hash cannot fail.
    let _ = hash.write_str(failure.answer.as_deref().unwrap_or_default().trim());
    for complaint in failure.violations.iter().filter(|one| !one.warning) {
        let _ = write!(hash, "\n{complaint}");
    }
    hash.end()
}

/// How an answer begins, for a person.
pub(super) fn beginning(answer: &str) -> String {
    const SHOWN: usize = 60;
    match answer.trim() {
        "" => "empty".to_owned(),
        answer => format!("{:?}", one_line(answer, SHOWN)),
    }
}

/// How an answer ends, for a person, and from where on it says the same again and again.
pub(super) fn end(answer: &str) -> String {
    const SHOWN: usize = 60;
    let answer = answer.trim();
    let from = floor_char_boundary(answer, answer.len().saturating_sub(SHOWN));
    let mark = if from > 0 { "…" } else { "" };
    let shown = one_line(&answer[from..], 2 * SHOWN);
    let end = format!("{:?}", format!("{mark}{shown}"));
    match period(answer) {
        Some(period) => {
            let begin = answer.len() - period.repeated;
            let piece = floor_char_boundary(answer, answer.len() - period.length);
            let piece = one_line(answer[piece..].trim(), SHOWN);
            format!(
                "it ends {end}, and repeats {piece:?} from byte {begin} on: a higher limit would not help"
            )
        }
        None => format!("it ends {end}"),
    }
}

/// The end of a text that is one piece again and again.
struct Period {
    length: usize,
    /// Of all repetitions, in bytes.
    repeated: usize,
}

/// The shortest piece that makes up the end at least three times, and so many bytes.
fn period(text: &str) -> Option<Period> {
    const TIMES: usize = 3;
    const LEAST: usize = 60;
    const LONGEST: usize = 500;
    let bytes = text.as_bytes();
    let longest = LONGEST.min(bytes.len() / TIMES);
    for length in 1..=longest {
        let repeated = repeated_bytes(bytes, length);
        let least = (TIMES * length).max(LEAST);
        if repeated >= least {
            return Some(Period { length, repeated });
        }
    }
    None
}

/// How many bytes at the end are one piece of this length again and again.
fn repeated_bytes(bytes: &[u8], length: usize) -> usize {
    let last = bytes.iter().rev();
    let before = bytes.iter().rev().skip(length);
    let same = last.zip(before).take_while(|(last, before)| last == before);
    same.count() + length
}

#[cfg(test)]
mod tests {
    use llmnode_model::Category;
    use llmnode_reader::Violation;

    use super::*;

    #[test]
    fn only_the_same_bad_answer_in_a_row_repeats() {
        let mut repetition = Repetition::default();
        let mut says = |category, answer: &str| {
            repetition.after_feedback();
            repetition.repeats(&Failure {
                answer: Some(answer.into()),
                ..Failure::new(category, "")
            })
        };
        assert!(!says(Category::SchemaError, "a"));
        assert!(!says(Category::ServerError, "a"), "no bad answer");
        assert!(says(Category::ValidationError, " a\n"));
        assert!(!says(Category::SchemaError, "b"));
        assert!(!says(Category::SchemaError, "a"));
        assert!(!says(Category::EmptyResponse, " "));
        assert!(says(Category::EmptyResponse, ""));
        let no_choice = || Failure {
            retry: Some(Retry::Transport),
            ..Failure::new(Category::EmptyResponse, "")
        };
        let mut answers = Repetition::default();
        assert!(
            !answers.repeats(&no_choice()) && !answers.repeats(&no_choice()),
            "no answer at all"
        );
    }

    #[test]
    fn an_answer_that_was_asked_for_again_may_come_again() {
        let mut repetition = Repetition::default();
        let bad = || Failure {
            answer: Some("a".into()),
            ..Failure::new(Category::SchemaError, "")
        };
        assert!(!repetition.repeats(&bad()) && !repetition.repeats(&bad()));
        repetition.after_feedback();
        let complaint = vec![Violation::new("a", "something else is wrong")];
        assert!(!repetition.repeats(&Failure {
            violations: complaint,
            ..bad()
        }));
    }

    #[test]
    fn the_end_of_an_answer_says_where_it_repeats_itself() {
        assert_eq!(end("short"), r#"it ends "short""#);
        let loops = format!("1, 2, {}", "and so on, ".repeat(40));
        let said = end(&loops);
        assert!(
            said.contains(r#"repeats "and so on," from byte 4 on"#),
            "{said}"
        );
        assert!(
            said.starts_with(r#"it ends "…"#) && said.len() < 250,
            "{said}"
        );
        let varied: String = (0..200).map(|n| format!("{n}; ")).collect();
        assert!(!end(&varied).contains("repeats"), "{}", end(&varied));
        assert_eq!(end(&"é".repeat(400)).matches("repeats").count(), 1);
        assert_eq!(
            (beginning("  "), beginning("a\nb")),
            ("empty".to_owned(), r#""a b""#.to_owned())
        );
    }
}
