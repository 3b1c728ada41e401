//! Turns: claimed before anything is paid, appended whole or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use llmnode::chats::{Chat, Conversations, NewTurn, TurnStore};
use llmnode::prelude::*;
use llmnode::{BoxFuture, Event, Message, ModelError, Role, TestClock};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::{
    Ask, Folder, Moment, ask, connected, going_on, postgres, seen, stores, texts,
};

#[tokio::test]
async fn each_turn_has_those_before_it() {
    let folder = Folder::new("turns");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new().reply("Dune.").reply("By Herbert.");
        let run = Run::new(model.clone());
        run.call(&ask("What shall I read?"))
            .conversation(&chat)
            .await
            .unwrap();
        let report = run
            .call(&ask("Who wrote it?"))
            .conversation(&chat)
            .report()
            .await
            .unwrap();
        let sent = &model.requests()[1].messages;
        assert_eq!(
            sent.len(),
            4,
            "{name}: instructions, one turn, and the question"
        );
        assert_eq!(sent[0].role, Role::System);
        assert_eq!(sent[2].content, "Dune.");
        // What is stored is what was sent: the report knows the same history.
        assert_eq!(chat.history().await.unwrap(), report.history().unwrap());
        let info = chat.info().await.unwrap();
        assert_eq!((info.revision, info.messages), (2, 4));
        assert!(!info.is_unfinished && !info.is_paused);
        assert!(chat.unfinished().await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_typed_answer_and_a_stream_are_turns_too() {
    #[llm_output]
    struct Book {
        title: String,
    }
    #[llm_node(prompt = "{question}", output = Book)]
    struct Find {
        question: String,
    }
    let chats = Conversations::in_memory();
    let chat = chats.open("a").await.unwrap();
    let model = ScriptedModel::new()
        .reply("```json\n{\"title\": \"Dune\"}\n```")
        .reply(Reply::pieces(["By ", "Herbert."]));
    let run = Run::new(model);
    let question = "A book?".to_owned();
    run.call(&Find { question })
        .conversation(&chat)
        .await
        .unwrap();
    let who = ask("Who wrote it?");
    let mut stream = run.call(&who).conversation(&chat).stream();
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let Event::Text(piece) = event {
            text.push_str(&piece);
        }
    }
    stream.finish().await.unwrap();
    assert_eq!(text, "By Herbert.");
    let kept = [
        "A book?",
        "{\"title\":\"Dune\"}",
        "Who wrote it?",
        "By Herbert.",
    ];
    assert_eq!(texts(&chat).await, kept);
}

#[tokio::test]
async fn a_second_writer_reads_conflict_before_it_pays() {
    let folder = Folder::new("second");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new();
        let run =
            Run::new(model.otherwise(|_| Reply::text("Dune.").after(Duration::from_millis(200))));
        let first = ask("What shall I read?");
        let second = ask("Hello?");
        let slow = run.call(&first).conversation(&chat);
        let late = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            run.call(&second).conversation(&chat).await
        };
        let (slow, late) = tokio::join!(slow, late);
        slow.unwrap();
        let error = late.unwrap_err();
        assert_eq!(error.category(), Category::Conflict, "{name}: {error}");
        assert!(
            error.to_string().contains("another call has the chat"),
            "{error}"
        );
        assert!(error.to_string().contains("seconds"), "{error}");
        assert_eq!(error.usage().requests, 0, "nothing was paid");
        assert_eq!(texts(&chat).await, ["What shall I read?", "Dune."]);
    }
}

#[tokio::test]
async fn a_writer_that_waits_comes_after_the_first() {
    let folder = Folder::new("waits");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new();
        let run =
            Run::new(model.otherwise(|_| Reply::text("Yes.").after(Duration::from_millis(100))));
        let waiting = chat.clone().wait(Duration::from_secs(30));
        let questions: Vec<Ask> = (0..4)
            .map(|number| ask(&format!("Is it {number}?")))
            .collect();
        let calls = questions
            .iter()
            .map(|question| run.call(question).conversation(&waiting));
        let mut calls: Vec<_> = calls.collect();
        let (a, b, c, d) = {
            let mut next = || calls.pop().unwrap();
            let all = (next(), next(), next(), next());
            tokio::join!(all.0, all.1, all.2, all.3)
        };
        for outcome in [a, b, c, d] {
            outcome.unwrap();
        }
        let info = chat.info().await.unwrap();
        assert_eq!((info.revision, info.messages), (4, 8), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_its_time_and_with_the_deadline() {
    let chats = Conversations::in_memory();
    let chat = chats.open("a").await.unwrap();
    let clock = TestClock::new();
    let _held = chat.begin(NewTurn::new(&clock)).await.unwrap();
    let run = Run::new(ScriptedModel::new());
    let late = ask("Hello?");
    let waiting = chat.clone().wait(Duration::from_secs(30));
    let error = run.call(&late).conversation(&waiting).await.unwrap_err();
    assert_eq!(error.category(), Category::Conflict, "{error}");
    let error = run
        .call(&late)
        .deadline(Duration::from_secs(2))
        .conversation(&waiting)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::Timeout, "{error}");
}

#[tokio::test]
async fn a_failed_call_leaves_the_history_and_keeps_the_question() {
    let folder = Folder::new("failed");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let down = ModelError::new(Category::BadRequest, "no such parameter");
        let model = ScriptedModel::new()
            .reply(Reply::error(down))
            .reply("Dune.");
        let run = Run::new(model.clone());
        let question = ask("What shall I read?");
        let error = run.call(&question).conversation(&chat).await.unwrap_err();
        assert_eq!(error.category(), Category::BadRequest);
        assert!(texts(&chat).await.is_empty(), "{name}");
        let unfinished = chat.unfinished().await.unwrap().unwrap();
        assert_eq!(unfinished.messages()[0].content, "What shall I read?");
        // It goes on at once: the claim was given up.
        run.call(&question)
            .conversation(&chat)
            .resume(unfinished)
            .await
            .unwrap();
        assert_eq!(texts(&chat).await, ["What shall I read?", "Dune."]);
        assert!(chat.unfinished().await.unwrap().is_none());
        assert_eq!(model.requests().len(), 2);
    }
}

/// Counts books.
#[tool]
fn count(_of: String) -> &'static str {
    "3 books"
}

#[llm_node(prompt = "{question}", tools = [Count])]
struct Agent {
    question: String,
}

fn agent() -> Agent {
    Agent {
        question: "How many?".to_owned(),
    }
}

#[tokio::test]
async fn an_agent_goes_on_after_the_rounds_that_were_paid_for() {
    let folder = Folder::new("agent");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let earlier = Run::new(ScriptedModel::new().reply("Good day."));
        earlier
            .call(&ask("Hello!"))
            .conversation(&chat)
            .await
            .unwrap();
        let down = ModelError::new(Category::BadRequest, "gone");
        let model = ScriptedModel::new()
            .reply(Reply::text("").call("count", json!({"of": "all"})))
            .reply(Reply::error(down));
        let error = Run::new(model)
            .call(&agent())
            .conversation(&chat)
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::BadRequest, "{name}");
        let unfinished = chat.unfinished().await.unwrap().unwrap();
        assert_eq!(
            unfinished.messages().len(),
            3,
            "the question and one whole round"
        );
        let large = ScriptedModel::new().reply("Three.");
        let run = Run::new(large.clone());
        run.call(&agent())
            .conversation(&chat)
            .resume(unfinished)
            .await
            .unwrap();
        assert_eq!(large.requests().len(), 1, "no turn was asked for again");
        let kept = ["Hello!", "Good day.", "How many?", "", "3 books", "Three."];
        assert_eq!(texts(&chat).await, kept);
        let numbered = chat.messages(3..).await.unwrap();
        assert_eq!(numbered.len(), 4);
        assert!(numbered.iter().all(|one| one.turn == numbered[0].turn));
    }
}

#[tokio::test]
async fn a_dropped_call_keeps_its_question_and_gives_up_its_claim() {
    let folder = Folder::new("dropped");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let run = Run::new(ScriptedModel::new().reply(Reply::never()).reply("Dune."));
        let question = ask("What shall I read?");
        let call = run.call(&question).conversation(&chat);
        assert!(
            tokio::time::timeout(Duration::from_millis(300), call)
                .await
                .is_err()
        );
        let waiting = chat.clone().wait(Duration::from_secs(10));
        let unfinished = chat.unfinished().await.unwrap().unwrap();
        assert_eq!(
            unfinished.messages()[0].content,
            "What shall I read?",
            "{name}"
        );
        run.call(&question).conversation(&waiting).await.unwrap();
        assert_eq!(texts(&chat).await, ["What shall I read?", "Dune."]);
    }
}

/// Holds the first write until it is opened, and counts writes that have ended.
struct Gate {
    holds: AtomicBool,
    opened: Semaphore,
    wrote: AtomicU32,
}

impl Gate {
    async fn sees(&self, moment: Moment) {
        match moment {
            Moment::Writes if self.holds.swap(false, Ordering::SeqCst) => {
                self.opened.acquire().await.unwrap().forget();
            }
            Moment::Wrote => _ = self.wrote.fetch_add(1, Ordering::SeqCst),
            _ => {}
        }
    }

    async fn until_held(&self) {
        while self.holds.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn until_wrote(&self, count: u32) {
        while self.wrote.load(Ordering::SeqCst) < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The database goes on with the claim, which comes there before it is given up, or behind that.
#[tokio::test]
async fn a_call_that_is_dropped_while_it_claims_leaves_no_claim() {
    let folder = Folder::new("dropped-claim");
    for (name, chats) in stores(&folder).await {
        for is_late in [false, true] {
            let gate = Arc::new(Gate {
                holds: AtomicBool::new(true),
                opened: Semaphore::new(0),
                wrote: AtomicU32::new(0),
            });
            let of_store = Arc::clone(&gate);
            let slow = going_on(chats.clone(), move |moment| {
                let gate = Arc::clone(&of_store);
                Box::pin(async move { gate.sees(moment).await })
            });
            let chat = slow.open(format!("acme/{is_late}")).await.unwrap();
            let run = Run::new(ScriptedModel::new().reply("Dune."));
            let question = ask("What shall I read?");
            let call = run.call(&question).conversation(&chat);
            tokio::select! {
                _ = call => panic!("{name}: the claim is held"),
                () = gate.until_held() => {}
            }
            if is_late {
                gate.until_wrote(1).await;
            }
            gate.opened.add_permits(1);
            gate.until_wrote(2).await;
            let chat = chat.wait(Duration::from_secs(10));
            let answer = run.call(&question).conversation(&chat).await;
            let answer = answer.unwrap_or_else(|error| panic!("{name} {is_late}: {error}"));
            assert_eq!(answer, "Dune.", "{name}");
        }
    }
}

/// A process that was taken for dead comes back when another one has the conversation.
#[tokio::test]
async fn a_late_owner_appends_nothing() {
    let folder = Folder::new("late");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap().lease(Duration::ZERO);
        let slow = ScriptedModel::new()
            .otherwise(|_| Reply::text("Late.").after(Duration::from_millis(200)));
        let slow = Run::new(slow);
        let quick = Run::new(ScriptedModel::new().reply("Quick."));
        let late = ask("One?");
        let early = ask("Two?");
        let (late, early) = tokio::join!(slow.call(&late).conversation(&chat), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            quick.call(&early).conversation(&chat).await
        });
        early.unwrap();
        let error = late.unwrap_err();
        assert_eq!(error.category(), Category::Conflict, "{name}: {error}");
        assert_eq!(texts(&chat).await, ["Two?", "Quick."], "{name}");
    }
}

#[tokio::test]
async fn a_fallback_value_is_an_answer_of_the_turn() {
    #[llm_node(prompt = "{question}", fallback = sorry)]
    struct Polite {
        question: String,
    }
    fn sorry(_: &Polite, _: &NodeError) -> String {
        "Sorry.".to_owned()
    }
    let chat = Conversations::in_memory().open("a").await.unwrap();
    let down = ModelError::new(Category::BadRequest, "gone");
    let run = Run::new(ScriptedModel::new().reply(Reply::error(down)));
    let question = "Hello?".to_owned();
    run.call(&Polite { question })
        .conversation(&chat)
        .await
        .unwrap();
    assert_eq!(texts(&chat).await, ["Hello?", "Sorry."]);
}

#[tokio::test]
async fn what_cannot_have_a_conversation_says_so() {
    #[llm_node(prompt = "{question}")]
    struct WithHistory {
        #[node(history)]
        history: Vec<Message>,
        question: String,
    }
    #[derive(Clone)]
    struct Plain;
    impl llmnode::Node for Plain {
        type Output = u64;
        const NAME: &'static str = "plain";
    }
    impl<S: ?Sized + Sync> llmnode::Exec<S> for Plain {
        async fn exec(&self, _: &llmnode::Cx<'_, S>) -> Result<u64, llmnode::BoxError> {
            Ok(7)
        }
    }
    let chat = Conversations::in_memory().open("a").await.unwrap();
    let model = ScriptedModel::new();
    let run = Run::new(model.clone());
    let node = WithHistory {
        history: Vec::new(),
        question: "Hello?".to_owned(),
    };
    let error = run.call(&node).conversation(&chat).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError, "{error}");
    let error = run.call(&Plain).conversation(&chat).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError, "{error}");
    assert!(model.requests().is_empty());
    assert_eq!(chat.info().await.unwrap().messages, 0);
}

#[tokio::test]
async fn a_pin_goes_with_the_next_turn_and_moves_no_revision() {
    let folder = Folder::new("pins");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let model = ScriptedModel::new().reply("Noted.").reply("Friday.");
        let run = Run::new(model.clone());
        chat.pin("Never ship before Friday.").await.unwrap();
        assert_eq!(chat.info().await.unwrap().revision, 0);
        assert!(texts(&chat).await.is_empty());
        run.call(&ask("Hello!")).conversation(&chat).await.unwrap();
        run.call(&ask("When?")).conversation(&chat).await.unwrap();
        let sent = &model.requests()[0].messages;
        assert_eq!(sent[0].role, Role::System);
        assert_eq!(sent[1].content, "Never ship before Friday.", "{name}");
        let kept = [
            "Never ship before Friday.",
            "Hello!",
            "Noted.",
            "When?",
            "Friday.",
        ];
        assert_eq!(texts(&chat).await, kept);
        let numbered = chat.messages(..).await.unwrap();
        let pinned: Vec<bool> = numbered.iter().map(|one| one.is_pinned).collect();
        assert_eq!(pinned, [true, false, false, false, false]);
    }
}

/// A connection is held while a row is written, and never while a model answers.
#[tokio::test]
async fn ten_users_share_one_connection_while_models_answer() {
    let folder = Folder::new("pool");
    let chats = Conversations::sqlite(folder.file("chats.db")).unwrap();
    let model =
        ScriptedModel::new().otherwise(|_| Reply::text("Yes.").after(Duration::from_secs(30)));
    let clock = TestClock::new();
    let run = Run::new(model).with_clock(clock.clone());
    let mut users = Vec::new();
    for number in 0..10 {
        users.push(chats.open(format!("user/{number}")).await.unwrap());
    }
    let question = ask("Is it?");
    let answers = users.iter().map(|chat| async {
        run.call(&question).conversation(chat).await.unwrap();
    });
    futures_join(answers.collect()).await;
    for chat in &users {
        assert_eq!(chat.info().await.unwrap().revision, 1);
    }
}

/// More users than connections, and each answer takes longer than all transactions together.
#[tokio::test]
async fn forty_users_share_eight_connections_of_postgres() {
    let Some(url) = postgres("llmnode_chats_users").await else {
        return;
    };
    let chats = Conversations::postgres(url).await.unwrap();
    let model =
        ScriptedModel::new().otherwise(|_| Reply::text("Yes.").after(Duration::from_secs(1)));
    let run = Run::new(model);
    let mut users = Vec::new();
    for number in 0..40 {
        users.push(chats.open(format!("user/{number}")).await.unwrap());
    }
    let question = ask("Is it?");
    let answers = users.iter().map(|chat| async {
        run.call(&question).conversation(chat).await.unwrap();
    });
    futures_join(answers.collect()).await;
    for chat in &users {
        assert_eq!(chat.info().await.unwrap().revision, 1);
    }
}

/// The role may have three connections, and ten users ask at once: whoever comes fourth waits, and nobody is refused or forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn ten_users_share_three_connections_of_postgres() {
    let Some(url) = postgres("llmnode_chats_three").await else {
        return;
    };
    let admin = connected(&url).await;
    // It must be no superuser: those have no limit.
    let role = "CREATE ROLE three LOGIN CONNECTION LIMIT 3; GRANT ALL ON SCHEMA llmnode_chats_three TO three";
    admin.batch_execute(role).await.unwrap();
    let chats = Conversations::postgres(url.replace("llmnode@", "three@"))
        .await
        .unwrap();
    let model = ScriptedModel::new();
    let model = model.otherwise(|_| Reply::text("Yes.").after(Duration::from_millis(300)));
    let run = Run::new(model);
    let mut users = Vec::new();
    for number in 0..10 {
        users.push(chats.open(format!("user/{number}")).await.unwrap());
    }
    let question = ask("Is it?");
    for turn in 1..=3 {
        let answers = users.iter().map(|chat| async {
            let call = run.call(&question).deadline(Duration::from_secs(30));
            call.conversation(chat).await.unwrap();
        });
        futures_join(answers.collect()).await;
        for chat in &users {
            assert_eq!(chat.info().await.unwrap().revision, turn);
        }
    }
    let count = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'three'";
    let row = admin.query_one(count, &[]).await.unwrap();
    let connections: i64 = row.get(0);
    assert_eq!(connections, 3, "all that there may be are in use");
}

async fn futures_join<F: Future<Output = ()>>(futures: Vec<F>) {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    std::future::poll_fn(|cx| {
        futures.retain_mut(|future| future.as_mut().poll(cx).is_pending());
        if futures.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

/// Whichever moment an older version was stopped at.
#[tokio::test]
async fn a_turn_that_an_older_version_began_goes_on_by_its_id() {
    let folder = Folder::new("older");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let clock = TestClock::new();
        let begun = chat.begin(NewTurn::new(&clock).id("older")).await.unwrap();
        let again = || {
            let mut new = NewTurn::new(&clock).id("now");
            new.older_id = Some("older".to_owned());
            new
        };
        let claimed = chat.begin(again()).await.unwrap();
        assert_eq!(claimed.id, "older", "{name}");
        assert_ne!(claimed.owner, begun.owner);
        let messages = [Message::user("One?"), Message::assistant("Yes.")];
        chat.append(&claimed, &messages, &[]).await.unwrap();
        let appended = chat.begin(again()).await.unwrap();
        assert!(appended.is_appended, "{name}");
        assert!(appended.history.is_empty());
        let mut other = NewTurn::new(&clock).id("now");
        other.older_id = Some("another".to_owned());
        let other = chat.begin(other).await.unwrap();
        assert_eq!(other.id, "now", "{name}");
        assert_eq!(other.history.len(), 2);
    }
}

/// A store that does this instead of the write of this number.
async fn failing_at(number: u32, fails: fn() -> BoxFuture<'static, ()>) -> Chat {
    let writes = AtomicU32::new(0);
    let chats = seen(Conversations::in_memory(), move |moment| match moment {
        Moment::Writes if writes.fetch_add(1, Ordering::Relaxed) + 1 == number => fails(),
        _ => Box::pin(std::future::ready(())),
    });
    chats.open("acme/42").await.unwrap()
}

/// The first row is the claim, the second one the turn as it begins, the third one its end.
async fn outcomes(fails: fn() -> BoxFuture<'static, ()>) -> Vec<Category> {
    let gone = || Reply::error(ModelError::new(Category::BadRequest, "gone"));
    let mut outcomes = Vec::new();
    for (number, reply) in [
        (1, Reply::text("Dune.")),
        (2, Reply::text("Dune.")),
        (3, Reply::text("Dune.")),
        (3, gone()),
    ] {
        let chat = failing_at(number, fails).await;
        let run = Run::new(ScriptedModel::new().reply(reply));
        let node = ask("What shall I read?");
        let call = run.call(&node).deadline(Duration::from_secs(2));
        let ended = tokio::time::timeout(Duration::from_secs(60), call.conversation(&chat)).await;
        let error = ended.expect("the call ends").unwrap_err();
        outcomes.push(error.category());
        assert!(texts(&chat).await.is_empty());
        if number == 3 {
            assert!(chat.info().await.unwrap().is_unfinished);
        }
        // The claim was given up.
        let run = Run::new(ScriptedModel::new().reply("Emma."));
        let next = chat.wait(Duration::from_secs(1));
        let call = run.call(&node).conversation(&next);
        assert_eq!(call.await.unwrap(), "Emma.", "{number}");
    }
    outcomes
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_holds_no_call() {
    let outcomes = outcomes(|| Box::pin(std::future::pending())).await;
    let expected = [
        Category::Timeout,
        Category::Timeout,
        Category::Aborted,
        Category::BadRequest,
    ];
    assert_eq!(outcomes, expected);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_is_an_error_of_the_call() {
    let outcomes = outcomes(|| Box::pin(async { panic!("a fault of the store") })).await;
    let expected = [
        Category::Panic,
        Category::Panic,
        Category::Panic,
        Category::BadRequest,
    ];
    assert_eq!(outcomes, expected);
}
