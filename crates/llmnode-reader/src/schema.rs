//! The JSON schema of an output type, in the dialects that providers accept.
//!
//! A schema comes in as schemars writes it, or from a program or a server. In this
//! order, once for each type:
//!
//! 1. what is too deep is cut (`depth`), and what an answer could never be is found
//!    (`tagged`, `foreign`);
//! 2. it is made the *plain* dialect (`normalize`, `merge`): one object as the
//!    root, and nothing that readers overlook;
//! 3. the plain dialect is compiled to the rules by which answers are checked.
//!
//! From the plain dialect the others are written when they are first asked for:
//! OpenAI's strict one (`strict`), from that those of Anthropic and Gemini, which
//! enforce less, and for servers that enforce nothing a schema (`writer`) or a form
//! (`form`). What the program's state allows at a place is put into a copy
//! (`choices`).
//!
//! No dialect is checked against: a dialect may allow more than the type, and never less.

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
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

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

/// The JSON schema of an output type, in the dialects that providers accept. It is
/// built once per type.
///
/// It has two dialects:
///
/// - [`plain`](Self::plain): JSON Schema 2020-12 as schemars gives it, without
///   titles and `$schema`, and with what some readers of schemas overlook made
///   explicit: `allOf`, constraints beside a `$ref` and properties beside a union
///   are merged into one object each, 32-bit integers carry their bounds, enums of
///   documented unit variants are one `enum` whose description lists the variants.
/// - [`strict`](Self::strict): OpenAI's strict subset of it, if that can express the type.
///
/// A type that is not a JSON object (a list, a scalar, an enum, an `Option`)
/// becomes `{"value": ..}` in both dialects, since providers require an object; see
/// [`is_wrapped`](Self::is_wrapped).
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
    /// The plain dialect.
    tree: Value,
    pub(super) rules: Rules,
    /// The same as text.
    plain: Box<RawValue>,
    strict: OnceLock<Result<Box<RawValue>, StrictError>>,
    anthropic: OnceLock<Option<Box<RawValue>>>,
    form: OnceLock<Option<Box<Form>>>,
    /// What the state allows.
    lists: Option<Box<choices::Lists>>,
    /// The type's schema, if `lists` is set.
    type_schema: Option<Arc<OutputSchema>>,
    gemini: OnceLock<Option<Box<RawValue>>>,
    sent: Sent,
    /// Why it cannot be written for models.
    fault: Option<String>,
    strict_error_was_taken: AtomicBool,
    /// The answer is `{"value": ..}`.
    wrapped: bool,
    /// Levels were cut off.
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
        let schemas = cache.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = schemas.get(&id) {
            return Arc::clone(cached);
        }
        drop(schemas);
        // Not under the lock, since `JsonSchema` is foreign code. The first of two threads wins.
        let built = Arc::new(Self::from_value(&name(), schema()));
        let mut schemas = cache.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(schemas.entry(id).or_insert(built))
    }

    /// Creates a schema that is known only at run time. `name` is cleaned as in
    /// [`name`](Self::name). What is nested more than 56 levels deep allows
    /// anything, since no provider reads it; in the strict dialect it is a
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
            type_schema: None,
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

    /// Returns the type's name as OpenAI accepts it: 1 to 64 characters of `a-z A-Z
    /// 0-9 _ -`, others replaced by `_`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the value of the members with these names can be a list.
    pub(crate) fn has_list_at(&self, path: &[String]) -> bool {
        let mut forms = self.rules.leaves(self.rules.answer_rule());
        for name in path {
            let mut inner = Vec::new();
            for form in forms {
                if let Some(property) = form.named(name) {
                    inner.extend(self.rules.leaves(self.rules.at(property.rule)));
                }
            }
            forms = inner;
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
        for (cached, found) in self.lock_uncovered().iter() {
            if *cached == traversal {
                return found.clone();
            }
        }
        // Not under the lock: `find` calls foreign code.
        let found = find(&self.marks).map(Arc::new);
        self.lock_uncovered().push((traversal, found.clone()));
        found
    }

    fn lock_uncovered(&self) -> MutexGuard<'_, Vec<(usize, Option<Arc<Uncovered>>)>> {
        self.uncovered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the schema as plain JSON Schema (2020-12).
    pub fn plain(&self) -> &RawValue {
        &self.plain
    }

    /// Returns the schema in OpenAI's strict dialect.
    ///
    /// Every object requires all its properties and allows no others. An optional
    /// property becomes nullable, and a `null` in an answer is read as its absence.
    /// Constraints without a keyword in strict mode (`minLength`, `uniqueItems`,
    /// ..) and defaults go into the description.
    ///
    /// # Errors
    /// All places that strict mode cannot express (maps, tuples of mixed types,
    /// free-form values), each with its remedy. Send the plain dialect then.
    pub fn strict(&self) -> Result<&RawValue, &StrictError> {
        let strict = self.strict.get_or_init(|| {
            let tree = self.strict_tree()?;
            Ok(raw(&tree))
        });
        strict.as_ref().map(|raw| &**raw)
    }

    fn strict_tree(&self) -> Result<Value, StrictError> {
        strict::strict(&self.tree, &self.name, self.truncated)
    }

    /// Returns the schema in the dialect of Anthropic's structured outputs: the
    /// strict one without bounds, which go into the description. `None`: it cannot
    /// express the type.
    pub fn anthropic(&self) -> Option<&RawValue> {
        let written = self.anthropic.get_or_init(|| {
            let mut strict = self.strict_tree().ok()?;
            if let Some(names) = self.wire_names(Profile::Anthropic) {
                names.rename(&mut strict);
            }
            let subset = anthropic::subset(&strict)?;
            Some(raw(&subset))
        });
        written.as_deref()
    }

    /// The schema as an API takes it that does not enforce it.
    pub(crate) fn sent(&self, profile: Profile) -> &RawValue {
        self.sent.written(profile, &self.tree)
    }

    /// The names that stand for members whose own names the API refuses. `None`: it takes all.
    pub(crate) fn wire_names(&self, profile: Profile) -> Option<&WireNames> {
        self.sent.names(profile, &self.tree)
    }

    /// Why it cannot be written for models.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// A copy that allows only the lists' values. The flag: the values may be part of the schema.
    ///
    /// Where strict mode takes the type, but not with the lists, they are left to
    /// the prompt: an enforced schema is worth more.
    pub(crate) fn with_choices(
        type_schema: &Arc<OutputSchema>,
        lists: Vec<(ChoiceList, bool)>,
    ) -> Result<OutputSchema, ChoicesError> {
        let WithLists { tree, mut lists } =
            with_lists(&type_schema.tree, type_schema.wrapped, lists)?;
        let mut schema = Self::like(type_schema, tree);
        if type_schema.strict().is_ok() && schema.strict().is_err() {
            schema = Self::like(type_schema, type_schema.tree.clone());
            lists.leave_schema();
        }
        schema.lists = Some(Box::new(lists));
        schema.type_schema = Some(Arc::clone(type_schema));
        Ok(schema)
    }

    /// A copy that has this list, too. `None`: it has it already, or cannot say so.
    pub(crate) fn narrowed(this: &Arc<OutputSchema>, list: &ChoiceList) -> Option<OutputSchema> {
        let mut lists = match this.lists() {
            Some(lists) => lists.besides(list)?,
            None => Vec::new(),
        };
        lists.push((list.clone(), true));
        let type_schema = this.type_schema.as_ref().unwrap_or(this);
        let narrowed = Self::with_choices(type_schema, lists).ok()?;
        let is_in_schema = narrowed.lists().is_some_and(Lists::has_last_in_schema);
        is_in_schema.then_some(narrowed)
    }

    /// The tree does not show whether it was wrapped or cut.
    /// The schema of a changed tree of this one.
    fn like(type_schema: &OutputSchema, tree: Value) -> OutputSchema {
        let mut schema = OutputSchema::from_value(&type_schema.name, tree);
        schema.truncated |= type_schema.truncated;
        if type_schema.wrapped {
            schema.wrapped = true;
            schema.rules = Rules::new(&schema.tree, unwrapped(&schema.tree, true));
        }
        schema
    }

    /// The type's own schema, from which a copy with lists was made.
    pub(crate) fn without_choices(&self) -> &OutputSchema {
        self.type_schema.as_deref().unwrap_or(self)
    }

    pub(crate) fn lists(&self) -> Option<&Lists> {
        self.lists.as_deref()
    }

    /// The schema as a form to fill in. `None`: a form cannot say what it does.
    pub(crate) fn form(&self) -> Option<&Form> {
        let form = self.form.get_or_init(|| {
            if self.truncated {
                return None;
            }
            let tree = match &self.lists {
                Some(lists) => &lists.form,
                None => &self.tree,
            };
            Form::from_tree(tree).map(Box::new)
        });
        form.as_deref()
    }

    /// Returns the schema in the dialect of Gemini's structured outputs: the strict
    /// one without a `const`, with long lists in the description. `None`: it cannot
    /// express the type.
    pub fn gemini(&self) -> Option<&RawValue> {
        let written = self.gemini.get_or_init(|| {
            let strict = self.strict_tree().ok()?;
            let subset = gemini::subset(&strict)?;
            Some(raw(&subset))
        });
        written.as_deref()
    }

    /// Why there is no strict dialect; `None` from the second time on.
    pub(crate) fn take_strict_error(&self) -> Option<&StrictError> {
        let error = self.strict().err()?;
        // Copies of calls share the flag of the type.
        let was_taken = &self.without_choices().strict_error_was_taken;
        let is_first = !was_taken.swap(true, Ordering::Relaxed);
        is_first.then_some(error)
    }

    /// Returns whether both dialects have `{"value": ..}`, because the type is not a JSON object.
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// Schema only: serde may still refuse the value.
    pub(crate) fn is_met_by(&self, text: &str) -> bool {
        let Some(json) = super::repair::parse_strict(text) else {
            return false;
        };
        let root = self.rules.root_rule();
        faults(&self.rules, root, CheckMode::Schema, &json, false).is_empty()
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

/// The schema of the value, within its wrapper.
fn unwrapped(tree: &Value, wrapped: bool) -> &Value {
    if !wrapped {
        return tree;
    }
    match tree.get("properties") {
        Some(members) => members.get(WRAPPER).unwrap_or(tree),
        None => tree,
    }
}

/// As OpenAI takes names of schemas.
fn sanitised(name: &str) -> String {
    const LONGEST: usize = 64;
    let mut sanitised = String::new();
    for c in name.chars().take(LONGEST) {
        let is_allowed = c.is_ascii_alphanumeric() || c == '-';
        sanitised.push(if is_allowed { c } else { '_' });
    }
    if sanitised.is_empty() {
        return "output".to_owned();
    }
    sanitised
}

#[cfg(test)]
mod tests;
