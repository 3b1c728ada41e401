#![cfg_attr(feature = "openai", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "openai"), doc = "Annotate a struct, get an LLM call that the compiler checks.")]

/// # Arguments
///
/// | argument | default | |
/// |---|---|---|
/// | `prompt = "…"` | required | the user message |
/// | `system = "…"` | none | the system message, in the same grammar |
/// | `output = Type` | raw text, `String` | the type of the answer: any [`LlmOutput`] |
/// | `state = Type` | runs with any state | the state that prompt and validators read |
/// | `retries = 2` | 0 | more calls after a bad answer |
/// | `transport_retries = 2` | 2 | more tries of the same request after a failure of the transport |
/// | `model = "…"` | the model's own | a name registered by [`Run::model`], or else the provider's id |
/// | `temperature = 0.2` | the provider's | sampling temperature, 0 or more |
/// | `max_tokens = 200` | the provider's | the most tokens an answer may have |
/// | `name = "…"` | the struct's in snake_case | the name in ledgers and errors |
/// | `crate = ::path` | `::llmnode` | the path to this crate where it is renamed |
///
/// The doc comment becomes the node's [`DESCRIPTION`](Node::DESCRIPTION). The struct may have lifetimes and
/// generics; a unit struct is a node without variables.
///
/// # The prompt
///
/// `{field}`, `{field:spec}` with any of Rust's format specifications, `{state.path.to.it}`, and the filters
/// `:list`, `:json` and `:or(words)`; `{{` and `}}` are literal braces. Every variable is checked by the compiler,
/// and so is every field: one that no prompt uses is an error, unless it has `#[node(skip)]`.
///
/// # Example
///
/// ```
/// use llmnode::prelude::*;
///
/// struct Library {
///     shelves: Vec<String>,
/// }
///
/// /// Finds the shelf for a book.
/// #[llm_node(
///     prompt = "On which of these shelves belongs {title:?} ({year:or(undated)})?\n{state.shelves:list}",
///     state = Library,
///     temperature = 0.0
/// )]
/// struct Shelve<'a> {
///     title: &'a str,
///     year: Option<u16>,
///     #[node(skip)]
///     isbn: &'a str,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llmnode::NodeError> {
/// let model = ScriptedModel::new().reply("Travel");
/// let run = Run::new(model.clone()).with_state(Library { shelves: vec!["Travel".into(), "Cooking".into()] });
/// let node = Shelve { title: "The Worst Journey in the World", year: None, isbn: "9780140095654" };
/// assert_eq!(run.call(&node).await?, "Travel");
/// assert_eq!(
///     model.requests()[0].messages[0].content,
///     "On which of these shelves belongs \"The Worst Journey in the World\" (undated)?\n- Travel\n- Cooking"
/// );
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use llmnode_macros::llm_node;

/// Adds those of the derives `Serialize`, `Deserialize` and `JsonSchema` that do not stand below it, through this crate's own `serde` and `schemars`, so that a
/// program needs neither in its `Cargo.toml`. Attributes of both (`#[serde(rename_all = "…")]`,
/// `#[schemars(range(min = 1))]`) work as usual. Doc comments become the descriptions that the model reads.
///
/// `#[llm_output(state = World)]` is for a type whose *fields* have validators that take a state; `crate = ::path`
/// is for a renamed dependency.
///
/// ```
/// use llmnode::prelude::*;
///
/// #[llm_output]
/// #[derive(Debug)]
/// struct Plan {
///     /// In the order in which they are done.
///     steps: Vec<Step>,
/// }
///
/// #[llm_output]
/// #[derive(Debug)]
/// struct Step {
///     what: String,
///     minutes: u32,
/// }
///
/// #[validate]
/// impl Step {
///     fn is_short(&self) -> Result<(), Invalid> {
///         if self.minutes <= 60 { Ok(()) } else { Err(Invalid::at("minutes", "is more than an hour")) }
///     }
/// }
///
/// #[llm_node(prompt = "Plan this: {task}", output = Plan)]
/// struct MakePlan {
///     task: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let run = Run::new(ScriptedModel::new().reply(r#"{"steps": [{"what": "sleep", "minutes": 480}]}"#));
/// let error = run.call(&MakePlan { task: "rest".into() }).await.unwrap_err();
/// assert_eq!(error.attempts()[0].violations[0].to_string(), "steps[0].minutes: is more than an hour");
/// # }
/// ```
#[doc(inline)]
pub use llmnode_macros::llm_output;

/// # On an impl block
///
/// Every method takes `&self`, optionally the state (any reference) and an [`&Attempt`](Attempt), in any order, and
/// returns `Result<(), Invalid>`; it may be `async`. `#[validate]` and `#[validate(state)]` say the same. The type's
/// definition needs `#[llm_output]`, or `#[llmnode::validate]` above its own derives. Helpers that are no validators belong
/// into another impl block.
///
/// # On a definition
///
/// `#[llmnode::validate]`, or `#[llmnode::validate(state = World)]` where fields' validators take a state, above the
/// type's own derives of `Deserialize` and `JsonSchema`. The validators of its fields then run with it. It is written
/// by its path here, because the derive of `JsonSchema` knows an attribute of its own by the name `validate`.
///
/// ```
/// use llmnode::prelude::*;
///
/// struct Stock {
///     most: u32,
/// }
///
/// #[llm_output]
/// struct Order {
///     pieces: u32,
/// }
///
/// #[validate]
/// impl Order {
///     fn is_in_stock(&self, stock: &Stock) -> Result<(), Invalid> {
///         if self.pieces <= stock.most {
///             return Ok(());
///         }
///         Err(Invalid::at("pieces", format!("is more than the {} in stock", stock.most)))
///     }
///
///     async fn is_not_a_joke(&self, attempt: &Attempt) -> Result<(), Invalid> {
///         // The last answer is kept, with a warning.
///         let complaint = if attempt.is_last() { Invalid::warn } else { Invalid::new };
///         if self.pieces == 0 { Err(complaint("an order of nothing")) } else { Ok(()) }
///     }
/// }
///
/// #[llm_node(prompt = "Read this order: {letter}", output = Order, state = Stock, retries = 1)]
/// struct ReadOrder {
///     letter: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llmnode::NodeError> {
/// let model = ScriptedModel::new().reply(r#"{"pieces": 9}"#).reply(r#"{"pieces": 0}"#);
/// let run = Run::new(model).with_state(Stock { most: 5 });
/// let report = run.call(&ReadOrder { letter: "As many as you have!".into() }).report().await?;
/// assert_eq!(report.value.pieces, 0);
/// assert_eq!(report.record.attempts[0].violations[0].to_string(), "pieces: is more than the 5 in stock");
/// assert_eq!(report.record.attempts[1].flags, [llmnode::Flag::Warned]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use llmnode_macros::validate;

#[doc(hidden)]
pub use llmnode_runtime::private as __private;
#[doc(inline)]
pub use llmnode_runtime::*;

/// What most programs import: `use llmnode::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "openai")]
    pub use crate::OpenAi;
    pub use crate::{
        Attempt, Category, Invalid, NodeError, Run, ScriptedModel, Settings, llm_node, llm_output, validate,
    };
}
