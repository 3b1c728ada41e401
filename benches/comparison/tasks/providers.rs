//! One agent with a tool on three providers, each of which is busy for a second in the second turn.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use llmnode::StubServer;
use llmnode::stub_server::{Provider, StubReply};
use serde_json::json;

use super::Row;
use crate::library::Library;
use crate::server::{INPUT, OUTPUT, TOKENS, billed, folder, show, text};

/// One provider: as the programs are called, and what it says when it is busy.
struct Place {
    provider: Provider,
    name: &'static str,
    busy: u16,
}

const PLACES: [Place; 3] = [
    Place {
        provider: Provider::OpenAi,
        name: "openai",
        busy: 429,
    },
    Place {
        provider: Provider::Anthropic,
        name: "anthropic",
        busy: 529,
    },
    Place {
        provider: Provider::Gemini,
        name: "gemini",
        busy: 503,
    },
];

/// How an agent of two turns ended.
struct End {
    how: String,
    /// The tokens that the program knows.
    known: u64,
    billed: u64,
}

pub async fn run(library: Library) -> Vec<Row> {
    let mut calm = Vec::new();
    let mut busy = Vec::new();
    for place in &PLACES {
        calm.push(ask(&library, place, false).await.how);
        busy.push(ask(&library, place, true).await);
    }
    let ends: Vec<&str> = busy.iter().map(|end| end.how.as_str()).collect();
    let known: u64 = busy.iter().map(|end| end.known).sum();
    let billed: u64 = busy.iter().map(|end| end.billed).sum();
    vec![
        Row::new("answered, on OpenAI, Anthropic, Gemini", calm.join(", ")),
        Row::new(
            "the same, with a 429, 529, 503 in the second turn; tokens known",
            format!("{}; {known} of {billed}", ends.join(", ")),
        ),
    ]
}

async fn ask(library: &Library, place: &Place, is_busy: bool) -> End {
    let server = serve(place, is_busy).await;
    let url = match place.name {
        "gemini" => server.base_url().replace("/v1", "/v1beta"),
        _ => server.base_url(),
    };
    // Some clients write the version themselves.
    let url = match (place.name, library.name) {
        ("anthropic", "pydantic-ai" | "rig 0.46.0") => url.trim_end_matches("/v1").to_owned(),
        ("gemini", "pydantic-ai" | "rig 0.46.0") => url.trim_end_matches("/v1beta").to_owned(),
        _ => url,
    };
    let said = library
        .run("providers", &url, &folder(), &[place.name])
        .await;
    let requests = server.requests();
    show(library, &said, &requests);
    let refused = requests.iter().find_map(|request| request.refused_by());
    let how = match (said["answer"].is_string(), refused) {
        (true, _) => "yes".to_owned(),
        (false, Some(rule)) => format!("**no** (`{rule}`)"),
        (false, None) => "**no**".to_owned(),
    };
    End {
        how,
        known: said["tokens"].as_u64().unwrap_or(0),
        billed: billed(&requests) * TOKENS,
    }
}

/// The first turn calls a tool; before the second one, the server may be busy for a second.
async fn serve(place: &Place, is_busy: bool) -> StubServer {
    let turns: Mutex<(u32, Option<Instant>)> = Mutex::default();
    let status = place.busy;
    let reply = StubReply::for_request(move |_| {
        let mut turns = turns.lock().unwrap();
        turns.0 += 1;
        if turns.0 == 1 {
            return StubReply::call("stock", json!({"item": "pens"})).usage(INPUT, OUTPUT);
        }
        let since = *turns.1.get_or_insert_with(Instant::now);
        if is_busy && since.elapsed() < Duration::from_secs(1) {
            return StubReply::error(status, "overloaded_error", "overloaded", "Overloaded.")
                .retry_after(1);
        }
        text("There are four.")
    });
    StubServer::builder()
        .as_provider(place.provider)
        .default_reply(reply)
        .start()
        .await
        .unwrap()
}
