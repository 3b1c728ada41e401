//! What `#[llm_node]` generates for a struct: the messages to the model, and the facts about the node.

use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

use llmnode::{Exec, Message, Node, Role, Run, ScriptedModel, llm_node};

struct World {
    inventory: Vec<String>,
    weather: (u8, Option<String>),
    r#type: &'static str,
}

fn world() -> World {
    World {
        inventory: vec!["lamp".into(), "key".into()],
        weather: (7, None),
        r#type: "cave",
    }
}

/// Decides what to use.
///
/// One item at a time.
#[llm_node(
    system = "You are {tone}, in a {state.type}.",
    prompt = "Goal: {goal}\n{state.inventory:list}\n[{n:>3}|{ratio:.2}|{tone:?}] {opt:or(none)} {tags:json} {state.weather.0}{{x}}",
    state = World,
    retries = 0,
    transport_retries = 3,
    model = "small",
    temperature = 0.5,
    max_tokens = 64,
)]
struct ChooseItem<'a> {
    goal: String,
    tone: &'a str,
    n: u32,
    ratio: f64,
    opt: Option<u8>,
    tags: Vec<&'static str>,
    #[node(skip)]
    #[allow(dead_code)]
    other: u8,
}

async fn messages<S: Sync + 'static, N: Exec<S, Output = String>>(
    state: S,
    node: &N,
) -> Vec<Message> {
    let model = std::sync::Arc::new(ScriptedModel::new().reply("ok"));
    let run = Run::new(model.clone()).with_state(state);
    assert_eq!(run.call(node).await.unwrap(), "ok");
    model.requests()[0].messages.clone()
}

fn choose() -> ChooseItem<'static> {
    ChooseItem {
        goal: "open {goal} {{door}}".into(),
        tone: "mild",
        n: 5,
        ratio: 0.126,
        opt: None,
        tags: vec!["a\"b"],
        other: 1,
    }
}

#[tokio::test]
async fn fields_and_state_fill_the_prompts() {
    let messages = messages(world(), &choose()).await;
    assert_eq!(
        messages[0],
        Message::new(Role::System, "You are mild, in a cave.")
    );
    let user =
        "Goal: open {goal} {{door}}\n- lamp\n- key\n[  5|0.13|\"mild\"] none [\"a\\\"b\"] 7{x}";
    assert_eq!(messages[1], Message::new(Role::User, user));
}

#[test]
fn the_facts_are_constants() {
    assert_eq!(ChooseItem::NAME, "choose_item");
    assert_eq!(
        ChooseItem::FACTS.description,
        "Decides what to use.\n\nOne item at a time."
    );
    let attributes = <ChooseItem<'_> as Node>::SETTINGS;
    assert_eq!(attributes.model.as_deref(), Some("small"));
    assert_eq!(attributes.temperature, Some(0.5));
    assert_eq!(attributes.max_tokens, Some(64));
    assert_eq!(attributes.retries, Some(0));
    assert_eq!(attributes.transport_retries, Some(3));
    assert_eq!(Greet::NAME, "welcome");
    assert_eq!(<Greet as Node>::SETTINGS.retries, None);
}

#[llm_node(prompt = "Say hello.", name = "welcome", temperature = 1)]
struct Greet;

#[tokio::test]
async fn a_node_without_state_runs_with_any() {
    assert_eq!(
        messages((), &Greet).await,
        [Message::new(Role::User, "Say hello.")]
    );
    assert_eq!(messages(world(), &Greet).await.len(), 1);
}

/// Bounds of its own, bounds by use, a where clause, a constant and a lifetime.
#[llm_node(prompt = "{a} {b:?} {c:list} {d:json}")]
struct Generic<'a, T, U: Clone, const N: usize, M>
where
    T: Display,
{
    a: &'a T,
    b: U,
    c: [u8; N],
    d: Option<U>,
    mark: PhantomData<M>,
}

#[tokio::test]
async fn generic_nodes() {
    let local = 3u8;
    let node = Generic {
        a: &local,
        b: "x",
        c: [1, 2],
        d: Some("y"),
        mark: PhantomData::<u8>,
    };
    assert_eq!(
        messages((), &node).await[0].content,
        "3 \"x\" - 1\n- 2 \"y\""
    );
}

#[llm_node(prompt = "{shared:list} {boxed:list}")]
struct Pointed {
    shared: Arc<[&'static str]>,
    boxed: Box<[u8]>,
}

#[tokio::test]
async fn a_list_may_stand_behind_a_pointer() {
    let node = Pointed {
        shared: ["x", "y"].into(),
        boxed: [].into(),
    };
    assert_eq!(messages((), &node).await[0].content, "- x\n- y (none)");
}

struct Borrowed<'a> {
    name: &'a str,
}

#[llm_node(prompt = "{state.name}", state = Borrowed<'_>)]
struct OfBorrowed;

#[llm_node(prompt = "{state.name}", state = Borrowed<'state>)]
struct OfLifetime<'state> {
    mark: PhantomData<&'state ()>,
}

#[tokio::test]
async fn a_state_that_borrows() {
    let name = String::from("local");
    let run =
        Run::new(ScriptedModel::new().reply("a").reply("b")).with_state(Borrowed { name: &name });
    assert_eq!(run.call(&OfBorrowed).await.unwrap(), "a");
    assert_eq!(
        run.call(&OfLifetime { mark: PhantomData }).await.unwrap(),
        "b"
    );
}

#[llm_node(prompt = "{type} {größe} {state.0.1}", state = ((u8, String),))]
struct OddNames {
    r#type: String,
    größe: u8,
}

#[tokio::test]
async fn keywords_and_unicode_are_names() {
    let node = OddNames {
        r#type: "t".into(),
        größe: 3,
    };
    assert_eq!(
        messages(((1u8, "s".to_owned()),), &node).await[0].content,
        "t 3 s"
    );
}

#[tokio::test]
async fn calls_are_spawned_and_mapped() {
    let run = std::sync::Arc::new(Run::new(
        ScriptedModel::new().reply("a").reply("b").reply("c"),
    ));
    let task = tokio::spawn({
        let run = run.clone();
        async move { run.call(&Greet).await }
    });
    assert_eq!(task.await.unwrap().unwrap(), "a");
    let answers = run.map([Greet, Greet]).concurrency(1).await;
    assert_eq!(
        answers.into_iter().map(Result::unwrap).collect::<Vec<_>>(),
        ["b", "c"]
    );
    assert_eq!(run.ledger().of::<Greet>().unwrap().visits, 3);
}

#[llm_node(prompt = r#"Raw "{a}" and \n"#)]
struct Raw {
    a: u8,
}

#[tokio::test]
async fn raw_literals_are_taken_as_they_stand() {
    assert_eq!(
        messages((), &Raw { a: 1 }).await[0].content,
        "Raw \"1\" and \\n"
    );
}

/// Shadows everything that generated code could reach for by a short name.
mod shadowed {
    #![no_implicit_prelude]
    #![allow(dead_code, non_camel_case_types)]

    type String = ();
    type Result = ();
    type Option = ();
    type str = ();
    struct Send;
    struct Sync;
    struct Vec;

    #[::llmnode::llm_node(prompt = "{state.0} {a:>3} {b:or(none)}", state = (::std::string::String,), retries = 0, model = "m")]
    pub(super) struct Shadowed {
        pub(super) a: u8,
        pub(super) b: ::core::option::Option<u8>,
    }

    #[::llmnode::llm_node(prompt = "nothing")]
    pub(super) struct Empty {}
}

#[tokio::test]
async fn no_name_in_scope_matters() {
    let node = shadowed::Shadowed { a: 1, b: Some(2) };
    assert_eq!(
        messages(("x".to_owned(),), &node).await[0].content,
        "x   1 2"
    );
    assert_eq!(
        messages((), &shadowed::Empty {}).await[0].content,
        "nothing"
    );
}

/// A dependency under another name.
mod renamed {
    pub(super) use llmnode as other;

    #[other::llm_node(prompt = "{a}", crate = crate::node::renamed::other)]
    pub(super) struct Renamed {
        pub(super) a: u8,
    }
}

#[tokio::test]
async fn the_crate_under_another_path() {
    assert_eq!(
        messages((), &renamed::Renamed { a: 1 }).await[0].content,
        "1"
    );
}

macro_rules! node {
    ($name:ident, $prompt:literal, $ty:ty) => {
        #[llm_node(prompt = $prompt, state = $ty)]
        struct $name {
            a: u8,
        }
    };
}

node!(FromMacro, "{a} {state.weather.0}", World);

#[tokio::test]
async fn arguments_from_a_macro() {
    assert_eq!(
        messages(world(), &FromMacro { a: 1 }).await[0].content,
        "1 7"
    );
}

/// A run may share its state with the rest of the program by an `Arc`.
#[tokio::test]
async fn a_state_in_an_arc_is_read_as_it_is() {
    let world = Arc::new(world());
    let run = Run::new(ScriptedModel::new().reply("a").reply("b")).with_state(Arc::clone(&world));
    assert_eq!(run.call(&choose()).await.unwrap(), "a");
    let outputs = run.map([choose()]).try_all().await.unwrap();
    assert_eq!(outputs, ["b"]);
    let (shared, own) = (
        messages(Arc::clone(&world), &choose()).await,
        messages(self::world(), &choose()).await,
    );
    assert_eq!(shared, own);
    assert_eq!(run.ledger().of::<ChooseItem<'static>>().unwrap().visits, 2);
}
