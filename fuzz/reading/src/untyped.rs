//! Any text, read as a value of any kind.

use llmnode_reader::{Flag, ReadError, Reader, Reading, Repair};
use serde_json::Value;

use super::reads::read_any;
use super::slices::{any_is, trimmed};

type Read = Result<Reading<Value>, ReadError>;

pub(crate) fn holds(text: &str) {
    let lenient = read_any(Reader::new(), text);
    let exact = read_any(Reader::new().exact(true), text);
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            is_clean(&lenient, &value);
            is_clean(&exact, &value);
        }
        Err(_) => {
            // Quotes of all kinds move the end of a bracket, so what is read exactly may be refused otherwise. Comments are
            // known only where JSON is repaired: one may hold brackets, or the mark behind which thoughts end.
            if let (Ok(exact), Ok(lenient)) = (&exact, &lenient)
                && !text.contains(['#', '/'])
            {
                assert_eq!(
                    lenient.value, exact.value,
                    "exact and lenient reading differ"
                );
            }
        }
    }
    match &exact {
        Ok(reading) => is_found(text, reading),
        Err(error) => is_told(error),
    }
    match &lenient {
        Ok(reading) => is_read(text, reading),
        Err(error) => is_told(error),
    }
    if text.len().is_multiple_of(4) {
        assert_eq!(read_any(Reader::new(), text), lenient, "read again");
        let again = read_any(Reader::new(), &format!("{text}\n"));
        let value = |read: &Read| read.as_ref().ok().map(|reading| reading.value.clone());
        assert_eq!(value(&again), value(&lenient), "with a line end behind it");
    }
}

/// What is JSON is what serde_json says, to the last digit and in its order, or is refused for what serde_json would lose.
fn is_clean(read: &Read, value: &Value) {
    match read {
        Ok(Reading {
            value: read,
            repairs,
            ..
        }) => {
            assert_eq!(read.to_string(), value.to_string());
            assert!(repairs.iter().all(is_harmless), "{repairs:?}");
        }
        Err(error) => assert!(is_refused_on_purpose(error), "clean, and refused: {error}"),
    }
}

/// A member that stands twice with the same value: nothing is changed.
pub(crate) fn is_harmless(repair: &Repair) -> bool {
    matches!(&repair.flag, Flag::Repaired(kind) if kind == "duplicate_key")
}

/// Whether a refusal is one of what serde_json takes and loses something of, or of what no model meant.
fn is_refused_on_purpose(error: &ReadError) -> bool {
    const REASONS: [&str; 3] = [
        "stands twice in one object",
        "a backspace and a form feed",
        "cannot be held exactly",
    ];
    error.violations().iter().all(|violation| {
        let message = violation.to_string();
        REASONS.iter().any(|reason| message.contains(reason))
    })
}

/// Without repairs the value stands in the text.
fn is_found(text: &str, reading: &Reading<Value>) {
    let Reading { value, repairs, .. } = reading;
    is_exact(repairs);
    if repairs.is_empty() {
        assert_eq!(
            serde_json::from_str::<Value>(trimmed(text)).ok().as_ref(),
            Some(value)
        );
    } else {
        assert!(any_is(text, value), "{value} is nowhere in the text");
    }
}

/// Nothing was repaired, and nothing made to fit.
pub(crate) fn is_exact(repairs: &[Repair]) {
    let changed = |repair: &&Repair| {
        matches!(repair.flag, Flag::Repaired(_) | Flag::Fitted(_)) && !is_harmless(repair)
    };
    assert_eq!(repairs.iter().find(changed), None, "read exactly");
}

/// Whatever is read can be written, and has nothing that the text has not.
fn is_read(text: &str, reading: &Reading<Value>) {
    let Reading { value, repairs, .. } = reading;
    let again = read_any(Reader::new(), &value.to_string());
    is_clean(&again, value);
    for (index, repair) in repairs.iter().enumerate() {
        assert!(
            repair.times > 0 && !matches!(repair.flag, Flag::Fitted(_)),
            "{repair:?}"
        );
        assert!(
            !repairs[..index]
                .iter()
                .any(|other| other.flag == repair.flag),
            "{repairs:?}"
        );
    }
    if !text.contains('\\') {
        stands_in(text, value);
    }
}

/// Where nothing is escaped, each string and each integer of the value is a part of the text.
fn stands_in(text: &str, value: &Value) {
    match value {
        Value::String(part) => assert!(text.contains(part.as_str()), "{part:?} was not written"),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            assert!(
                text.contains(&number.to_string()),
                "{number} was not written"
            );
        }
        Value::Array(items) => items.iter().for_each(|item| stands_in(text, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            assert!(text.contains(key.as_str()), "{key:?} was not written");
            stands_in(text, value);
        }),
        _ => {}
    }
}

/// A refusal says something, in a line that is not too long for a model.
fn is_told(error: &ReadError) {
    assert!(!error.violations().is_empty());
    for violation in error.violations() {
        let said = violation.to_string();
        assert!(
            !said.is_empty() && said.len() < 2000 && !said.contains(['\n', '\r']),
            "{said:?}"
        );
    }
}

/// `text` was made of `value`: it is read as that, or refused.
pub(crate) fn is_or_is_refused(text: &str, value: &Value) {
    if let Ok(reading) = read_any(Reader::new(), text) {
        assert_eq!(
            &reading.value, value,
            "another value was read from {text:?}"
        );
        super::READ.with(|read| read.set(read.get() + 1));
    }
}

/// `text` has a part that nothing can mend: nothing is taken from it.
pub(crate) fn is_refused(text: &str) {
    for reader in [Reader::new(), Reader::new().exact(true)] {
        if let Ok(reading) = read_any(reader, text) {
            panic!("{} was read from {text:?}", reading.value);
        }
    }
}

/// `text` is the beginning of one that was made of `value`: it is read as a beginning of that, or refused.
pub(crate) fn is_begun_or_refused(text: &str, value: &Value) {
    if let Ok(reading) = read_any(Reader::new(), text) {
        assert!(
            is_begun(&reading.value, value),
            "{} was read from {text:?}",
            reading.value
        );
    }
}

/// Whether `value` is `whole` or has only complete members of it. A list has all its elements.
fn is_begun(value: &Value, whole: &Value) -> bool {
    match (value, whole) {
        (Value::Object(members), Value::Object(whole)) => members
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|whole| is_begun(value, whole))),
        _ => value == whole,
    }
}
