//! What `#[llm_node]` generates for `validate = path`.

use std::error::Error;

use llmnode::prelude::*;
use llmnode::{AttemptInfo, CallRecord, FinishReason, Flag};
use schemars::JsonSchema;
use serde::Deserialize;

struct World {
    inventory: Vec<String>,
    closed: tokio::sync::RwLock<bool>,
}

fn world() -> World {
    World {
        inventory: vec!["key".into(), "lamp".into()],
        closed: false.into(),
    }
}

/// A type that knows nothing of llmnode.
#[derive(Debug, Deserialize, JsonSchema)]
struct Foreign {
    item: String,
}

/// What the answers of a call were found to be, a line for each finding.
fn findings(record: &CallRecord) -> Vec<String> {
    record
        .attempts
        .iter()
        .flat_map(|attempt| &attempt.violations)
        .map(ToString::to_string)
        .collect()
}

/// The findings of the first answer, of which the call may make a correction.
async fn first<S, N>(state: S, node: &N, answer: &str) -> Result<Vec<String>, NodeError>
where
    S: Sync + 'static,
    N: llmnode::Exec<S>,
{
    let run = Run::new(ScriptedModel::new().reply(answer)).with_state(state);
    match run.call(node).report().await {
        Ok(report) => Ok(findings(&report.record)),
        Err(error) if error.attempts()[0].category == Some(Category::ValidationError) => Ok(error
            .attempts()[0]
            .violations
            .iter()
            .map(ToString::to_string)
            .collect()),
        Err(error) => Err(error),
    }
}

/// The last feedback to the model.
fn last_message(model: &ScriptedModel) -> String {
    model
        .requests()
        .last()
        .unwrap()
        .messages
        .last()
        .unwrap()
        .content
        .clone()
}

mod forms {
    use super::*;

    pub(super) fn alone(choice: &Foreign, _: &AttemptInfo) -> Result<(), Invalid> {
        if choice.item.is_empty() {
            Err(Invalid::at("item", "is empty"))
        } else {
            Ok(())
        }
    }
    pub(super) fn stated(choice: &Foreign, world: &World, _: &AttemptInfo) -> Result<(), Invalid> {
        if world.inventory.contains(&choice.item) {
            return Ok(());
        }
        Err(Invalid::at("item", "is not available").allowed(&world.inventory))
    }
    pub(super) fn counted(_: &Foreign, attempt: &AttemptInfo) -> Result<(), Invalid> {
        Err(Invalid::warn(format!(
            "{} of {}",
            attempt.index(),
            attempt.maximum()
        )))
    }
    pub(super) fn both(
        choice: &Foreign,
        world: &World,
        attempt: &AttemptInfo,
    ) -> Result<(), Invalid> {
        stated(choice, world, attempt)?;
        counted(choice, attempt)
    }
    pub(super) async fn alone_later(
        choice: &Foreign,
        attempt: &AttemptInfo,
    ) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        alone(choice, attempt)
    }
    pub(super) async fn stated_later(
        choice: &Foreign,
        world: &World,
        attempt: &AttemptInfo,
    ) -> Result<(), Invalid> {
        let closed = world.closed.read().await;
        tokio::task::yield_now().await;
        if *closed {
            Err(Invalid::new("closed"))
        } else {
            stated(choice, world, attempt)
        }
    }
    pub(super) async fn counted_later(
        choice: &Foreign,
        attempt: &AttemptInfo,
    ) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        counted(choice, attempt)
    }
    pub(super) async fn both_later(
        choice: &Foreign,
        world: &World,
        attempt: &AttemptInfo,
    ) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        both(choice, world, attempt)
    }
    /// As `async-trait` writes them.
    pub(super) fn boxed<'a>(
        choice: &'a Foreign,
        world: &'a World,
        attempt: &'a AttemptInfo,
    ) -> llmnode::BoxFuture<'a, Result<(), Invalid>> {
        Box::pin(stated_later(choice, world, attempt))
    }
}

/// Each form is called with what it takes, beside the others.
#[tokio::test]
async fn every_form() {
    macro_rules! form {
        ($path:path, $answer:literal, $expected:literal) => {{
            #[llm_node(prompt = "Choose.", output = Foreign, state = World, validate = $path)]
            struct Choose;
            let answer = concat!("{\"item\": \"", $answer, "\"}");
            let found = first(world(), &Choose, answer).await.unwrap();
            assert_eq!(found.join("\n"), $expected, "{}", stringify!($path));
        }};
    }
    form!(
        forms::stated,
        "axe",
        r#"item: is not available; allowed: "key", "lamp""#
    );
    form!(forms::stated, "key", "");
    form!(
        forms::both,
        "axe",
        r#"item: is not available; allowed: "key", "lamp""#
    );
    form!(forms::both, "key", "0 of 0");
    form!(
        forms::stated_later,
        "axe",
        r#"item: is not available; allowed: "key", "lamp""#
    );
    form!(forms::both_later, "key", "0 of 0");
    form!(
        forms::boxed,
        "axe",
        r#"item: is not available; allowed: "key", "lamp""#
    );
}

/// A node without a state runs with any.
#[tokio::test]
async fn without_a_state() {
    #[llm_node(
        prompt = "Choose.",
        output = Foreign,
        validate = [forms::alone, forms::alone_later, forms::counted, forms::counted_later]
    )]
    struct Choose;
    let found = first(world(), &Choose, r#"{"item": ""}"#).await.unwrap();
    assert_eq!(
        found,
        ["item: is empty", "item: is empty", "0 of 0", "0 of 0"]
    );
    assert_eq!(
        first((), &Choose, r#"{"item": "axe"}"#).await.unwrap(),
        ["0 of 0", "0 of 0"]
    );
}

/// The model hears what the function says, and a warning keeps the answer.
#[tokio::test]
async fn a_bad_answer_is_corrected() {
    #[llm_node(
        prompt = "Choose.",
        output = Foreign,
        state = World,
        retries = 2,
        validate = [forms::stated_later, forms::both]
    )]
    struct Choose;
    let model = ScriptedModel::new()
        .reply(r#"{"item": "axe"}"#)
        .reply(r#"{"item": "key"}"#);
    let report = Run::new(model.clone())
        .with_state(world())
        .call(&Choose)
        .report()
        .await
        .unwrap();
    assert_eq!(report.value.item, "key");
    let attempts = &report.record.attempts;
    assert_eq!(attempts[0].category, Some(Category::ValidationError));
    assert!(attempts[1].flags.contains(&Flag::Warned));
    assert_eq!(attempts[1].violations[0].to_string(), "1 of 2");
    let told = last_message(&model);
    assert!(
        told.contains(r#"item: is not available; allowed: "key", "lamp""#),
        "{told}"
    );
    assert!(!told.contains("of 2"), "the model sees no warning: {told}");
}

/// The functions come after the type's own validators, and know its fields by their names in Rust, too.
#[tokio::test]
async fn beside_the_types_own_validators() {
    #[llm_output]
    #[serde(rename_all = "camelCase")]
    struct Own {
        item_name: String,
    }
    #[validate]
    impl Own {
        fn own(&self) -> Result<(), Invalid> {
            Err(Invalid::at("item_name", "own"))
        }
    }
    fn by_rust_name(own: &Own, _: &AttemptInfo) -> Result<(), Invalid> {
        Err(Invalid::at("item_name", own.item_name.as_str()))
    }
    #[expect(clippy::ptr_arg, reason = "the output as it is")]
    fn in_the_list(list: &Vec<Own>, _: &AttemptInfo) -> Result<(), Invalid> {
        Err(Invalid::at("[1].itemName", list.len().to_string()))
    }
    #[llm_node(prompt = "Choose.", output = Own, validate = by_rust_name)]
    struct Choose;
    #[llm_node(prompt = "Choose.", output = Vec<Own>, validate = in_the_list)]
    struct ChooseSome;
    let one = r#"{"itemName": "axe"}"#;
    assert_eq!(
        first((), &Choose, one).await.unwrap(),
        ["itemName: own", "itemName: axe"]
    );
    let two = format!(r#"{{"value": [{one}, {one}]}}"#);
    let found = first((), &ChooseSome, &two).await.unwrap();
    assert_eq!(
        found,
        [
            "value[0].itemName: own",
            "value[1].itemName: own",
            "value[1].itemName: 2"
        ]
    );
}

/// What is no object is sent and answered as `{"value": ..}`.
#[tokio::test]
async fn a_wrapped_scalar() {
    fn small(n: &u8, _: &AttemptInfo) -> Result<(), Invalid> {
        if *n > 10 {
            Err(Invalid::new("is at most 10"))
        } else {
            Ok(())
        }
    }
    #[expect(clippy::ptr_arg, reason = "the output as it is")]
    fn short(text: &String, _: &AttemptInfo) -> Result<(), Invalid> {
        if text.len() > 5 {
            Err(Invalid::new("is too long"))
        } else {
            Ok(())
        }
    }
    #[llm_node(prompt = "Rate.", output = u8, validate = small)]
    struct Rate;
    #[llm_node(prompt = "Say it.", output = String, validate = short)]
    struct Say;
    assert_eq!(
        first((), &Say, r#"{"value": "as long"}"#).await.unwrap(),
        ["value: is too long"]
    );
    assert_eq!(
        first((), &Rate, r#"{"value": 11}"#).await.unwrap(),
        ["value: is at most 10"]
    );
    assert_eq!(first((), &Rate, "11").await.unwrap(), ["is at most 10"]);
    assert_eq!(first((), &Rate, r#"{"value": 10}"#).await.unwrap(), [""; 0]);
}

fn rhymes(haiku: &str, _: &AttemptInfo) -> Result<(), Invalid> {
    if haiku.lines().count() == 3 {
        Ok(())
    } else {
        Err(Invalid::new("a haiku has three lines"))
    }
}

#[llm_node(prompt = "Write a haiku.", validate = rhymes, retries = 1)]
struct Haiku;

#[tokio::test]
async fn raw_text_is_corrected() {
    let model = ScriptedModel::new().reply("Leaves fall.").reply("a\nb\nc");
    let haiku = Run::new(model.clone()).call(&Haiku).await.unwrap();
    assert_eq!(haiku, "a\nb\nc");
    let told = last_message(&model);
    assert!(told.contains("a haiku has three lines"), "{told}");
}

#[tokio::test]
async fn raw_text_that_is_cut_counts_only_if_it_is_valid() {
    let cut = |text: &str| {
        ScriptedModel::new().reply(llmnode::Reply::text(text).finish(FinishReason::Length))
    };
    let report = Run::new(cut("a\nb\nc"))
        .call(&Haiku)
        .report()
        .await
        .unwrap();
    assert!(report.record.attempts[0].flags.contains(&Flag::LengthStop));
    let error = Run::new(cut("a\nb")).call(&Haiku).await.unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput);
}

/// A run's retries are for it, too, and so are stacks for answers that are not valid.
#[tokio::test]
async fn raw_text_that_is_checked_has_retries_and_stacks() {
    #[llm_node(prompt = "Write a haiku.", validate = rhymes, recover(validation_error = [repair(1), bubble]))]
    struct Recovering;
    let model = || {
        ScriptedModel::new()
            .reply("1")
            .reply("2")
            .reply("3")
            .reply("4")
    };
    let asked = model();
    let error = Run::new(asked.clone()).call(&Recovering).await.unwrap_err();
    assert_eq!(
        (error.category(), asked.requests().len()),
        (Category::ValidationError, 2)
    );
    let asked = model();
    let run = Run::new(asked.clone()).with_settings(llmnode::Settings::new().retries(2));
    assert_eq!(
        run.call(&Haiku).await.unwrap_err().category(),
        Category::ValidationError
    );
    assert_eq!(asked.requests().len(), 3);
    let schema = Run::new(model())
        .call(&Haiku)
        .recover(Category::SchemaError, [llmnode::Recovery::Bubble])
        .await;
    assert!(
        schema
            .unwrap_err()
            .message()
            .ends_with("the answer is raw text, which nothing reads")
    );
}

#[derive(Debug)]
struct Offline;
impl std::fmt::Display for Offline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the store is offline")
    }
}
impl Error for Offline {}

#[tokio::test]
async fn an_error_of_the_program_ends_the_call() {
    async fn asks_the_store(_: &Foreign, _: &World, _: &AttemptInfo) -> Result<(), Invalid> {
        Err(Offline)?
    }
    #[llm_node(prompt = "Choose.", output = Foreign, state = World, retries = 2, validate = asks_the_store)]
    struct Choose;
    let error = first(world(), &Choose, r#"{"item": "key"}"#)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(error.source().unwrap().is::<Offline>());
    assert_eq!(error.attempts().len(), 1);
}

#[tokio::test]
async fn a_panic_is_caught_and_names_the_function() {
    fn fails(_: &Foreign, _: &AttemptInfo) -> Result<(), Invalid> {
        panic!("no")
    }
    async fn fails_later(_: &Foreign, _: &AttemptInfo) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        panic!("no")
    }
    #[llm_node(prompt = "Choose.", output = Foreign, validate = fails)]
    struct Choose;
    #[llm_node(prompt = "Choose.", output = Foreign, validate = fails_later)]
    struct ChooseLater;
    let answer = r#"{"item": "key"}"#;
    for (error, name) in [
        (first((), &Choose, answer).await.unwrap_err(), "fails"),
        (
            first((), &ChooseLater, answer).await.unwrap_err(),
            "fails_later",
        ),
    ] {
        assert_eq!(error.category(), Category::Panic);
        assert_eq!(error.message(), format!("validator `{name}` panicked: no"));
        assert_eq!(
            error.attempts()[0].usage.map(|usage| usage.input.is_some()),
            Some(true),
            "kept"
        );
    }
}

/// A generic node, a state with a lifetime, paths of methods, and functions that are generic themselves.
#[tokio::test]
async fn generics() {
    struct Borrowed<'a>(&'a [String]);
    trait HasInventory {
        fn has(&self, item: &str) -> bool;
    }
    impl HasInventory for Borrowed<'_> {
        fn has(&self, item: &str) -> bool {
            self.0.iter().any(|one| one == item)
        }
    }
    trait HasItem {
        fn item(&self) -> &str;
    }
    impl HasItem for Foreign {
        fn item(&self) -> &str {
            &self.item
        }
    }
    fn available<T: HasItem, S: HasInventory>(
        choice: &T,
        state: &S,
        _: &AttemptInfo,
    ) -> Result<(), Invalid> {
        if state.has(choice.item()) {
            Ok(())
        } else {
            Err(Invalid::at("item", "is not available"))
        }
    }
    impl Borrowed<'_> {
        fn has_it(
            choice: &Foreign,
            state: &Borrowed<'_>,
            attempt: &AttemptInfo,
        ) -> Result<(), Invalid> {
            available(choice, state, attempt)
        }
    }
    impl<T: 'static> Ask<T> {
        async fn is_short(
            choice: &Foreign,
            _: &Borrowed<'_>,
            _: &AttemptInfo,
        ) -> Result<(), Invalid> {
            if choice.item.len() > 3 {
                Err(Invalid::at("item", "is long"))
            } else {
                Ok(())
            }
        }
    }
    #[llm_node(
        prompt = "About {topic}",
        output = Foreign,
        state = Borrowed<'_>,
        validate = [available, available::<Foreign, Borrowed<'_>>, Borrowed::has_it, Self::is_short]
    )]
    struct Ask<T: 'static> {
        topic: T,
    }
    let inventory = ["key".to_owned()];
    let run = Run::new(
        ScriptedModel::new()
            .reply(r#"{"item": "lamp"}"#)
            .reply(r#"{"item": "key"}"#),
    );
    let run = run.with_state(Borrowed(&inventory));
    let error = run.call(&Ask { topic: 1 }).await.unwrap_err();
    let found: Vec<_> = error.attempts()[0]
        .violations
        .iter()
        .map(|one| one.message.as_str())
        .collect();
    let unavailable = "is not available";
    assert_eq!(found, [unavailable, unavailable, unavailable, "is long"]);
    assert_eq!(run.call(&Ask { topic: "keys" }).await.unwrap().item, "key");
}

/// An output that is a parameter of the node.
#[tokio::test]
async fn of_a_generic_output() {
    #[expect(clippy::ptr_arg, reason = "the output as it is")]
    fn few<T>(list: &Vec<T>, _: &AttemptInfo) -> Result<(), Invalid> {
        if list.len() > 1 {
            Err(Invalid::new("one is enough"))
        } else {
            Ok(())
        }
    }
    #[llm_node(prompt = "List.", output = Vec<T>, validate = few)]
    struct List<T> {
        #[node(skip)]
        of: std::marker::PhantomData<fn(T)>,
    }
    let of = std::marker::PhantomData::<fn(u8)>;
    assert_eq!(
        first((), &List { of }, "[1, 2]").await.unwrap(),
        ["one is enough"]
    );
    assert_eq!(first((), &List { of }, "[1]").await.unwrap(), [""; 0]);
}
