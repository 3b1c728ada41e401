//! Recording models and replaying them, through the calls of a run.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use llmnode_cassette::{Cassette, CassetteMode};
use llmnode_runtime::{
    Category, ChatModel, DynNode, Event, FnModel, Image, Message, ModelError, NodeError,
    OutputSchema, Reasoning, Reply, Request, Retry, Run, ScriptedModel, Sink, TestClock,
    TokenUsage, ToolCall, ToolSpec, Toolset,
};
use serde_json::{Value, json};

/// Nobody listens.
struct Unheard;

impl Sink for Unheard {
    fn request_id(&mut self, _: &str) {}

    fn usage(&mut self, _: TokenUsage) {}
}

/// A folder that is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-cassette-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("chat.json")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn record(path: &Path, model: impl ChatModel + 'static) -> Run {
    Run::new(
        Cassette::open(path)
            .mode(CassetteMode::Record)
            .around(|| Ok(model))
            .unwrap(),
    )
}

/// Without a model: the one that is made fails.
fn replay(path: &Path) -> Run {
    Run::new(Cassette::open(path).around(no_key).unwrap()).with_clock(TestClock::new())
}

fn no_key() -> Result<ScriptedModel, ModelError> {
    Err(ModelError::unsent(Category::ApiKeyError, "no key"))
}

fn city() -> DynNode {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    DynNode::builder("city")
        .system_prompt("Extract the city.")
        .output_schema(schema)
        .retries(1)
        .build()
        .unwrap()
}

async fn ask(run: &Run, text: &str) -> Result<Value, NodeError> {
    run.call(&city().ask(text)).await
}

#[tokio::test]
async fn replay_needs_no_model_and_gives_the_same() {
    let folder = Folder::new("replay");
    let model = ScriptedModel::new()
        .named("small")
        .reply("no JSON")
        .reply(json!({"city": "Oslo"}));
    let run = record(&folder.file(), model);
    let call = city().ask("Greetings from Oslo!");
    let recorded = run.call(&call).report().await.unwrap();
    let replayed = replay(&folder.file()).call(&call).report().await.unwrap();
    assert_eq!(replayed.value, json!({"city": "Oslo"}));
    let told = |report: &llmnode_runtime::CallReport<Value>| -> Vec<_> {
        let attempts = report.record.attempts.iter();
        attempts
            .map(|one| {
                (
                    one.usage,
                    one.category,
                    one.finish_reason.clone(),
                    one.answer.clone(),
                    one.model.clone(),
                )
            })
            .collect()
    };
    assert_eq!(told(&replayed), told(&recorded));
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.file()).unwrap()).unwrap();
    assert_eq!(
        (&file["format"], &file["version"]),
        (&json!("llmnode/cassette"), &json!(2))
    );
    assert_eq!(file["entries"].as_array().unwrap().len(), 2);
}

/// What a broken answer has used is known from then on, as it was when it broke.
#[tokio::test]
async fn a_broken_answer_counts_the_same_when_it_is_played_back() {
    let folder = Folder::new("broken");
    let mut broken = ModelError::new(Category::ServerError, "overloaded").retry(Retry::No);
    broken.answered = Some(700);
    let run = record(&folder.file(), ScriptedModel::new().reply(broken));
    let estimate_of = |error: NodeError| error.attempts()[0].estimate;
    let recorded = estimate_of(ask(&run, "x").await.unwrap_err());
    assert_eq!(recorded.and_then(|estimate| estimate.output), Some(700));
    let replayed = estimate_of(ask(&replay(&folder.file()), "x").await.unwrap_err());
    assert_eq!(replayed, recorded);
}

#[tokio::test]
async fn a_changed_prompt_shows_the_nearest_entry_and_what_differs() {
    let folder = Folder::new("changed");
    let run = record(&folder.file(), FnModel::new(|_| json!({"city": "Oslo"})));
    ask(&run, "Greetings from Oslo!").await.unwrap();
    ask(&run, "Nothing like it\nat all").await.unwrap();
    let error = ask(&replay(&folder.file()), "Greetings from Bergen!")
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    let message = error.message();
    assert!(
        message.contains("has no entry for this request; record it with LLMNODE_CASSETTE=auto"),
        "{message}"
    );
    assert!(
        message.contains("- user: Greetings from Oslo!\n+ user: Greetings from Bergen!"),
        "{message}"
    );
}

#[tokio::test]
async fn entries_of_one_request_are_given_in_order_and_once() {
    let folder = Folder::new("order");
    let run = record(
        &folder.file(),
        ScriptedModel::new()
            .reply(json!({"city": "a"}))
            .reply(json!({"city": "b"})),
    );
    for expected in ["a", "b"] {
        assert_eq!(ask(&run, "x").await.unwrap()["city"], expected);
    }
    let run = replay(&folder.file());
    for expected in ["a", "b"] {
        assert_eq!(ask(&run, "x").await.unwrap()["city"], expected);
    }
    let error = ask(&run, "x").await.unwrap_err();
    assert!(
        error
            .message()
            .contains("has 2 entries for this request, and all were given"),
        "{error}"
    );
}

#[tokio::test]
async fn a_stream_comes_in_the_pieces_that_were_recorded() {
    let folder = Folder::new("stream");
    let pieces = ["{\"city\": \"Tr", "omsø", "\"}"];
    let broken = Reply::pieces(["{\"ci"]).breaks_off(ModelError::new(Category::Network, "lost"));
    let model = ScriptedModel::new()
        .reply(broken)
        .reply(Reply::pieces(pieces).reasoning("hm"));
    let call = city().ask("x");
    let mut seen = Vec::new();
    for is_recorded in [true, false] {
        let run = match is_recorded {
            true => record(&folder.file(), model.clone()).with_clock(TestClock::new()),
            false => replay(&folder.file()),
        };
        let mut events = Vec::new();
        let mut stream = run.call(&call).stream();
        while let Some(event) = stream.next().await {
            events.push(event);
        }
        assert_eq!(stream.finish().await.unwrap(), json!({"city": "Tromsø"}));
        seen.push(events);
    }
    assert_eq!(seen[0], seen[1]);
    let texts = pieces.map(|piece| Event::Text(piece.to_owned()));
    assert!(seen[0].ends_with(&texts), "{:?}", seen[0]);
    assert!(seen[0].contains(&Event::Reasoning("hm".to_owned())));
    // Without a stream, the same file gives the same answer.
    assert_eq!(
        ask(&replay(&folder.file()), "x").await.unwrap(),
        json!({"city": "Tromsø"})
    );
}

#[tokio::test]
async fn failures_are_played_back_with_their_wait() {
    let folder = Folder::new("failures");
    let busy = || Reply::failure(Category::RateLimitError).retry_after(Duration::from_secs(20));
    let model = ScriptedModel::new()
        .reply(busy())
        .reply(json!({"city": "a"}));
    let clock = TestClock::new();
    ask(&record(&folder.file(), model).with_clock(clock), "x")
        .await
        .unwrap();
    let clock = TestClock::new();
    let run = replay(&folder.file()).with_clock(clock.clone());
    ask(&run, "x").await.unwrap();
    assert!(clock.waits()[0] >= Duration::from_secs(20));
}

#[tokio::test]
async fn what_is_missing_is_recorded_in_the_mode_auto() {
    let folder = Folder::new("auto");
    let auto = |model: &ScriptedModel| {
        let model = model.clone();
        Run::new(
            Cassette::open(folder.file())
                .mode(CassetteMode::Auto)
                .around(|| Ok(model))
                .unwrap(),
        )
    };
    let model = ScriptedModel::new()
        .reply(json!({"city": "a"}))
        .reply(json!({"city": "b"}));
    assert_eq!(ask(&auto(&model), "x").await.unwrap()["city"], "a");
    let run = auto(&model);
    assert_eq!(ask(&run, "x").await.unwrap()["city"], "a");
    assert_eq!(ask(&run, "y").await.unwrap()["city"], "b");
    model.assert_done();
    assert_eq!(
        ask(&replay(&folder.file()), "y").await.unwrap()["city"],
        "b"
    );
}

#[tokio::test]
async fn redacted_texts_are_neither_written_nor_compared() {
    let folder = Folder::new("redact");
    let cassette = |mode| {
        Cassette::open(folder.file())
            .mode(mode)
            .redact(|text| match text.split_once("at ") {
                Some((before, _)) => format!("{before}at [time]"),
                None => text.to_owned(),
            })
    };
    let model = FnModel::new(|_| json!({"city": "Oslo"}));
    let run = Run::new(cassette(CassetteMode::Record).around(|| Ok(model)).unwrap());
    ask(&run, "It is Oslo at 12:04").await.unwrap();
    let run = Run::new(cassette(CassetteMode::Replay).around(no_key).unwrap());
    assert_eq!(
        ask(&run, "It is Oslo at 17:31").await.unwrap()["city"],
        "Oslo"
    );
    let file = std::fs::read_to_string(folder.file()).unwrap();
    assert!(
        file.contains("at [time]") && !file.contains("12:04"),
        "{file}"
    );
}

#[tokio::test]
async fn a_file_that_is_no_cassette_is_not_recorded_over() {
    let folder = Folder::new("no-cassette");
    std::fs::create_dir_all(&folder.0).unwrap();
    for text in [
        "[package]\nname = \"mine\"\n",
        "{\"format\": \"llmnode/journal\"}",
        "\u{0}",
    ] {
        std::fs::write(folder.file(), text).unwrap();
        let cassette = Cassette::open(folder.file()).mode(CassetteMode::Record);
        let error = cassette.around(|| Ok(ScriptedModel::new())).err().unwrap();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(
            error.message().contains("it is no cassette"),
            "{}",
            error.message()
        );
        assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), text);
    }
    // A cassette is recorded anew, also one of a newer version or one that is cut off.
    for text in [
        "",
        "{\"format\": \"llmnode/cassette\", \"version\": 99",
        "{\n  \"format\": \"llmnode/cassette\"",
    ] {
        std::fs::write(folder.file(), text).unwrap();
        ask(
            &record(&folder.file(), FnModel::new(|_| json!({"city": "Oslo"}))),
            "Oslo",
        )
        .await
        .unwrap();
        assert!(
            std::fs::read_to_string(folder.file())
                .unwrap()
                .contains("Oslo")
        );
    }
}

/// What a tool reads from the clock is redacted in its result, which the next request holds.
#[tokio::test]
async fn what_a_tool_says_is_redacted_too() {
    let folder = Folder::new("redacted-tools");
    let cassette = |mode| {
        Cassette::open(folder.file())
            .mode(mode)
            .redact(|text| match text.split_once("It is ") {
                Some(_) => "It is [time]".to_owned(),
                None => text.to_owned(),
            })
    };
    let agent = |time: &'static str| {
        let clock = move |_: Value| async move { Ok::<_, String>(format!("It is {time}")) };
        let tools = Toolset::new().function("clock", "Says the time.", clock);
        DynNode::builder("agent")
            .output_schema(json!({"type": "object"}))
            .tools(tools)
            .build()
            .unwrap()
    };
    let call = Reply::text("").call("clock", json!({"value": null}));
    let model = ScriptedModel::new()
        .reply(call)
        .reply(json!({"late": false}));
    let run = Run::new(cassette(CassetteMode::Record).around(|| Ok(model)).unwrap());
    run.call(&agent("12:04").ask("Is it late?")).await.unwrap();
    let run = Run::new(cassette(CassetteMode::Replay).around(no_key).unwrap());
    assert_eq!(
        run.call(&agent("17:31").ask("Is it late?")).await.unwrap(),
        json!({"late": false})
    );
    assert!(
        !std::fs::read_to_string(folder.file())
            .unwrap()
            .contains("12:04")
    );
}

#[tokio::test]
async fn secrets_are_not_written_and_pieces_do_not_tear_them() {
    let folder = Folder::new("secrets");
    let pieces = ["{\"city\": \"sk-0123", "456789abc", " Oslo\"", "}"];
    let run = record(
        &folder.file(),
        ScriptedModel::new().reply(Reply::pieces(pieces)),
    );
    let call = city().ask("My key is sk-abcdef123456");
    run.call(&call).stream().finish().await.unwrap();
    let file = std::fs::read_to_string(folder.file()).unwrap();
    assert!(
        !file.contains("sk-0123") && !file.contains("456789") && !file.contains("sk-abcdef"),
        "{file}"
    );
    let answer = replay(&folder.file())
        .call(&call)
        .stream()
        .finish()
        .await
        .unwrap();
    assert_eq!(answer, json!({"city": "[redacted] Oslo"}));
}

#[tokio::test]
async fn concurrent_recordings_give_the_same_file() {
    let folder = Folder::new("concurrent");
    let mut files = Vec::new();
    for reversed in [false, true] {
        let model = FnModel::new(move |request: &llmnode_runtime::Request| {
            let number = request.messages.last().unwrap().content.len() as u64;
            let wait = if reversed { 50 - number } else { number };
            Reply::json(json!({"city": number.to_string()})).after(Duration::from_millis(wait))
        });
        let run = record(&folder.file(), model);
        let texts: Vec<_> = (1..20).map(|length| "x".repeat(length)).collect();
        let calls = texts.iter().map(|text| city().ask(text.clone()));
        run.map(calls).concurrency(8).await;
        files.push(std::fs::read_to_string(folder.file()).unwrap());
    }
    assert_eq!(files[0], files[1]);
}

#[tokio::test]
async fn a_file_that_cannot_be_written_stays_whole() {
    let folder = Folder::new("whole");
    ask(
        &record(&folder.file(), FnModel::new(|_| json!({"city": "a"}))),
        "x",
    )
    .await
    .unwrap();
    let before = std::fs::read_to_string(folder.file()).unwrap();
    // A folder cannot be replaced by a file.
    let path = folder.0.join("folder");
    std::fs::create_dir_all(path.join("kept")).unwrap();
    let run = record(&path, FnModel::new(|_| json!({"city": "b"})));
    let error = ask(&run, "x").await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains("cannot be written"), "{error}");
    assert!(path.join("kept").exists());
    assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), before);
    let left = std::fs::read_dir(&folder.0).unwrap().count();
    assert_eq!(left, 2, "what was written beside it is gone");
}

/// Links that somebody put where the new file was written before it took its place.
#[cfg(unix)]
#[tokio::test]
async fn a_cassette_is_not_written_through_planted_links_and_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("planted");
    std::fs::create_dir_all(&folder.0).unwrap();
    let (link, victim) = (folder.0.join("link.json"), folder.0.join("victim"));
    std::fs::write(&victim, "kept").unwrap();
    for number in 0..200 {
        for name in ["chat.json", "link.json"] {
            let name = format!("{name}.{}-{number}.writing", std::process::id());
            symlink(&victim, folder.0.join(name)).unwrap();
        }
    }
    let mode = || {
        std::fs::metadata(folder.file())
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    ask(
        &record(&folder.file(), FnModel::new(|_| json!({"city": "a"}))),
        "x",
    )
    .await
    .unwrap();
    assert_eq!(mode(), 0o600);
    symlink(folder.file(), &link).unwrap();
    ask(&record(&link, FnModel::new(|_| json!({"city": "b"}))), "x")
        .await
        .unwrap();
    assert!(link.is_symlink() && !folder.file().is_symlink());
    assert_eq!(
        (mode(), std::fs::read_to_string(&victim).unwrap().as_str()),
        (0o600, "kept")
    );
    assert_eq!(
        ask(&replay(&folder.file()), "x").await.unwrap(),
        json!({"city": "b"})
    );
}

#[tokio::test]
async fn secrets_are_no_names_of_members_either() {
    let folder = Folder::new("names");
    let schema = json!({
        "type": "object",
        "properties": {"sk-abcdef123456": {"type": "string"}, "city": {"type": "string"}},
        "required": ["city"],
    });
    let asked = || {
        let city = DynNode::builder("city")
            .output_schema(schema.clone())
            .build()
            .unwrap();
        city.ask("x")
    };
    record(&folder.file(), FnModel::new(|_| json!({"city": "a"})))
        .call(&asked())
        .await
        .unwrap();
    let file = std::fs::read_to_string(folder.file()).unwrap();
    assert!(
        !file.contains("sk-abcdef") && file.contains("[redacted]"),
        "{file}"
    );
    assert_eq!(
        replay(&folder.file()).call(&asked()).await.unwrap(),
        json!({"city": "a"})
    );
}

/// The bytes that are written grow with the entries, not with their square: a file is written anew only when it has grown.
#[tokio::test]
async fn a_long_recording_is_written_seldom_and_in_the_end_as_a_whole() {
    let folder = Folder::new("long");
    let run = record(&folder.file(), FnModel::new(|_| json!({"city": "a"})));
    let (mut writes, mut last) = (0, 0);
    for number in 0..1000 {
        // The same request again, too.
        ask(&run, &(number % 500).to_string()).await.unwrap();
        let length = std::fs::metadata(folder.file()).unwrap().len();
        writes += usize::from(length != last);
        last = length;
    }
    assert!(writes < 64 + 15, "{writes}");
    drop(run);
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.file()).unwrap()).unwrap();
    assert_eq!(file["entries"].as_array().unwrap().len(), 1000);
    let run = replay(&folder.file());
    for number in 0..1000 {
        ask(&run, &(number % 500).to_string()).await.unwrap();
    }
}

const KILLED: &str = "LLMNODE_CASSETTE_KILLED";

/// Records without end, in a process that is killed.
#[tokio::test]
async fn records_until_it_is_killed() {
    let Some(path) = std::env::var_os(KILLED) else {
        return;
    };
    let run = record(
        Path::new(&path),
        FnModel::new(|_| json!({"city": "x".repeat(20_000)})),
    );
    for number in 0_u64.. {
        ask(&run, &number.to_string()).await.unwrap();
    }
}

#[test]
fn a_process_that_is_killed_while_it_writes_leaves_a_whole_file() {
    let folder = Folder::new("killed");
    for milliseconds in [60, 90, 130, 170, 230] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "records_until_it_is_killed"])
            .env(KILLED, folder.file())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !folder.file().exists() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        let file: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.file()).unwrap()).unwrap();
        assert!(!file["entries"].as_array().unwrap().is_empty());
    }
}

#[test]
fn files_that_cannot_be_read_say_so() {
    let folder = Folder::new("unread");
    let fault = || -> String {
        let opened: Result<Arc<dyn ChatModel>, NodeError> =
            Cassette::open(folder.file()).around(no_key);
        opened.err().unwrap().message().to_owned()
    };
    assert!(
        fault().contains("there is no such file; record it with LLMNODE_CASSETTE=record"),
        "{}",
        fault()
    );
    std::fs::create_dir_all(&folder.0).unwrap();
    std::fs::write(
        folder.file(),
        r#"{"format": "llmnode/cassette", "version": 9, "entries": []}"#,
    )
    .unwrap();
    assert!(
        fault().contains("llmnode/cassette version 9 is newer than version 2"),
        "{}",
        fault()
    );
    std::fs::write(folder.file(), "{").unwrap();
    assert!(
        fault().contains("malformed llmnode/cassette"),
        "{}",
        fault()
    );
}

#[tokio::test]
async fn a_secret_in_torn_reasoning_is_not_written() {
    let folder = Folder::new("reasoning");
    let mut reply = Reply::pieces(["{\"city\":", " \"Oslo\"}"]);
    // Each one is put before those so far.
    for piece in [" odd", " is", "0123456789abc", "sk-", "The key "] {
        reply = reply.reasoning(piece);
    }
    let run = record(&folder.file(), ScriptedModel::new().reply(reply));
    run.call(&city().ask("x")).stream().finish().await.unwrap();
    let file = std::fs::read_to_string(folder.file()).unwrap();
    assert!(!file.contains("0123456789"), "{file}");
    let run = replay(&folder.file());
    let call = city().ask("x");
    let mut stream = run.call(&call).stream();
    let mut thoughts = Vec::new();
    while let Some(event) = stream.next().await {
        if let Event::Reasoning(text) = event {
            thoughts.push(text);
        }
    }
    assert_eq!(thoughts, ["The key ", "[redacted] is odd"]);
}

#[tokio::test]
async fn numbers_of_the_settings_are_the_same_after_reading() {
    let folder = Folder::new("numbers");
    for number in [0.1 + 0.2, 9.0 / 397.0 * 1.1, f64::from(0.7_f32)] {
        let settings = || llmnode_runtime::Settings::new().temperature(number);
        let run = record(&folder.file(), FnModel::new(|_| json!({"city": "Oslo"})));
        run.call(&city().ask("x"))
            .settings(settings())
            .await
            .unwrap();
        let run = replay(&folder.file());
        assert_eq!(
            run.call(&city().ask("x"))
                .settings(settings())
                .await
                .unwrap()["city"],
            "Oslo",
            "{number}"
        );
    }
}

#[tokio::test]
async fn another_word_for_reasoning_is_another_request() {
    let folder = Folder::new("reasoning");
    let run = record(&folder.file(), FnModel::new(|_| json!({"city": "Oslo"})));
    run.call(&city().ask("x"))
        .reasoning(Reasoning::Low)
        .await
        .unwrap();
    let run = replay(&folder.file());
    assert!(
        run.call(&city().ask("x"))
            .reasoning(Reasoning::High)
            .await
            .is_err()
    );
    assert!(
        run.call(&city().ask("x"))
            .reasoning(Reasoning::Low)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn an_answer_recorded_without_a_stream_is_streamed_in_one_piece() {
    let folder = Folder::new("unstreamed");
    let run = record(&folder.file(), FnModel::new(|_| json!({"city": "Oslo"})));
    ask(&run, "x").await.unwrap();
    let run = replay(&folder.file());
    let call = city().ask("x");
    let mut stream = run.call(&call).stream();
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        if let Event::Text(text) = event {
            texts.push(text);
        }
    }
    assert_eq!(texts, [r#"{"city":"Oslo"}"#]);
}

#[tokio::test]
async fn a_model_that_cannot_be_made_says_why_by_its_own_category() {
    let folder = Folder::new("unmade");
    let model = Cassette::open(folder.file())
        .mode(CassetteMode::Auto)
        .around(no_key)
        .unwrap();
    let error = ask(&Run::new(model), "x").await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::ApiKeyError, "no key")
    );
    assert!(!folder.file().exists());
}

#[tokio::test]
async fn attachments_are_told_apart_but_not_written() {
    let folder = Folder::new("attachments");
    let complete = async |model: &dyn ChatModel, bytes: &str| {
        let image = Image::bytes("image/png", bytes).unwrap();
        let request = Request::new(vec![Message::user("What is it?").attach(image)]);
        model.complete(&request, &mut Unheard).await
    };
    let model = ScriptedModel::new().reply("a cat").reply("a dog");
    let recorder = Cassette::open(folder.file())
        .mode(CassetteMode::Record)
        .around(|| Ok(model))
        .unwrap();
    for bytes in ["the cat's bytes", "the dog's bytes"] {
        complete(&recorder, bytes).await.unwrap();
    }
    let player = Cassette::open(folder.file()).around(no_key).unwrap();
    assert_eq!(
        complete(&player, "the dog's bytes").await.unwrap().text,
        "a dog"
    );
    assert_eq!(
        complete(&player, "the bird's bytes")
            .await
            .unwrap_err()
            .category,
        Category::ConfigError
    );
    let file = std::fs::read_to_string(folder.file()).unwrap();
    assert!(
        file.contains("image/png, 15 bytes, #") && !file.contains("base64"),
        "{file}"
    );
}

/// A file of version 1, as it was written first.
#[tokio::test]
async fn version_1_is_read() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cassette-v1.json");
    if std::env::var_os("LLMNODE_UPDATE").is_some() {
        let busy = Reply::failure(Category::RateLimitError).retry_after(Duration::from_secs(2));
        let model = ScriptedModel::new()
            .reply(busy)
            .reply(Reply::pieces(["{\"city\":", " \"Oslo\"}"]).reasoning("hm"));
        let run = record(&golden, model).with_clock(TestClock::new());
        run.call(&city().ask("Greetings from Oslo!"))
            .stream()
            .finish()
            .await
            .unwrap();
    }
    let run = replay(&golden);
    let call = city().ask("Greetings from Oslo!");
    let mut stream = run.call(&call).stream();
    let mut pieces = 0;
    while let Some(event) = stream.next().await {
        pieces += usize::from(matches!(event, Event::Text(_)));
    }
    let report = stream.report().await.unwrap();
    assert_eq!(
        (
            report.value["city"].as_str(),
            report.record.attempts.len(),
            pieces
        ),
        (Some("Oslo"), 2, 2)
    );
}

/// A conversation with a call of a tool, with this id.
fn with_call(id: &str) -> Request {
    let call = ToolCall::new(id, "search", r#"{"word": "Rust"}"#);
    let mut request = Request::new(vec![
        Message::user("What is good?"),
        Message::assistant("").calling([call]),
        Message::tool(id, "Rust in Action"),
    ]);
    request.tools = [ToolSpec::new(
        "search",
        "Finds books.",
        OutputSchema::of::<bool>(),
    )]
    .into();
    request
}

#[tokio::test]
async fn calls_of_tools_are_kept_and_their_ids_are_numbered() {
    let folder = Folder::new("calls");
    let model = ScriptedModel::new()
        .reply(Reply::text("I look.").call("search", json!({"word": "sk-12345678abcdefgh"})));
    let cassette = Cassette::open(folder.file())
        .mode(CassetteMode::Record)
        .around(|| Ok(model))
        .unwrap();
    let recorded = cassette
        .complete(&with_call("call_x7"), &mut Unheard)
        .await
        .unwrap();
    assert!(recorded.calls[0].arguments.contains("sk-12345678"));
    let text = std::fs::read_to_string(folder.file()).unwrap();
    assert!(
        !text.contains("sk-12345678") && !text.contains("call_x7"),
        "{text}"
    );

    let cassette = Cassette::open(folder.file()).around(no_key).unwrap();
    // Another run, another id.
    let played = cassette
        .complete(&with_call("call_y9"), &mut Unheard)
        .await
        .unwrap();
    assert_eq!(
        (played.text.as_str(), played.calls[0].name.as_str()),
        ("I look.", "search")
    );
    // Other tools are another request.
    let mut other = with_call("call_y9");
    other.tools = [ToolSpec::new(
        "search",
        "Finds films.",
        OutputSchema::of::<bool>(),
    )]
    .into();
    let missing = cassette.complete(&other, &mut Unheard).await.unwrap_err();
    assert!(
        missing.message.contains("Finds films."),
        "{}",
        missing.message
    );
}
