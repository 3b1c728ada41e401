//! Which model a recovery asks next, and what it starts from.

use crate::recovery::kinds;
use crate::support::{BAD, GOAL, GOOD, busy, run, script, world};
use llmnode_runtime::{
    AttemptKind, BoxFuture, Category, ChatModel, Completion, ModelError, Recovery, Reply, Request,
    Run, ScriptedModel, Settings, Sink,
};

#[tokio::test]
async fn a_fallback_model_that_says_what_the_first_one_said_is_still_corrected() {
    let run = run(&script([BAD, BAD])).model("small", script([BAD, GOOD]));
    let settings = Settings::new()
        .retries(1)
        .stop_on_repeat(true)
        .fallback_model("small");
    let report = run.call(&GOAL).settings(settings).report().await.unwrap();
    use AttemptKind::{Correction, FallbackModel, First};
    assert_eq!(
        kinds(&report.record),
        [First, Correction, FallbackModel, Correction]
    );
}

#[tokio::test]
async fn the_model_after_next_is_asked_whatever_ails_the_next_one() {
    let no_key = ModelError::unsent(Category::ApiKeyError, "no key");
    let run = run(&script([busy()]))
        .model("small", script([no_key]))
        .model("large", script([GOOD]));
    let steps = [Recovery::model("small"), Recovery::model("large")];
    assert!(
        run.call(&GOAL)
            .recover(Category::ServerError, steps)
            .await
            .is_ok()
    );
}

/// A model that knows its id.
struct Known(ScriptedModel);

impl ChatModel for Known {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.0.complete(request, sink)
    }

    fn model(&self) -> Option<&str> {
        Some("own")
    }
}

#[tokio::test]
async fn the_runs_own_model_is_not_asked_again_by_its_id() {
    let model = script([Reply::from(busy()), GOOD.into()]);
    let run = Run::new(Known(model.clone())).with_state(world());
    let once = || run.call(&GOAL).transport_retries(0).fallback_model("own");
    let error = once().await.unwrap_err();
    let asked: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| attempt.model.as_deref())
        .collect();
    assert_eq!(asked, [Some("own")], "the record names it, too");
    once().model("other").await.unwrap();
    let ids: Vec<_> = model
        .requests()
        .into_iter()
        .map(|request| request.model)
        .collect();
    assert_eq!(ids, [None, Some("other".to_owned())]);

    let run = Run::new(Known(script([busy()])))
        .model("own", script([GOOD]))
        .with_state(world());
    run.call(&GOAL)
        .transport_retries(0)
        .fallback_model("own")
        .await
        .unwrap();
}
