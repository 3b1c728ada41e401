//! Batch servers that say odd and hostile things.

use std::time::SystemTime;

use llmnode_model::batch::{BatchStatus, BatchTraces, BatchWire, LineResult};
use llmnode_model::{Category, ChatModel};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use llmnode_http::{Anthropic, Gemini, OpenAi};

/// Answers every request with this body, in pieces of so many bytes.
async fn server(body: String, piece: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, body.clone(), piece));
        }
    });
    url
}

async fn answer(mut stream: TcpStream, body: String, piece: usize) {
    let mut request = [0; 4096];
    while let Ok(1..) = stream.read(&mut request).await {
        let mut answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for piece in body.as_bytes().chunks(piece) {
            answer.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            answer.extend_from_slice(piece);
            answer.extend_from_slice(b"\r\n");
        }
        answer.extend_from_slice(b"0\r\n\r\n");
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

/// Of OpenAI, Anthropic and Gemini.
fn models(url: &str) -> [Box<dyn ChatModel>; 3] {
    let openai = OpenAi::builder().base_url(format!("{url}/v1"));
    let anthropic = Anthropic::builder().base_url(url).api_key("k").model("m");
    let gemini = Gemini::builder().base_url(format!("{url}/v1beta"));
    [
        Box::new(openai.without_key().model("m").build().unwrap()),
        Box::new(anthropic.build().unwrap()),
        Box::new(gemini.without_key().model("m").build().unwrap()),
    ]
}

/// The results of a batch as each API writes them, for answers with these bodies.
fn written_results(bodies: &[&str]) -> [String; 3] {
    let lines = bodies.iter().enumerate();
    let openai = lines.clone().map(|(at, body)| {
        format!(r#"{{"custom_id":"{at}","response":{{"status_code":200,"body":{body}}}}}"#)
    });
    let anthropic = lines.clone().map(|(at, body)| {
        format!(r#"{{"custom_id":"{at}","result":{{"type":"succeeded","message":{body}}}}}"#)
    });
    let gemini =
        lines.map(|(at, body)| format!(r#"{{"metadata":{{"key":"{at}"}},"response":{body}}}"#));
    let gemini = gemini.collect::<Vec<_>>().join(",");
    [
        openai.collect::<Vec<_>>().join("\n"),
        anthropic.collect::<Vec<_>>().join("\n"),
        format!(r#"{{"response":{{"inlinedResponses":{{"inlinedResponses":[{gemini}]}}}}}}"#),
    ]
}

fn ended() -> BatchStatus {
    BatchStatus {
        has_ended: true,
        results: vec!["f".to_owned()],
        ..BatchStatus::default()
    }
}

async fn bodies_read(wire: &dyn BatchWire) -> Vec<(String, String)> {
    let status = ended();
    let mut results = wire.results(&status).await.unwrap();
    let mut read = Vec::new();
    while let Some((id, result)) = results.next().await.unwrap() {
        let LineResult::Response(response) = result else {
            panic!("{id} has no response");
        };
        read.push((id, String::from_utf8(response.body).unwrap()));
    }
    read
}

#[tokio::test]
async fn an_answer_in_a_batch_is_read_as_it_was_written() {
    let bodies = [
        r#"{"n": 12345678901234567890.10, "m": 1e2}"#.to_owned(),
        r#"{"half": "\ud83d", "wide": "ä😀"}"#.to_owned(),
        format!(r#"{{"many": [{}{{}}]}}"#, "{},".repeat(60_000)),
    ];
    let bodies = bodies.each_ref().map(String::as_str);
    // Single bytes take their time, so that the long one comes in larger pieces.
    for (piece, count) in [(1, 2), (1 << 16, 3)] {
        for (at, results) in written_results(&bodies[..count]).into_iter().enumerate() {
            let model = &models(&server(results, piece).await)[at];
            let read = bodies_read(&*model.batch_api().unwrap()).await;
            assert_eq!(read.len(), count, "{at} {piece}");
            for (number, (id, body)) in read.iter().enumerate() {
                assert_eq!(*id, number.to_string());
                assert!(body == bodies[number], "{at} {number} {piece}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_server_counts_of_a_batch_overflows_nothing() {
    let most = u64::MAX;
    let counts = format!(
        r#"{{"completed":{most},"failed":{most},"succeeded":{most},"errored":{most},"canceled":1,"expired":1}}"#
    );
    let batch = format!(
        r#"{{"id":"b","status":"completed","created_at":{most},"completed_at":{most},"request_counts":{counts}}}"#
    );
    let list = format!(r#"{{"data":[{batch}],"has_more":false}}"#);
    let anthropic_list = list.replace(
        &format!(r#""created_at":{most}"#),
        r#""created_at":"2026-01-01T00:00:00Z""#,
    );
    let traces = BatchTraces {
        name: "n".to_owned(),
        api: "chat".to_owned(),
        model: "m".to_owned(),
        file: None,
        planned: SystemTime::now(),
        lines: 1,
        line: Some("0".to_owned()),
    };
    for at in 0..2 {
        let wire = models(&server(batch.clone(), 64).await)[at].batch_api();
        let status = wire.unwrap().poll("b").await.unwrap();
        assert_eq!(status.ended_lines, Some(most), "{at}");
    }
    for (at, list) in [list, anthropic_list].into_iter().enumerate() {
        let wire = models(&server(list, 64).await)[at].batch_api();
        assert_eq!(wire.unwrap().find(&traces).await.unwrap(), None, "{at}");
    }
}

/// They stand in the error of each line.
#[tokio::test]
async fn what_a_server_says_of_a_batch_is_short() {
    let long = "x".repeat(100_000);
    let errors = format!(r#"{{"data":[{{"message":"{long}","line":1}}]}}"#);
    let refused = format!(r#"{{"id":"b","status":"failed","errors":{errors}}}"#);
    let openai = &models(&server(refused, 1 << 20).await)[0];
    let status = openai.batch_api().unwrap().poll("b").await.unwrap();
    let refusal = status.refused.unwrap();
    assert!(refusal.message.len() + refusal.lines[0].1.len() < 2_000);
    let metadata = format!(r#"{{"state":"{long}"}}"#);
    let states = [
        format!(r#"{{"status":"{long}"}}"#),
        format!(r#"{{"processing_status":"{long}"}}"#),
        format!(r#"{{"metadata":{metadata}}}"#),
    ];
    for (at, state) in states.into_iter().enumerate() {
        let wire = models(&server(state, 1 << 20).await)[at].batch_api();
        let status = wire.unwrap().poll("b").await.unwrap();
        assert!(status.state.len() < 1_000, "{at}");
    }
}

/// Three megabytes would take six hundred as a tree.
#[tokio::test]
async fn a_list_of_batches_fills_no_memory() {
    let list = format!(r#"{{"data":[{}{{}}]}}"#, "{},".repeat(60_000));
    for at in 0..2 {
        let wire = models(&server(list.clone(), 1 << 20).await)[at].batch_api();
        let error = wire.unwrap().poll("b").await.unwrap_err();
        assert_eq!(error.category, Category::BadResponse);
        assert!(error.message.contains("too many values"), "{error}");
    }
}
