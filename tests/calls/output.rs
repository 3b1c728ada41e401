//! Answers as types: what is derived, which validators run, and the paths of their violations.

use std::collections::BTreeMap;
use std::sync::Arc;

use llmnode::{
    AttemptInfo, Category, Exec, Invalid, Run, ScriptedModel, llm_node, llm_output, validate,
};

struct World {
    inventory: Vec<String>,
}

fn world() -> World {
    World {
        inventory: vec!["lamp".into(), "key".into()],
    }
}

/// Runs a node on one answer; the violations as the ledger has them, one line each.
async fn violations<S, N>(state: S, node: &N, answer: &str) -> Vec<String>
where
    S: Sync + 'static,
    N: Exec<S>,
{
    let run = Run::new(ScriptedModel::new().reply(answer)).with_state(state);
    match run.call(node).await {
        Ok(_) => vec![],
        Err(error) => {
            assert_eq!(error.category(), Category::ValidationError, "{error}");
            error.attempts()[0]
                .violations
                .iter()
                .map(ToString::to_string)
                .collect()
        }
    }
}

#[llm_output]
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    /// One of the available items.
    item: String,
    reason: String,
}

#[validate(state)]
impl Choice {
    fn item_is_available(&self, state: &World) -> Result<(), Invalid> {
        if state.inventory.contains(&self.item) {
            return Ok(());
        }
        Err(
            Invalid::at("item", format!("{:?} is not available", self.item))
                .allowed(&state.inventory),
        )
    }

    fn reason_is_given(&self) -> Result<(), Invalid> {
        if self.reason.is_empty() {
            Err(Invalid::at("reason", "is empty"))
        } else {
            Ok(())
        }
    }

    async fn in_time(&self, attempt: &AttemptInfo, _state: &World) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        if attempt.is_last() && self.item == "late" {
            Err(Invalid::new("too late"))
        } else {
            Ok(())
        }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, retries = 1)]
struct Choose;

#[tokio::test]
async fn a_bad_answer_is_corrected() {
    let model = Arc::new(
        ScriptedModel::new()
            .reply(r#"{"item": "axe", "reason": ""}"#)
            .reply(r#"{"item": "key", "reason": "it fits"}"#),
    );
    let run = Run::new(model.clone()).with_state(world());
    let choice = run.call(&Choose).await.unwrap();
    assert_eq!(
        choice,
        Choice {
            item: "key".into(),
            reason: "it fits".into()
        }
    );
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    let feedback = &requests[1].messages.last().unwrap().content;
    assert!(
        feedback.contains(r#"item: "axe" is not available; allowed: "lamp", "key""#),
        "{feedback}"
    );
    assert!(feedback.contains("reason: is empty"), "{feedback}");
}

#[tokio::test]
async fn all_forms_of_validators_run() {
    let run = Run::new(ScriptedModel::new().reply(r#"{"item": "late", "reason": ""}"#))
        .with_state(world());
    let error = run.call(&Choose).retries(0).await.unwrap_err();
    assert_eq!(error.attempts()[0].violations.len(), 3);
}

/// Every way a definition writes its fields, around one validated type.
#[llm_output(state = World)]
#[serde(rename_all = "camelCase")]
struct Page {
    first_choice: Choice,
    #[serde(rename = "rest")]
    others: Vec<Choice>,
    by_name: BTreeMap<String, Option<Box<Choice>>>,
    pair: (u8, Choice),
    #[serde(flatten)]
    flat: Flat,
    #[serde(skip)]
    #[allow(dead_code)]
    skipped: Option<Choice>,
    wrapped: Wrapped,
    shape: Shape,
    tags: Vec<String>,
}

#[llm_output(state = World)]
struct Flat {
    inner: Choice,
}

#[llm_output(state = World)]
struct Wrapped(Choice);

#[llm_output(state = World)]
#[serde(rename_all = "snake_case")]
enum Shape {
    UnitLike,
    NewType(Choice),
    Tuple(u8, Choice),
    #[serde(rename_all = "kebab-case")]
    InBraces {
        the_choice: Choice,
    },
    #[serde(skip)]
    #[allow(dead_code)]
    Never(Choice),
}

#[validate]
impl Page {
    fn has_tags(&self) -> Result<(), Invalid> {
        if self.tags.is_empty() {
            Err(Invalid::at(
                "first_choice",
                "names come out as JSON has them",
            ))
        } else {
            Ok(())
        }
    }
}

#[llm_node(prompt = "Choose.", output = Page, state = World)]
struct ChoosePage;

fn page(shape: &str) -> String {
    let bad = r#"{"item": "axe", "reason": "x"}"#;
    format!(
        r#"{{"firstChoice": {bad}, "rest": [{bad}, {bad}], "byName": {{"a.b": {bad}, "c": null}}, "pair": [1, {bad}],
            "inner": {bad}, "wrapped": {bad}, "tags": [], "shape": {shape}}}"#
    )
}

#[tokio::test]
async fn paths_are_those_of_the_json() {
    let bad = r#"{"item": "axe", "reason": "x"}"#;
    let common = [
        "firstChoice.item",
        "rest[0].item",
        "rest[1].item",
        r#"byName["a.b"].item"#,
        "pair[1].item",
        "inner.item",
        "wrapped.item",
    ];
    for (shape, path) in [
        (r#""unit_like""#.to_owned(), None),
        (
            format!(r#"{{"new_type": {bad}}}"#),
            Some("shape.new_type.item"),
        ),
        (
            format!(r#"{{"tuple": [1, {bad}]}}"#),
            Some("shape.tuple[1].item"),
        ),
        (
            format!(r#"{{"in_braces": {{"the-choice": {bad}}}}}"#),
            Some("shape.in_braces.the-choice.item"),
        ),
    ] {
        let found = violations(world(), &ChoosePage, &page(&shape)).await;
        let expected = common.iter().copied().chain(path).chain(["firstChoice"]);
        let paths: Vec<_> = found
            .iter()
            .map(|line| line.split(": ").next().unwrap())
            .collect();
        assert_eq!(paths, expected.collect::<Vec<_>>(), "{shape}");
    }
}

macro_rules! tagged {
    ($name:ident, $node:ident, $($attribute:tt)*) => {
        #[llm_output(state = World)]
        #[serde($($attribute)*)]
        enum $name {
            Struct { choice: Choice },
            New(Choice),
        }

        #[llm_node(prompt = "Choose.", output = $name, state = World)]
        struct $node;
    };
}

tagged!(Internal, ChooseInternal, tag = "kind");
tagged!(Adjacent, ChooseAdjacent, tag = "kind", content = "value");
tagged!(Untagged, ChooseUntagged, untagged);

#[tokio::test]
async fn serdes_representations() {
    let bad = r#""item": "axe", "reason": "x""#;
    let found = violations(
        world(),
        &ChooseInternal,
        &format!(r#"{{"kind": "Struct", "choice": {{{bad}}}}}"#),
    )
    .await;
    assert!(found[0].starts_with("choice.item: "), "{found:?}");
    let found = violations(
        world(),
        &ChooseInternal,
        &format!(r#"{{"kind": "New", {bad}}}"#),
    )
    .await;
    assert!(found[0].starts_with("item: "), "{found:?}");
    let found = violations(
        world(),
        &ChooseAdjacent,
        &format!(r#"{{"kind": "New", "value": {{{bad}}}}}"#),
    )
    .await;
    assert!(found[0].starts_with("value.item: "), "{found:?}");
    let found = violations(
        world(),
        &ChooseUntagged,
        &format!(r#"{{"choice": {{{bad}}}}}"#),
    )
    .await;
    assert!(found[0].starts_with("choice.item: "), "{found:?}");
    let found = violations(world(), &ChooseUntagged, &format!("{{{bad}}}")).await;
    assert!(found[0].starts_with("item: "), "{found:?}");
}

/// A definition with its own derives. The path keeps the attribute apart from schemars' helper of that name.
#[llmnode::validate(state = World)]
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
struct Own {
    choice: Choice,
}

#[llm_node(prompt = "Choose.", output = Own, state = World)]
struct ChooseOwn;

#[tokio::test]
async fn own_derives() {
    let found = violations(
        world(),
        &ChooseOwn,
        r#"{"CHOICE": {"item": "axe", "reason": "x"}}"#,
    )
    .await;
    assert!(found[0].starts_with("CHOICE.item: "), "{found:?}");
}

/// Some own derives beside the macro's.
#[llm_output(state = World)]
#[derive(serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct PartlyOwn {
    choice: Choice,
}

#[llm_node(prompt = "Choose.", output = PartlyOwn, state = World)]
struct ChoosePartlyOwn;

#[tokio::test]
async fn partly_own_derives() {
    let found = violations(
        world(),
        &ChoosePartlyOwn,
        r#"{"CHOICE": {"item": "axe", "reason": "x"}}"#,
    )
    .await;
    assert!(found[0].starts_with("CHOICE.item: "), "{found:?}");
}

trait HasInventory {
    fn has(&self, item: &str) -> bool;
}

impl HasInventory for World {
    fn has(&self, item: &str) -> bool {
        self.inventory.iter().any(|available| available == item)
    }
}

/// Validators that take any state that has an inventory; a type in itself.
#[llm_output]
struct Tree {
    item: String,
    kids: Vec<Inner>,
}

#[llm_output]
struct Inner {
    items: Vec<String>,
}

#[validate]
impl Tree {
    fn is_available<S: HasInventory>(&self, state: &S) -> Result<(), Invalid> {
        if state.has(&self.item) {
            Ok(())
        } else {
            Err(Invalid::at("item", "no"))
        }
    }

    fn has_kids(&self, state: &impl HasInventory) -> Result<(), Invalid> {
        if state.has("key") && self.kids.is_empty() {
            Err(Invalid::at("kids", "none"))
        } else {
            Ok(())
        }
    }
}

#[llm_node(prompt = "Choose.", output = Tree, state = World)]
struct ChooseTree;

#[tokio::test]
async fn validators_generic_over_the_state() {
    let found = violations(world(), &ChooseTree, r#"{"item": "axe", "kids": []}"#).await;
    assert_eq!(found, ["item: no", "kids: none"]);
}

#[llm_output(state = World)]
struct Recursive {
    choice: Choice,
    kids: Vec<Recursive>,
}

#[llm_node(prompt = "Choose.", output = Recursive, state = World)]
struct ChooseRecursive;

#[tokio::test]
async fn recursive_types() {
    let bad = r#"{"item": "axe", "reason": "x"}"#;
    let answer = format!(r#"{{"choice": {bad}, "kids": [{{"choice": {bad}, "kids": []}}]}}"#);
    let found = violations(world(), &ChooseRecursive, &answer).await;
    assert!(
        found[0].starts_with("choice.item: ") && found[1].starts_with("kids[0].choice.item: "),
        "{found:?}"
    );
}

/// Generic types and nodes ask for validators; an empty block says that there are none.
#[llm_output]
struct Pair<T, U> {
    left: T,
    right: Vec<U>,
    note: String,
}

#[validate]
impl<T, U> Pair<T, U> {
    fn noted(&self) -> Result<(), Invalid> {
        if self.note.is_empty() {
            Err(Invalid::at("note", "is empty"))
        } else {
            Ok(())
        }
    }
}

#[llm_output]
struct Nothing {
    text: String,
}

#[validate]
impl Nothing {}

#[llm_node(prompt = "Choose.", output = Pair<Choice, Nothing>, state = World)]
struct ChoosePair;

#[llm_node(prompt = "Choose {what}.", output = Vec<T>, state = World)]
struct ChooseSome<T> {
    what: &'static str,
    #[node(skip)]
    mark: std::marker::PhantomData<T>,
}

#[tokio::test]
async fn generic_outputs() {
    let bad = r#"{"item": "axe", "reason": "x"}"#;
    let answer = format!(r#"{{"left": {bad}, "right": [{{"text": ""}}], "note": ""}}"#);
    let found = violations(world(), &ChoosePair, &answer).await;
    assert!(
        found[0].starts_with("left.item: ") && found[1] == "note: is empty",
        "{found:?}"
    );
    let node = ChooseSome::<Choice> {
        what: "some",
        mark: std::marker::PhantomData,
    };
    let found = violations(world(), &node, &format!("[{bad}]")).await;
    assert_eq!(found.len(), 1, "{found:?}");
}

/// Types of others, and plain ones.
#[llm_node(prompt = "How many?", output = BTreeMap<String, Vec<u8>>)]
struct Count;

#[tokio::test]
async fn foreign_outputs() {
    let run = Run::new(
        ScriptedModel::new()
            .reply(r#"{"a": [1, 2]}"#)
            .reply(r#"{"a": [1, 300]}"#),
    );
    assert_eq!(run.call(&Count).await.unwrap()["a"], [1, 2]);
    assert_eq!(
        run.call(&Count).await.unwrap_err().category(),
        Category::SchemaError
    );
}

#[derive(Debug)]
struct Broken;
impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the database is gone")
    }
}
impl std::error::Error for Broken {}

#[llm_output]
struct Aborts {
    #[allow(dead_code)]
    text: String,
}

#[validate]
impl Aborts {
    async fn asks_a_database(&self) -> Result<(), Invalid> {
        Err(Broken)?;
        Ok(())
    }
}

#[llm_node(prompt = "x", output = Aborts, retries = 5)]
struct Aborting;

#[tokio::test]
async fn an_error_of_the_program_aborts() {
    let model = Arc::new(ScriptedModel::new().reply(r#"{"text": ""}"#));
    let error = Run::new(model.clone())
        .call(&Aborting)
        .await
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert_eq!(model.requests().len(), 1);
}

/// A container that traversal does not enter holds a validated type: refused at first use, not skipped.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Foreign {
    #[allow(dead_code)]
    choice: Choice,
}

#[llm_node(prompt = "x", output = Foreign, state = World)]
struct OfForeign;

#[tokio::test]
async fn validators_out_of_reach_are_refused() {
    let model = Arc::new(ScriptedModel::new().reply("{}"));
    let error = Run::new(model.clone())
        .with_state(world())
        .call(&OfForeign)
        .await
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.to_string().contains("Choice"), "{error}");
    assert_eq!(model.requests().len(), 0);
}

/// A type of one's own around others, of which the macro sees no more than the name.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct MyBox<T>(#[allow(dead_code)] T);

#[llm_output(state = World)]
#[allow(dead_code)]
enum Boxed {
    One(Choice),
    Many { boxes: Vec<MyBox<Choice>> },
}

#[llm_node(prompt = "x", output = Boxed, state = World)]
struct OfBoxed;

#[tokio::test]
async fn the_place_that_is_out_of_reach_is_named() {
    let model = Arc::new(ScriptedModel::new().reply("{}"));
    let error = Run::new(model)
        .with_state(world())
        .call(&OfBoxed)
        .await
        .map(|_| ())
        .unwrap_err()
        .to_string();
    let place = "the field `Many.boxes` of `calls::output::Boxed` is held as `alloc::vec::Vec<calls::output::MyBox<calls::output::Choice>>`";
    assert!(
        error.contains(place) && error.contains("put `#[llm_output]` on"),
        "{error}"
    );
}

struct Borrowed<'a> {
    allowed: &'a [u8],
}

#[llm_output(state = Borrowed<'_>)]
struct Outer {
    digit: Digit,
}

#[llm_output]
struct Digit(u8);

#[validate]
impl Digit {
    fn is_allowed(&self, state: &Borrowed<'_>) -> Result<(), Invalid> {
        if state.allowed.contains(&self.0) {
            Ok(())
        } else {
            Err(Invalid::new("no").allowed(state.allowed))
        }
    }
}

#[llm_node(prompt = "x", output = Outer, state = Borrowed<'_>)]
struct OfBorrowed;

#[tokio::test]
async fn a_state_that_borrows() {
    let allowed = vec![1];
    let run = Run::new(ScriptedModel::new().reply(r#"{"digit": 2}"#))
        .with_state(Borrowed { allowed: &allowed });
    let error = run.call(&OfBorrowed).await.map(|_| ()).unwrap_err();
    assert_eq!(error.attempts()[0].violations[0].path, "digit");
}

mod renamed {
    pub(super) use llmnode as other;

    #[other::llm_output(crate = crate::output::renamed::other)]
    pub(super) struct Renamed {
        pub(super) a: u8,
    }

    #[other::validate(crate = crate::output::renamed::other)]
    impl Renamed {
        fn small(&self) -> Result<(), other::Invalid> {
            if self.a > 1 {
                Err(other::Invalid::at("a", "too large"))
            } else {
                Ok(())
            }
        }
    }

    #[other::llm_node(prompt = "x", output = Renamed, crate = crate::output::renamed::other)]
    pub(super) struct OfRenamed;
}

#[tokio::test]
async fn the_crate_under_another_path() {
    assert_eq!(
        violations((), &renamed::OfRenamed, r#"{"a": 2}"#).await,
        ["a: too large"]
    );
}

#[llm_output]
enum Answer {
    #[allow(dead_code)]
    Yes,
    No {
        why: (u8, Why),
    },
}

#[llm_output]
struct Why {
    #[allow(dead_code)]
    text: String,
}

/// The derives of serde and schemars need std's names; what llmnode adds does not.
mod shadowed {
    #![no_implicit_prelude]
    #![allow(dead_code, non_camel_case_types)]

    type Result = ();
    type Option = ();
    type str = ();
    type String = ();
    struct Send;
    struct Vec;

    #[::llmnode::validate]
    impl super::Why {
        fn short(&self) -> ::core::result::Result<(), ::llmnode::Invalid> {
            ::core::result::Result::Err(::llmnode::Invalid::at("text", "too long"))
        }
    }

    #[::llmnode::llm_node(prompt = "x", output = super::Answer, retries = 0)]
    pub(super) struct Ask;
}

#[tokio::test]
async fn no_name_in_scope_matters() {
    let found = violations((), &shadowed::Ask, r#"{"No": {"why": [1, {"text": "x"}]}}"#).await;
    assert_eq!(found, ["No.why[1].text: too long"]);
}

#[llm_node(prompt = "Count.", output = std::collections::BTreeMap<String, u8>)]
struct CountAll;

#[llm_node(prompt = "Say.")]
struct Say;

#[tokio::test]
async fn a_response_format_that_cannot_be_asked_by_is_told_before_any_request_of_any_model() {
    let model = std::sync::Arc::new(
        llmnode::ScriptedModel::new()
            .reply(r#"{"a": 1}"#)
            .reply("hello"),
    );
    let run = llmnode::Run::new(model.clone());
    let strict = llmnode::Settings::new().response_format(llmnode::ResponseFormat::Strict);

    let error = run
        .call(&CountAll)
        .settings(strict.clone())
        .await
        .unwrap_err();
    assert_eq!(error.category(), llmnode::Category::ConfigError);
    assert!(
        error.message().contains("is a map with free keys"),
        "{error}"
    );
    let error = run
        .call(&Say)
        .response_format(llmnode::ResponseFormat::Schema)
        .await
        .unwrap_err();
    assert_eq!(error.category(), llmnode::Category::ConfigError);
    assert!(
        error.message().contains("response_format says how"),
        "{error}"
    );
    assert!(model.requests().is_empty());

    assert_eq!(
        run.call(&CountAll)
            .response_format(llmnode::ResponseFormat::Schema)
            .await
            .unwrap()["a"],
        1
    );
    assert_eq!(run.with_settings(strict).call(&Say).await.unwrap(), "hello");
}
