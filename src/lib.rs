// Where the README's links lead here; its own definitions, below, lead to files. The first of a name counts.
//! [docs/decisions.md]: guide::decisions
//! [docs/durability.md]: guide::durability
//! [docs/endpoints.md]: guide::endpoints
//! [docs/endpoints.md#a-configuration-of-async-openais]: guide::endpoints#a-configuration-of-async-openais
//! [docs/errors.md]: guide::errors
//! [docs/observability.md]: guide::observability
//! [docs/performance.md]: guide::performance
//! [docs/pocketflow.md]: guide::pocketflow
//! [docs/prompts.md]: guide::prompts
//! [docs/prompts.md#images-files-and-sound]: guide::prompts#images-files-and-sound
//! [docs/reading.md]: guide::reading
//! [docs/reliability.md]: guide::reliability
//! [docs/reliability.md#outages]: guide::reliability#outages
//! [docs/schemas.md]: guide::schemas
//! [docs/service.md]: guide::service
//! [docs/testing.md]: guide::testing
//! [docs/testing.md#what-the-macros-wrote]: guide::testing#what-the-macros-wrote
//!
#![cfg_attr(feature = "openai", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "openai"), doc = "Annotate a struct, get an LLM call that the compiler checks.")]

/// # Arguments
///
/// | argument | default | |
/// |---|---|---|
/// | `prompt = "…"` | required | the user message |
/// | `system = "…"` | none | the system message, in the same grammar |
/// | `examples = [(input, output), …]` | none | what inputs are answered with, see below; or the path of a function that gives them |
/// | `output = Type` | raw text, `String` | the type of the answer: any [`LlmOutput`] |
/// | `state = Type` | runs with any state | the state that prompt and validators read |
/// | `validate = path` | none | the function that checks the answer, or a list of them in brackets, see [below](#functions-that-are-named-by-their-path) |
/// | `retries = 2` | 0 | more calls after a bad answer |
/// | `transport_retries = 2` | 2 | more tries of the same request after a failure of the transport |
/// | `model = "…"` | the model's own | a name registered by [`Run::model`], or else the provider's id |
/// | `temperature = 0.2` | the provider's | sampling temperature, 0 or more |
/// | `max_tokens = 200` | the provider's | the most tokens an answer may have |
/// | `recover(…)` | by [category](Category) | the steps that follow a failure, see below |
/// | `fallback_model = "…"` | none | a further model, asked from the original prompt when the tries with the first are used up |
/// | `fallback = path` | none | the function that gives a value when the models have failed, see below |
/// | `limits(requests = 5, …)` | none | the most that all calls of the node in one run may take together: see [`Limits`] |
/// | `name = "…"` | the struct's in snake_case | the name in ledgers and errors |
/// | `prep = path` | fields marked `#[prep(…)]` | the function that makes the node from the state, see below |
/// | `store = path.to.field` | nothing is stored | where in the state the output goes |
/// | `action = Type` | `()` | what the node decides in a flow |
/// | `route = path` | `From<&Output>` | the function that decides it |
/// | `post = path` | none | the function that does all that follows the output |
/// | `batch = path` | one node | the function that makes many of these nodes, which are one step |
/// | `concurrency = 4` | 8 | how many nodes of a batch are under way at most |
/// | `idempotent = false` | `true` | a call executes the node once at most |
/// | `crate = ::path` | `::llmnode` | the path to this crate where it is renamed |
///
/// The doc comment becomes the node's [`DESCRIPTION`](Node::DESCRIPTION). The struct may have lifetimes and
/// generics; a unit struct is a node without variables. The mistakes that people make first stand in
/// `docs/errors.md` of the repository, each with its message and the remedy.
///
/// # The prompt
///
/// `{field}`, `{field:spec}` with any of Rust's format specifications, `{state.path.to.it}`, and the filters
/// `:list`, `:json`, `:fence`, `:or(words)` and, for [images and files](media), `:attach`; `{{` and `}}` are literal
/// braces. Every variable is checked by the compiler, and so is every field: one that no prompt uses is an error, unless it has `#[node(skip)]`. A field with
/// `#[node(history)]` holds the earlier messages of a conversation, which stand before the user message:
///
/// ```
/// use llmnode::prelude::*;
///
/// #[llm_node(system = "You are brief.", prompt = "{input}")]
/// struct Answer<'a> {
///     #[node(history)]
///     messages: &'a [Message], // or a `Vec<Message>`, an `Arc<[Message]>`, ..
///     input: &'a str,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llmnode::NodeError> {
/// let model = ScriptedModel::new().reply("Oslo.").reply("700,000.");
/// let run = Run::new(model.clone());
/// let mut messages = vec![];
/// for input in ["What is the capital of Norway?", "How many people live there?"] {
///     let answer = run.call(&Answer { messages: &messages, input }).await?;
///     messages.extend([Message::user(input), Message::assistant(answer)]);
/// }
/// assert_eq!(model.requests()[1].messages.len(), 4); // system, the first question, its answer, the second question
/// # Ok(())
/// # }
/// ```
///
/// A field with `#[node(model)]` holds the model that the node asks in place of the run's: see [endpoints](guide::endpoints#a-node-with-its-own-model).
///
/// # Examples for the model
///
/// `examples = [(input, output), …]` shows the model what is expected: each becomes a user message and the answer to it, between
/// the system message and the history. An input is a value of the node, `Self { .. }`, whose own prompt is rendered with the
/// state of the call, or a text, which is the user message as it is. An output is a value of the node's output, written as
/// JSON in the form that the model is asked for (it needs `serde::Serialize`, which [`llm_output`](macro@llm_output) derives), or a text
/// where the node answers with text. `examples = path` names a function that gives them, `fn() -> Vec<(Self, Output)>` or any
/// other `IntoIterator` of pairs; it is called for each call of the node.
///
/// An output that the node could not read as an answer is a [`Category::PrepError`]. Validators do not run on examples, since a state
/// that fits them may not be that of the call.
///
/// ```
/// use llmnode::prelude::*;
///
/// #[llm_output]
/// enum Mood {
///     Calm,
///     Angry,
/// }
///
/// #[llm_node(
///     prompt = "Which mood does this letter show?\n{letter}",
///     examples = [(Self { letter: "Thank you!" }, Mood::Calm), (Self { letter: "Never again." }, Mood::Angry)],
///     output = Mood,
/// )]
/// struct Judge<'a> {
///     letter: &'a str,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llmnode::NodeError> {
/// let model = ScriptedModel::new().reply(r#"{"value": "Angry"}"#);
/// Run::new(model.clone()).call(&Judge { letter: "I have waited for weeks." }).await?;
/// let messages = &model.requests()[0].messages;
/// assert_eq!(messages[2], Message::user("Which mood does this letter show?\nNever again."));
/// assert_eq!(messages[3], Message::assistant(r#"{"value":"Angry"}"#));
/// # Ok(())
/// # }
/// ```
///
/// # Recovery
///
/// `recover(category = [step, …], …)` states what follows a failure, in order. Its keys are the categories of the
/// groups answer, transport and final, and `answer` and `transport` for those of a group that have no key of their
/// own; whatever has none follows the default of its [`Category`]. Of the group stop there is `limit_exceeded`, with
/// `fallback` and `bubble` alone, as a limit that is reached forbids further requests: with a [`Call::limits`] of time
/// it is a deadline with a default value. The steps:
///
/// | step | |
/// |---|---|
/// | `retry(2)` | the same request again, twice at most: in the transport group after a wait that grows, else at once |
/// | `retry(2, 10s)`, `retry(5, 1s..60s)` | after a wait of 10 s, or a random one that grows from 1 s to 60 s; the server's own wait comes on top |
/// | `repair(2)` | the answer goes back with what is wrong with it, twice at most |
/// | `model("big")` | another model from the original prompt: a name registered by [`Run::model`], or else the provider's id |
/// | `fallback` | the value of the function that `fallback = path` names, which no validator sees |
/// | `bubble` | the failure is returned, as it is when the steps have ended |
///
/// Stacks that make no sense, such as a `repair` of a `rate_limit_error`, do not compile. [`recovery_of`] reads
/// them.
///
/// `fallback = path` names a function of the [form](#functions-that-are-named-by-their-path) `fn(&Self, &State, &NodeError) -> Output`.
/// It has the last word in every stack of the groups answer and transport that `recover` does not state; in a stack that it states,
/// where the step `fallback` stands. A value that came from it is noted in [`CallRecord::degraded`](CallRecord#structfield.degraded).
///
/// ```
/// use llmnode::prelude::*;
/// use llmnode::Degraded;
///
/// #[llm_node(
///     prompt = "From 1 to 10, how urgent is this?\n{letter}",
///     output = u8,
///     recover(
///         schema_error = [repair(1), model("big"), fallback],
///         rate_limit_error = [retry(5, 1s..60s), bubble],
///     ),
///     fallback = Rate::in_the_middle,
/// )]
/// struct Rate {
///     letter: String,
/// }
///
/// impl Rate {
///     fn in_the_middle(&self, error: &NodeError) -> u8 {
///         assert_eq!(error.category(), Category::SchemaError);
///         5
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llmnode::NodeError> {
/// let small = ScriptedModel::new().reply("very").reply("Very!");
/// let big = ScriptedModel::new().reply("extremely").reply("I said extremely.");
/// let run = Run::new(small).model("big", big);
/// let report = run.call(&Rate { letter: "Help!".into() }).report().await?;
/// assert_eq!((report.value, report.record.attempts.len()), (5, 4));
/// assert_eq!(report.record.degraded, Some(Degraded::FallbackValue));
/// # Ok(())
/// # }
/// ```
///
/// # Functions that are named by their path
///
/// Each of these arguments takes the path of a function, and the function has one signature. A node without `state` leaves that
/// argument out. Raw text is lent as `&str`.
///
/// | argument | function | may also |
/// |---|---|---|
/// | `validate` | `fn(&Output, &State, &Attempt) -> Result<(), Invalid>` | be `async` |
/// | `fallback` | `fn(&Self, &State, &NodeError) -> Output` | return a `Result` of it, be `async` |
/// | `prep` | `fn(&State) -> Self` | return a `Result` of it, be `async` |
/// | `batch` | `fn(&State) -> Vec<Self>` | return a `Result` of it, be `async` |
/// | `route` | `fn(&Output, &State) -> Action` | return a `Result` of it |
/// | `post` | `fn(Self, Output, &mut State) -> Action` | return a `Result` of it |
///
/// The error of a `Result` is any error that is `Send` and `Sync`, or a text. With `batch`, `route` and `post` take the outputs of
/// all nodes, a `Vec<Output>`, and `post` takes the nodes, a `Vec<Self>`. A list is lent as `&Vec<T>`; where clippy proposes a slice
/// for it (`ptr_arg`), allow that lint at the function.
///
/// # As a step of a flow
///
/// A node with any of `prep`, `store`, `action`, `route`, `post`, `batch`, `idempotent` or a field with `#[prep(…)]` is a step of
/// [flows](mod@flow) over its `state`: it is made from the state, executes, and writes back. It stays a node that can be called. As it
/// is made anew each time, it cannot borrow.
///
/// - **prep.** Each field has `#[prep(expression)]`, which sees `state: &State` and gives the field's value, an `Option` or a
///   `Result` of it. `None` and `Err` are a [`Category::PrepError`] that names the field. Or `prep = path` names a function
///   `fn(&State) -> Self`.
/// - **exec** is the call, with its tries and its fallback.
/// - **post.** `action = Type` is what the step decides: by `From<&Output>`, or by `route = path`, a function
///   `fn(&Output, &State) -> Action`. It sees the state as it was. Then
///   `store = path.to.field` writes the output there, by [`Into`]. Or `post = path` names a function
///   `fn(Self, Output, &mut State) -> Action` that does both. The functions do not wait, so that a flow that is dropped leaves no half step.
///
/// Neither prep nor post is tried again. An error of `route` and `post` is [`Category::Aborted`], with the error as its source;
/// a [`NodeError`] that any of these functions returns stays what it is.
///
/// `batch = path` names a function `fn(&State) -> Vec<Self>` that makes many of these nodes. In a flow they stand as [`Batch<Node>`](flow::Batch); `store`, `route` and `post` then take the outputs of
/// all, a `Vec<Output>` in the order of the nodes, and `post` also the nodes, a `Vec<Self>`.
///
/// `idempotent = false` says that the node must not be executed a second time: nothing is tried again and no other model is
/// asked, whatever the run says. A call that sets either is a [`Category::ConfigError`].
///
/// ```
/// use llmnode::prelude::*;
/// use std::collections::VecDeque;
///
/// struct Desk {
///     letters: VecDeque<String>,
///     replies: Vec<String>,
///     urgency: u8,
/// }
///
/// #[derive(Action)]
/// enum Next {
///     Reply,
///     Leave,
/// }
///
/// #[llm_node(
///     prompt = "From 1 to 10, how urgent is this?\n{letter}",
///     output = u8,
///     state = Desk,
///     action = Next,
///     route = worth_a_reply,
///     store = urgency,
/// )]
/// struct Rate {
///     #[prep(state.letters.front().cloned())] // `None`: a `prep_error`
///     letter: String,
/// }
///
/// fn worth_a_reply(urgency: &u8, _: &Desk) -> Next {
///     if *urgency > 3 { Next::Reply } else { Next::Leave }
/// }
///
/// #[llm_node(prompt = "Reply to this letter, of urgency {urgency}:\n{letter}", state = Desk, post = Reply::send)]
/// struct Reply {
///     #[prep(state.letters.front().cloned())]
///     letter: String,
///     #[prep(state.urgency)]
///     urgency: u8,
/// }
///
/// impl Reply {
///     fn send(self, reply: String, desk: &mut Desk) {
///         desk.letters.pop_front();
///         desk.replies.push(reply);
///     }
/// }
///
/// flow! {
///     Answer(Desk):
///         Rate => match { Next::Reply => Reply, Next::Leave => end },
///         Reply => end,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llmnode::NodeError> {
/// let model = ScriptedModel::new().reply(r#"{"value": 8}"#).reply("We come at once.");
/// let desk = Desk { letters: ["Help!".to_owned()].into(), replies: vec![], urgency: 0 };
/// let mut run = Run::new(model).with_state(desk);
/// run.flow(Answer).await?;
/// assert_eq!(run.state().replies, ["We come at once."]);
/// assert!(run.state().letters.is_empty());
/// # Ok(())
/// # }
/// ```
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
/// A field of type `Arc` or `Rc` needs serde's feature `rc`, which is off unless the program's `Cargo.toml` asks for it:
/// `serde = { version = "1", features = ["rc"] }`. Below `#![no_implicit_prelude]` the derive of `JsonSchema` needs
/// `use std::convert::{From as _, Into as _};`; what llmnode generates needs no name in scope.
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
/// returns `Result<(), Invalid>`; it may be `async`. Which is which, the parameters' names `state` and `attempt` decide,
/// a leading `_` aside; under any other name a parameter whose type is called `Attempt` is the attempt, and every other
/// is the state. `#[validate(state)]` also says that one of them takes the state, which is an error if none does. The
/// type's definition needs `#[llm_output]`, or `#[llmnode::validate]` above its own derives. Inside a container that
/// llmnode does not know, validators are not skipped: the first call is a `config_error` that names the field and what
/// to write. Helpers that are no validators belong into another impl block.
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

/// Makes an enum what a step decides: its variants have the names that pictures, records and graphs known only at run time
/// go by, and an action is made [`From`] a reference to one, so that the output of a node can be its action.
///
/// A name is the variant's own; `#[action(name = "look up")]` on the variant gives another. What a variant holds has to be
/// [`Clone`]. `#[action(crate = ::path)]` on the enum is for a renamed dependency.
///
/// ```
/// use llmnode::prelude::*;
///
/// #[derive(Action)]
/// enum Decision {
///     Search(String),
///     #[action(name = "give up")]
///     GiveUp,
/// }
///
/// assert_eq!(Decision::NAMES, Some(&["Search", "give up"][..]));
/// assert_eq!(Decision::Search("rain".into()).name(), "Search");
/// ```
#[doc(inline)]
pub use llmnode_macros::Action;

/// A step that is written by hand, since it asks no model or does more than that, in one impl: `type Output`, `exec` and what else is of
/// [`Node`] and [`Exec`] stands beside what is of [`Step`](flow::Step) or [`BatchStep`](flow::BatchStep), and goes to its trait.
///
/// | | default | is of |
/// |---|---|---|
/// | `type Output` | | [`Node`]: what `exec` gives |
/// | `const NAME` | the type's in snake_case | [`Node`] |
/// | `const DESCRIPTION`, `SETTINGS`, `LIMITS`, `IDEMPOTENT` | none | [`Node`]: [`SETTINGS`](Settings) says how often it is executed, and after which wait |
/// | `async fn prep(state: &S)` | `Default` | the step: makes it from the state |
/// | `async fn exec(&self, cx: &Cx<'_, S>)` | nothing: the output is `()` | [`Exec`]: what it does |
/// | `async fn exec_fallback(&self, cx: &Cx<'_, S>, error: NodeError)` | the error | [`Exec`]: what takes the place of the output after the last execution |
/// | `fn post(self, output, state: &mut S)` | nothing: the action is `()` | the step: writes to the state, and decides |
/// | `type Action` | `()` | the step: what it decides |
///
/// All of them return a `Result` with any error, so `?` works as in any program. In `exec` the error is an
/// [`exec_error`](Category::ExecError): `exec` is called again as often as `attempts` says, then `exec_fallback`. In `prep` it is a
/// [`prep_error`](Category::PrepError), in `post` [`aborted`](Category::Aborted); neither is tried again or replaced. A
/// [`NodeError`] stays what it is.
///
/// ```
/// use std::time::Duration;
///
/// use llmnode::flow::Step;
/// use llmnode::prelude::*;
/// use llmnode::{Settings, Backoff, Cx};
///
/// #[derive(Default)]
/// struct World {
///     url: String,
///     page: String,
/// }
///
/// struct Fetch {
///     url: String,
/// }
///
/// #[llmnode::step]
/// impl Step<World> for Fetch {
///     type Output = String;
///     /// Three executions in all, with a second in between.
///     const SETTINGS: &'static Settings = &Settings::new().attempts(3).backoff(Backoff::fixed(Duration::from_secs(1)));
///
///     async fn prep(state: &World) -> Result<Self, BoxError> {
///         Ok(Fetch { url: state.url.clone() })
///     }
///
///     async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
///         let page = std::fs::read_to_string(&self.url)?;
///         Ok(format!("{page}, at try {}", cx.attempt().index()))
///     }
///
///     async fn exec_fallback(&self, _: &Cx<'_, World>, error: NodeError) -> Result<String, BoxError> {
///         match error.category() {
///             Category::ExecError => Ok(String::new()), // an empty page will do
///             _ => Err(error.into()),
///         }
///     }
///
///     fn post(self, page: String, state: &mut World) -> Result<(), BoxError> {
///         state.page = page;
///         Ok(())
///     }
/// }
///
/// flow! { Read(World): Fetch => end }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), NodeError> {
/// let world = World { url: "a.example".into(), ..World::default() };
/// let mut run = Run::new(ScriptedModel::new()).with_state(world);
/// run.flow(Read).await?;
/// assert_eq!(run.state().page, "");
/// assert_eq!(run.ledger().calls()[0].failed_tries.len(), 3);
/// # Ok(())
/// # }
/// ```
///
/// `#[llmnode::step(crate = ::path)]` is for a renamed dependency.
#[doc(inline)]
pub use llmnode_macros::step;

/// Declares a flow: the steps that it has, and where it goes on from each.
///
/// ```
/// use llmnode::flow::Step;
/// use llmnode::prelude::*;
/// use llmnode::{Cx, Exec, Node};
///
/// struct World {
///     questions: Vec<&'static str>,
///     answers: usize,
/// }
///
/// #[derive(Action)]
/// enum Next {
///     Answer,
///     Stop,
/// }
///
/// struct Decide;
/// struct Answer;
///
/// flow! {
///     /// Answers all questions.
///     pub Quiz(World):
///     Decide => match { Next::Answer => Answer, Next::Stop => end },
///     Answer => Decide,
/// }
///
/// # impl Node for Decide { type Output = (); const NAME: &'static str = "decide"; }
/// # impl Exec<World> for Decide { async fn exec(&self, _: &Cx<'_, World>) -> Result<(), BoxError> { Ok(()) } }
/// # impl Step<World> for Decide {
/// #     type Action = Next;
/// #     async fn prep(_: &World) -> Result<Self, BoxError> { Ok(Decide) }
/// #     fn post(self, (): (), state: &mut World) -> Result<Next, BoxError> {
/// #         Ok(if state.questions.pop().is_some() { Next::Answer } else { Next::Stop })
/// #     }
/// # }
/// # impl Node for Answer { type Output = (); const NAME: &'static str = "answer"; }
/// # impl Exec<World> for Answer { async fn exec(&self, _: &Cx<'_, World>) -> Result<(), BoxError> { Ok(()) } }
/// # impl Step<World> for Answer {
/// #     type Action = ();
/// #     async fn prep(_: &World) -> Result<Self, BoxError> { Ok(Answer) }
/// #     fn post(self, (): (), state: &mut World) -> Result<(), BoxError> { state.answers += 1; Ok(()) }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), NodeError> {
/// let world = World { questions: vec!["Why?", "When?"], answers: 0 };
/// let mut run = Run::new(ScriptedModel::new()).with_state(world);
/// run.flow(Quiz).await?;
/// assert_eq!(run.state().answers, 2);
/// # Ok(())
/// # }
/// ```
///
/// # The head
///
/// `pub Name(State) -> Action { parameters }, options:`, of which name, state and the colon are always there. Docs and attributes stand
/// above it, as on the struct that it becomes: `run.flow(Quiz)`.
///
/// | | default | |
/// |---|---|---|
/// | `-> Action` | `()` | the type of what the flow decides: of `end(action)`, and of `run.flow(..).await?`; by it the outer flow goes on |
/// | `{ file: PathBuf => state.current, goal: String }` | none | parameters: fields of the struct, written into the state as the flow begins (by `Into`), without `=>` into the field of that name |
/// | `steps = 50` | 1000 | how many steps one run of it may take, those of nested flows included; it counts for the flow that is run: where this one stands in another, that one's `steps` counts |
/// | `name = "…"` | the struct's in snake_case | in errors, records and pictures |
/// | `crate = ::path` | `::llmnode` | the path to this crate where it is renamed |
///
/// # The steps
///
/// The first is where the flow begins. Each is a type, and where it leads:
///
/// | | |
/// |---|---|
/// | `Search => Decide,` | a step that decides nothing: its action is `()` |
/// | `Decide => match { Next::Answer => Answer, Next::Stop => end },` | a step with actions: an arm for each. One that is missing does not compile, and so `_` is refused, but beside literals (`"yes" => …, _ => …`) |
/// | `Search as Again => …` | the label that arrows and [positions](flow::Position) name; without `as` it is the last name of the type |
/// | `Inner => …` | another flow over the same state; `Inner in state.part => …`: a flow or a node over a part of it |
/// | `Inner { file: state.next.clone() } => …` | a flow with parameters, or a node that this flow prepares instead of its own `prep`; the expressions see `state` |
/// | `(Weather, News) as Gather => …` | two to eight steps without actions, side by side |
///
/// An arrow leads to a label, to `end`, to `end(action)`, or to `todo!()`: a [`Category::ConfigError`] when the flow comes there.
/// `#[cfg(…)]` may stand on steps, arms and parameters.
#[doc(inline)]
pub use llmnode_macros::flow;

#[cfg(any(doc, doctest))]
pub mod guide;

#[doc(inline)]
pub use llmnode_flow::flow;
#[doc(inline)]
pub use llmnode_flow::flow::Action;
#[cfg(feature = "journal")]
#[doc(inline)]
pub use llmnode_flow::journal;
#[cfg(feature = "openai")]
#[doc(inline)]
pub use llmnode_http::*;
#[doc(inline)]
pub use llmnode_runtime::*;
#[cfg(feature = "stub-server")]
#[doc(inline)]
pub use llmnode_stub as stub_server;
#[cfg(feature = "stub-server")]
#[doc(inline)]
pub use llmnode_stub::StubServer;

/// What generated code names, of all crates.
#[doc(hidden)]
pub mod __private {
    pub mod keys;

    pub use llmnode_flow::private::*;
    pub use llmnode_runtime::private::*;
}

/// From a node's fields to the messages that are sent.
pub mod prompt {
    /// Nobody writes these names, but compilers tell them: with a place in a module that is not hidden itself, without their path.
    #[doc(hidden)]
    pub use llmnode_flow::private::{Place, Starts};
    #[doc(hidden)]
    pub use llmnode_runtime::private::{
        Column, Displayed, Example, ExampleInput, ExampleOutput, ExampleText, IntoExample, Line, OutputSpec,
        Prompt, PromptAt, PromptFence, PromptHistory, PromptJson, PromptOption, PromptText, PromptValue,
        Segment,
    };
    #[doc(inline)]
    pub use llmnode_runtime::prompt::*;
}

/// What most programs import: `use llmnode::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "openai")]
    pub use crate::OpenAi;
    pub use crate::{
        Action, Attempt, BoxError, Category, Invalid, Message, NodeError, Run, ScriptedModel, Settings,
        llm_node, llm_output, validate,
    };
    #[doc(inline)]
    pub use llmnode_flow::flow::RunExt;
    #[cfg(feature = "journal")]
    pub use llmnode_flow::journal::MapExt;
    /// The macro alone: the module of that name stays `llmnode::flow`.
    pub use llmnode_macros::flow;
}
