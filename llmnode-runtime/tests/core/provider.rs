//! What a provider says beside its answer, and what the attempt, the model and the endpoint's budget make of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::recorder::Recorder;
use crate::support::{BAD, GOAL, GOOD, World, busy, input_tokens, run, say, script, world};
use llmnode_runtime::private::{Checks, Coverage, LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    ApiKind, BoxError, BoxFuture, Category, ChatModel, Completion, Cx, Exec, Failures, Flag,
    Invalid, ModelError, Node, NodeFacts, Recovery, Reply, Request, ResponseFormat, Retry,
    RetryBudget, Run, ScriptedModel, Settings, Sink,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// A model that says how it asks, and counts the answers that its server did not bind to the schema.
#[derive(Clone)]
struct Reporting {
    script: ScriptedModel,
    unenforced: Arc<AtomicUsize>,
}

impl Reporting {
    fn script(script: ScriptedModel) -> Self {
        Reporting {
            script,
            unenforced: Arc::default(),
        }
    }
}

impl ChatModel for Reporting {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        sink.response_format(ResponseFormat::Strict);
        let mut usage = input_tokens(10);
        usage.total = Some(3);
        sink.usage(usage);
        self.script.complete(request, sink)
    }

    fn unenforced(&self, _: &Request) {
        self.unenforced.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_response_format_and_figures_that_cannot_be_stand_in_the_record() {
    let possible = input_tokens(10);
    let mut impossible = possible;
    impossible.total = Some(9);
    for usage in [None, Some(impossible)] {
        let model = Reporting::script(script([Reply::text(GOOD).usage(usage)]));
        let report = Run::new(model)
            .with_state(world())
            .call(&GOAL)
            .report()
            .await
            .unwrap();
        let attempt = &report.record.attempts[0];
        assert_eq!(attempt.response_format, Some(ResponseFormat::Strict));
        assert_eq!(attempt.usage, Some(possible), "what cannot be is unknown");
        assert_eq!(
            attempt.flags,
            [Flag::ImpossibleUsage],
            "once, however often it is reported"
        );
    }
}

#[tokio::test]
async fn an_answer_without_a_finish_reason_is_flagged() {
    let mut completion = Completion::new(GOOD);
    completion.finish = None;
    let report = run(&script([completion]))
        .call(&GOAL)
        .report()
        .await
        .unwrap();
    assert_eq!(report.record.attempts[0].flags, [Flag::NoFinishReason]);
}

#[tokio::test]
async fn a_model_hears_of_an_answer_that_its_schema_did_not_bind() {
    for (answer, unenforced) in [
        (GOOD, 0),
        (BAD, 0),
        ("Take the key.", 1),
        ("```json\n{\"item\": \"key\"}\n```", 1),
        // A response format does not bind what comes before the answer.
        ("<think>the key</think>{\"item\": \"key\"}", 0),
    ] {
        let model = Reporting::script(script([answer]));
        let run = Run::new(model.clone()).with_state(world());
        let _ = run.call(&GOAL).retries(0).await;
        assert_eq!(
            model.unenforced.load(Ordering::Relaxed),
            unenforced,
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_correction_shows_the_answer_that_a_model_found_at_fault_itself() {
    let mut failure =
        ModelError::new(Category::SchemaError, "half a character").retry(Retry::Feedback);
    failure.answer = Some(Box::new(llmnode_runtime::Message::assistant(
        "{\"item\": \"\u{FFFD}",
    )));
    let model = script([Reply::from(failure), GOOD.into()]);
    run(&model).call(&GOAL).await.unwrap();
    let messages = &model.requests()[1].messages;
    assert_eq!(messages[2].content, "{\"item\": \"\u{FFFD}");
    assert!(
        messages[3].content.contains("- half a character"),
        "{}",
        messages[3].content
    );
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Renamed {
    #[serde(rename = "ITEM-NAME")]
    item_name: String,
}

/// Asks for a member whose name in JSON is another one.
struct AskRenamed;

impl Node for AskRenamed {
    type Output = Renamed;
    const NAME: &'static str = "renamed";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl Exec<World> for AskRenamed {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<Renamed, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl LlmNode<World> for AskRenamed {
    fn render(&self, _: &World, to: &mut Prompt) {
        to.user(&[Segment::text("Which item?")]);
    }

    fn output(&self) -> OutputSpec<Renamed, World> {
        fn collect<'a>(renamed: &'a Renamed, to: &mut Checks<'a, World>) {
            to.sync("no", |_, _| {
                Err(Invalid::at(
                    "item_name",
                    format!("{} is bad", renamed.item_name),
                ))
            });
        }
        OutputSpec::json(|_: &mut Coverage| {}, collect)
    }
}

#[tokio::test]
async fn violations_of_validators_have_the_names_of_the_json() {
    let model = script([r#"{"ITEM-NAME": "axe"}"#]);
    let error = run(&model).call(&AskRenamed).await.unwrap_err();
    assert_eq!(error.message(), "ITEM-NAME: axe is bad");
}

#[tokio::test]
async fn a_stack_for_answers_that_raw_text_never_gives_is_refused() {
    for (failures, step, said) in [
        (
            Category::SchemaError.into(),
            Recovery::Bubble,
            "raw text, which nothing reads",
        ),
        (
            Category::ValidationError.into(),
            Recovery::Bubble,
            "raw text, which nothing checks",
        ),
        (
            Failures::Answer,
            Recovery::repair(1),
            "only an `empty_response` can be repaired",
        ),
    ] {
        let run = run(&script(["hi"]));
        let error = run
            .call(&say("x"))
            .recover(failures, [step])
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.message().contains(said), "{error}");
    }
    let (run, node) = (run(&script(["", "hi"])), say("x"));
    let call = run
        .call(&node)
        .recover(Category::EmptyResponse, [Recovery::repair(1)]);
    assert_eq!(call.await.unwrap(), "hi");
}

#[tokio::test]
async fn a_retry_comes_back_into_the_budget_where_the_endpoint_answers_it() {
    let page = || ModelError::new(Category::BadResponse, "half a page");
    for (second, left) in [
        (Reply::from(GOOD), 1),
        (
            ModelError::new(Category::BadRequest, "no such field").into(),
            1,
        ),
        (page().into(), 1),
        (page().retry(Retry::Transport).into(), 0),
        (busy().into(), 0),
    ] {
        let budget = RetryBudget::new(1);
        let model = script([Reply::from(busy()), second]).with_retry_budget(budget.clone());
        let _ = run(&model).call(&GOAL).transport_retries(1).await;
        assert_eq!(
            (model.requests().len(), budget.available()),
            (2, Some(left))
        );
    }
}

#[tokio::test]
async fn only_retries_of_the_transport_are_taken_out_of_the_budget() {
    let page = ModelError::new(Category::BadResponse, "a web page");
    let model =
        script([Reply::from(page), BAD.into(), GOOD.into()]).with_retry_budget(RetryBudget::new(0));
    let settings = Settings::new()
        .retries(1)
        .recover(Category::BadResponse, [Recovery::retry(1)]);
    run(&model).call(&GOAL).settings(settings).await.unwrap();
    let run = run(&script([busy()]).with_retry_budget(RetryBudget::new(0)));
    assert_eq!(run.call(&GOAL).await.unwrap_err().attempts().len(), 1);
}

struct Of(ApiKind);

impl ChatModel for Of {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async { Ok(Completion::new("hi")) })
    }

    fn api_kind(&self) -> Option<ApiKind> {
        Some(self.0)
    }
}

#[tokio::test]
async fn fields_for_whichever_api_are_reported_once_where_models_speak_several() {
    for (other, field, reported) in [
        (ApiKind::Gemini, Settings::new().extra("seed", 7), 1),
        (ApiKind::Chat, Settings::new().extra("seed", 7), 0),
        (
            ApiKind::Gemini,
            Settings::new().extra_on(ApiKind::Chat, "seed", 7),
            0,
        ),
    ] {
        let (seen, _guard) = Recorder::start();
        let run = Run::new(Of(ApiKind::Chat))
            .model("other", Of(other))
            .with_settings(field);
        for _ in 0..2 {
            run.call(&say("x")).await.unwrap();
        }
        let events = seen.events("llmnode::call");
        assert_eq!(events.len(), reported, "{events:?}");
        if let [event] = &events[..] {
            assert!(
                event.fields["message"].contains("`extra_on` names one"),
                "{event:?}"
            );
            assert_eq!(event.fields["apis"], "chat, gemini");
        }
    }
}
