//! Answers that are nearly of the type are read and flagged, unless the node, the call or the run says `exact`.

use llmnode::{
    Category, DynNode, Exec, FinishReason, Flag, Invalid, Reply, Run, ScriptedModel, Settings,
    TokenUsage, llm_node, llm_output,
};
use serde_json::json;

#[llm_output]
#[derive(Debug, PartialEq)]
struct Review {
    /// From 1 to 5.
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
    mood: Mood,
    tags: Vec<Mood>,
    note: Option<String>,
}

#[llm_output]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Happy,
    Sad,
}

fn is_serious(review: &Review, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
    if review.stars == 1 && review.mood == Mood::Happy {
        Err(Invalid::new("nobody is happy with one star"))
    } else {
        Ok(())
    }
}

#[llm_node(prompt = "Rate {text}.", output = Review, validate = is_serious, retries = 1)]
struct Rate {
    text: &'static str,
}

#[llm_node(prompt = "Rate {text}.", output = Review, exact)]
struct RateExactly {
    text: &'static str,
}

const RATE: Rate = Rate { text: "the soup" };
const EXACTLY: RateExactly = RateExactly { text: "the soup" };
const CARELESS: &str = r#"{"stars": "4", "mood": " happy ", "tags": "sad", "note": null}"#;

fn careless() -> Review {
    Review {
        stars: 4,
        mood: Mood::Happy,
        tags: vec![Mood::Sad],
        note: None,
    }
}

async fn flags<N: Exec<()>>(
    node: &N,
    answer: &str,
    settings: Settings,
) -> Result<Vec<String>, String> {
    let run = Run::new(ScriptedModel::new().reply(answer));
    let report = run
        .call(node)
        .settings(settings.retries(0))
        .report()
        .await
        .map_err(|error| {
            assert_eq!(error.category(), Category::SchemaError);
            error.to_string()
        })?;
    Ok(report.record.attempts[0]
        .flags
        .iter()
        .map(Flag::to_string)
        .collect())
}

#[tokio::test]
async fn a_careless_answer_is_read_and_each_change_is_flagged() {
    let run = Run::new(ScriptedModel::new().reply(CARELESS));
    assert_eq!(run.call(&RATE).await.unwrap(), careless());
    let fitted = ["fitted: number_from_text", "fitted: choice", "fitted: list"];
    assert_eq!(
        flags(&RATE, CARELESS, Settings::new()).await.unwrap(),
        fitted
    );
    let fenced = format!("```json\n{}\n```", CARELESS.replace("null}", "null,}"));
    let all = [&["fenced", "repaired: comma"][..], &fitted].concat();
    assert_eq!(flags(&RATE, &fenced, Settings::new()).await.unwrap(), all);
    let clean = r#"{"stars": 4, "mood": "Happy", "tags": ["Sad"]}"#;
    assert_eq!(flags(&RATE, clean, Settings::new()).await, Ok(vec![]));
    assert_eq!(flags(&EXACTLY, clean, Settings::new()).await, Ok(vec![]));
}

#[tokio::test]
async fn the_nearest_level_says_whether_an_answer_is_read_exactly() {
    assert!(flags(&EXACTLY, CARELESS, Settings::new()).await.is_err());
    assert!(
        flags(&EXACTLY, CARELESS, Settings::new().exact(false))
            .await
            .is_ok()
    );
    assert!(
        flags(&RATE, CARELESS, Settings::new().exact(true))
            .await
            .is_err()
    );
    let run = |exact| {
        Run::new(ScriptedModel::new().reply(CARELESS)).with_settings(Settings::new().exact(exact))
    };
    assert!(
        run(false).call(&EXACTLY).await.is_ok(),
        "the run beats the node's attribute"
    );
    assert!(run(true).call(&RATE).retries(0).await.is_err());
    assert!(run(true).call(&RATE).exact(false).await.is_ok());
    assert!(run(false).call(&RATE).retries(0).exact(true).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_fitted_is_told_in_full_and_nothing_of_it_is_taken() {
    let model = ScriptedModel::new()
        .reply(r#"{"stars": "four", "mood": "Happy or Sad", "tags": ["sad"], "note": null}"#)
        .reply(CARELESS);
    assert_eq!(
        Run::new(model.clone()).call(&RATE).await.unwrap(),
        careless()
    );
    assert_eq!(
        model.requests()[1].messages.last().unwrap().content,
        "That answer was not accepted:\n\
         - stars: is \"four\", expected integer from 1 to 5\n\
         - mood: is \"Happy or Sad\", which is not allowed; allowed: \"Happy\", \"Sad\"\n\
         Answer again in full, with this corrected."
    );
}

#[tokio::test]
async fn bounds_and_validators_hold_for_what_was_fitted() {
    let over = flags(&RATE, &CARELESS.replace('4', "6"), Settings::new())
        .await
        .unwrap_err();
    assert!(over.contains("stars: is 6, must be at most 5"), "{over}");
    let run = Run::new(ScriptedModel::new().reply(CARELESS.replace('4', "1")));
    let error = run.call(&RATE).retries(0).await.unwrap_err();
    assert_eq!(error.category(), Category::ValidationError);
}

#[tokio::test]
async fn what_stopped_at_a_length_limit_is_read_exactly() {
    let cut = |text: &str| {
        Run::new(ScriptedModel::new().reply(Reply::text(text).finish(FinishReason::Length)))
    };
    let error = cut(CARELESS).call(&RATE).retries(0).await.unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput);
    assert!(
        cut(r#"{"stars": 4, "mood": "Happy", "tags": []}"#)
            .call(&RATE)
            .retries(0)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_primitive_reads_by_its_type_or_schema() {
    let typed = DynNode::builder("rate")
        .output::<Review>()
        .retries(0)
        .build()
        .unwrap();
    let run = Run::new(ScriptedModel::new().reply(CARELESS));
    let value = run.call(&typed.ask("soup")).await.unwrap();
    assert_eq!(
        value,
        json!({"stars": 4, "mood": "Happy", "tags": ["Sad"], "note": null})
    );
    let schema = json!({"type": "array", "items": {"type": "integer"}, "maxItems": 2});
    let by_schema = DynNode::builder("list")
        .output_schema(schema)
        .retries(0)
        .build()
        .unwrap();
    let run = Run::new(
        ScriptedModel::new()
            .reply(r#"{"value": "3"}"#)
            .reply(r#"["1", "2", "3"]"#),
    );
    assert_eq!(run.call(&by_schema.ask("")).await.unwrap(), json!([3]));
    assert!(run.call(&by_schema.ask("")).await.is_err());
}

#[tokio::test]
async fn exact_on_raw_text_is_an_error_of_the_call() {
    #[llm_node(prompt = "Say it.")]
    struct Say;
    let run = Run::new(ScriptedModel::new().reply("it")).with_settings(Settings::new().exact(true));
    assert_eq!(
        run.call(&Say).await.unwrap(),
        "it",
        "the run's word is for nodes of all kinds"
    );
    let error = run.call(&Say).exact(true).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
}

/// A model that thinks unless it is told not to leaves no room for the answer.
#[tokio::test]
async fn a_limit_that_thoughts_used_up_is_said() {
    let mut usage = TokenUsage::new(20, 50);
    usage.reasoning = Some(48);
    for answer in ["", "{\"stars\""] {
        let cut = Reply::text(answer)
            .usage(usage)
            .finish(FinishReason::Length);
        let run = Run::new(ScriptedModel::new().reply(cut));
        let error = run.call(&RATE).max_tokens(50).await.unwrap_err();
        assert_eq!(error.category(), Category::TruncatedOutput);
        let said = "(max_tokens = 50; raise it or ask for a shorter answer); thoughts took 48 of the 50 tokens: \
                    set reasoning = \"off\", or allow for them";
        assert!(error.to_string().contains(said), "{error}");
    }
}
