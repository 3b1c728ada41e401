//! What a model at this base URL refuses or ignores: learned once, and remembered.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use llmnode_runtime::{CallId, Dialect};

use super::dialects::{Dialects, ruled_out};
use super::refused::Refused;

/// More models than this at one base URL are not remembered at once.
const CAPACITY: usize = 256;
/// And of one model, no more schemas that it refuses.
const SCHEMAS: usize = 64;

/// How to ask a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Habits {
    /// The limit on tokens goes by the name that newer models of OpenAI want. The older name comes first: those
    /// models refuse it loudly, while older servers ignore the newer one in silence.
    pub(crate) max_completion_tokens: bool,
    /// The temperature is left out.
    pub(crate) no_temperature: bool,
    /// Answers are not asked for as events.
    pub(crate) no_stream: bool,
    /// The model is free to call no function at all.
    pub(crate) free_choice: bool,
    /// Streams are asked for without their usage.
    pub(crate) no_stream_options: bool,
    /// The dialects that schemas are not sent in.
    pub(crate) refused: Dialects,
    /// The first call that was answered with something other than JSON of the schema that was sent: the model has to read
    /// the schema as well.
    pub(crate) unenforced: Option<CallId>,
}

/// How a request was asked, as far as it can be refused.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way<'a> {
    pub(crate) habits: Habits,
    /// The dialect that the request's schema was sent in, and the schema's name.
    pub(crate) schema: Option<(Dialect, &'a str)>,
    /// Tools were listed.
    pub(crate) tools: bool,
}

/// What is known of one model.
#[derive(Debug, Default)]
struct Known {
    habits: Habits,
    /// Dialects that refuse one schema, by its name: others may well be taken.
    schemas: Vec<(String, Dialects)>,
}

/// Remembers the habits of models, by the model's id.
#[derive(Debug, Default)]
pub(crate) struct Learned(Mutex<HashMap<String, Known>>);

impl Learned {
    /// How to ask this model, for an answer that conforms to the schema of this name.
    pub(crate) fn of(&self, model: &str, schema: Option<&str>) -> Habits {
        let known = self.lock();
        let Some(known) = known.get(model) else { return Habits::default() };
        let own = known.schemas.iter().find(|(name, _)| Some(name.as_str()) == schema);
        let own = own.map_or(Dialects::default(), |(_, refused)| *refused);
        Habits { refused: known.habits.refused.and(own), ..known.habits }
    }

    /// Remembers that this part was refused of a request that was asked this way. Whether there is another way to ask.
    pub(crate) fn learn(&self, model: &str, asked: Way<'_>, refused: Refused) -> bool {
        let dialects = asked.schema.map_or(Dialects::default(), |(dialect, _)| ruled_out(refused, dialect));
        let teaches = match refused {
            Refused::MaxTokens => !asked.habits.max_completion_tokens,
            Refused::Temperature => !asked.habits.no_temperature,
            Refused::Stream => !asked.habits.no_stream,
            Refused::StreamOptions => !asked.habits.no_stream_options,
            Refused::ToolChoice if asked.tools => !asked.habits.free_choice,
            _ => !dialects.is_empty(),
        };
        if !teaches {
            return false;
        }
        let mut all = self.lock();
        let known = entry(&mut all, model);
        match (refused, asked.schema) {
            (Refused::MaxTokens, _) => known.habits.max_completion_tokens = true,
            (Refused::Temperature, _) => known.habits.no_temperature = true,
            (Refused::ToolChoice, _) if asked.tools => known.habits.free_choice = true,
            (Refused::Stream, _) => known.habits.no_stream = true,
            (Refused::StreamOptions, _) => known.habits.no_stream_options = true,
            (Refused::Schema, Some((_, name))) => known.refuse_schema(name, dialects),
            _ => known.habits.refused = known.habits.refused.and(dialects),
        }
        true
    }

    /// Remembers that nothing bound the answer to the schema, as this call found.
    pub(crate) fn unenforced(&self, model: &str, call: CallId) {
        entry(&mut self.lock(), model).habits.unenforced.get_or_insert(call);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry<'a>(all: &'a mut HashMap<String, Known>, model: &str) -> &'a mut Known {
    if all.len() >= CAPACITY && !all.contains_key(model) {
        all.clear();
    }
    all.entry(model.to_owned()).or_default()
}

impl Known {
    fn refuse_schema(&mut self, name: &str, dialects: Dialects) {
        if let Some((_, refused)) = self.schemas.iter_mut().find(|(own, _)| own == name) {
            *refused = refused.and(dialects);
            return;
        }
        if self.schemas.len() >= SCHEMAS {
            self.schemas.remove(0);
        }
        self.schemas.push((name.to_owned(), dialects));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(dialect: Dialect) -> Way<'static> {
        Way { schema: Some((dialect, "A")), ..Way::default() }
    }

    fn refuses(learned: &Learned, model: &str, dialect: Dialect) -> bool {
        learned.of(model, Some("A")).refused.contains(dialect)
    }

    #[test]
    fn each_refusal_leads_on_and_the_last_one_ends_it() {
        let learned = Learned::default();
        for (refused, asked, next) in [
            (Refused::Schema, Dialect::Strict, Dialect::Schema),
            (Refused::Schema, Dialect::Schema, Dialect::JsonObject),
            (Refused::FormatType, Dialect::JsonObject, Dialect::Prompt),
        ] {
            assert!(learned.learn("m", by(asked), refused));
            assert!(refuses(&learned, "m", asked) && !refuses(&learned, "m", next));
        }
        assert!(!learned.learn("m", by(Dialect::Prompt), Refused::Format));
        assert!(learned.learn("m", Way::default(), Refused::MaxTokens));
        let asked = Way { habits: learned.of("m", None), schema: None, ..Way::default() };
        assert!(!learned.learn("m", asked, Refused::MaxTokens));
        assert_eq!(learned.of("other", Some("A")), Habits::default());
    }

    #[test]
    fn what_was_not_asked_cannot_be_refused() {
        let learned = Learned::default();
        for refused in [Refused::JsonSchema, Refused::Schema, Refused::Tools] {
            assert!(!learned.learn("m", by(Dialect::JsonObject), refused));
        }
        assert!(!learned.learn("m", Way::default(), Refused::Format), "no schema was sent");
        assert_eq!(learned.of("m", Some("A")), Habits::default());
    }

    #[test]
    fn requests_in_flight_together_learn_one_step() {
        let learned = Learned::default();
        for _ in 0..64 {
            assert!(learned.learn("m", by(Dialect::Strict), Refused::JsonSchema));
        }
        assert!(!refuses(&learned, "m", Dialect::JsonObject));
    }

    #[test]
    fn a_late_refusal_leads_no_model_back() {
        let learned = Learned::default();
        assert!(learned.learn("m", by(Dialect::Strict), Refused::Format));
        assert!(learned.learn("m", by(Dialect::Strict), Refused::Schema), "another way to ask is known");
        assert!(refuses(&learned, "m", Dialect::JsonObject));
    }

    #[test]
    fn a_schema_that_is_refused_says_nothing_of_others() {
        let learned = Learned::default();
        assert!(learned.learn("m", by(Dialect::Strict), Refused::Schema));
        assert!(learned.of("m", Some("A")).refused.contains(Dialect::Strict));
        assert!(!learned.of("m", Some("B")).refused.contains(Dialect::Strict));
        assert!(learned.learn("m", by(Dialect::Schema), Refused::JsonSchema));
        assert!(learned.of("m", Some("B")).refused.contains(Dialect::Strict), "this one is about the model");
    }

    #[test]
    fn what_is_learned_of_one_part_leaves_the_others_and_other_models() {
        let learned = Learned::default();
        assert!(learned.learn("m", by(Dialect::Strict), Refused::JsonSchema));
        assert!(learned.learn("m", by(Dialect::JsonObject), Refused::Temperature));
        learned.learn("n", Way::default(), Refused::MaxTokens);
        let (m, n) = (learned.of("m", None), learned.of("n", None));
        assert_eq!((m.no_temperature, m.max_completion_tokens), (true, false));
        assert!(m.refused.contains(Dialect::Schema) && n.refused.is_empty());
        assert_eq!((n.no_temperature, n.max_completion_tokens), (false, true));
    }

    #[test]
    fn the_memory_is_bounded() {
        let learned = Learned::default();
        for model in 0..10 * CAPACITY {
            learned.learn(&model.to_string(), Way::default(), Refused::Temperature);
        }
        assert!(learned.lock().len() <= CAPACITY);
        for name in 0..10 * SCHEMAS {
            let name = name.to_string();
            let asked = Way { schema: Some((Dialect::Strict, name.as_str())), ..Way::default() };
            assert!(learned.learn("m", asked, Refused::Schema));
        }
        assert!(learned.lock()["m"].schemas.len() <= SCHEMAS);
    }
}
