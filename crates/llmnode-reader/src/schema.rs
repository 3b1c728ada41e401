//! The JSON schema of an output type, in the dialects that providers accept.

mod anthropic;
pub(crate) mod choices;
mod depth;
mod foreign;
mod form;
mod gemini;
mod kinds;
mod limits;
mod merge;
mod normalize;
mod nulls;
mod openapi;
mod profile;
mod sent;
mod strict;
mod strict_error;
mod tagged;
mod wire_names;
mod writer;

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use schemars::JsonSchema;
use serde_json::Value;
use serde_json::value::RawValue;

use self::choices::{ChoicesError, Lists, WithLists, with_lists};
use self::form::Form;
use self::sent::{Sent, raw};
use super::check::{CheckMode, Rules, faults, states_bounds};
use crate::marks::{marks_of, schema_with_marks};
use crate::tree::WRAPPER;
use crate::violation::ChoiceList;

pub use foreign::fault_of_parameters;
pub use profile::Profile;
pub use strict_error::StrictError;
pub(crate) use wire_names::WireNames;

/// The JSON schema of an output type, in the dialects that providers accept. It is built once per type.
///
/// It has two dialects:
///
/// - [`plain`](Self::plain): JSON Schema 2020-12 as schemars gives it, without titles and `$schema`, and
///   with what some readers of schemas overlook made explicit: `allOf`, constraints beside a `$ref` and
///   properties beside a union are merged into one object each, 32-bit integers carry their bounds, enums
///   of documented unit variants are one `enum` whose description lists the variants.
/// - [`strict`](Self::strict): OpenAI's strict subset of it, if that can express the type.
///
/// A type that is not a JSON object (a list, a scalar, an enum, an `Option`) becomes `{"value": ..}` in both dialects,
/// since providers require an object; see [`is_wrapped`](Self::is_wrapped).
///
/// ```
/// # use llmnode_reader as llmnode;
/// use llmnode::OutputSchema;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Choice {
///     /// One of the items.
///     item: String,
/// }
///
/// let schema = OutputSchema::of::<Choice>();
/// assert_eq!(schema.name(), "Choice");
/// assert_eq!(
///     schema.strict().unwrap().get(),
///     r#"{"type":"object","properties":{"item":{"type":"string","description":"One of the items."}},"required":["item"],"additionalProperties":false}"#
/// );
/// ```
pub struct OutputSchema {
    name: String,
    tree: Value,
    pub(super) rules: Rules,
    plain: Box<RawValue>,
    strict: OnceLock<Result<Box<RawValue>, StrictError>>,
    anthropic: OnceLock<Option<Box<RawValue>>>,
    form: OnceLock<Option<Box<Form>>>,
    lists: Option<Box<choices::Lists>>,
    /// The type's schema, if `lists` is set.
    own: Option<Arc<OutputSchema>>,
    gemini: OnceLock<Option<Box<RawValue>>>,
    sent: Sent,
    /// Why it cannot be written for models.
    fault: Option<String>,
    strict_error_was_taken: AtomicBool,
    wrapped: bool,
    truncated: bool,
    /// Values of `x-llmnode-validated`, without duplicates.
    marks: Vec<String>,
    pub(super) unanswerable: Option<String>,
    /// Has ranges or lengths, which serde does not check.
    pub(super) states_bounds: bool,
    /// For nested untagged enums, whose depth is limited.
    pub(super) may_read_again: bool,
    pub(super) absent_as_null: Vec<String>,
    /// By the address of the traversing function. Functions that the linker merged do the same.
    uncovered: Mutex<Vec<(usize, Option<Arc<Uncovered>>)>>,
}

impl OutputSchema {
    /// Returns the schema of `T`, from a cache of the process.
    pub fn of<T: JsonSchema + 'static>() -> Arc<OutputSchema> {
        Self::cached(TypeId::of::<T>(), T::schema_name, schema_with_marks::<T>)
    }

    /// Not generic, so that it is compiled once.
    fn cached(
        id: TypeId,
        name: fn() -> Cow<'static, str>,
        schema: fn() -> Value,
    ) -> Arc<OutputSchema> {
        static CACHE: OnceLock<RwLock<HashMap<TypeId, Arc<OutputSchema>>>> = OnceLock::new();
        let cache = CACHE.get_or_init(RwLock::default);
        if let Some(known) = cache
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
        {
            return Arc::clone(known);
        }
        // Not under the lock, since `JsonSchema` is foreign code. The first of two threads wins.
        let built = Arc::new(Self::from_value(&name(), schema()));
        let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(cache.entry(id).or_insert(built))
    }

    /// Creates a schema that is known only at run time. `name` is cleaned as in [`name`](Self::name). What is nested
    /// more than 56 levels deep allows anything, since no provider reads it; in the strict dialect it is a
    /// [problem](StrictError::problems).
    ///
    /// ```
    /// # use llmnode_reader as llmnode;
    /// use llmnode::OutputSchema;
    /// let schema = OutputSchema::from_value("list of names", serde_json::json!({
    ///     "type": "array", "items": {"type": "string"}
    /// }));
    /// assert_eq!(schema.name(), "list_of_names");
    /// assert!(schema.is_wrapped());
    /// ```
    pub fn from_value(name: &str, mut schema: Value) -> OutputSchema {
        let name = sanitised(name);
        let truncated = depth::bound(&mut schema);
        let marks = marks_of(&schema);
        let states_bounds = states_bounds(&schema);
        let unanswerable = tagged::unanswerable(&schema);
        let fault = foreign::fault(&schema);
        let normal = normalize::normalise(schema, &name);
        let rules = Rules::new(&normal.tree, unwrapped(&normal.tree, normal.wrapped));
        OutputSchema {
            plain: raw(&normal.tree),
            states_bounds,
            unanswerable,
            may_read_again: rules.may_read_again(),
            absent_as_null: rules.absent_as_null(),
            rules,
            strict: OnceLock::new(),
            anthropic: OnceLock::new(),
            form: OnceLock::new(),
            lists: None,
            own: None,
            gemini: OnceLock::new(),
            sent: Sent::default(),
            fault,
            strict_error_was_taken: AtomicBool::new(false),
            uncovered: Mutex::default(),
            truncated: truncated || normal.truncated,
            tree: normal.tree,
            wrapped: normal.wrapped,
            marks,
            name,
        }
    }

    /// Returns the type's name as OpenAI accepts it: 1 to 64 characters of `a-z A-Z 0-9 _ -`, others replaced by `_`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn has_list_at(&self, path: &[String]) -> bool {
        let mut forms = self.rules.leaves(self.rules.own());
        for name in path {
            let members = forms.into_iter().filter_map(|form| form.named(name));
            forms = members
                .flat_map(|member| self.rules.leaves(self.rules.at(member.rule)))
                .collect();
        }
        forms.iter().any(|form| form.has_type("array"))
    }

    /// Cached per traversal, because each caller has its own.
    pub(crate) fn uncovered(
        &self,
        traversal: usize,
        find: impl FnOnce(&[String]) -> Option<Uncovered>,
    ) -> Option<Arc<Uncovered>> {
        if self.marks.is_empty() {
            return None;
        }
        let known = || {
            self.uncovered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((_, found)) = known().iter().find(|(one, _)| *one == traversal) {
            return found.clone();
        }
        // Not under the lock: `find` calls foreign code.
        let found = find(&self.marks).map(Arc::new);
        known().push((traversal, found.clone()));
        found
    }

    /// Returns the schema as plain JSON Schema (2020-12).
    pub fn plain(&self) -> &RawValue {
        &self.plain
    }

    /// Returns the schema in OpenAI's strict dialect.
    ///
    /// Every object requires all its properties and allows no others. An optional property becomes nullable, and a
    /// `null` in an answer is read as its absence. Constraints without a keyword in strict mode (`minLength`,
    /// `uniqueItems`, ..) and defaults go into the description.
    ///
    /// # Errors
    /// All places that strict mode cannot express (maps, tuples of mixed types, free-form values), each with its
    /// remedy. Send the plain dialect then.
    pub fn strict(&self) -> Result<&RawValue, &StrictError> {
        let write =
            || strict::strict(&self.tree, &self.name, self.truncated).map(|tree| raw(&tree));
        self.strict.get_or_init(write).as_ref().map(|raw| &**raw)
    }

    /// Returns the schema in the dialect of Anthropic's structured outputs: the strict one without bounds, which go into the
    /// description. `None`: it cannot express the type.
    pub fn anthropic(&self) -> Option<&RawValue> {
        let write = || {
            let mut strict = strict::strict(&self.tree, &self.name, self.truncated).ok()?;
            if let Some(names) = self.wire_names(Profile::Anthropic) {
                names.rename(&mut strict);
            }
            anthropic::subset(&strict).map(|tree| raw(&tree))
        };
        self.anthropic.get_or_init(write).as_deref()
    }

    /// The schema as an API takes it that does not enforce it.
    pub(crate) fn sent(&self, profile: Profile) -> &RawValue {
        self.sent.written(profile, &self.tree)
    }

    /// The names that stand for members whose own names the API refuses. `None`: it takes all.
    pub(crate) fn wire_names(&self, profile: Profile) -> Option<&WireNames> {
        self.sent.names(profile, &self.tree)
    }

    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The flag: the values may be part of the schema.
    pub(crate) fn with_choices(
        own: &Arc<OutputSchema>,
        lists: Vec<(ChoiceList, bool)>,
    ) -> Result<OutputSchema, ChoicesError> {
        let WithLists { tree, mut lists } = with_lists(&own.tree, own.wrapped, lists)?;
        let mut schema = Self::like(own, tree);
        if own.strict().is_ok() && schema.strict().is_err() {
            schema = Self::like(own, own.tree.clone());
            lists.leave_schema();
        }
        (schema.lists, schema.own) = (Some(Box::new(lists)), Some(Arc::clone(own)));
        Ok(schema)
    }

    pub(crate) fn narrowed(this: &Arc<OutputSchema>, list: &ChoiceList) -> Option<OutputSchema> {
        let others = this
            .lists()
            .map_or(Some(Vec::new()), |lists| lists.besides(list))?;
        let all = others.into_iter().chain([(list.clone(), true)]).collect();
        let narrowed = Self::with_choices(this.own.as_ref().unwrap_or(this), all).ok()?;
        narrowed
            .lists()
            .is_some_and(Lists::has_last_in_schema)
            .then_some(narrowed)
    }

    /// The tree does not show whether it was wrapped or cut.
    fn like(own: &OutputSchema, tree: Value) -> OutputSchema {
        let mut schema = OutputSchema::from_value(&own.name, tree);
        schema.truncated |= own.truncated;
        if own.wrapped {
            schema.wrapped = true;
            schema.rules = Rules::new(&schema.tree, unwrapped(&schema.tree, true));
        }
        schema
    }

    pub(crate) fn without_choices(&self) -> &OutputSchema {
        self.own.as_deref().unwrap_or(self)
    }

    pub(crate) fn lists(&self) -> Option<&Lists> {
        self.lists.as_deref()
    }

    pub(crate) fn form(&self) -> Option<&Form> {
        let tree = self.lists.as_ref().map_or(&self.tree, |lists| &lists.form);
        self.form
            .get_or_init(|| Form::of(tree).filter(|_| !self.truncated).map(Box::new))
            .as_deref()
    }

    /// Returns the schema in the dialect of Gemini's structured outputs: the strict one without a `const`, with long lists in the
    /// description. `None`: it cannot express the type.
    pub fn gemini(&self) -> Option<&RawValue> {
        self.gemini
            .get_or_init(|| {
                let strict = strict::strict(&self.tree, &self.name, self.truncated).ok()?;
                gemini::subset(&strict).map(|tree| raw(&tree))
            })
            .as_deref()
    }

    pub(crate) fn take_strict_error(&self) -> Option<&StrictError> {
        let error = self.strict().err()?;
        // Copies of calls share the flag of the type.
        let taken = &self.without_choices().strict_error_was_taken;
        (!taken.swap(true, Ordering::Relaxed)).then_some(error)
    }

    /// Returns whether both dialects have `{"value": ..}`, because the type is not a JSON object.
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// Schema only: serde may still refuse the value.
    pub(crate) fn is_met_by(&self, text: &str) -> bool {
        let met = |json| {
            faults(
                &self.rules,
                self.rules.root_rule(),
                CheckMode::Schema,
                &json,
                false,
            )
            .is_empty()
        };
        super::repair::parse_strict(text).is_some_and(met)
    }
}

/// A marked type that a traversal misses.
#[derive(Debug)]
pub struct Uncovered {
    /// The type's mark.
    pub mark: String,
    /// Where it is held, and as what.
    pub place: String,
}

impl std::fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputSchema")
            .field("name", &self.name)
            .field("plain", &self.plain.get())
            .field("wrapped", &self.wrapped)
            .field("marks", &self.marks)
            .finish_non_exhaustive()
    }
}

fn unwrapped(tree: &Value, wrapped: bool) -> &Value {
    let wrapper = tree.get("properties").filter(|_| wrapped);
    wrapper.and_then(|all| all.get(WRAPPER)).unwrap_or(tree)
}

fn sanitised(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(plain).take(64).collect();
    if name.is_empty() {
        "output".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests;
