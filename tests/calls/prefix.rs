//! The part that all requests of a node share comes first and is identical to the byte, because providers cache prompts
//! by prefix. Checked on the raw bodies that the server receives.

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use llmnode::testing::request_of;

struct World {
    items: Vec<&'static str>,
}

#[llm_output]
struct Choice {
    /// One of the items.
    item: String,
    reason: Option<String>,
}

#[llm_node(
    system = "You are careful.",
    examples = [("Goal: eat soup", Choice { item: "spoon".into(), reason: None })],
    prompt = "Goal: {goal}\n{state.items:list}",
    output = Choice,
    state = World,
    retries = 1,
    temperature = 0.0,
)]
struct Choose<'a> {
    #[node(history)]
    messages: &'a [Message],
    goal: &'a str,
}

/// All that a server gets before the first value, in every process.
const PREFIX: &str = concat!(
    r#"{"model":"m","temperature":0.0,"response_format":{"type":"json_schema","json_schema":{"name":"Choice","schema":"#,
    r#"{"type":"object","properties":{"item":{"type":"string","description":"One of the items."},"#,
    r#""reason":{"type":["string","null"]}},"required":["item","reason"],"additionalProperties":false},"strict":true}},"#,
    r#""prompt_cache_key":"choose","messages":[{"role":"system","content":"You are careful."},"#,
    r#"{"role":"user","content":"Goal: eat soup"},{"role":"assistant","content":"{\"item\":\"spoon\",\"reason\":null}"},"#,
    r#"{"role":"user","content":"Goal: "#,
);

const ANSWER: &str = r#"{"item": "key", "reason": null}"#;

async fn bodies(
    script: impl IntoIterator<Item = StubReply>,
    calls: impl IntoIterator<Item = (Choose<'_>, World)>,
) -> Vec<String> {
    let server = StubServer::builder().script(script).start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("m")
        .build()
        .unwrap();
    let run = Run::new(model).with_clock(llmnode::TestClock::new());
    for (node, world) in calls {
        run.clone()
            .with_state(world)
            .call(&node)
            .extra("prompt_cache_key", "choose")
            .await
            .unwrap();
    }
    server
        .requests()
        .iter()
        .map(|request| request.body().to_owned())
        .collect()
}

/// What two requests have in common from their beginning: the schema, then the messages.
fn shared_prefix(requests: [llmnode::Request; 2]) -> String {
    let [one, other] = requests.map(|request| {
        let (schema, transcript) = (request.output.clone().unwrap(), request.transcript());
        format!("{}\n{transcript}", schema.plain().get())
    });
    let equal = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other);
    equal.map(|(one, _)| one).collect()
}

#[tokio::test]
async fn two_calls_share_all_up_to_the_first_value() {
    let script = [ANSWER, ANSWER].map(StubReply::text);
    let calls = || {
        [
            (
                Choose {
                    messages: &[],
                    goal: "open the door",
                },
                World {
                    items: vec!["key", "lamp"],
                },
            ),
            (
                Choose {
                    messages: &[],
                    goal: "see",
                },
                World { items: vec![] },
            ),
        ]
    };
    let bodies = bodies(script, calls()).await;
    assert!(
        bodies[0].starts_with(&format!("{PREFIX}open the door")),
        "{}",
        bodies[0]
    );
    assert!(
        bodies[1].starts_with(&format!("{PREFIX}see")),
        "{}",
        bodies[1]
    );

    let requests = calls().map(|(node, world)| request_of(&node, &world));
    let shared = shared_prefix(requests);
    assert!(
        shared.starts_with(r#"{"type":"object","properties":{"item":"#),
        "{shared}"
    );
    assert!(shared.ends_with("\n--- user\nGoal: "), "{shared}");
}

#[tokio::test]
async fn each_request_of_a_call_extends_the_one_before() {
    let script = [
        StubReply::raw(503, ""),
        StubReply::text("no JSON"),
        StubReply::raw(503, ""),
        StubReply::text(ANSWER),
    ];
    let said = [Message::user("Hello."), Message::assistant("Hello!")];
    let bodies = bodies(
        script,
        [(
            Choose {
                messages: &said,
                goal: "see",
            },
            World {
                items: vec!["lamp"],
            },
        )],
    )
    .await;
    assert_eq!(bodies.len(), 4);
    assert_eq!(
        (&bodies[0], &bodies[2]),
        (&bodies[1], &bodies[3]),
        "a retry is the same request"
    );
    let first = bodies[0].strip_suffix("]}").unwrap();
    let added = bodies[2].strip_prefix(first).unwrap();
    assert!(
        added.starts_with(
            r#",{"role":"assistant","content":"no JSON"},{"role":"user","content":"That"#
        ),
        "{added}"
    );
}
