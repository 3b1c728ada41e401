//! A crate without the prelude. llmnode's own code needs no name in scope; the derive of `JsonSchema` needs two traits.

#![no_implicit_prelude]
#![deny(warnings, missing_docs)]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test")]

use ::core::convert::{From as _, Into as _};

use ::llmnode::flow::RunExt as _;

#[::llmnode::llm_output(state = World)]
#[derive(::std::fmt::Debug)]
struct Choice {
    /// One of the items.
    item: ::std::string::String,
    kind: Kind,
}

#[::llmnode::llm_output(state = World)]
#[derive(::std::fmt::Debug)]
enum Kind {
    Any,
    At(Point),
    Named { points: ::std::vec::Vec<Point> },
}

#[::llmnode::llm_output]
#[derive(::std::fmt::Debug)]
struct Point(u8, ::core::option::Option<u8>);

#[::llmnode::validate]
impl Point {
    fn is_near(&self, world: &World) -> ::core::result::Result<(), ::llmnode::Invalid> {
        if self.0 < world.end && self.1.is_none() {
            ::core::result::Result::Ok(())
        } else {
            ::core::result::Result::Err(::llmnode::Invalid::at("[0]", "is too far"))
        }
    }

    async fn is_somewhere(&self) -> ::core::result::Result<(), ::llmnode::Invalid> {
        ::core::result::Result::Ok(())
    }
}

struct World {
    end: u8,
}

#[::llmnode::llm_node(
    prompt = "Choose for {whom} before {state.end}.",
    system = "You choose.",
    output = Choice,
    state = World,
    retries = 0,
    recover(schema_error = [retry(1)]),
    fallback = any
)]
struct Choose<'a> {
    whom: &'a str,
}

fn any(_: &Choose<'_>, _: &World, _: &::llmnode::NodeError) -> Choice {
    Choice {
        item: ::std::string::ToString::to_string("rope"),
        kind: Kind::Any,
    }
}

/// A name of llmnode's, of a type that has a text: the macro asks for its `Display`.
struct File(u8);

impl ::core::fmt::Display for File {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        ::core::fmt::Display::fmt(&self.0, f)
    }
}

#[::llmnode::llm_node(prompt = "Who wrote {file}?")]
struct Ask {
    file: File,
}

async fn answer() -> ::std::string::String {
    let run = ::llmnode::Run::new(::llmnode::ScriptedModel::new().reply("Ann"));
    run.call(&Ask { file: File(5) }).await.unwrap()
}

async fn report() -> ::llmnode::CallReport<Choice> {
    let answer = r#"{"item": "axe", "kind": {"Named": {"points": [[1, null], [9, null]]}}}"#;
    let run = ::llmnode::Run::new(::llmnode::ScriptedModel::new().reply(answer))
        .with_state(World { end: 5 });
    run.call(&Choose { whom: "Ann" }).report().await.unwrap()
}

#[::core::prelude::v1::test]
fn a_node_without_the_prelude() {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    ::std::assert_eq!(runtime.block_on(answer()), "Ann");
    let report = runtime.block_on(report());
    let found = ::std::string::ToString::to_string(&report.record.attempts[0].violations[0]);
    ::std::assert_eq!(found, "kind.Named.points[1][0]: is too far");
    ::std::assert_eq!(report.value.item, "rope");
    ::std::assert!(::std::matches!(report.value.kind, Kind::Any));
    let at = Kind::At(Point(1, ::core::option::Option::None));
    ::std::assert_eq!(::std::format!("{at:?}"), "At(Point(1, None))");
}

/// A node that is a step, by all that a step may say.
#[::llmnode::llm_node(
    prompt = "Count from {from}.",
    output = u8,
    state = World,
    action = bool,
    route = is_far,
    store = end
)]
struct Count {
    #[prep(state.end.checked_add(1))]
    from: u8,
}

fn is_far(count: &u8, world: &World) -> bool {
    *count > world.end
}

#[::llmnode::llm_node(prompt = "Go on.", state = World, batch = twice, concurrency = 2, post = keep)]
struct GoOn;

fn twice(_: &World) -> ::std::vec::Vec<GoOn> {
    ::std::vec![GoOn, GoOn]
}

fn keep(
    nodes: ::std::vec::Vec<GoOn>,
    _: ::std::vec::Vec<::std::string::String>,
    world: &mut World,
) {
    world.end = nodes.len() as u8;
}

#[::core::prelude::v1::test]
fn steps_without_the_prelude() {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let model = ::llmnode::ScriptedModel::new()
        .reply(r#"{"value": 9}"#)
        .reply("a")
        .reply("b");
    let mut run = ::llmnode::Run::new(model).with_state(World { end: 5 });
    ::std::assert!(runtime.block_on(run.step::<Count>()).unwrap());
    ::std::assert_eq!(run.state().end, 9);
    runtime
        .block_on(run.step::<::llmnode::flow::Batch<GoOn>>())
        .unwrap();
    ::std::assert_eq!(run.state().end, 2);
}

/// Tools of all kinds, by names that something else has, too.
mod tools {
    #![allow(
        non_snake_case,
        clippy::module_inception,
        reason = "the names are the point"
    )]

    /// Calls.
    #[::llmnode::tool(alone, require_approval, attempts = 2, wait = 1s, deadline = 30s)]
    pub(super) async fn call(
        /// What.
        what: ::std::string::String,
        self_: ::core::option::Option<u8>,
        world: &super::World,
        cx: &::llmnode::Cx<'_, super::World>,
    ) -> ::core::result::Result<u8, ::std::string::String> {
        ::core::result::Result::Ok(what.len() as u8 + self_.unwrap_or(world.end) + cx.state().end)
    }

    /// Has a name that is a word of the language.
    #[::llmnode::tool]
    pub(super) fn r#type(r#match: &str) -> usize {
        r#match.len()
    }

    /// Has the name of its own receiver.
    #[::llmnode::tool]
    pub(super) fn self_() {}

    /// Has the name of a variant.
    #[::llmnode::tool]
    pub(super) fn Some(Ok: u8) -> u8 {
        Ok
    }
}

/// Works.
#[::llmnode::llm_node(
    tool,
    prompt = "Do {what} {how}.",
    state = World,
    tools = [tools::Call, tools::Type, tools::SelfTool, tools::Some],
    turns = 3
)]
struct Work {
    what: ::std::string::String,
    how: ::std::string::String,
}

#[::core::prelude::v1::test]
fn tools_without_the_prelude() {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let json = |text: &str| ::serde_json::from_str::<::serde_json::Value>(text).unwrap();
    let calls = ::llmnode::Reply::text("")
        .call("call", json(r#"{"what": "abc"}"#))
        .call("type", json(r#"{"match": "four"}"#))
        .call("self_", json("{}"))
        .call("Some", json(r#"{"Ok": 7}"#));
    let model = ::llmnode::ScriptedModel::new().reply(calls).reply("Done.");
    let run = ::llmnode::Run::new(::core::clone::Clone::clone(&model)).with_state(World { end: 5 });
    let run = run.with_approval(|_| async { ::llmnode::Approval::yes() });
    let work = Work {
        what: ::std::string::String::from("it"),
        how: ::std::string::String::new(),
    };
    ::std::assert_eq!(runtime.block_on(run.call(&work)).unwrap(), "Done.");
    let requests = model.requests();
    let mut results: ::std::vec::Vec<&str> = ::std::vec![];
    for message in &requests[1].messages[2..] {
        results.push(&message.content);
    }
    ::std::assert_eq!(results, ["13", "4", "done", "7"]);
}
