// Where the README's links lead in rustdoc. Its own definitions lead to files; the first definition of a name counts.
//! [docs/README.md]: guide
//! [docs/approval.md]: guide::approval
//! [docs/caches.md]: guide::caches
//! [docs/calls.md]: guide::calls
//! [docs/comparison.md]: guide::comparison
//! [docs/endpoints.md]: guide::endpoints
//! [docs/flows.md]: guide::flows
//! [docs/how-this-is-made.md]: guide::how_this_is_made
//! [docs/keep-a-chat.md]: guide::keep_a_chat
//! [docs/overnight.md]: guide::overnight
//! [docs/pages.md]: guide::pages
//! [docs/reliability.md]: guide::reliability
//! [docs/testing.md]: guide::testing
//!
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(feature = "openai", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "openai"),
    doc = "Annotate a struct, get an LLM call that the compiler checks."
)]
//!
//! # Features
//!
//! | feature | what it brings |
//! |---|---|
//! | `openai` (default) | [`OpenAi`], for OpenAI's API and compatible servers |
//! | `anthropic`, `gemini` | [`Anthropic`] and [`Gemini`], by their own APIs |
//! | `async-openai`, `http-client` | a configuration of async-openai's, or a `reqwest::Client`, of your own; their types become part of the API |
//! | `batch` | [maps over the providers' batch APIs](guide::overnight): within a day, with most providers for half the price |
//! | `chats` | [conversations that are kept](guide::chats): whole turns, one writer |
//! | `chats-postgres` | the same in tables of Postgres |
//! | `chats-sqlite` | the same in one file of SQLite |
//! | `evals` | [labelled cases, metrics, and a gate](guide::evaluate) that says whether a changed prompt is worse |
//! | `graph` | [graphs](guide::graphs) of nodes from JSON files |
//! | `journal` | [flows and maps](guide::durability) that survive a crash |
//! | `mcp` | [tools of MCP servers](guide::mcp) |
//! | `page` | [one run as one page](guide::pages) |
//! | `prices` | [`Prices::catalog`], a dated list of what models cost |
//! | `rag` | [stores of documents, embeddings, search](guide::retrieval) |
//! | `rag-sqlite`, `rag-chroma` | a store in one SQLite file (needs a C compiler), and one behind Chroma's server |
//! | `serve` | [a local page for graphs](guide::graph_page): drawn, checked while they are edited, run |
//! | `smart` | [nodes with a goal](guide::smart_nodes) in place of a prompt, and their optimisers |
//! | `cassette` | [recorded answers](guide::cassettes) for tests |
//! | `stub-server` | [`StubServer`], a server for tests that is as strict as providers |
//! | `chrono04`, `jiff02`, `rust_decimal1`, `uuid1`, `url2` | [dates, money and ids](guide::schemas#dates-money-and-ids) of these crates in outputs |

/// Makes a struct a node: a typed call to a language model, whose prompt names the struct's fields.
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
///     prompt = "Which of these shelves does {title:?} ({year:or(undated)}) belong on?\n{state.shelves:list}",
///     state = Library
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
///     "Which of these shelves does \"The Worst Journey in the World\" (undated) belong on?\n- Travel\n- Cooking"
/// );
/// # Ok(())
/// # }
/// ```
///
/// # Arguments
///
/// Each argument may also be set on a [run](Run::with_settings) or a [call](Call), if it is a field of [`Settings`]; these win.
///
/// | argument | default | |
/// |---|---|---|
/// | `prompt = "Sort {letter}."` | required | the user message, a literal or several in a `concat!` |
/// | `prompt_file = "sort.md"` | | the user message from a file, relative to the source file |
/// | `system = "You are brief."` | none | the system message, with the same grammar |
/// | `system_file = "system.md"` | | the system message from a file |
/// | `goal = "Judge the claim."` | | in place of `prompt`: what the node should do with its fields (feature `smart`) |
/// | `think` | off | for a node with `goal`: the model writes its reasoning before the output |
/// | `form = chat` | llmnode's own | for a node with `goal`: the messages of DSPy's adapters, `chat` or `json` |
/// | `with(n = state.files.len())` | none | variables of the prompts by expressions, which see `self` and `state` |
/// | `examples = [("Hello", "greeting")]` | none | inputs and their answers, shown to the model; or the path of a function that returns them |
/// | `output = Ticket` | raw text, `String` | the type of the answer: any [`LlmOutput`], an enum, a `Vec`, a number |
/// | `state = World` | any state | the state that the prompts and the validators read |
/// | `choices(item = state.inventory)` | none | the values that the state allows at places of the output: `steps[].tool`, `action.Action::Use.item`, `self` |
/// | `validate = path` | none | a function that checks the answer, or `[a, b]` |
/// | `exact` | off | the answer is taken only as it stands: nothing is repaired or changed to fit the type |
/// | `retries = 2` | 0 | further requests after a bad answer |
/// | `transport_retries = 3` | 2 | further requests after a failure of the transport, each after a wait |
/// | `wait = 10s`, `wait = 1s..60s` | 0.5 s, doubling to 8 s | the wait before each of these, on top of what the server asks for; a random part of it, unless it is fixed |
/// | `max_wait = 120s` | 60 s | the longest wait that a server may ask for; for a longer one the model is not asked again |
/// | `attempt_timeout = 5s` | the model's, 600 s | the longest time of one attempt; a longer one is a `timeout`, and is repeated as `transport_retries` says |
/// | `deadline = 20s` | none | the longest time of the call, with all attempts and waits; without it, only `attempt_timeout` ends the wait for a server that never answers |
/// | `model = "small"` | the run's model | a name registered with [`Run::model`], or the provider's id |
/// | `temperature = 0.2` | the provider's | the sampling temperature, 0 or more |
/// | `max_tokens = 200` | the provider's | the most tokens of an answer, 1 or more |
/// | `cache = 1h` | `auto` | whether the provider is asked to keep the beginning of prompts: `auto`, `off`, `5m`, `1h`: see [`Cache`] |
/// | `window = 8_192` | looked up | how many tokens the model's window has: see [`Settings::window`] |
/// | `reasoning = "low"` | the provider's | how much the model thinks: `off`, `low`, `medium`, `high`, `max`: see [`Reasoning`] |
/// | `idempotent = false` | `true` | the node is executed at most once in a call: no retries, no other model |
/// | `fallback_model = "big"` | none | another model, asked from the original prompt when the first one failed |
/// | `fallback = path` | none | a function that returns a value when all models failed |
/// | `recover(schema_error = [repair(1), fallback])` | by [category](Category) | the steps that follow a failure, see [below](#recovery) |
/// | `limits(requests = 5, tokens = 2_000, money = 0.05)` | none | the most that all calls of the node in a run may take together: see [`Limits`] |
/// | `tools = [Search, Summarize]` | none | the [tools](macro@tool) that the model may call: see [agents](guide::agents) |
/// | `turns = 6` | 10 | the most responses of the model, including the answer, for a node with tools |
/// | `compact`, `compact(keep = 6, with = Sum)` | off | old results of tools are left out of a conversation that is too long, or it is summed up: see [`Compact`] |
/// | `calls_in_text = false` | `true` | whether a text that is a call of a tool, and nothing else, is executed as that call. `true` on the node also lets tools with `idempotent = false` or `require_approval` be called so |
/// | `thoughts_in_text = false` | `true` | whether thoughts that stand in a text, such as `<think>..</think>` first in it, are read as thoughts, and are no part of it |
/// | `tool` | off | the node is a tool, too: a model writes its fields, and reads its output |
/// | `name = "sort"` | the struct's name in snake_case | the name in ledgers and errors |
/// | `crate = ::path` | by `Cargo.toml` | the path to this crate, if another one re-exports it |
///
/// These make the node a [step of a flow](#as-a-step-of-a-flow):
///
/// | argument | default | |
/// |---|---|---|
/// | `prep = path` | `#[prep(..)]` on each field | a function that makes the node from the state |
/// | `store = path.to.field` | none | the field of the state that takes the output |
/// | `action = Type` | `()` | what the step decides |
/// | `route = path` | `From<&Output>` | a function that decides it |
/// | `post = path` | none | a function that does both: writes to the state, and decides |
/// | `batch = path` | none | a function that makes many of these nodes, which are one step |
/// | `concurrency = 4` | 8 | how many nodes of the batch run at once |
///
/// The doc comment is the node's [`description`](NodeFacts::description). The struct may have lifetimes and generics. The page
/// [errors](guide::errors) has the mistakes that people make first, with their messages.
///
/// # The prompt
///
/// `{field}`, `{field:spec}` with any of Rust's format specifications, `{state.path.to.it}`, and the filters `:list`, `:json`,
/// `:fence`, `:raw`, `:or(words)` and, for [images and files](media), `:attach`. `{{` and `}}` are literal braces. The compiler checks
/// every variable. A field that no prompt uses is an error, unless it has `#[node(skip)]`. [Prompts](guide::prompts) is the guide.
///
/// A field with `#[node(history)]` holds the earlier messages of a conversation. They come before the user message:
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
///     let report = run.call(&Answer { messages: &messages, input }).report().await?;
///     messages = report.history()?;
/// }
/// assert_eq!(model.requests()[1].messages.len(), 4); // system, the first question, its answer, the second question
/// # Ok(())
/// # }
/// ```
///
/// A field with `#[node(tools)]` holds a [`Toolset`]: tools that are known at run time only.
///
/// A field with `#[node(model)]` holds the model that the node asks in place of the run's: see
/// [endpoints](guide::endpoints#a-node-with-its-own-model).
///
/// # Examples for the model
///
/// `examples = [(input, output), …]` shows the model what is expected. Each pair becomes a user message and its answer, between
/// the system message and the history. An input is a value of the node, `Self { .. }`, whose own prompt is rendered, or a text.
/// An output is a value of the node's output, which must implement `serde::Serialize`, or a text if the node answers with text.
/// `examples = path` names a function `fn() -> Vec<(Self, Output)>`, which runs for each call.
///
/// An output that the node could not read as an answer is a [`Category::PrepError`]. Validators do not run on examples.
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
/// `recover(category = [step, …], …)` states the steps that follow a failure, in order. Its keys are the categories of the groups
/// answer, transport and final, the names of these groups for all categories without a key of their own, and `limit_exceeded`
/// with `fallback` and `bubble` alone. A category without steps has the default of its [`Category`], in which the fallbacks come
/// last.
///
/// | step | |
/// |---|---|
/// | `retry(2)` | the same request again, up to twice: in the group transport after a wait, otherwise at once |
/// | `retry(2, 10s)`, `retry(5, 1s..60s)` | after 10 s, or after a random wait that grows from 1 s to 60 s; the server's wait is added |
/// | `repair(2)` | the answer goes back with what is wrong with it, up to twice |
/// | `model("big")` | another model, from the original prompt |
/// | `fallback` | the value of the `fallback` function |
/// | `bubble` | the error is returned, as it is after the last step |
///
/// Steps that make no sense, such as a `repair` of a `rate_limit_error`, do not compile. [`recovery_of`] returns the steps of a
/// node. A value from the fallback is recorded in [`CallRecord::used_fallback`](CallRecord#structfield.used_fallback), and no validator
/// sees it. [Reliability](guide::reliability) is the guide.
///
/// ```
/// use llmnode::prelude::*;
/// use llmnode::UsedFallback;
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
/// assert_eq!(report.record.used_fallback, Some(UsedFallback::Value));
/// # Ok(())
/// # }
/// ```
///
/// # Functions named by their path
///
/// Each of these arguments takes the path of a function with one signature. A node without `state` leaves that argument out. Raw
/// text is passed as `&str`.
///
/// | argument | function | may also |
/// |---|---|---|
/// | `validate` | `fn(&Output, &State, &AttemptInfo) -> Result<(), Invalid>` | be `async` |
/// | `fallback` | `fn(&Self, &State, &NodeError) -> Output` | return a `Result`, be `async` |
/// | `prep` | `fn(&State) -> Self` | return a `Result`, be `async` |
/// | `batch` | `fn(&State) -> Vec<Self>` | return a `Result`, be `async` |
/// | `route` | `fn(&Output, &State) -> Action` | return a `Result` |
/// | `post` | `fn(Self, Output, &mut State) -> Action` | return a `Result` |
///
/// The error of a `Result` is any error that is `Send` and `Sync`, or a text. With `batch`, `route` and `post` take a `Vec` of all
/// outputs, and `post` a `Vec` of the nodes. A list is passed as `&Vec<T>`; allow clippy's `ptr_arg` at such a function.
///
/// # As a step of a flow
///
/// A node with one of the arguments above, or a field with `#[prep(…)]`, is a step of [flows](mod@flow) over its `state`. It is made
/// from the state, runs, and writes back. It can still be called. It cannot borrow.
///
/// - **prep**: `#[prep(expression)]` on each field sees `state: &State` and gives the field's value, or an `Option` or a `Result` of
///   it. `None` and `Err` are a [`Category::PrepError`] that names the field.
/// - **exec**: the call, with its retries and its fallback.
/// - **route and store**: `route` sees the output and the state as it was, then `store` writes the output by [`Into`]. `post` does
///   both in their place.
///
/// Only exec is retried. An error of `route` and `post` is [`Category::Aborted`]. A [`NodeError`] that one of these functions
/// returns keeps its category. A dropped flow leaves no half step. [Flows](guide::flows) is the guide.
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
#[doc(inline)]
pub use llmnode_macros::llm_node;

/// Makes a struct or an enum the output of nodes: derives `Serialize`, `Deserialize` and `JsonSchema`, and runs the validators of
/// its fields.
///
/// Derives that are already below the attribute are not added. The derives come from this crate, so the program needs neither
/// serde nor schemars in its `Cargo.toml`. Attributes of both (`#[serde(rename_all = "…")]`, `#[schemars(range(min = 1))]`) work as
/// usual. Doc comments become the descriptions that the model reads.
///
/// | argument | default | |
/// |---|---|---|
/// | `state = World` | none | the state that validators of the *fields* take |
/// | `crate = ::path` | by `Cargo.toml` | the path to this crate, if another one re-exports it |
///
/// A field of type `Arc` or `Rc` needs `serde = { version = "1", features = ["rc"] }` in the program's `Cargo.toml`. Under
/// `#![no_implicit_prelude]` the derive of `JsonSchema` needs `use std::convert::{From as _, Into as _};`.
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

/// Makes every method of an `impl` block a validator of its type.
///
/// | argument | default | |
/// |---|---|---|
/// | `state` (on an `impl` block) | none | says that a method takes the state; an error if none does |
/// | `state = World` (on a definition) | none | the state that validators of the fields take |
/// | `crate = ::path` | by `Cargo.toml` | the path to this crate, if another one re-exports it |
///
/// # On an impl block
///
/// Each method takes `&self`, optionally a reference to the state and an [`&AttemptInfo`](AttemptInfo), in any order, and returns
/// `Result<(), Invalid>`. It may be `async`. The names `state` and `attempt` tell the parameters apart, a leading `_` aside. Under
/// another name, a parameter of type `AttemptInfo` is the attempt and any other is the state. All validators of a type are in one
/// block. Put methods that are not validators into another block.
///
/// | the method returns | |
/// |---|---|
/// | `Err(Invalid::at("item", "is not available"))`, `Err(Invalid::new("…"))` | the answer goes back to the model, if `retries` are left |
/// | `Err(Invalid::warn("…"))` | the answer is accepted, and its record flagged |
/// | `?` on any error, `Err(Invalid::abort(error))` | a mistake of the program: the call ends at once, and the model sees nothing of it |
///
/// Every validator runs, including those of nested types, with the path of their value (`steps[2].item`). If a type is held in a
/// container that llmnode does not know, the first call is a `config_error` that names the field.
///
/// # On a definition
///
/// Put `#[llmnode::validate]` above a type with its own derives of `Deserialize` and `JsonSchema`, in place of `#[llm_output]`.
/// Write it by its path: the derive of `JsonSchema` has an attribute named `validate`.
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
///     async fn is_not_a_joke(&self, attempt: &AttemptInfo) -> Result<(), Invalid> {
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

/// Makes an enum the action of a step: what it decides.
///
/// The names of its variants appear in pictures, records and flows that are built at run time. `#[action(name = "look up")]` on a
/// variant changes its name, `#[action(crate = ::path)]` on the enum names a renamed dependency. The derive also implements
/// [`From`] for a reference to the enum, so that the output of a node can be its action; what a variant holds must be [`Clone`].
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

/// Makes a function a tool: a node that a model may call, and whose arguments the model writes.
///
/// `#[tool] async fn find_books(..)` makes the struct `FindBooks`, which goes into `tools = [FindBooks]` of an agent. The function
/// itself does not change. [Agents](guide::agents) is the guide.
///
/// ```
/// use llmnode::prelude::*;
/// use serde_json::json;
///
/// struct Library {
///     books: Vec<String>,
/// }
///
/// /// Finds books on the shelf.
/// #[tool]
/// fn find_books(
///     /// A word of the title.
///     word: &str,
///     library: &Library,
/// ) -> Result<Vec<String>, String> {
///     let found: Vec<String> = library.books.iter().filter(|title| title.contains(word)).cloned().collect();
///     if found.is_empty() { Err(format!("no title has the word {word:?}")) } else { Ok(found) }
/// }
///
/// /// Recommends a book.
/// #[llm_node(prompt = "{question}", state = Library, tools = [FindBooks], turns = 4)]
/// struct Recommend {
///     question: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llmnode::NodeError> {
/// let model = ScriptedModel::new()
///     .reply(Reply::text("").call("find_books", json!({"word": "Rust"})))
///     .reply("Read Rust in Action.");
/// let run = Run::new(model).with_state(Library { books: vec!["Rust in Action".into()] });
/// let answer = run.call(&Recommend { question: "What is good on Rust?".into() }).await?;
/// assert_eq!(answer, "Read Rust in Action.");
/// // A tool is a node, too.
/// assert_eq!(run.call(&FindBooks { word: "Action".into() }).await?, ["Rust in Action"]);
/// # Ok(())
/// # }
/// ```
///
/// | parameter | |
/// |---|---|
/// | by value, `&str`, `&[T]` | the model writes it; the type has serde's derives and `JsonSchema`, as `#[llm_output]` gives them. Its doc comment is its description, and attributes such as `#[serde(default)]` work |
/// | `state: &World` | the state of the run, for nodes with `state = World` |
/// | `cx: &Cx<'_, World>` | the [context](Cx), through which a tool calls other nodes; `&Cx<'_, ()>` needs no state, and fits every node |
///
/// | argument | default | |
/// |---|---|---|
/// | `name = "find"` | the function's name | the name that the model calls, 1 to 64 of `a-z A-Z 0-9 _ -` |
/// | `require_approval` | off | no call runs before somebody has [approved](guide::approval) it |
/// | `alone` | off | no other tool of the agent runs at the same time |
/// | `attempts = 2` | 1 | how often it is executed in all before the model reads its error |
/// | `wait = 1s` | none | the wait before each further execution |
/// | `deadline = 30s` | none | the longest time |
/// | `idempotent = false` | `true` | it is executed at most once in a call |
/// | `crate = ::path` | by `Cargo.toml` | the path to this crate, if another one re-exports it |
///
/// The doc comment is required: it is what the model reads. The output is a text or any type with `Serialize`; the model reads at
/// most 64 KiB of it. [`ToolReply`] has images. The message of an error goes to the model, which may find another way;
/// [`ToolError::abort`] ends the agent's call.
/// `#[validate] impl FindBooks { .. }` checks the arguments, with the state, before the function runs. A plain `fn` must not block.
pub use llmnode_macros::tool;

/// Makes one `impl` of [`Step`](flow::Step) or [`BatchStep`](flow::BatchStep) a whole step that is written by hand.
///
/// All items of [`Node`], [`Exec`] and the step are in one `impl`. The macro moves each to its trait.
///
/// | item | default | |
/// |---|---|---|
/// | `type Output` | `()` | what `exec` returns |
/// | `type Action` | what `post` returns | what the step decides |
/// | `const NAME` | the type's name in snake_case | the name in ledgers and errors |
/// | `const SETTINGS`, `FACTS` | none | as in [`Node`]; `attempts` and `backoff` of [`Settings`] repeat `exec` |
/// | `async fn prep(state: &S)` | `Default` | makes the node |
/// | `async fn exec(&self, cx: &Cx<'_, S>)` | nothing | runs |
/// | `async fn exec_fallback(&self, cx: &Cx<'_, S>, error: NodeError)` | returns the error | gives a value after the last execution failed |
/// | `fn post(self, output, state: &mut S)` | nothing | writes to the state, and decides |
///
/// `#[llmnode::step(crate = ::path)]` names a renamed dependency.
///
/// # Errors
///
/// All of these functions return a `Result` with a `BoxError`, so `?` works with any error. In `exec` the error is an
/// [`exec_error`](Category::ExecError): `exec` runs again as often as `attempts` says, then `exec_fallback`. In `prep` it is a
/// [`prep_error`](Category::PrepError), in `post` [`aborted`](Category::Aborted); neither is retried. A [`NodeError`] keeps
/// its category.
///
/// ```
/// use std::time::Duration;
///
/// use llmnode::flow::Step;
/// use llmnode::prelude::*;
/// use llmnode::{Settings, Backoff};
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
/// In a batch, `prep` makes all nodes, and `post` gets all outputs:
///
/// ```
/// use llmnode::flow::{Batch, BatchStep};
/// use llmnode::prelude::*;
///
/// #[derive(Default)]
/// struct World {
///     urls: Vec<String>,
///     pages: Vec<String>,
/// }
///
/// struct Fetch {
///     url: String,
/// }
///
/// #[llmnode::step]
/// impl BatchStep<World> for Fetch {
///     type Output = String;
///     const SETTINGS: &'static Settings = &Settings::new().attempts(3); // in all
///
///     async fn prep(world: &World) -> Result<Vec<Self>, BoxError> {
///         Ok(world.urls.iter().map(|url| Fetch { url: url.clone() }).collect())
///     }
///
///     async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
///         if self.url.contains("busy") && !cx.attempt().is_last() {
///             return Err("no answer".into()); // executed again
///         }
///         Ok(format!("the page at {}", self.url)) // `cx.call(&node).await?` would ask a model
///     }
///
///     async fn exec_fallback(&self, _: &Cx<'_, World>, error: NodeError) -> Result<String, BoxError> {
///         Err(error.into()) // or a value
///     }
///
///     fn post(_: Vec<Self>, pages: Vec<String>, world: &mut World) -> Result<(), BoxError> {
///         world.pages = pages;
///         Ok(())
///     }
/// }
///
/// flow! { FetchAll(World): Batch<Fetch> as Pages => end }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), NodeError> {
/// let world = World { urls: vec!["a.example".into(), "busy.example".into()], ..World::default() };
/// let mut run = Run::new(ScriptedModel::new()).with_state(world);
/// run.flow(FetchAll).await?;
/// assert_eq!(run.state().pages, ["the page at a.example", "the page at busy.example"]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use llmnode_macros::step;

/// Declares a flow: its steps, and which one follows each.
///
/// [Flows](guide::flows) is the guide.
///
/// ```
/// use llmnode::flow::Step;
/// use llmnode::prelude::*;
/// use llmnode::{Exec, Node};
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
/// #     type Output = <Self as Node>::Output;
/// #     type Action = Next;
/// #     async fn prep(_: &World) -> Result<Self, BoxError> { Ok(Decide) }
/// #     fn post(self, (): (), state: &mut World) -> Result<Next, BoxError> {
/// #         Ok(if state.questions.pop().is_some() { Next::Answer } else { Next::Stop })
/// #     }
/// # }
/// # impl Node for Answer { type Output = (); const NAME: &'static str = "answer"; }
/// # impl Exec<World> for Answer { async fn exec(&self, _: &Cx<'_, World>) -> Result<(), BoxError> { Ok(()) } }
/// # impl Step<World> for Answer {
/// #     type Output = <Self as Node>::Output;
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
/// `pub Name(State) -> Action { parameters }, options:`. Only the name, the state and the colon are required. Docs and attributes
/// go above it. The macro makes a struct of that name, for `run.flow(Quiz)`.
///
/// | part | default | |
/// |---|---|---|
/// | `-> Action` | `()` | the type of `end(action)` and of `run.flow(..).await?`; an outer flow routes by it |
/// | `{ file: PathBuf => state.current, goal: String }` | none | parameters: fields of the struct, written to the state when the flow begins, by default to the field of the same name |
/// | `steps = 50` | 1000 | the most steps of one run, including those of nested flows; the outermost flow's counts |
/// | `name = "quiz"` | the struct's name in snake_case | the name in errors, records and pictures |
/// | `crate = ::path` | by `Cargo.toml` | the path to this crate, if another one re-exports it |
///
/// # The steps
///
/// The flow begins at the first step.
///
/// | | |
/// |---|---|
/// | `Search => Decide,` | a step that decides nothing: its action is `()` |
/// | `Decide => match { Next::Answer => Answer, Next::Stop => end },` | a step with actions, an arm for each. A missing arm does not compile; `_` is allowed only beside literals |
/// | `Search as Again => …` | a label for arrows and [positions](flow::Position); the default is the last name of the type |
/// | `Inner => …`, `Inner in state.part => …` | another flow, or a flow or node over a part of the state |
/// | `Inner { file: state.next.clone() } => …` | a flow with parameters, or a node that this flow prepares; the expressions see `state` |
/// | `(Weather, News) as Gather => …` | two to eight steps without actions, side by side |
///
/// An arrow leads to a label, to `end`, to `end(action)`, or to `todo!()`, a [`Category::ConfigError`] when the flow arrives there.
/// A condition goes above the flow, as `#[cfg(…)] flow! { … }`.
#[doc(inline)]
pub use llmnode_macros::flow;

#[cfg(any(doc, doctest))]
pub mod guide;

#[cfg(feature = "graph")]
pub mod graph;

#[cfg(feature = "cassette")]
#[doc(inline)]
pub use llmnode_cassette::{Cassette, CassetteMode};
/// Conversations in a database: whole turns, one writer (feature `chats`).
///
/// [Chats in a database](guide::chats) is the guide.
#[cfg(feature = "chats")]
#[doc(inline)]
pub use llmnode_chats as chats;
#[cfg(feature = "evals")]
#[doc(inline)]
pub use llmnode_eval as evals;
#[doc(inline)]
pub use llmnode_flow::flow;
#[doc(inline)]
pub use llmnode_flow::flow::Action;
#[cfg(feature = "journal")]
#[doc(inline)]
pub use llmnode_flow::journal;
/// The version of async-openai whose configuration [`OpenAiBuilder::config`] takes.
#[cfg(feature = "async-openai")]
#[doc(no_inline)]
pub use llmnode_http::async_openai;
/// The version of reqwest whose client [`OpenAiBuilder::http_client`] takes.
#[cfg(feature = "http-client")]
#[doc(no_inline)]
pub use llmnode_http::reqwest;
#[cfg(feature = "anthropic")]
#[doc(inline)]
pub use llmnode_http::{Anthropic, AnthropicBuilder};
#[cfg(feature = "gemini")]
#[doc(inline)]
pub use llmnode_http::{Gemini, GeminiBuilder};
#[cfg(feature = "openai")]
#[doc(inline)]
pub use llmnode_http::{OpenAi, OpenAiBuilder};
#[cfg(feature = "mcp")]
#[doc(inline)]
pub use llmnode_mcp::{Mcp, McpServer};
#[cfg(feature = "page")]
#[doc(inline)]
pub use llmnode_page::Recording;
/// Retrieval: stores of documents, embeddings, and the nodes that search and write them (feature `rag`).
///
/// [Retrieval](guide::retrieval) is the guide.
#[cfg(feature = "rag")]
#[doc(inline)]
pub use llmnode_rag as rag;
#[cfg(feature = "batch")]
#[doc(inline)]
pub use llmnode_runtime::BatchApi;
#[doc(inline)]
pub use llmnode_runtime::{
    ApiKind, Approval, Attachment, AttemptId, AttemptInfo, AttemptKind, AttemptRecord, Audio,
    Backoff, BatchAttempt, BatchProgress, BoxError, BoxFuture, Cache, CacheLost, Call, CallId,
    CallInfo, CallRecord, CallReport, CallStream, Category, ChatModel, Clock, Compact, Compacted,
    CompactionCause, CompactionStep, Completion, Correction, Cost, Cx, Delta, DynNode, Estimate,
    Event, Exec, FailedTry, Failures, File, FinishReason, Flag, FnModel, FormatError, Group, Image,
    Invalid, Items, Ledger, LedgerSnapshot, Limits, LlmOutput, Map, Message, ModelError, Node,
    NodeError, NodeFacts, NodeStats, OutputSchema, Pace, Part, Paused, Price, Prices,
    ProviderState, Question, Quote, ReadError, Reader, Reading, Reasoning, Recovery, Repair,
    Replaced, Reply, Request, ResponseFormat, Results, Retry, RetryBudget, Role, Run,
    ScriptedModel, Settings, Sink, StrictError, Summary, TestClock, TokenUsage, Tokens, ToolCall,
    ToolError, ToolRecord, ToolReply, ToolSpec, Toolset, Transcript, Unfinished, Usage,
    UsedFallback, Violation, WaitingCall, dyn_node, media, recovery_of, testing,
};
#[cfg(feature = "smart")]
#[doc(inline)]
pub use llmnode_smart as smart;
#[cfg(feature = "stub-server")]
#[doc(inline)]
pub use llmnode_stub as stub_server;
#[cfg(feature = "stub-server")]
#[doc(inline)]
pub use llmnode_stub::StubServer;

/// What generated code uses, from all crates.
#[doc(hidden)]
pub mod __private {
    pub mod keys;

    pub use llmnode_flow::private::*;
    pub use llmnode_runtime::private::*;
    #[cfg(feature = "smart")]
    pub use llmnode_smart::generated as smart;
}

/// Prompts: from the fields of a node to the messages of a request.
pub mod prompt {
    /// Programs do not write these names, but compile errors show them. In a module that is not hidden, they appear without a path.
    #[doc(hidden)]
    pub use llmnode_flow::private::{Runnable, Startable};
    #[doc(hidden)]
    pub use llmnode_runtime::internal::{IntoOutcome, IntoOutcomeNow};
    #[doc(hidden)]
    pub use llmnode_runtime::private::{
        Column, DisplayProbe, Example, ExampleInput, ExampleOutput, ExampleText, IntoExample, Line,
        OutputSpec, Prompt, PromptAt, PromptFence, PromptHistory, PromptJson, PromptOption,
        PromptText, PromptValue, Segment,
    };
    #[doc(inline)]
    pub use llmnode_runtime::prompt::*;
}

/// What most programs import: `use llmnode::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "openai")]
    pub use crate::OpenAi;
    pub use crate::{
        Action, Approval, AttemptInfo, BoxError, Category, ChatModel, Cx, Event, Group, Invalid,
        Limits, Message, NodeError, Price, Prices, Reply, Run, ScriptedModel, Settings, Toolset,
        llm_node, llm_output, tool, validate,
    };
    /// ```
    /// use llmnode::prelude::*;
    ///
    /// struct World {
    ///     name: String,
    ///     greeting: Option<String>,
    /// }
    ///
    /// #[llm_node(prompt = "Greet {name}.", state = World, store = greeting)]
    /// struct Greet {
    ///     #[prep(state.name.clone())]
    ///     name: String,
    /// }
    ///
    /// flow! { Welcome(World): Greet => end }
    ///
    /// /// Welcomes a guest. This tool runs a flow.
    /// #[tool]
    /// async fn welcome_guest(name: String, cx: &Cx<'_, ()>) -> Result<String, NodeError> {
    ///     let (world, ()) = cx.flow(Welcome, World { name, greeting: None }).await?;
    ///     Ok(world.greeting.unwrap_or_default())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), NodeError> {
    /// let run = Run::new(ScriptedModel::new().reply("Hello, Ada!"));
    /// assert_eq!(run.call(&WelcomeGuest { name: "Ada".into() }).await?, "Hello, Ada!");
    /// # Ok(())
    /// # }
    /// ```
    #[doc(inline)]
    pub use llmnode_flow::flow::CxExt;
    /// ```
    /// use llmnode::prelude::*;
    ///
    /// struct World {
    ///     name: String,
    ///     greeting: Option<String>,
    /// }
    ///
    /// #[llm_node(prompt = "Greet {name}.", state = World, store = greeting)]
    /// struct Greet {
    ///     #[prep(state.name.clone())]
    ///     name: String,
    /// }
    ///
    /// flow! { Welcome(World): Greet => end }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), NodeError> {
    /// let world = World { name: "Ada".into(), greeting: None };
    /// let mut run = Run::new(ScriptedModel::new().reply("Hello, Ada!")).with_state(world);
    /// run.flow(Welcome).await?;
    /// assert_eq!(run.state().greeting.as_deref(), Some("Hello, Ada!"));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(inline)]
    pub use llmnode_flow::flow::RunExt;
    #[cfg(feature = "batch")]
    pub use llmnode_flow::journal::BatchApiExt;
    #[cfg(feature = "journal")]
    pub use llmnode_flow::journal::MapExt;
    /// Not a derive: its error says what a node is.
    #[doc(hidden)]
    pub use llmnode_macros::LlmNode;
    /// The macro alone: the module of that name stays `llmnode::flow`.
    pub use llmnode_macros::{flow, step};
    #[doc(inline)]
    pub use llmnode_runtime::prompt::History;
    #[cfg(feature = "smart")]
    pub use llmnode_smart::SmartExt;
}
