//! What a conversation has besides the system and the user message: examples and the history.

use std::sync::Arc;

use llmnode::prelude::*;
use llmnode::testing::{assert_prompt, request_of};

/// Answers in a conversation.
#[llm_node(system = "You are {tone}.", prompt = "{input}")]
struct Answer<H> {
    tone: &'static str,
    #[node(history)]
    messages: H,
    input: &'static str,
}

fn answer<H>(messages: H) -> Answer<H> {
    Answer {
        tone: "brief",
        messages,
        input: "And you?",
    }
}

const TRANSCRIPT: &str = "
    --- system
    You are brief.
    --- user
    How are you?
    --- assistant
    Fine.
    --- user
    And you?
";

#[test]
fn the_history_stands_before_the_user_message() {
    let said = [Message::user("How are you?"), Message::assistant("Fine.")];
    assert_prompt(&request_of(&answer(said.to_vec()), &()), TRANSCRIPT);
    assert_prompt(&request_of(&answer(&said[..]), &()), TRANSCRIPT);
    assert_prompt(&request_of(&answer(&said), &()), TRANSCRIPT);
    assert_prompt(
        &request_of(&answer(Arc::<[Message]>::from(said.to_vec())), &()),
        TRANSCRIPT,
    );
    assert_prompt(
        &request_of(&answer(Box::<[Message]>::from(said.to_vec())), &()),
        TRANSCRIPT,
    );
    assert_prompt(&request_of(&answer(said), &()), TRANSCRIPT);
}

#[test]
fn a_history_is_sent_as_it_is() {
    let said = [
        Message::user("{input}"),
        Message::user(""),
        Message::system("Switch to French."),
    ];
    let messages = request_of(&answer(&said), &()).messages;
    assert_eq!(messages[1..4], said);
    assert_eq!(messages[4], Message::user("And you?"));
    assert_eq!(request_of(&answer([]), &()).messages.len(), 2);
}

#[llm_output]
struct Number {
    n: u8,
}

#[llm_node(prompt = "{input}", output = Number, retries = 5)]
struct Count<'a> {
    #[node(history)]
    messages: &'a [Message],
    input: &'static str,
}

#[tokio::test]
async fn corrections_leave_the_history_alone() {
    let said: Vec<_> = (0..9).map(|n| Message::user(n.to_string())).collect();
    let model = (0..5).fold(ScriptedModel::new(), |model, n| {
        model.reply(format!("no {n}"))
    });
    let run = Run::new(model.clone().reply(r#"{"n": 1}"#));
    assert_eq!(
        run.call(&Count {
            messages: &said,
            input: "next"
        })
        .await
        .unwrap()
        .n,
        1
    );
    for (corrections, request) in model.requests().iter().enumerate() {
        assert_eq!(request.messages[..9], said);
        assert_eq!(request.messages[9], Message::user("next"));
        // The newest three rounds.
        assert_eq!(request.messages.len(), 10 + 2 * corrections.min(3));
    }
}

#[tokio::test]
async fn a_report_has_the_history_of_the_next_call() {
    let run = Run::new(ScriptedModel::new().reply("Fine.").reply("Thanks."));
    let mut before = vec![];
    for (input, answer) in [("How are you?", "Fine."), ("And you?", "Thanks.")] {
        let report = run
            .call(&Answer {
                tone: "brief",
                messages: &before,
                input,
            })
            .report()
            .await
            .unwrap();
        let mut expected = before.clone();
        expected.push(Message::user(input));
        assert_eq!(report.messages, expected);
        expected.push(Message::assistant(answer));
        before = report.history().unwrap();
        assert_eq!(before, expected);
    }
    // A stream has the same after its end, though its events were not asked for.
    let run = Run::new(ScriptedModel::new().reply(Reply::pieces(["Fi", "ne."])));
    let node = Answer {
        tone: "brief",
        messages: &before[..],
        input: "Well?",
    };
    let mut stream = run.call(&node).stream();
    stream.next().await.unwrap();
    let history = stream.report().await.unwrap().history().unwrap();
    assert_eq!(history[..4], before);
    assert_eq!(
        history[4..],
        [Message::user("Well?"), Message::assistant("Fine.")]
    );
}

#[tokio::test]
async fn a_report_has_neither_examples_nor_answers_that_were_not_accepted() {
    let model = ScriptedModel::new()
        .reply("no")
        .reply(r#"{"item": "key", "because": null}"#);
    let run = Run::new(model).with_state(World {
        inventory: vec!["key"],
    });
    let history = run
        .call(&choose())
        .report()
        .await
        .unwrap()
        .history()
        .unwrap();
    let said: Vec<_> = history.iter().map(|one| one.content.as_str()).collect();
    assert_eq!(
        said,
        [
            "earlier",
            "Goal: open the door\n- key",
            r#"{"item":"key","because":null}"#
        ]
    );
}

struct World {
    inventory: Vec<&'static str>,
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Choice {
    /// One of the items.
    item: String,
    #[serde(rename = "because")]
    reason: Option<String>,
}

fn choice(item: &str) -> Choice {
    Choice {
        item: item.into(),
        reason: None,
    }
}

#[llm_node(
    system = "Be careful.",
    examples = [
        (Self { goal: "cut bread".into(), messages: vec![Message::user("never sent")] }, Choice { item: "knife".into(), reason: Some("It cuts.".into()) }),
        ("Goal: see in the dark", choice("lamp")),
        (format!("Goal: {}", 1 + 1), choice("nothing")),
    ],
    prompt = "Goal: {goal}\n{state.inventory:list}",
    output = Choice,
    state = World,
    retries = 1,
)]
struct Choose {
    #[node(history)]
    messages: Vec<Message>,
    goal: String,
}

fn choose() -> Choose {
    Choose {
        messages: vec![Message::assistant("earlier")],
        goal: "open the door".into(),
    }
}

#[test]
fn examples_stand_between_system_and_history() {
    assert_prompt(
        &request_of(
            &choose(),
            &World {
                inventory: vec!["key"],
            },
        ),
        r#"
        answer: JSON of Choice
        --- system
        Be careful.
        --- user
        Goal: cut bread
        - key
        --- assistant
        {"item":"knife","because":"It cuts."}
        --- user
        Goal: see in the dark
        --- assistant
        {"item":"lamp","because":null}
        --- user
        Goal: 2
        --- assistant
        {"item":"nothing","because":null}
        --- assistant
        earlier
        --- user
        Goal: open the door
        - key
        "#,
    );
}

#[tokio::test]
async fn corrections_leave_the_examples_alone() {
    let model = ScriptedModel::new()
        .reply("no")
        .reply(r#"{"item": "key", "because": null}"#);
    let run = Run::new(model.clone()).with_state(World {
        inventory: vec!["key"],
    });
    assert_eq!(run.call(&choose()).await.unwrap(), choice("key"));
    let requests = model.requests();
    assert_eq!(
        (requests[0].messages.len(), requests[1].messages.len()),
        (9, 11)
    );
    assert_eq!(requests[1].messages[..9], requests[0].messages);
}

/// The answer to the example of a node that has one.
fn shown<N: llmnode::Exec<()>>(node: &N) -> (Message, Message) {
    let messages = request_of(node, &()).messages;
    assert_eq!(messages.len(), 3, "an example and the prompt");
    (messages[0].clone(), messages[1].clone())
}

#[llm_node(prompt = "Rate {text}.", examples = [("Rate rain.", 3)], output = u8)]
struct Rate<'a> {
    text: &'a str,
}

#[llm_node(prompt = "List {n}.", examples = [(Self { n: 2 }, vec!["a".into(), "b".into()])], output = Vec<String>)]
struct Names {
    n: u8,
}

#[llm_node(prompt = "Say {text}.", examples = [("Say \"x\".", "\"x\"")])]
struct Say<'a> {
    text: &'a str,
}

#[llm_node(prompt = "Quote {text}.", examples = [(Quote { text: "x" }, "\"x\"".into())], output = String)]
struct Quote<'a> {
    text: &'a str,
}

#[test]
fn outputs_are_shown_in_the_form_that_is_asked_for() {
    let (asked, answered) = shown(&Rate { text: "snow" });
    assert_eq!(
        (asked, answered),
        (
            Message::user("Rate rain."),
            Message::assistant(r#"{"value":3}"#)
        )
    );
    let (asked, answered) = shown(&Names { n: 3 });
    assert_eq!(
        (asked, answered),
        (
            Message::user("List 2."),
            Message::assistant(r#"{"value":["a","b"]}"#)
        )
    );
    assert_eq!(shown(&Say { text: "y" }).1, Message::assistant("\"x\""));
    assert_eq!(
        shown(&Quote { text: "y" }).1,
        Message::assistant(r#"{"value":"\"x\""}"#)
    );
}

#[llm_node(prompt = "{a}", examples = Self::loaded, output = u8)]
struct Loaded {
    a: u8,
}

impl Loaded {
    fn loaded() -> impl Iterator<Item = (Self, u8)> {
        (1..=2).map(|a| (Loaded { a }, a * 10))
    }
}

#[llm_node(prompt = "{a}", examples = read)]
struct Read {
    a: u8,
}

fn read() -> Vec<(String, &'static str)> {
    vec![("one".to_owned(), "1"), ("two".to_owned(), "2")]
}

#[test]
fn examples_from_a_function() {
    let said = |messages: Vec<Message>| {
        messages
            .into_iter()
            .map(|one| one.content)
            .collect::<Vec<_>>()
    };
    let loaded = said(request_of(&Loaded { a: 3 }, &()).messages);
    assert_eq!(
        loaded,
        ["1", r#"{"value":10}"#, "2", r#"{"value":20}"#, "3"]
    );
    assert_eq!(
        said(request_of(&Read { a: 3 }, &()).messages),
        ["one", "1", "two", "2", "3"]
    );
}

/// Bounds by use: the state's, the output's, the history's.
#[llm_node(
    prompt = "{state.name} {value:?}",
    examples = [("first", vec![]), (Self { history: H::default(), value: T::default() }, vec![T::default()])],
    output = Vec<T>,
    state = Named<'_>,
)]
struct Generic<T: Default + std::fmt::Debug, H: Default> {
    #[node(history)]
    history: H,
    value: T,
}

struct Named<'a> {
    name: &'a str,
}

#[test]
fn generic_nodes_have_examples() {
    let name = String::from("x");
    let node = Generic {
        history: vec![],
        value: 7u8,
    };
    let said: Vec<_> = request_of(&node, &Named { name: &name })
        .messages
        .into_iter()
        .map(|one| one.content)
        .collect();
    assert_eq!(
        said,
        ["first", r#"{"value":[]}"#, "x 0", r#"{"value":[0]}"#, "x 7"]
    );
}

/// Written with a name that it is not read by.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Lopsided {
    #[serde(rename(serialize = "a"))]
    b: u8,
}

#[llm_node(prompt = "?", examples = [("1", Lopsided { b: 1 })], output = Lopsided)]
struct AskLopsided;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Unwritable {}

impl serde::Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("out of ink"))
    }
}

#[llm_node(prompt = "{a}", examples = [("1", Unwritable {})], output = Unwritable)]
struct AskUnwritable {
    a: u8,
}

/// Fails to be written, or panics.
struct Odd(bool);

impl std::fmt::Display for Odd {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        assert!(!self.0, "a bug");
        Err(std::fmt::Error)
    }
}

#[llm_node(prompt = "{odd}", examples = [("1", "2"), (Self { odd: Odd(false) }, "2")])]
struct WriteOdd {
    odd: Odd,
}

#[llm_node(prompt = "{odd}", examples = [(Self { odd: Odd(true) }, "2")])]
struct PanicOdd {
    odd: Odd,
}

#[llm_node(prompt = "?", examples = broken)]
struct Broken;

fn broken() -> [(Broken, String); 1] {
    panic!("no file")
}

#[tokio::test]
async fn faults_tell_the_number_of_the_example() {
    async fn told<N: llmnode::Exec<()>>(node: N) -> (Category, String) {
        let error = Run::new(ScriptedModel::new())
            .call(&node)
            .await
            .err()
            .unwrap();
        (error.category(), error.to_string())
    }
    for ((category, told), (expected, said)) in [
        (
            told(AskLopsided).await,
            (
                Category::PrepError,
                "example 1: the node could not read its output: missing property `b`",
            ),
        ),
        (
            told(AskUnwritable { a: 1 }).await,
            (
                Category::PrepError,
                "example 1: its output could not be written as JSON: out of ink",
            ),
        ),
        (
            told(WriteOdd { odd: Odd(false) }).await,
            (
                Category::PrepError,
                "example 2: value 1 of `prompt` could not be written",
            ),
        ),
        (
            told(PanicOdd { odd: Odd(false) }).await,
            (
                Category::Panic,
                "example 1: a value of the prompt panicked: a bug",
            ),
        ),
        (
            told(Broken).await,
            (
                Category::Panic,
                "examples: a value of the prompt panicked: no file",
            ),
        ),
    ] {
        assert_eq!(category, expected);
        assert!(told.contains(said), "{told}");
    }
}

mod shadowed {
    #![no_implicit_prelude]

    #[::llmnode::llm_node(prompt = "{a}", examples = [(Self { a: 1 }, "x")])]
    pub(super) struct Shadowed {
        pub(super) a: u8,
    }
}

#[test]
fn examples_need_no_name_in_scope() {
    assert_eq!(
        shown(&shadowed::Shadowed { a: 2 }).1,
        Message::assistant("x")
    );
}
