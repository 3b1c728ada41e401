//! Flows, as `flow!` declares them: loops, nested flows, parts of the state, parameters, limits, positions.

#![deny(warnings, missing_docs)]
#![allow(unreachable_pub, reason = "one of several modules")]

use llmnode::flow::{Outline, Position, Step, outline_of};
use llmnode::prelude::*;
use llmnode::{BoxError, Cx, Exec, Node};

#[derive(Default)]
struct World {
    left: u32,
    log: Vec<String>,
    goal: Option<String>,
    part: Part,
}

#[derive(Default)]
struct Part {
    left: u32,
    log: Vec<String>,
    inner: (Vec<String>, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Action)]
enum Decision {
    Search,
    Answer,
}

/// A node whose output is its text, which its post writes into the log, and decides.
macro_rules! step {
    ($name:ident($state:ty) -> $action:ty, $prep:expr, $post:expr) => {
        struct $name {
            text: String,
        }

        impl Node for $name {
            type Output = String;
            const NAME: &'static str = stringify!($name);
        }

        impl Exec<$state> for $name {
            async fn exec(&self, _: &Cx<'_, $state>) -> Result<String, BoxError> {
                Ok(self.text.clone())
            }
        }

        impl Step<$state> for $name {
            type Output = <Self as Node>::Output;
            type Action = $action;

            async fn prep(state: &$state) -> Result<Self, BoxError> {
                let prep: fn(&$state) -> String = $prep;
                Ok($name { text: prep(state) })
            }

            fn post(self, output: String, state: &mut $state) -> Result<$action, BoxError> {
                state.log.push(output);
                let post: fn(&mut $state) -> $action = $post;
                Ok(post(state))
            }
        }
    };
}

step!(Decide(World) -> Decision, |_| "decide".into(), |world| match world.left {
    0 => Decision::Answer,
    _ => Decision::Search,
});
step!(Search(World) -> (), |_| "search".into(), |world| world.left = world.left.saturating_sub(1));
step!(Answer(World) -> (), |world| format!("answer {}", world.goal.as_deref().unwrap_or("nothing")), |_| ());
step!(Count(Part) -> bool, |part| format!("count {}", part.left), |part| {
    part.left = part.left.saturating_sub(1);
    part.left > 0
});

fn world(left: u32) -> Run<World> {
    Run::new(ScriptedModel::new()).with_state(World {
        left,
        ..World::default()
    })
}

fn position<const N: usize>(labels: [&'static str; N]) -> Position {
    labels.into_iter().collect()
}

flow! {
    /// Searches as long as it has to.
    #[derive(Clone, Debug)]
    pub Research(World):
    // The start.
    Decide => match { Decision::Search => Search, Decision::Answer => Answer },
    Search => Decide,
    /// Ends it.
    Answer => end,
}

#[tokio::test]
async fn a_flow_loops_until_a_step_decides_otherwise() {
    let mut run = world(2);
    run.flow(Research).await.unwrap();
    assert_eq!(
        run.state().log,
        [
            "decide",
            "search",
            "decide",
            "search",
            "decide",
            "answer nothing"
        ]
    );
}

#[tokio::test]
async fn a_flow_starts_at_a_position() {
    let mut run = world(1);
    run.flow(Research).from(position(["Search"])).await.unwrap();
    assert_eq!(run.state().log, ["search", "decide", "answer nothing"]);
    let error = run
        .flow(Research)
        .from(position(["Serch"]))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error.message().contains("`research` has no step `Serch`"),
        "{error}"
    );
}

// P11: the last action of a nested flow routes the outer one.
flow! {
    /// Public, over a private state, with a private action.
    pub Ask(World) -> Decision, steps = 5, name = "asking":
    Decide => match { Decision::Search => end(Decision::Search), Decision::Answer => Answer },
    Answer => end(Decision::Answer),
}

flow! {
    Outer(World):
    Ask => match { Decision::Search => Search, Decision::Answer => Decide },
    Search => Ask,
    Decide => match { Decision::Search => todo!("later"), Decision::Answer => end },
}

#[tokio::test]
async fn the_action_of_a_nested_flow_routes_the_outer_one() {
    let mut run = world(1);
    run.flow(Outer).await.unwrap();
    assert_eq!(
        run.state().log,
        ["decide", "search", "decide", "answer nothing", "decide"]
    );
    assert_eq!(run.flow(Ask).await.unwrap(), Decision::Answer);
}

#[tokio::test]
async fn where_a_flow_is_not_written_yet_it_fails_when_it_comes_there() {
    let mut run = world(1);
    let error = run
        .flow(Outer)
        .from(position(["Decide"]))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    let said =
        "the flow `outer` has `todo!()` after `Decide` by `Search`; write the next step there";
    assert!(error.message().contains(said), "{error}");
}

#[tokio::test]
async fn a_flow_ends_at_the_step_limit_of_its_declaration() {
    flow! {
        Forever(World), steps = 3:
        Decide => match { Decision::Search | Decision::Answer => Again },
        Decide as Again => match { Decision::Search => Decide, Decision::Answer => end },
    }
    let mut run = world(9);
    let error = run.flow(Forever).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    assert_eq!(run.state().log.len(), 3);
    run.flow(Forever).max_steps(7).await.unwrap_err();
    assert_eq!(run.state().log.len(), 10, "the call overrides it");
}

struct Pair {
    left: u32,
    right: u32,
}

/// Its output is named by `Self::Output`, in types, patterns and structs.
struct Add;

#[llmnode::step]
impl Step<u32> for Add {
    type Output = Pair;

    async fn prep(_: &u32) -> Result<Self, BoxError> {
        Ok(Add)
    }

    async fn exec(&self, _: &Cx<'_, u32>) -> Result<Self::Output, BoxError> {
        Ok(Self::Output { left: 1, right: 2 })
    }

    fn post(self, output: <Self>::Output, sum: &mut u32) -> Result<(), BoxError> {
        let Self::Output { left, right } = output;
        *sum = left + right;
        Ok(())
    }
}

#[tokio::test]
async fn a_step_names_its_output_wherever_a_type_may_stand() {
    let mut run = Run::new(ScriptedModel::new()).with_state(0_u32);
    run.step::<Add>().await.unwrap();
    assert_eq!(*run.state(), 3);
}

// Flows over parts of the state, three deep.
struct Push;

impl Node for Push {
    type Output = ();
    const NAME: &'static str = "push";
}

impl Exec<(Vec<String>, u32)> for Push {
    async fn exec(&self, _: &Cx<'_, (Vec<String>, u32)>) -> Result<(), BoxError> {
        Ok(())
    }
}

impl Step<(Vec<String>, u32)> for Push {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &(Vec<String>, u32)) -> Result<Self, BoxError> {
        Ok(Push)
    }

    fn post(self, (): (), state: &mut (Vec<String>, u32)) -> Result<(), BoxError> {
        state.0.push(format!("pushed {}", state.1));
        Ok(())
    }
}

/// The text of a parameter, as the only line of a log.
struct Line(&'static str);

impl From<Line> for Vec<String> {
    fn from(line: Line) -> Self {
        vec![line.0.to_owned()]
    }
}

flow! {
    Deepest((Vec<String>, u32)) { first: Line => state.0, number: u32 => state.1 }:
    Push => end,
}

flow! {
    Middle(Part):
    Count => match { true => Count, false => Deepest },
    Deepest { first: Line("first"), number: state.left + 7 } in state.inner => end,
}

flow! {
    Top(World):
    Middle in state.part => Middle2,
    Middle as Middle2 in state.part => Answer,
    Answer => end,
}

#[tokio::test]
async fn flows_nest_three_deep_each_over_its_part_of_the_state() {
    let mut run = world(0);
    run.state_mut().part.left = 2;
    run.flow(Top).await.unwrap();
    assert_eq!(run.state().part.log, ["count 2", "count 1", "count 0"]);
    assert_eq!(
        run.state().part.inner,
        (vec!["first".into(), "pushed 7".into()], 7)
    );
    assert_eq!(run.state().log, ["answer nothing"]);
}

#[tokio::test]
async fn a_flow_goes_on_at_a_nested_position_without_writing_its_parameters_again() {
    let mut run = world(0);
    run.flow(Top)
        .from(position(["Middle2", "Deepest", "Push"]))
        .await
        .unwrap();
    assert_eq!(run.state().part.inner.0, ["pushed 0"]);
    assert_eq!(run.state().log, ["answer nothing"]);
}

flow! {
    /// Answers what is asked.
    pub(crate) About(World) {
        /// What is asked.
        goal: String,
        pub times: u32 => state.left,
    }:
    Research => end,
}

flow! {
    Both(World):
    About { goal: format!("{} dogs", state.part.left), times: 0 } as Dogs => Cats,
    About as Cats { goal: "cats".to_owned(), times: 1 } => Prepared,
    Search { text: "prepared by the flow".into() } as Prepared => end,
}

#[tokio::test]
async fn parameters_are_written_into_the_state_as_the_flow_begins() {
    let mut run = world(9);
    run.flow(About {
        goal: "rain".into(),
        times: 1,
    })
    .await
    .unwrap();
    assert_eq!(
        run.state().log,
        ["decide", "search", "decide", "answer rain"]
    );

    let mut run = world(9);
    run.state_mut().part.left = 3;
    run.flow(Both).await.unwrap();
    assert_eq!(
        run.state().log,
        [
            "decide",
            "answer 3 dogs",
            "decide",
            "search",
            "decide",
            "answer cats",
            "prepared by the flow"
        ]
    );
}

#[tokio::test]
async fn a_declaration_that_panics_is_an_error() {
    flow! {
        Panics(World):
        About { goal: [String::new()][state.left as usize].clone(), times: 0 } => Answer,
        Answer => end,
    }
    let mut run = world(1);
    let error = run.flow(Panics).await.unwrap_err();
    assert_eq!(error.category(), Category::Panic);
    assert!(
        error
            .message()
            .contains("the expression that prepares the step panicked: index out of"),
        "{error}"
    );
}

#[tokio::test]
async fn steps_stand_side_by_side() {
    flow! {
        Parallel(World):
        (Answer, Search) as Gather => end,
    }
    let mut run = world(1);
    run.flow(Parallel).await.unwrap();
    assert_eq!(run.state().log, ["answer nothing", "search"]);
}

// What other macros make.
macro_rules! two {
    ($(#[$attribute:meta])* $vis:vis $name:ident over $state:ty: $first:ident, $second:ty, $variant:path, $part:ident => $goal:expr) => {
        flow! {
            $(#[$attribute])*
            $vis $name($state):
            $first => match { $variant => Second, Decision::Search => end },
            $second as Second => Third,
            About { goal: $goal, times: state.$part.left } as Third => end,
        }
    };
}

two! { #[doc = "Made."] pub Made over World: Decide, Answer, Decision::Answer, part => "made".into() }

#[tokio::test]
async fn other_macros_make_flows() {
    let mut run = world(0);
    run.flow(Made).await.unwrap();
    assert_eq!(
        run.state().log,
        ["decide", "answer nothing", "decide", "answer made"]
    );
}

// A condition may precede a flow. The macro ignores what a `cfg_attr` adds to its type.
#[cfg(test)]
flow! {
    #[cfg_attr(all(), derive(Clone))]
    Conditional(World) { #[cfg_attr(any(), absent)] goal: String }:
    Decide => match {
        Decision::Search => Search,
        Decision::Answer => end,
    },
    Search => end,
}

#[cfg(not(test))]
flow! { Conditional(World): Nowhere => end }

#[tokio::test]
async fn conditions_count_as_in_this_build() {
    let mut run = world(1);
    run.flow(Conditional { goal: "x".into() }.clone())
        .await
        .unwrap();
    assert_eq!(run.state().log, ["decide", "search"]);
    let Outline::Flow(_, steps) = outline_of::<Conditional, _>() else {
        panic!("it is a flow")
    };
    assert_eq!(steps.len(), 2);
}

mod elsewhere {
    #![no_implicit_prelude]

    use super::Decision::{Answer, Search};

    // Names that the expansion must not take for its own.
    #[allow(dead_code)]
    struct State;
    #[allow(dead_code)]
    struct Action;
    #[allow(dead_code)]
    type Option<T> = T;

    ::llmnode::flow! {
        pub(super) Shadowed(super::World) -> ::std::option::Option<super::Decision> {
            goal: ::std::string::String,
        }, crate = ::llmnode, name = "other":
        super::Decide => match {
            Search => super_search,
            Answer => end(::std::option::Option::Some(Answer)),
        },
        super::Search as super_search => end(::std::option::Option::None),
    }
}

#[tokio::test]
async fn a_flow_needs_no_name_in_scope() {
    let mut run = world(0);
    assert_eq!(
        run.flow(elsewhere::Shadowed { goal: "x".into() })
            .await
            .unwrap(),
        Some(Decision::Answer)
    );
}

// Actions without an end are routed by literals.
step!(Speak(World) -> &'static str, |_| "speak".into(), |world| if world.left == 0 { "bye" } else { "again" });

#[tokio::test]
async fn texts_are_routed_by_literals_and_the_rest() {
    flow! {
        Chat(World):
        Speak => match { "bye" => end, "again" => Search, _ => todo!() },
        Search => Speak,
    }
    let mut run = world(1);
    run.flow(Chat).await.unwrap();
    assert_eq!(run.state().log, ["speak", "search", "speak"]);
}

#[test]
fn an_outline_has_what_the_declaration_says() {
    let Outline::Flow(name, steps) = outline_of::<Ask, _>() else {
        panic!("it is a flow")
    };
    assert_eq!(name, "asking");
    assert_eq!(
        steps.iter().map(|step| &*step.label).collect::<Vec<_>>(),
        ["Decide", "Answer"]
    );
    assert_eq!(
        steps[0]
            .edges
            .iter()
            .map(|(action, _)| &**action)
            .collect::<Vec<_>>(),
        ["Search", "Answer"]
    );
}

#[test]
fn flows_can_be_spawned() {
    fn sent<T: Send>(_: T) {}
    let mut run = world(0);
    sent(run.flow(Top).into_future());
}

flow! {
    Divide(World):
    Decide => match { Decision::Search => Search, Decision::Answer => end },
    Search => Divide,
    Divide => end,
}

flow! {
    There(World):
    Decide => match { Decision::Search => Search, Decision::Answer => end },
    Search => Back,
    Back => end,
}

flow! {
    Back(World): There => end,
}

#[tokio::test]
async fn a_flow_within_itself_runs_and_is_reported() {
    let mut run = world(2);
    let record = run.flow(Divide).report().await.unwrap().record;
    assert_eq!(
        run.state().log,
        ["decide", "search", "decide", "search", "decide"]
    );
    assert_eq!(record.taken, 5);
    assert!(record.mermaid().contains("Divide"));

    let mut run = world(2);
    assert_eq!(run.flow(There).report().await.unwrap().record.taken, 5);
}

/// The last step of a flow.
fn last(outline: &Outline) -> Option<&Outline> {
    let Outline::Flow(_, steps) = outline else {
        return None;
    };
    steps.last().map(|step| &step.place)
}

#[test]
fn the_outline_of_a_flow_within_itself_ends_where_it_stands_again() {
    let divide = outline_of::<Divide, _>();
    assert_eq!(
        last(&divide),
        Some(&Outline::Flow("divide".into(), Vec::new()))
    );

    let there = outline_of::<There, _>();
    assert_eq!(
        last(&there).and_then(last),
        Some(&Outline::Flow("there".into(), Vec::new()))
    );
    let back = outline_of::<Back, _>();
    assert_eq!(
        last(&back).and_then(last),
        Some(&Outline::Flow("back".into(), Vec::new()))
    );

    // A flow at two places, neither of them inside itself, is shown at both.
    flow! {
        Twice(World): Back as One => Two, Back as Two => end,
    }
    let Outline::Flow(_, steps) = outline_of::<Twice, _>() else {
        panic!("it is a flow")
    };
    assert_eq!(steps[0].place, steps[1].place);
    assert_eq!(steps[0].place, back);
}

#[test]
fn a_flow_within_itself_is_drawn_as_a_box() {
    let picture = outline_of::<Divide, _>().mermaid();
    assert!(
        picture.contains("Divide") && !picture.contains("subgraph"),
        "{picture}"
    );
    assert!(
        picture.contains("s1 --> s2") && picture.contains("s2 --> s_done"),
        "{picture}"
    );
}

/// Says a word, as a model does.
#[llm_node(prompt = "Say a word.", state = Part, post = Say::keep)]
struct Say {}

impl Say {
    fn keep(self, word: String, part: &mut Part) {
        part.log.push(word);
    }
}

flow! {
    /// Says two words, one after the other.
    Words(Part):
    Say as First => Second,
    Say as Second => end,
}

#[tokio::test]
#[allow(clippy::panic, reason = "tests")]
async fn the_answers_of_steps_are_seen_while_they_are_written() {
    use llmnode::{Event, Reply};
    let model = ScriptedModel::new()
        .reply(Reply::pieces(["Hel", "lo"]))
        .reply(Reply::pieces(["wor", "ld"]));
    let mut run = Run::new(model).with_state(Part::default());
    let mut seen = Vec::new();
    let flow = run
        .flow(Words)
        .on_event(|_, _| panic!("a hook's panic is harmless"));
    flow.on_event(|position, event| {
        if let Event::Text(text) = event {
            seen.push(format!("{position}: {text}"));
        }
    })
    .await
    .unwrap();
    assert_eq!(
        seen,
        ["First: Hel", "First: lo", "Second: wor", "Second: ld"]
    );
    assert_eq!(run.state().log, ["Hello", "world"]);
}

/// Says something of a topic.
#[llm_node(prompt = "Say something of {topic}.", state = Part, batch = Tell::all, post = Tell::keep)]
struct Tell {
    topic: &'static str,
}

impl Tell {
    fn all(_: &Part) -> Vec<Self> {
        ["rain", "sun"].map(|topic| Tell { topic }).into()
    }

    fn keep(_: Vec<Self>, said: Vec<String>, part: &mut Part) {
        part.log.extend(said);
    }
}

/// Shouts a word, as a model does.
#[llm_node(prompt = "Say a word aloud.", state = Part, post = Shout::keep)]
struct Shout {}

impl Shout {
    fn keep(self, word: String, part: &mut Part) {
        part.log.push(word);
    }
}

flow! {
    /// Says two words at once, then something of each topic.
    AtOnce(Part):
    (Say, Shout) as Both => All,
    llmnode::flow::Batch<Tell> as All => end,
}

#[tokio::test]
async fn the_answers_of_branches_and_items_are_seen_below_their_step() {
    use llmnode::{Event, Reply};
    let model = ScriptedModel::new().otherwise(|request| {
        let asked = request
            .messages
            .last()
            .map(|message| message.content.clone())
            .unwrap_or_default();
        Reply::pieces([
            asked
                .trim_end_matches('.')
                .rsplit(' ')
                .next()
                .unwrap_or_default(),
            "!",
        ])
    });
    let mut run = Run::new(model).with_state(Part::default());
    let mut seen = std::collections::BTreeMap::<String, String>::new();
    let flow = run.flow(AtOnce).on_event(|position, event| {
        if let Event::Text(text) = event {
            seen.entry(position.to_string()).or_default().push_str(text);
        }
    });
    flow.await.unwrap();
    let seen: Vec<(&str, &str)> = seen.iter().map(|(at, text)| (&**at, &**text)).collect();
    let expected = [
        ("All/tell[0]", "rain!"),
        ("All/tell[1]", "sun!"),
        ("Both/say", "word!"),
        ("Both/shout", "aloud!"),
    ];
    assert_eq!(seen, expected);
}
