//! Applies what nodes write to the state: reducers, the types that the file declares, and the limit on its size.
//!
//! An update is applied as a whole or not at all: each of its values is checked, then the size, and only then anything is written.

use std::collections::{BTreeMap, BTreeSet};

use llmnode_runtime::{Category, Message, NodeError};
use serde_json::{Map, Value};

use super::size::{MOST, Size, size};
use super::{Logged, State, Turn, Update};
use crate::file::{Field, Reducer, schema_mismatch, words_for};

/// The declared values by key. Others take anything.
#[derive(Debug, Default)]
pub(crate) struct Rules(pub(crate) BTreeMap<String, Field>);

impl Rules {
    /// Writes nothing if something does not fit: `aborted` with the key, or `limit_exceeded`.
    pub(crate) fn apply(
        &self,
        from: &str,
        update: Update,
        state: &mut State,
    ) -> Result<(), NodeError> {
        let logged = state.log.is_some().then(|| Logged {
            from: from.to_owned(),
            update: update.clone(),
        });
        let Update {
            messages,
            values,
            cleared,
            action: _,
            untrusted,
        } = update;
        let mut checked = Vec::with_capacity(values.len());
        for (key, value) in values {
            // If the same update wrote the key before, its value was already checked.
            let held = state
                .values
                .get(&key)
                .filter(|_| checked.iter().all(|(other, _)| *other != key));
            let way = self.fits(held, &key, value)?;
            checked.push((key, way));
        }
        state.grow(from, &checked, &cleared, &messages)?;
        if let (Some(log), Some(logged)) = (&mut state.log, logged) {
            log.push(logged);
        }
        for (key, way) in checked {
            if untrusted {
                state.untrusted.insert(key.clone());
            } else if way.replaces() {
                state.untrusted.remove(&key);
            }
            way.write(key, &mut state.values);
        }
        for key in &cleared {
            state.values.remove(key);
        }
        for message in messages {
            state.turns.push(Turn {
                from: Some(from.to_owned()),
                message,
            });
        }
        Ok(())
    }

    /// Writes a person's edits, which replace.
    pub(crate) fn set(
        &self,
        values: Map<String, Value>,
        state: &mut State,
    ) -> Result<(), NodeError> {
        if values.is_empty() {
            return Ok(());
        }
        for (key, value) in &values {
            self.check(key, value)?;
        }
        state.values.extend(values);
        state.size = Size::default();
        Ok(())
    }

    /// Whether a value is of the type that the file declares for its key.
    pub(crate) fn check(&self, key: &str, value: &Value) -> Result<(), NodeError> {
        let Some(field) = self.0.get(key) else {
            return Ok(());
        };
        match schema_mismatch(&field.schema, value) {
            Some(wrong) => Err(refused(format!(
                "the value `{key}` does not fit its declared type: it {wrong}"
            ))),
            None => Ok(()),
        }
    }

    /// How a value is written to its key. `held`: the value that is there.
    fn fits(&self, held: Option<&Value>, key: &str, value: Value) -> Result<WriteOp, NodeError> {
        let reducer = match self.0.get(key) {
            Some(field) => field.reducer,
            None => Reducer::default(),
        };
        match (reducer, value) {
            (Reducer::Replace, value) => {
                self.check(key, &value)?;
                Ok(WriteOp::Replace(value))
            }
            (Reducer::Append, value) => {
                if let Some(held) = held
                    && !held.is_array()
                    && !held.is_null()
                {
                    return Err(not_joined("append", held, key, "list"));
                }
                let items = if value.is_array() {
                    value
                } else {
                    Value::Array(vec![value])
                };
                self.check(key, &items)?;
                Ok(WriteOp::Append(items))
            }
            (Reducer::Merge, Value::Object(members)) => {
                if let Some(held) = held
                    && !held.is_object()
                    && !held.is_null()
                {
                    return Err(not_joined("merge", held, key, "object"));
                }
                if !self.0.get(key).is_some_and(takes_any_object) {
                    let mut merged = held.and_then(Value::as_object).cloned().unwrap_or_default();
                    merged.extend(members.clone());
                    self.check(key, &Value::Object(merged))?;
                }
                Ok(WriteOp::Merge(members))
            }
            (Reducer::Merge, other) => {
                let kind = words_for(&other);
                Err(refused(format!(
                    "`merge` is given {kind} for `{key}`, which is no object"
                )))
            }
        }
    }
}

/// The value that is there is not one that the reducer can add to.
fn not_joined(reducer: &str, held: &Value, key: &str, expected: &str) -> NodeError {
    refused(format!(
        "`{reducer}` finds {} in `{key}`, which is no {expected}",
        words_for(held)
    ))
}

/// A file whose `merge` has a type without objects is refused, so a type alone refuses none.
fn takes_any_object(field: &Field) -> bool {
    match field.schema.as_object() {
        Some(rules) => rules
            .keys()
            .all(|rule| matches!(rule.as_str(), "type" | "title" | "description")),
        None => false,
    }
}

impl State {
    /// Counts what will be written, and refuses it if the state would become too large.
    fn grow(
        &mut self,
        from: &str,
        written: &[(String, WriteOp)],
        cleared: &[String],
        messages: &[Message],
    ) -> Result<(), NodeError> {
        let of_turn = from.len() + r#"{"from":"","message":},"#.len();
        let mut more = size(&messages) + messages.len() * of_turn;
        for (key, write) in written {
            more += key.len() + r#""":,"#.len() + write.size();
        }
        let mut less = 0;
        if self.log.is_some() {
            // A branch's log has everything once more, and keeps replaced values.
            more *= 2;
        } else {
            less = self.size_of_removed(written, cleared);
        }
        let counted = self.size.0.unwrap_or_else(|| self.measure());
        let mut now = (counted + more).saturating_sub(less);
        // The counted size may be too large, but not too small for what nodes wrote: measured again before an error.
        if now > MOST {
            now = (self.measure() + more).saturating_sub(less);
        }
        if now > MOST {
            return Err(too_large(from, now, written));
        }
        self.size.0 = Some(now);
        Ok(())
    }

    /// The size of the values that will be replaced or cleared, each once.
    fn size_of_removed(&self, written: &[(String, WriteOp)], cleared: &[String]) -> usize {
        let mut keys: BTreeSet<&String> = cleared.iter().collect();
        for (key, write) in written {
            if write.replaces() {
                keys.insert(key);
            }
        }
        let mut removed = 0;
        for key in keys {
            if let Some(value) = self.values.get(key) {
                removed += key.len() + size(value);
            }
        }
        removed
    }

    /// Measures all of it, which takes the time of writing it.
    pub(super) fn measure(&self) -> usize {
        let mut logged = 0;
        for one in self.log.iter().flatten() {
            logged += size(&one.update.messages) + size(&one.update.values);
        }
        size(&self.turns) + size(&self.values) + logged
    }
}

/// The error of a state that would be too large, with the largest of what is written.
fn too_large(from: &str, bytes: usize, written: &[(String, WriteOp)]) -> NodeError {
    let largest = written.iter().max_by_key(|(_, write)| write.size());
    let largest = match largest {
        Some((key, write)) => format!("; it writes {} bytes to `{key}`", write.size()),
        None => String::new(),
    };
    let message = format!(
        "the node `{from}` makes the state {bytes} bytes as JSON, and {MOST} are the most, which no setting changes{largest}: keep less in the state"
    );
    NodeError::new(Category::LimitExceeded, message)
}

/// A value that fits, and how it is written.
enum WriteOp {
    Replace(Value),
    Append(Value),
    Merge(Map<String, Value>),
}

impl WriteOp {
    fn size(&self) -> usize {
        match self {
            WriteOp::Replace(value) | WriteOp::Append(value) => size(value),
            WriteOp::Merge(members) => size(members),
        }
    }

    fn replaces(&self) -> bool {
        matches!(self, WriteOp::Replace(_))
    }

    fn write(self, key: String, values: &mut Map<String, Value>) {
        match self {
            WriteOp::Replace(value) => drop(values.insert(key, value)),
            WriteOp::Append(more) => match (values.get_mut(&key), more) {
                (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
                (_, more) => drop(values.insert(key, more)),
            },
            WriteOp::Merge(more) => match values.get_mut(&key) {
                Some(Value::Object(members)) => members.extend(more),
                _ => drop(values.insert(key, Value::Object(more))),
            },
        }
    }
}

fn refused(message: String) -> NodeError {
    NodeError::new(Category::Aborted, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules() -> Rules {
        let field = |schema: Value, reducer| Field {
            schema,
            reducer,
            ..Field::default()
        };
        Rules(BTreeMap::from([
            (
                "notes".to_owned(),
                field(
                    json!({"type": "array", "items": {"type": "string"}}),
                    Reducer::Append,
                ),
            ),
            ("facts".to_owned(), field(json!({}), Reducer::Merge)),
            (
                "count".to_owned(),
                field(json!({"type": "integer"}), Reducer::Replace),
            ),
        ]))
    }

    fn written(update: Update, state: &mut State) -> Result<(), String> {
        rules()
            .apply("n", update, state)
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn merged_members_fit_the_declared_type() {
        let (rule, object) = (
            json!({"additionalProperties": {"type": "integer"}}),
            json!({"type": "object"}),
        );
        for (schema, fits) in [(json!({}), true), (object, true), (rule, false)] {
            let field = Field {
                schema,
                reducer: Reducer::Merge,
                ..Field::default()
            };
            let rules = Rules(BTreeMap::from([("facts".to_owned(), field)]));
            let mut state = State::default();
            rules
                .apply(
                    "n",
                    Update::new().with_value("facts", json!({"x": 1})),
                    &mut state,
                )
                .unwrap();
            let refused = rules.apply(
                "n",
                Update::new().with_value("facts", json!({"y": "b"})),
                &mut state,
            );
            assert_eq!(refused.is_ok(), fits);
            let both = if fits {
                json!({"x": 1, "y": "b"})
            } else {
                json!({"x": 1})
            };
            assert_eq!(state["facts"], both);
        }
    }

    #[test]
    fn lists_grow_objects_merge_and_others_are_replaced() {
        let mut state = State::default();
        let update = Update::new()
            .with_value("notes", "a")
            .with_value("notes", json!(["b", "c"]))
            .with_value("facts", json!({"x": 1, "y": 1}))
            .with_value("facts", json!({"y": 2}))
            .with_value("count", 1)
            .with_value("free", json!([1]))
            .with_message(Message::assistant("hi"));
        written(update.clone(), &mut state).unwrap();
        assert_eq!(state["notes"], json!(["a", "b", "c"]));
        assert_eq!(state["facts"], json!({"x": 1, "y": 2}));
        written(update.clearing("free"), &mut state).unwrap();
        assert_eq!(state["notes"], json!(["a", "b", "c", "a", "b", "c"]));
        assert_eq!(
            (state["count"].clone(), state.value("free")),
            (json!(1), None)
        );
        assert_eq!(state.turns.len(), 2);
        assert_eq!(state.turns[0].from.as_deref(), Some("n"));
    }

    #[test]
    fn what_does_not_fit_names_the_key_and_nothing_is_written() {
        let mut state = State::default();
        let half = Update::new()
            .with_value("notes", "a")
            .with_value("count", "three");
        let error = written(half, &mut state).unwrap_err();
        assert!(
            error.contains("`count` does not fit its declared type"),
            "{error}"
        );
        assert_eq!(state.values.len(), 0);
        for (held, value, says) in [
            (
                json!({"notes": "text"}),
                ("notes", json!("a")),
                "`append` finds a text in `notes`",
            ),
            (json!({}), ("notes", json!(3)), "`notes` does not fit"),
            (
                json!({"facts": []}),
                ("facts", json!({})),
                "`merge` finds a list in `facts`",
            ),
            (
                json!({}),
                ("facts", json!("a")),
                "`merge` is given a text for `facts`",
            ),
        ] {
            let mut state = State {
                values: held.as_object().unwrap().clone(),
                ..State::default()
            };
            let error =
                written(Update::new().with_value(value.0, value.1), &mut state).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_branch_notes_what_is_written() {
        let mut outer = State::default();
        written(Update::new().with_value("notes", "a"), &mut outer).unwrap();
        let mut branch = outer.branch();
        written(Update::new().with_value("notes", "b"), &mut branch).unwrap();
        assert_eq!(branch["notes"], json!(["a", "b"]));
        let log = branch.into_log();
        log.into_iter()
            .for_each(|Logged { from, update }| rules().apply(&from, update, &mut outer).unwrap());
        assert_eq!(outer["notes"], json!(["a", "b"]));
    }

    #[test]
    fn values_are_found_by_paths_and_null_is_none() {
        let values = json!({"a": {"b": [1, null]}, "n": null});
        let state = State {
            values: values.as_object().unwrap().clone(),
            ..State::default()
        };
        assert_eq!(state.value("a.b.0"), Some(&json!(1)));
        assert_eq!(state.value("context.a.b.0"), Some(&json!(1)));
        for absent in ["a.b.1", "a.b.2", "a.c", "n", "x", "a.b.0.c"] {
            assert_eq!(state.value(absent), None, "{absent}");
        }
    }
}
