//! Applies what nodes write to the state: reducers, the types that the file declares, and the limit on its size.

use std::collections::{BTreeMap, BTreeSet};

use llmnode_runtime::{Category, Message, NodeError};
use serde_json::{Map, Value};

use super::size::{MOST, Size, size};
use super::{Logged, State, Turn, Update};
use crate::file::{Field, Reducer, schema_mismatch, words_for};

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
        cleared
            .iter()
            .for_each(|key| drop(state.values.remove(key)));
        let turn = |message| Turn {
            from: Some(from.to_owned()),
            message,
        };
        state.turns.extend(messages.into_iter().map(turn));
        Ok(())
    }

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

    pub(crate) fn check(&self, key: &str, value: &Value) -> Result<(), NodeError> {
        let wrong = self
            .0
            .get(key)
            .and_then(|field| schema_mismatch(&field.schema, value));
        let message =
            |wrong| format!("the value `{key}` does not fit its declared type: it {wrong}");
        wrong.map_or(Ok(()), |wrong| Err(refused(message(wrong))))
    }

    fn fits(&self, held: Option<&Value>, key: &str, value: Value) -> Result<WriteOp, NodeError> {
        let reducer = self
            .0
            .get(key)
            .map(|field| field.reducer)
            .unwrap_or_default();
        let finds = |fits: fn(&Value) -> bool, verb: &str, what: &str| match held {
            Some(held) if !fits(held) && !held.is_null() => Err(refused(format!(
                "`{verb}` finds {} in `{key}`, which is no {what}",
                words_for(held)
            ))),
            _ => Ok(()),
        };
        Ok(match (reducer, value) {
            (Reducer::Replace, value) => {
                self.check(key, &value)?;
                WriteOp::Replace(value)
            }
            (Reducer::Append, value) => {
                finds(Value::is_array, "append", "list")?;
                let items = if value.is_array() {
                    value
                } else {
                    Value::Array(vec![value])
                };
                self.check(key, &items)?;
                WriteOp::Append(items)
            }
            (Reducer::Merge, Value::Object(members)) => {
                finds(Value::is_object, "merge", "object")?;
                if !self.0.get(key).is_some_and(takes_any_object) {
                    let mut whole = held.and_then(Value::as_object).cloned().unwrap_or_default();
                    whole.extend(members.clone());
                    self.check(key, &Value::Object(whole))?;
                }
                WriteOp::Merge(members)
            }
            (Reducer::Merge, other) => {
                let given = words_for(&other);
                return Err(refused(format!(
                    "`merge` is given {given} for `{key}`, which is no object"
                )));
            }
        })
    }
}

/// A file whose `merge` has a type without objects is refused, so a type alone refuses none.
fn takes_any_object(field: &Field) -> bool {
    let no_rule = |rule: &String| matches!(&**rule, "type" | "title" | "description");
    field
        .schema
        .as_object()
        .is_some_and(|rules| rules.keys().all(no_rule))
}

impl State {
    fn grow(
        &mut self,
        from: &str,
        written: &[(String, WriteOp)],
        cleared: &[String],
        messages: &[Message],
    ) -> Result<(), NodeError> {
        let said =
            size(&messages) + messages.len() * (from.len() + r#"{"from":"","message":},"#.len());
        let values: usize = written
            .iter()
            .map(|(key, way)| key.len() + r#""":,"#.len() + way.size())
            .sum();
        let more = (said + values) * if self.log.is_some() { 2 } else { 1 };
        let replaced = written
            .iter()
            .filter(|(_, way)| way.replaces())
            .map(|(key, _)| key);
        let gone: BTreeSet<&String> = replaced.chain(cleared).collect();
        let gone = gone
            .into_iter()
            .filter_map(|key| Some(key.len() + size(self.values.get(key)?)))
            .sum();
        // A branch's log keeps replaced values.
        let gone: usize = if self.log.is_some() { 0 } else { gone };
        let known = self.size.0.unwrap_or_else(|| self.measure());
        let after = |known: usize| (known + more).saturating_sub(gone);
        // The known size may be too large, but not too small for what nodes wrote: measured again before an error.
        let now = if after(known) > MOST {
            after(self.measure())
        } else {
            after(known)
        };
        if now > MOST {
            let largest = written
                .iter()
                .map(|(key, way)| (way.size(), key))
                .max_by_key(|(bytes, _)| *bytes);
            let largest =
                largest.map(|(bytes, key)| format!("; it writes {bytes} bytes to `{key}`"));
            let largest = largest.unwrap_or_default();
            let message = format!(
                "the node `{from}` makes the state {now} bytes as JSON, and {MOST} are the most, which no setting changes{largest}: keep less in the state"
            );
            return Err(NodeError::new(Category::LimitExceeded, message));
        }
        self.size.0 = Some(now);
        Ok(())
    }

    pub(super) fn measure(&self) -> usize {
        let log = self.log.iter().flatten();
        let logged: usize = log
            .map(|one| size(&one.update.messages) + size(&one.update.values))
            .sum();
        size(&self.turns) + size(&self.values) + logged
    }
}

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
