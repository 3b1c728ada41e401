//! One word for how much a model thinks, over sockets: what each API is sent, and what it refuses is learned. The refusals
//! are in the providers' words.

use llmnode::prelude::*;
use llmnode::{Anthropic, Category, Event, Gemini, OpenAi, Reasoning, Settings};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, events, json, refusal};

#[llm_node(prompt = "Greet.", transport_retries = 0)]
struct Greet;

#[llm_node(prompt = "Greet.", reasoning = "low", transport_retries = 0)]
struct GreetAfterAThought;

#[derive(Clone, Copy, Debug)]
enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

impl Api {
    fn greeting(self) -> Answer {
        json(match self {
            Api::Chat => {
                json!({"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]})
            }
            Api::Responses => {
                json!({"status": "completed", "output": [{"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": "Hello."}]}]})
            }
            Api::Anthropic => {
                json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "Hello."}]})
            }
            Api::Gemini => {
                json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model",
                "parts": [{"text": "Hello."}]}}]})
            }
        })
    }

    fn run(self, server: &Recorded) -> Run<()> {
        let url = &server.url;
        let openai = OpenAi::builder()
            .base_url(format!("{url}/v1"))
            .api_key("k")
            .model("m");
        match self {
            Api::Chat => Run::new(openai.build().unwrap()),
            Api::Responses => Run::new(openai.responses().build().unwrap()),
            Api::Anthropic => Run::new(
                Anthropic::builder()
                    .base_url(url)
                    .api_key("k")
                    .model("m")
                    .build()
                    .unwrap(),
            ),
            Api::Gemini => Run::new(
                Gemini::builder()
                    .base_url(format!("{url}/v1beta"))
                    .api_key("k")
                    .model("m")
                    .build()
                    .unwrap(),
            ),
        }
    }

    /// What a request says of reasoning.
    fn asked(self, body: &Value) -> Value {
        match self {
            Api::Chat => body["reasoning_effort"].clone(),
            Api::Responses => body["reasoning"].clone(),
            Api::Anthropic => {
                let mut said = vec![
                    body["thinking"].clone(),
                    body["output_config"]["effort"].clone(),
                ];
                said.retain(|one| !one.is_null());
                said.into()
            }
            Api::Gemini => body["generationConfig"]["thinkingConfig"].clone(),
        }
    }
}

fn openai(param: &str, code: &str, message: &str) -> Answer {
    let error = json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}});
    (400, "application/json", error.to_string())
}

fn google(message: &str) -> Answer {
    let error = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
    (400, "application/json", error.to_string())
}

fn anthropic(message: &str) -> Answer {
    refusal(400, "invalid_request_error", message)
}

/// What is asked in turn: after each refusal, and once more in a second call, which asks as the first one did at last.
async fn asks(api: Api, reasoning: Reasoning, refusals: Vec<Answer>, wanted: Value) {
    let server =
        Recorded::start(refusals.into_iter().chain([api.greeting(), api.greeting()])).await;
    let run = api.run(&server);
    for _ in 0..2 {
        run.call(&Greet).reasoning(reasoning).await.unwrap();
    }
    let asked: Vec<Value> = server.bodies().iter().map(|body| api.asked(body)).collect();
    let wanted = wanted.as_array().unwrap();
    assert_eq!(
        asked[..asked.len() - 1],
        wanted[..],
        "{api:?}: {reasoning:?}"
    );
    assert_eq!(
        asked.last(),
        wanted.last(),
        "{api:?}: {reasoning:?}, learned"
    );
    let last = run.ledger().snapshot().calls[1].attempts[0].clone();
    assert_eq!(
        last.refused.contains(&"reasoning".to_owned()),
        wanted.len() > 1,
        "{api:?}: {:?}",
        last.refused
    );
}

#[tokio::test]
async fn chat_completions_take_words() {
    let of = |reasoning, refusals, wanted| asks(Api::Chat, reasoning, refusals, wanted);
    for (reasoning, word) in [
        (Reasoning::Off, "none"),
        (Reasoning::Low, "low"),
        (Reasoning::Medium, "medium"),
        (Reasoning::High, "high"),
        (Reasoning::Max, "max"),
    ] {
        of(reasoning, vec![], json!([word])).await;
    }
    let unknown_word = |word: &str, words: &str| {
        let message = format!(
            "Unsupported value: 'reasoning_effort' does not support '{word}' with this model. Supported values are: {words}."
        );
        openai("reasoning_effort", "unsupported_value", &message)
    };
    of(
        Reasoning::Max,
        vec![unknown_word(
            "max",
            "'minimal', 'low', 'medium', and 'high'",
        )],
        json!(["max", "high"]),
    )
    .await;
    of(
        Reasoning::Off,
        vec![unknown_word("none", "'low', 'medium', and 'high'")],
        json!(["none", "low"]),
    )
    .await;
    of(
        Reasoning::Low,
        vec![unknown_word("low", "'high'")],
        json!(["low", null]),
    )
    .await;
    let unknown_field = openai(
        "reasoning_effort",
        "unsupported_parameter",
        "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
    );
    of(Reasoning::Max, vec![unknown_field], json!(["max", null])).await;
    // vLLM, Groq and xAI.
    let input = openai(
        "",
        "BadRequestError",
        "[{'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'max'}]",
    );
    of(Reasoning::Max, vec![input], json!(["max", "high"])).await;
    let one_of = openai(
        "",
        "",
        "`reasoning_effort` must be one of `none` or `default`",
    );
    of(Reasoning::High, vec![one_of], json!(["high", null])).await;
    let argument = openai(
        "",
        "",
        "Argument not supported on this model: reasoningEffort",
    );
    of(Reasoning::Low, vec![argument], json!(["low", null])).await;
}

#[tokio::test]
async fn responses_ask_for_a_summary_beside_it() {
    let of = |reasoning, refusals, wanted| asks(Api::Responses, reasoning, refusals, wanted);
    of(Reasoning::Off, vec![], json!([{"effort": "none"}])).await;
    let low = json!({"effort": "low", "summary": "auto"});
    of(Reasoning::Low, vec![], json!([low])).await;
    let word = openai(
        "reasoning.effort",
        "unsupported_value",
        "Unsupported value: 'max' is not supported with the 'm' model. Supported values are: 'low', 'medium', and 'high'.",
    );
    of(
        Reasoning::Max,
        vec![word],
        json!([{"effort": "max", "summary": "auto"}, {"effort": "high", "summary": "auto"}]),
    )
    .await;
    let field = openai(
        "reasoning.effort",
        "unsupported_parameter",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    );
    of(Reasoning::Low, vec![field], json!([low, null])).await;
    let server = Recorded::start([
        openai(
            "reasoning.summary",
            "unsupported_value",
            "Your organization must be verified to generate reasoning summaries.",
        ),
        Api::Responses.greeting(),
    ])
    .await;
    Api::Responses
        .run(&server)
        .call(&GreetAfterAThought)
        .await
        .unwrap();
    let asked: Vec<Value> = server
        .bodies()
        .iter()
        .map(|body| Api::Responses.asked(body))
        .collect();
    assert_eq!(json!(asked), json!([low, {"effort": "low"}]));
}

#[tokio::test]
async fn anthropic_thinks_as_it_likes_or_by_a_number() {
    let of = |reasoning, refusals, wanted| asks(Api::Anthropic, reasoning, refusals, wanted);
    of(Reasoning::Off, vec![], json!([[{"type": "disabled"}]])).await;
    for (reasoning, word) in [
        (Reasoning::Low, "low"),
        (Reasoning::Medium, "medium"),
        (Reasoning::High, "high"),
        (Reasoning::Max, "max"),
    ] {
        of(reasoning, vec![], json!([[{"type": "adaptive"}, word]])).await;
    }
    let adaptive = || anthropic("adaptive thinking is not supported on this model");
    let effort = || anthropic("This model does not support the effort parameter.");
    for older in [adaptive(), effort()] {
        of(
            Reasoning::High,
            vec![older],
            json!([[{"type": "adaptive"}, "high"], [{"type": "enabled", "budget_tokens": 16384}]]),
        )
        .await;
    }
    let tags = || {
        anthropic(
            "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
        )
    };
    of(
        Reasoning::Low,
        vec![tags(), anthropic("thinking is not supported by this model")],
        json!([[{"type": "adaptive"}, "low"], [{"type": "enabled", "budget_tokens": 1024}], []]),
    )
    .await;
    let level = anthropic(
        "This model does not support effort level 'max'. Supported levels: high, low, medium.",
    );
    of(
        Reasoning::Max,
        vec![level],
        json!([[{"type": "adaptive"}, "max"], [{"type": "adaptive"}, "high"]]),
    )
    .await;
    of(
        Reasoning::Budget(5000),
        vec![],
        json!([[{"type": "enabled", "budget_tokens": 5000}]]),
    )
    .await;
    let enabled = anthropic(
        "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
    );
    of(
        Reasoning::Budget(5000),
        vec![enabled],
        json!([[{"type": "enabled", "budget_tokens": 5000}], [{"type": "adaptive"}, "medium"]]),
    )
    .await;
    let disabled = anthropic("\"thinking.type.disabled\" is not supported for this model.");
    of(
        Reasoning::Off,
        vec![disabled],
        json!([[{"type": "disabled"}], [{"type": "adaptive"}, "low"]]),
    )
    .await;
}

#[tokio::test]
async fn gemini_has_levels_or_numbers() {
    let of = |reasoning, refusals, wanted| asks(Api::Gemini, reasoning, refusals, wanted);
    of(Reasoning::Off, vec![], json!([{"thinkingBudget": 0}])).await;
    of(
        Reasoning::Budget(700),
        vec![],
        json!([{"thinkingBudget": 700}]),
    )
    .await;
    for (reasoning, word) in [
        (Reasoning::Low, "LOW"),
        (Reasoning::Medium, "MEDIUM"),
        (Reasoning::Max, "HIGH"),
    ] {
        of(reasoning, vec![], json!([{"thinkingLevel": word}])).await;
    }
    let only = google("Budget 0 is invalid. This model only works in thinking mode.");
    let minimal = google(
        "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
    );
    of(
        Reasoning::Off,
        vec![only, minimal],
        json!([{"thinkingBudget": 0}, {"thinkingLevel": "MINIMAL"}, {"thinkingLevel": "LOW"}]),
    )
    .await;
    let levels = || google("Thinking level is not supported for this model.");
    let range =
        google("The thinking budget 16384 is invalid. Please choose a value between 512 and 8192.");
    of(
        Reasoning::High,
        vec![levels(), range],
        json!([{"thinkingLevel": "HIGH"}, {"thinkingBudget": 16384}, {"thinkingBudget": 8192}]),
    )
    .await;
    let none = google("Unable to submit request because thinking is not supported by this model.");
    of(
        Reasoning::Low,
        vec![levels(), none],
        json!([{"thinkingLevel": "LOW"}, {"thinkingBudget": 1024}, null]),
    )
    .await;
    let body = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "Hello."}]}}]});
    let server = Recorded::start([events(format!("data: {body}\n\n"))]).await;
    let run = Api::Gemini.run(&server);
    let mut answer = run.call(&GreetAfterAThought).stream();
    while let Some(event) = answer.next().await {
        assert!(matches!(event, Event::Text(_)));
    }
    let asked = Api::Gemini.asked(&server.bodies()[0]);
    assert_eq!(
        asked,
        json!({"thinkingLevel": "LOW", "includeThoughts": true}),
        "somebody reads along"
    );
}

/// The most tokens count what a model thinks, as on all other APIs; a default of ours leaves room for it.
#[tokio::test]
async fn anthropics_answer_has_room_beside_its_thoughts() {
    let adaptive = || anthropic("adaptive thinking is not supported on this model");
    let answers = [adaptive()]
        .into_iter()
        .chain((0..4).map(|_| Api::Anthropic.greeting()));
    let server = Recorded::start(answers).await;
    let run = Api::Anthropic.run(&server);
    run.call(&Greet).reasoning(Reasoning::Medium).await.unwrap();
    run.call(&Greet)
        .reasoning(Reasoning::High)
        .max_tokens(10_000)
        .await
        .unwrap();
    run.call(&Greet)
        .reasoning(Reasoning::High)
        .max_tokens(1_000)
        .await
        .unwrap();
    run.call(&Greet)
        .reasoning(Reasoning::Budget(2_000))
        .await
        .unwrap();
    let asked: Vec<(Value, Value)> = server
        .bodies()
        .iter()
        .map(|body| {
            (
                body["max_tokens"].clone(),
                body["thinking"]["budget_tokens"].clone(),
            )
        })
        .collect();
    let wanted = [
        (21_000, json!(null)),
        (21_000, json!(4_096)),
        (10_000, json!(4_096)),
        (1_000, json!(null)),
        (21_000, json!(2_000)),
    ];
    assert_eq!(asked, wanted.map(|(most, budget)| (json!(most), budget)));
}

#[tokio::test]
async fn what_a_program_has_to_correct_is_sent_nowhere() {
    for (api, most, fault) in [
        (
            Api::Chat,
            None,
            "reasoning is a budget of 2000 tokens, and OpenAI takes a word: set Reasoning::Off, Low",
        ),
        (Api::Responses, None, "OpenAI takes a word"),
        (
            Api::Anthropic,
            Some(2_000),
            "reasoning may take 2000 tokens, and max_tokens, which counts them too, is 2000",
        ),
        (Api::Gemini, Some(9), "raise it, or lower the budget"),
    ] {
        let server = Recorded::start([]).await;
        let run = api.run(&server);
        let mut settings = Settings::new().reasoning(Reasoning::Budget(2_000));
        settings.max_tokens = most;
        let error = run.call(&Greet).settings(settings).await.unwrap_err();
        assert_eq!(
            (error.category(), server.asked().len()),
            (Category::ConfigError, 0)
        );
        assert!(error.message().contains(fault), "{api:?}: {error}");
    }
    // A number beyond the range that the server names becomes the nearest one that it takes.
    let range =
        google("The thinking budget 90000 is invalid. Please choose a value between 0 and 24576.");
    asks(
        Api::Gemini,
        Reasoning::Budget(90_000),
        vec![range],
        json!([{"thinkingBudget": 90000}, {"thinkingBudget": 24576}]),
    )
    .await;
}
