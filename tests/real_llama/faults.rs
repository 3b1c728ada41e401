//! What llama.cpp's server refuses or cuts off, and how calls handle it.

use std::error::Error;
use std::time::Duration;

use llmnode::{Category, Flag, Image, NodeError, OpenAi, Run, TestClock, llm_node, llm_output};

use crate::support::{assert_books_agree, key, model, run, server_url};
use crate::wire::Wire;

#[llm_node(prompt = "Tell me of {what}.")]
struct Tell {
    what: String,
}

#[llm_output]
#[derive(Debug)]
struct Story {
    title: String,
}

#[llm_node(prompt = "Tell me a story.", output = Story, retries = 2)]
struct TellStory;

fn tell() -> Tell {
    Tell {
        what: "the sea".into(),
    }
}

/// All that an error shows of itself.
fn shown(error: &NodeError) -> String {
    let mut shown = format!("{error} {error:?} {:?}", error.record());
    let mut beneath = error.source();
    while let Some(error) = beneath {
        shown += &format!(" {error} {error:?}");
        beneath = error.source();
    }
    shown
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_wrong_key_is_told_once_and_never_shown() {
    let wrong = "sk-wrong-0123456789abcdef";
    let wire = Wire::to(&server_url()).await;
    let model = OpenAi::builder()
        .base_url(wire.base_url())
        .api_key(wrong)
        .model("tiny-random")
        .build()
        .unwrap();
    let shown_model = format!("{model:?}");
    let run = Run::new(model);
    let error = run.call(&TellStory).await.unwrap_err();
    assert_eq!(error.category(), Category::ApiKeyError, "{error}");
    assert_eq!(error.attempts()[0].status, Some(401));
    let all = format!(
        "{} {shown_model} {run:?} {}",
        shown(&error),
        run.ledger().to_json()
    );
    assert!(!all.contains(wrong) && !all.contains(&key()), "{all}");
    // The server's code is a number where OpenAI's is a word.
    assert_eq!(wire.exchanges()[0].answer["error"]["code"], 401);
    assert_books_agree(&run.ledger(), &wire);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_wrong_path_is_not_found() {
    let url = server_url().replace("/v1", "/v0/nowhere");
    let run = Run::new(
        OpenAi::builder()
            .base_url(url)
            .api_key(key())
            .model("tiny-random")
            .build()
            .unwrap(),
    );
    let error = run.call(&tell()).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::NotFound, 1),
        "{error}"
    );
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_typed_answer_that_is_cut_is_truncated_output() {
    let (run, wire) = run().await;
    let error = run.call(&TellStory).max_tokens(5).await.unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput, "{error}");
    assert!(error.to_string().contains("max_tokens = 5"), "{error}");
    let [attempt] = error.attempts() else {
        panic!("asking again does not help: {error}")
    };
    assert_eq!(attempt.finish_reason.as_deref(), Some("length"));
    assert_eq!(attempt.usage.unwrap().output, Some(5));
    assert_books_agree(&run.ledger(), &wire);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn raw_text_that_is_cut_is_returned_and_flagged() {
    let (run, wire) = run().await;
    let cut = run
        .call(&tell())
        .extra("seed", 1)
        .extra("ignore_eos", true)
        .max_tokens(12)
        .report()
        .await
        .unwrap();
    assert_eq!(cut.record.attempts[0].flags, [Flag::LengthStop]);
    assert_eq!(cut.record.usage().output.total(), Some(12));
    assert_eq!(cut.value, wire.exchanges()[0].text());
    assert!(!cut.value.is_empty());
    assert_books_agree(&run.ledger(), &wire);
}

/// W22: its Responses say `completed` of an answer that was cut.
#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn an_answer_of_its_responses_that_is_cut_is_flagged() {
    let model = OpenAi::builder()
        .base_url(server_url())
        .api_key(key())
        .model("tiny-random")
        .responses();
    let run = Run::new(model.build().unwrap());
    let mut cut = 0;
    for _ in 0..12 {
        let report = match run.call(&tell()).max_tokens(20).report().await {
            Ok(report) => report,
            // It ended at once: this API takes no seed.
            Err(error) => {
                assert_eq!(error.category(), Category::EmptyResponse, "{error}");
                assert!(
                    error.record().unwrap().usage().output.total() < Some(20),
                    "{error}"
                );
                continue;
            }
        };
        let attempt = report.record.attempts.last().unwrap();
        let is_long = attempt.usage.unwrap().output == Some(20);
        assert_eq!(
            attempt.flags.contains(&Flag::LengthStop),
            is_long,
            "{attempt:?}"
        );
        cut += usize::from(is_long);
    }
    assert!(cut > 0, "random weights seldom end");
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_prompt_beyond_the_context_is_told_once() {
    let (run, wire) = run().await;
    let error = run
        .call(&Tell {
            what: "the sea, ".repeat(1000),
        })
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::ContextLengthError, 1),
        "{error}"
    );
    assert!(error.message().contains("context"), "{error}");
    assert_books_agree(&run.ledger(), &wire);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_field_of_the_wrong_type_is_a_bad_request() {
    let (run, wire) = run().await;
    let error = run.call(&tell()).extra("top_k", "many").await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::BadRequest, 1),
        "{error}"
    );
    assert!(
        error.message().contains("top_k"),
        "the server's words are passed on: {error}"
    );
    assert_books_agree(&run.ledger(), &wire);
}

/// A byte that no text holds, over and over: the server fails on the model's answer, with a 500.
#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn a_server_that_fails_is_asked_again_after_waits() {
    const BYTE_FF: &str = "258";
    let (clock, (run, wire)) = (TestClock::new(), run().await);
    let run = run.with_clock(clock.clone());
    let bias = serde_json::json!({ BYTE_FF: 100 });
    let error = run
        .call(&TellStory)
        .extra("logit_bias", bias)
        .max_tokens(40)
        .transport_retries(3)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::ServerError, 4),
        "{error}"
    );
    assert!(
        error
            .attempts()
            .iter()
            .all(|attempt| attempt.status == Some(500)),
        "{error}"
    );
    assert_eq!(clock.waits().len(), 3);
    assert!(
        clock
            .waits()
            .iter()
            .all(|wait| *wait <= Duration::from_secs(2)),
        "{:?}",
        clock.waits()
    );
    assert_eq!(run.ledger().total().total.unreported_calls, 4);
    assert!(wire.exchanges().iter().all(|one| one.status == 500));
    assert_books_agree(&run.ledger(), &wire);
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn an_answer_that_takes_too_long_is_a_timeout() {
    let wire = Wire::to(&server_url()).await;
    let model = model(&wire)
        .attempt_timeout(Duration::from_millis(200))
        .build()
        .unwrap();
    let run = Run::new(model);
    let error = run
        .call(&tell())
        .extra("ignore_eos", true)
        .transport_retries(0)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::Timeout, 1),
        "{error}"
    );
    // What the server spent until then is not known, and not zero.
    assert_eq!(run.ledger().total().total.total(), None);
}

#[llm_node(prompt = "What is this?\n{photo:attach}")]
struct Describe {
    photo: Image,
}

/// The model has no eyes.
#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn an_image_to_a_model_of_text_alone_is_refused_in_the_servers_words() {
    let (run, wire) = run().await;
    let photo = Image::bytes("image/png", b"\x89PNG\r\n\x1a\nrest").unwrap();
    let error = run.call(&Describe { photo }).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::BadRequest, 1),
        "{error}"
    );
    assert!(
        error.message().contains("image input is not supported"),
        "{error}"
    );
    // Its state would have been one that is asked again.
    assert_eq!(wire.exchanges()[0].status, 500);
    assert_books_agree(&run.ledger(), &wire);
}
