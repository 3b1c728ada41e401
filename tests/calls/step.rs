//! Nodes that `#[llm_node]` makes steps of flows.

use llmnode::Reply;
use llmnode::flow;
use llmnode::flow::Batch;
use llmnode::prelude::*;
use llmnode::{BoxError, Cx, Node, NodeFacts};

#[derive(Default)]
struct World {
    files: Vec<String>,
    current: usize,
    summary: Option<String>,
    notes: Notes,
    tags: (u8, String),
    counts: Vec<u32>,
}

#[derive(Default)]
struct Notes {
    last: String,
    count: u32,
}

fn world() -> World {
    World {
        files: vec!["one".into(), "two".into()],
        ..World::default()
    }
}

#[llm_node(prompt = "Summarize in 10 words:\n{text}", state = World, store = summary)]
struct Summarize {
    #[prep(state.files.get(state.current).cloned())]
    text: String,
}

#[tokio::test]
async fn a_step_prepares_itself_and_stores_its_output() {
    let model = ScriptedModel::new().reply("short");
    let mut run = Run::new(model.clone()).with_state(world());
    run.step::<Summarize>().await.unwrap();
    assert_eq!(
        model.requests()[0].messages[0].content,
        "Summarize in 10 words:\none"
    );
    assert_eq!(run.state().summary.as_deref(), Some("short"));
}

#[tokio::test]
async fn an_option_without_a_value_is_a_prep_error_that_names_the_field_and_asks_no_model() {
    let model = ScriptedModel::new().reply("never");
    let mut run = Run::new(model.clone()).with_state(World::default());
    let error = run.step::<Summarize>().await.unwrap_err();
    assert_eq!(error.category(), Category::PrepError);
    assert_eq!(
        error.to_string(),
        "summarize: prep_error: the field `text` could not be prepared: its `#[prep]` gave `None`"
    );
    assert_eq!(model.requests().len(), 0);
    assert!(
        run.ledger().of::<Summarize>().is_none(),
        "it was never called"
    );
}

/// What an expression gives may be left open: it is then what the field is.
#[llm_node(
    prompt = "{number} {maybe:or(none)} {names:list} {longest} {sum} {shout} {all:list} {literal}",
    state = World,
    post = Forms::keep
)]
struct Forms {
    #[prep(state.tags.1.parse::<u8>())]
    number: u8,
    #[prep(state.files.first().cloned())]
    maybe: Option<String>,
    #[prep(state.files.iter().map(|name| name.to_uppercase()).collect())]
    names: Vec<String>,
    #[prep(state.files.iter().map(|name| name.len()).max())]
    longest: usize,
    #[prep(state.files.iter().map(|name| name.len()).sum())]
    sum: usize,
    #[prep("hey".into())]
    shout: String,
    #[prep(state.files.iter().map(|name| check(name)).collect::<Result<_, _>>())]
    all: Vec<String>,
    #[prep(7)]
    literal: u16,
}

impl Forms {
    fn keep(self, answer: String, state: &mut World) {
        state.notes.last = answer;
        state.notes.count += u32::from(self.literal);
    }
}

fn check(name: &str) -> Result<String, String> {
    if name.len() == 3 {
        Ok(name.to_owned())
    } else {
        Err(format!("{name} is long"))
    }
}

#[tokio::test]
async fn an_expression_gives_a_value_an_option_or_a_result() {
    let model = ScriptedModel::new().reply("yes");
    let mut run = Run::new(model.clone()).with_state(World {
        tags: (0, "9".into()),
        ..world()
    });
    run.step::<Forms>().await.unwrap();
    let prompt = &model.requests()[0].messages[0].content;
    assert_eq!(prompt, "9 one - ONE\n- TWO 3 6 hey - one\n- two 7");
    assert_eq!(
        (run.state().notes.last.as_str(), run.state().notes.count),
        ("yes", 7)
    );
}

#[tokio::test]
async fn an_error_of_an_expression_is_a_prep_error_with_its_source() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World {
        tags: (0, "x".into()),
        ..world()
    });
    let error = run.step::<Forms>().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "forms: prep_error: the field `number` could not be prepared: invalid digit found in string"
    );
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<std::num::ParseIntError>()
    );
}

#[tokio::test]
async fn fields_are_prepared_in_order_and_the_first_that_cannot_be_ends_it() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    for (number, files, said) in [
        ("x", vec![], "`number`"),
        ("9", vec![], "`longest`"),
        ("9", vec!["long"], "`all`"),
    ] {
        run.state_mut().tags.1 = number.into();
        run.state_mut().files = files.into_iter().map(str::to_owned).collect();
        let error = run.step::<Forms>().await.unwrap_err();
        assert!(
            error
                .message()
                .starts_with(&format!("the field {said} could not be prepared")),
            "{error}"
        );
    }
}

#[derive(Debug, PartialEq)]
enum Decision {
    Search,
    Answer,
}

#[llm_output]
struct Plan {
    what: String,
    done: bool,
}

impl From<&Plan> for Decision {
    fn from(plan: &Plan) -> Self {
        if plan.done {
            Decision::Answer
        } else {
            Decision::Search
        }
    }
}

#[llm_node(prompt = "What now?", output = Plan, state = World, action = Decision, post = wrote)]
struct Decide;

fn wrote(_: Decide, plan: Plan, state: &mut World) -> Result<Decision, String> {
    if plan.what.is_empty() {
        return Err("nothing to do".to_owned());
    }
    let decision = Decision::from(&plan);
    state.notes.last = plan.what;
    Ok(decision)
}

#[tokio::test]
async fn a_post_decides_and_writes() {
    let model = ScriptedModel::new().reply(r#"{"what": "look", "done": false}"#);
    let mut run = Run::new(model).with_state(world());
    assert_eq!(run.step::<Decide>().await.unwrap(), Decision::Search);
    assert_eq!(run.state().notes.last, "look");
}

#[tokio::test]
async fn an_error_of_a_post_is_aborted_and_never_tried_again() {
    let model = ScriptedModel::new()
        .reply(r#"{"what": "", "done": false}"#)
        .reply("never");
    let mut run = Run::new(model.clone())
        .with_state(world())
        .with_settings(Settings::new().retries(3));
    let error = run.step::<Decide>().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "decide: aborted: post failed: nothing to do"
    );
    assert_eq!(model.requests().len(), 1);
}

/// Another state, which holds the plan itself.
mod planned {
    use super::*;

    pub(super) struct Planned {
        pub(super) plan: Option<Plan>,
    }

    #[llm_node(prompt = "What now?", output = Plan, state = Planned, action = Decision, store = plan)]
    pub(super) struct FromOutput;

    #[llm_node(
        prompt = "What now?",
        output = Plan,
        state = Planned,
        action = Decision,
        route = by_the_old_state,
        store = plan
    )]
    pub(super) struct Routed;

    fn by_the_old_state(plan: &Plan, state: &Planned) -> Result<Decision, std::fmt::Error> {
        match &state.plan {
            Some(before) if before.what == plan.what => Ok(Decision::Answer),
            Some(_) => Ok(Decision::Search),
            None => Err(std::fmt::Error),
        }
    }
}

use planned::Planned;

#[tokio::test]
async fn an_action_follows_from_the_output_before_it_is_stored() {
    let model = ScriptedModel::new().reply(r#"{"what": "look", "done": true}"#);
    let mut run = Run::new(model).with_state(Planned { plan: None });
    assert_eq!(
        run.step::<planned::FromOutput>().await.unwrap(),
        Decision::Answer
    );
    assert_eq!(run.state().plan.as_ref().unwrap().what, "look");
}

#[tokio::test]
async fn a_route_sees_the_output_and_the_state_as_it_was() {
    let reply = |what: &str| format!(r#"{{"what": "{what}", "done": false}}"#);
    let model = ScriptedModel::new()
        .reply(reply("a"))
        .reply(reply("b"))
        .reply(reply("b"));
    let plan = Plan {
        what: "0".into(),
        done: false,
    };
    let mut run = Run::new(model).with_state(Planned { plan: Some(plan) });
    for decision in [Decision::Search, Decision::Search, Decision::Answer] {
        assert_eq!(run.step::<planned::Routed>().await.unwrap(), decision);
    }
}

#[tokio::test]
async fn an_error_of_a_route_is_aborted_and_nothing_is_stored() {
    let model = ScriptedModel::new().reply(r#"{"what": "a", "done": false}"#);
    let mut run = Run::new(model.clone()).with_state(Planned { plan: None });
    let error = run.step::<planned::Routed>().await.unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<std::fmt::Error>()
    );
    assert!(run.state().plan.is_none());
    assert_eq!(model.requests().len(), 1);
}

#[llm_node(
    prompt = "Which word?",
    output = u8,
    state = World,
    prep = Pick::from_state,
    store = tags.0,
    fallback = Pick::seven,
    transport_retries = 0
)]
struct Pick {
    #[node(skip)]
    at: usize,
}

impl Pick {
    async fn from_state(state: &World) -> Result<Self, std::fmt::Error> {
        tokio::task::yield_now().await;
        if state.files.is_empty() {
            Err(std::fmt::Error)
        } else {
            Ok(Pick { at: state.current })
        }
    }

    fn seven(&self, _: &World, _: &NodeError) -> u8 {
        7 + u8::try_from(self.at).unwrap()
    }
}

#[tokio::test]
async fn a_fallback_value_goes_through_post() {
    let model = ScriptedModel::new().reply("no number");
    let mut run = Run::new(model).with_state(world());
    run.step::<Pick>().await.unwrap();
    assert_eq!(run.state().tags.0, 7);
}

#[llm_node(prompt = "Say {what}.", state = World, prep = said, store = notes.last)]
struct Say {
    what: String,
}

fn said(state: &World) -> Result<Say, &'static str> {
    Ok(Say {
        what: state.files.first().ok_or("there is no file")?.clone(),
    })
}

#[tokio::test]
async fn a_function_prepares_a_step_or_fails() {
    let model = ScriptedModel::new().reply("one!");
    let mut run = Run::new(model.clone()).with_state(world());
    run.step::<Say>().await.unwrap();
    assert_eq!(run.state().notes.last, "one!");
    run.state_mut().files.clear();
    let error = run.step::<Say>().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "say: prep_error: prep failed: there is no file"
    );
    assert_eq!(model.requests().len(), 1);
}

#[llm_node(prompt = "Fail.", state = World, prep = Categorised::new, store = notes.last)]
struct Categorised;

impl Categorised {
    fn new(_: &World) -> Result<Self, NodeError> {
        Err(NodeError::new(Category::LimitExceeded, "enough for today"))
    }
}

#[tokio::test]
async fn a_node_error_of_the_programs_own_keeps_its_category() {
    let mut run = Run::new(ScriptedModel::new()).with_state(world());
    let error = run.step::<Categorised>().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "categorised: limit_exceeded: enough for today"
    );
}

#[tokio::test]
async fn nothing_is_stored_when_the_node_fails() {
    let model = ScriptedModel::new().reply(Reply::failure(Category::QuotaError));
    let state = World {
        summary: Some("old".into()),
        ..world()
    };
    let mut run = Run::new(model).with_state(state);
    assert_eq!(
        run.step::<Summarize>().await.unwrap_err().category(),
        Category::QuotaError
    );
    assert_eq!(run.state().summary.as_deref(), Some("old"));
}

#[tokio::test]
async fn a_step_that_is_dropped_leaves_the_state_as_it_was() {
    let model = ScriptedModel::new().reply(Reply::never());
    let mut run = Run::new(model).with_state(World {
        summary: Some("old".into()),
        ..world()
    });
    {
        let mut step = Box::pin(run.step::<Summarize>());
        let woken =
            std::future::poll_fn(|cx| std::task::Poll::Ready(step.as_mut().poll(cx).is_pending()));
        assert!(woken.await);
    }
    assert_eq!(run.state().summary.as_deref(), Some("old"));
    assert_eq!(
        run.ledger().of::<Summarize>().unwrap().visits,
        1,
        "the request was begun, and is accounted"
    );
}

#[llm_node(prompt = "Pay {amount}.", state = World, store = notes.last, idempotent = false)]
struct Pay {
    #[prep(state.notes.count)]
    amount: u32,
}

#[tokio::test]
async fn what_is_not_idempotent_is_executed_once_whatever_the_run_says() {
    let model = ScriptedModel::new()
        .reply(Reply::failure(Category::ServerError))
        .reply("paid");
    let other = ScriptedModel::new().reply("never");
    let settings = Settings::new().transport_retries(5).fallback_model("other");
    let mut run = Run::new(model.clone())
        .model("other", other.clone())
        .with_settings(settings)
        .with_state(world());
    assert_eq!(
        run.step::<Pay>().await.unwrap_err().category(),
        Category::ServerError
    );
    assert_eq!((model.requests().len(), other.requests().len()), (1, 0));
}

#[tokio::test]
async fn a_call_that_asks_to_execute_it_again_is_refused() {
    let run = Run::new(ScriptedModel::new()).with_state(world());
    for settings in [
        Settings::new().transport_retries(1),
        Settings::new().fallback_model("other"),
        Settings::new().recover(Category::Network, [llmnode::Recovery::retry(1)]),
    ] {
        let error = run
            .call(&Pay { amount: 1 })
            .settings(settings)
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.message().contains("`idempotent = false`"), "{error}");
    }
    let model = ScriptedModel::new().reply("paid");
    let once = Settings::new().transport_retries(0);
    let run = Run::new(model).with_state(world());
    assert_eq!(
        run.call(&Pay { amount: 1 }).settings(once).await.unwrap(),
        "paid"
    );
}

#[llm_node(prompt = "Shout {word}.", state = World, batch = Shout::all, concurrency = 1, store = files)]
struct Shout {
    word: String,
}

impl Shout {
    fn all(state: &World) -> Vec<Self> {
        state
            .files
            .iter()
            .map(|word| Shout { word: word.clone() })
            .collect()
    }
}

#[tokio::test]
async fn a_batch_makes_its_nodes_and_stores_all_outputs_in_order() {
    let model = ScriptedModel::new().reply("ONE").reply("TWO");
    let mut run = Run::new(model.clone()).with_state(world());
    run.step::<Batch<Shout>>().await.unwrap();
    assert_eq!(run.state().files, ["ONE", "TWO"]);
    assert_eq!(model.requests()[1].messages[0].content, "Shout two.");
}

#[llm_node(prompt = "Count {word}.", output = u32, state = World, batch = counted, action = bool, route = all_same, store = counts)]
struct Count {
    word: String,
}

async fn counted(state: &World) -> Result<Vec<Count>, String> {
    if state.files.is_empty() {
        return Err("no files".to_owned());
    }
    Ok(state
        .files
        .iter()
        .map(|word| Count { word: word.clone() })
        .collect())
}

#[expect(clippy::ptr_arg, reason = "the outputs as they are")]
fn all_same(counts: &Vec<u32>, state: &World) -> bool {
    state.counts.is_empty() && counts.windows(2).all(|two| two[0] == two[1])
}

#[tokio::test]
async fn a_route_of_a_batch_sees_all_outputs() {
    let model = ScriptedModel::new().otherwise(|_| r#"{"value": 3}"#);
    let mut run = Run::new(model).with_state(world());
    assert!(run.step::<Batch<Count>>().await.unwrap());
    assert_eq!(run.state().counts, [3, 3]);
    assert!(
        !run.step::<Batch<Count>>().await.unwrap(),
        "it saw the state as it was"
    );
}

#[tokio::test]
async fn an_error_of_the_function_of_a_batch_is_a_prep_error() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let error = run.step::<Batch<Count>>().await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::PrepError, "batch failed: no files")
    );
}

#[llm_node(prompt = "Rate {word}.", output = u32, state = World, batch = rated, post = best, action = Decision)]
struct Rate {
    word: String,
}

fn rated(state: &World) -> Vec<Rate> {
    state
        .files
        .iter()
        .map(|word| Rate { word: word.clone() })
        .collect()
}

fn best(nodes: Vec<Rate>, rates: Vec<u32>, state: &mut World) -> Result<Decision, &'static str> {
    let best = nodes
        .into_iter()
        .zip(rates)
        .max_by_key(|(_, rate)| *rate)
        .ok_or("nothing to rate")?;
    state.summary = Some(best.0.word);
    Ok(Decision::Answer)
}

#[tokio::test]
async fn a_post_of_a_batch_takes_nodes_and_outputs() {
    let model = ScriptedModel::new()
        .reply(r#"{"value": 1}"#)
        .reply(r#"{"value": 2}"#);
    let mut run = Run::new(model).with_state(world());
    assert_eq!(run.step::<Batch<Rate>>().await.unwrap(), Decision::Answer);
    assert_eq!(run.state().summary.as_deref(), Some("two"));
    run.state_mut().files.clear();
    let error = run.step::<Batch<Rate>>().await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::Aborted, "post failed: nothing to rate")
    );
}

/// A node that a `macro_rules!` makes.
macro_rules! step {
    ($name:ident, $($field:ident: $ty:ty = $prep:expr),*; $store:ident) => {
        #[llm_node(prompt = "Say it.", state = World, store = $store)]
        struct $name {
            $(#[prep($prep)] #[node(skip)] $field: $ty,)*
            #[prep(state.current + 1)]
            #[node(skip)]
            next: usize,
        }
    };
}

step!(Said, first: String = "a".repeat(2), count: usize = Vec::<u8>::new().len(); summary);

#[tokio::test]
async fn a_step_of_a_macro() {
    let mut run = Run::new(ScriptedModel::new().reply("it")).with_state(world());
    run.step::<Said>().await.unwrap();
    assert_eq!(run.state().summary.as_deref(), Some("it"));
    let said = Said {
        first: "a".into(),
        count: 0,
        next: 1,
    };
    assert_eq!((said.first.as_str(), said.count, said.next), ("a", 0, 1));
}

/// A generic step over a generic state.
struct Kept<T> {
    value: T,
    text: String,
}

#[llm_node(prompt = "Write {value}.", state = Kept<T>, store = text)]
struct Write<T: Clone + Send + Sync> {
    #[prep(state.value.clone())]
    value: T,
}

#[llm_node(prompt = "Write {value}.", state = Kept<T>, prep = Again::new, post = Again::keep)]
struct Again<T: Clone + Send + Sync> {
    value: T,
}

impl<T: Clone + Send + Sync> Again<T> {
    fn new(state: &Kept<T>) -> Self {
        Self {
            value: state.value.clone(),
        }
    }

    fn keep(self, text: String, state: &mut Kept<T>) {
        state.text += &text;
        state.value = self.value;
    }
}

flow! {
    WriteTwice(Kept<u8>):
        Write<u8> as First => Second,
        Again<u8> as Second => end,
}

flow! {
    ShoutAndRate(World):
        Summarize => All,
        Batch<Shout> as All => Best,
        Batch<Rate> as Best => match { Decision::Search => Summarize, Decision::Answer => end },
}

#[tokio::test]
async fn generic_steps_stand_in_a_flow() {
    let model = ScriptedModel::new().reply("7").reply("!");
    let mut run = Run::new(model.clone()).with_state(Kept {
        value: 7,
        text: String::new(),
    });
    run.flow(WriteTwice).await.unwrap();
    assert_eq!((run.state().text.as_str(), run.state().value), ("7!", 7));
    assert_eq!(model.requests()[1].messages[0].content, "Write 7.");
}

#[tokio::test]
async fn steps_and_batches_stand_in_a_flow() {
    let model = ScriptedModel::new()
        .reply("short")
        .reply("ONE")
        .reply("TWO");
    let model = model.reply(r#"{"value": 2}"#).reply(r#"{"value": 1}"#);
    let mut run = Run::new(model).with_state(world());
    run.flow(ShoutAndRate).await.unwrap();
    assert_eq!(run.state().summary.as_deref(), Some("ONE"));
}

/// Adds to any state that counts.
struct Add<const BY: u32>(u32);

trait Counted: Send + Sync + 'static {
    fn count(&mut self) -> &mut u32;
}

impl Counted for u32 {
    fn count(&mut self) -> &mut u32 {
        self
    }
}

/// One impl for a node with parameters of its own, over a state that is a parameter.
#[llmnode::step]
impl<S, const BY: u32> llmnode::flow::Step<S> for Add<BY>
where
    S: Counted + Clone,
{
    type Output = u32;
    type Action = bool;
    const FACTS: NodeFacts = NodeFacts::new().description("adds");

    async fn prep(state: &S) -> Result<Self, BoxError> {
        Ok(Add(*state.clone().count()))
    }

    async fn exec(&self, _: &Cx<'_, S>) -> Result<u32, BoxError> {
        if self.0 > 4 {
            return Err(NodeError::new(Category::Network, "too far").into());
        }
        Ok(self.0 + BY)
    }

    async fn exec_fallback(&self, _: &Cx<'_, S>, _: NodeError) -> Result<u32, BoxError> {
        Ok(100)
    }

    fn post(self, output: u32, state: &mut S) -> Result<bool, BoxError> {
        *state.count() = output;
        Ok(output < 100)
    }
}

flow! { Counting(u32): Add<3> => match { true => Add, false => end } }

#[tokio::test]
async fn a_step_by_hand_is_one_impl_whose_parts_go_to_their_traits() {
    let mut run = Run::new(ScriptedModel::new()).with_state(0);
    let report = run.flow(Counting).report().await.unwrap();
    assert_eq!((*run.state(), report.record.taken), (100, 3));
    assert_eq!(
        (<Add<1> as Node>::NAME, <Add<1> as Node>::FACTS.description),
        ("add", "adds")
    );
    assert_eq!(
        run.ledger().calls().last().unwrap().used_fallback,
        Some(llmnode::UsedFallback::Value)
    );
}

/// Reads its number from the state.
struct Read(u32);

#[llmnode::step]
impl llmnode::flow::Step<String> for Read {
    type Output = ();

    async fn prep(state: &String) -> Result<Self, BoxError> {
        Ok(Read(state.parse()?))
    }

    async fn exec(&self, _: &Cx<'_, String>) -> Result<(), BoxError> {
        Ok(())
    }

    fn post(self, (): (), _: &mut String) -> Result<(), BoxError> {
        u8::try_from(self.0)?;
        Ok(())
    }
}

#[tokio::test]
async fn any_error_of_prep_is_a_prep_error_and_of_post_aborted() {
    let run = Run::new(ScriptedModel::new());
    for (state, category, message) in [
        (
            "five",
            Category::PrepError,
            "prep failed: invalid digit found in string",
        ),
        (
            "500",
            Category::Aborted,
            "post failed: out of range integral type conversion attempted",
        ),
    ] {
        let error = run
            .with_state(state.to_owned())
            .step::<Read>()
            .await
            .unwrap_err();
        assert_eq!((error.category(), error.message()), (category, message));
        assert!(std::error::Error::source(&error).is_some());
    }
    run.with_state("5".to_owned()).step::<Read>().await.unwrap();
}

/// Has nothing to do but to be there.
#[derive(Default)]
struct Nothing;

#[llmnode::step]
impl llmnode::flow::Step<u32> for Nothing {}

/// Only prepares.
#[derive(Default)]
struct OnlyExec(u32);

#[llmnode::step]
impl llmnode::flow::Step<u32> for OnlyExec {
    type Output = u32;

    async fn exec(&self, cx: &Cx<'_, u32>) -> Result<u32, BoxError> {
        Ok(self.0 + cx.state())
    }
}

#[derive(Default)]
struct OnlyPost;

#[llmnode::step]
impl llmnode::flow::Step<u32> for OnlyPost {
    fn post(self, (): (), state: &mut u32) -> Result<bool, BoxError> {
        *state += 1;
        Ok(true)
    }
}

struct OnlyPrep;

#[llmnode::step]
impl llmnode::flow::BatchStep<u32> for OnlyPrep {
    async fn prep(state: &u32) -> Result<Vec<Self>, BoxError> {
        Ok((0..*state).map(|_| OnlyPrep).collect())
    }
}

flow! { Sparse(u32): Nothing => OnlyExec, OnlyExec => OnlyPost, OnlyPost => match { true => All, false => end }, Batch<OnlyPrep> as All => end }

#[tokio::test]
async fn each_of_prep_exec_and_post_may_be_missing() {
    let mut run = Run::new(ScriptedModel::new()).with_state(1);
    let report = run.flow(Sparse).report().await.unwrap();
    assert_eq!((*run.state(), report.record.taken), (2, 4));
    assert_eq!(run.call(&OnlyExec(4)).await.unwrap(), 6);
}
