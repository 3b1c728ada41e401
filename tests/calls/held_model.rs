//! A node that holds its own model, in a field with `#[node(model)]`.

use std::sync::Arc;

use llmnode::testing::request_of;
use llmnode::{
    Category, ChatModel, ModelError, Recovery, Reply, Run, ScriptedModel, Settings, flow, llm_node,
    prelude::RunExt,
};

#[llm_node(prompt = "Translate {text}.", output = u8, retries = 1, transport_retries = 0)]
struct Translate {
    #[node(model)]
    llm: ScriptedModel,
    text: &'static str,
}

fn translate(llm: &ScriptedModel) -> Translate {
    Translate {
        llm: llm.clone(),
        text: "a",
    }
}

fn busy() -> Reply {
    Reply::error(ModelError::new(Category::ServerError, "busy"))
}

/// The ids of the models that were asked for.
fn ids(model: &ScriptedModel) -> Vec<Option<String>> {
    model
        .requests()
        .into_iter()
        .map(|request| request.model)
        .collect()
}

#[tokio::test]
async fn it_is_asked_in_place_of_the_runs() {
    let (runs, own) = (
        ScriptedModel::new(),
        ScriptedModel::new().reply("bad").reply("7"),
    );
    let run = Run::new(runs.clone()).with_settings(Settings::new().model("the run's"));
    assert_eq!(run.call(&translate(&own)).await.unwrap(), 7);
    // The run's setting says what to ask in place of its own model.
    assert_eq!((ids(&runs).len(), ids(&own)), (0, vec![None, None]));
    assert_eq!(run.ledger().total().requests, 2);
}

#[tokio::test]
async fn names_work_as_they_do_without_it() {
    let (other, own) = (
        ScriptedModel::new().reply("1").reply("2"),
        ScriptedModel::new().reply("3"),
    );
    let run = Run::new(ScriptedModel::new()).model("other", other.clone());
    assert_eq!(run.call(&translate(&own)).model("other").await.unwrap(), 1);
    assert_eq!(run.call(&translate(&own)).model("an-id").await.unwrap(), 3);
    assert_eq!(ids(&own), [Some("an-id".to_owned())]);

    let fails = ScriptedModel::new().reply(busy());
    let node = translate(&fails);
    let call = run
        .call(&node)
        .recover(Category::ServerError, [Recovery::model("other")]);
    assert_eq!(call.await.unwrap(), 2);
    assert_eq!(fails.requests().len(), 1);
}

#[tokio::test]
async fn a_further_id_is_asked_of_it_too() {
    let own = ScriptedModel::new().reply(busy()).reply("4");
    let run = Run::new(ScriptedModel::new());
    assert_eq!(
        run.call(&translate(&own))
            .fallback_model("big")
            .await
            .unwrap(),
        4
    );
    assert_eq!(ids(&own), [None, Some("big".to_owned())]);
}

#[tokio::test]
async fn each_node_of_a_map_has_its_own() {
    let models = [
        ScriptedModel::new().reply("1"),
        ScriptedModel::new().reply("2"),
    ];
    let run = Run::new(ScriptedModel::new());
    let values: Vec<u8> = run
        .map(models.iter().map(translate))
        .await
        .into_iter()
        .map(|value| value.unwrap())
        .collect();
    assert_eq!(values, [1, 2]);
}

#[test]
fn what_it_would_be_asked_is_seen_without_it() {
    let own = ScriptedModel::new();
    let request = request_of(&translate(&own), &());
    assert_eq!(
        (request.messages[0].content.as_str(), own.requests().len()),
        ("Translate a.", 0)
    );
}

/// Whatever is a model, known or not.
#[llm_node(prompt = "{n}", model = "small")]
struct Either<'a, M> {
    #[node(model)]
    llm: M,
    n: &'a u8,
}

#[tokio::test]
async fn any_model_will_do() {
    let (run, scripted) = (
        Run::new(ScriptedModel::new()),
        ScriptedModel::new().reply("a").reply("b"),
    );
    let shared: Arc<dyn ChatModel> = Arc::new(scripted.clone());
    assert_eq!(run.call(&Either { llm: shared, n: &1 }).await.unwrap(), "a");
    assert_eq!(
        run.call(&Either {
            llm: scripted.clone(),
            n: &2
        })
        .await
        .unwrap(),
        "b"
    );
    assert_eq!(
        ids(&scripted),
        [Some("small".to_owned()), Some("small".to_owned())]
    );
}

struct World {
    llm: Arc<dyn ChatModel>,
    said: String,
}

#[llm_node(prompt = "Go on.", state = World, store = said)]
struct Say {
    #[node(model)]
    #[prep(state.llm.clone())]
    llm: Arc<dyn ChatModel>,
}

flow! { Talk(World): Say => end }

#[tokio::test]
async fn a_step_takes_it_from_the_state() {
    let world = World {
        llm: Arc::new(ScriptedModel::new().reply("So it is.")),
        said: String::new(),
    };
    let mut run = Run::new(ScriptedModel::new()).with_state(world);
    run.flow(Talk).await.unwrap();
    assert_eq!(run.state().said, "So it is.");
}
