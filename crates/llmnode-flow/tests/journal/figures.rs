//! What earlier processes spent counts once.

use llmnode_flow::flow::RunExt;
use llmnode_runtime::{Category, Limits, Price, Prices};

use crate::support::{Ask, Memory, Research, STEPS, TOKENS, fails_after, model, run};

#[tokio::test]
async fn the_ledger_of_the_process_that_ends_the_flow_has_all_attempts_once() {
    let journal = Memory::default();
    run(fails_after(4))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    run(fails_after(3))
        .flow(Research)
        .resume(journal.clone())
        .await
        .unwrap_err();
    let mut last = run(model());
    last.flow(Research).resume(journal).await.unwrap();
    let total = last.ledger().total();
    assert_eq!(
        (total.requests, total.total.known),
        (STEPS + 2, STEPS * TOKENS),
        "two were refused"
    );
    let plan = last.ledger().of::<Ask<0>>().unwrap();
    assert_eq!((plan.visits, plan.usage.requests), (1, 1));
    assert_eq!(last.ledger().calls().len() as u64, STEPS + 2);
    assert_eq!(last.ledger().calls()[0].node, "plan");
}

#[tokio::test]
async fn a_run_that_resumes_its_own_journal_counts_nothing_twice() {
    let journal = Memory::default();
    let mut run = run(fails_after(4));
    run.flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    for _ in 0..3 {
        run.flow(Research)
            .resume(journal.clone())
            .await
            .unwrap_err();
    }
    assert_eq!(
        (
            run.ledger().total().requests,
            run.ledger().total().total.known
        ),
        (8, 4 * TOKENS)
    );
}

#[tokio::test]
async fn a_run_that_resumes_twice_enters_what_another_spent_once() {
    let journal = Memory::default();
    run(fails_after(4))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let mut second = run(fails_after(1));
    second
        .flow(Research)
        .resume(journal.clone())
        .await
        .unwrap_err();
    second
        .flow(Research)
        .resume(journal.clone())
        .await
        .unwrap_err();
    assert_eq!(second.ledger().total().total.known, 5 * TOKENS);
    assert_eq!(second.ledger().total().requests, 5 + 3);
}

/// The journal of a process that was killed while a request was under way.
async fn killed_in_the_third_request() -> Memory {
    let journal = Memory::default();
    run(model())
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap();
    let mut begun = 0;
    journal.records.lock().unwrap().retain(|record| {
        begun += usize::from(record.kind() == "attempt_began");
        begun < 3 || (begun == 3 && record.kind() == "attempt_began")
    });
    journal
}

#[tokio::test]
async fn the_request_under_way_at_the_crash_is_one_without_a_report() {
    let journal = killed_in_the_third_request().await;
    let mut second = run(model());
    second.flow(Research).resume(journal).await.unwrap();
    let total = second.ledger().total();
    assert_eq!(
        (total.requests, total.total.known),
        (STEPS + 1, STEPS * TOKENS)
    );
    assert_eq!(
        (total.total.unreported_calls, total.estimated),
        (1, 1),
        "`2 read` is a token or two"
    );
    let lost: Vec<_> = second
        .ledger()
        .calls()
        .iter()
        .filter(|call| call.category.is_some())
        .cloned()
        .collect();
    assert_eq!(lost.len(), 1);
    assert_eq!(
        (&*lost[0].node, lost[0].category),
        ("read", Some(Category::Cancelled))
    );
}

#[tokio::test]
async fn what_was_spent_before_counts_for_the_limits() {
    let journal = Memory::default();
    run(fails_after(4))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let spent = [
        ("5 requests", Limits::new().requests(7)),
        ("60 tokens", Limits::new().tokens(4 * TOKENS + 2 * TOKENS)),
        ("money", Limits::new().money(0.000_12)),
    ];
    for (what, limits) in spent {
        let journal = Memory {
            records: std::sync::Arc::new(journal.records.lock().unwrap().clone().into()),
            full_at: None,
        };
        let rest = model();
        let mut second = run(rest.clone())
            .with_prices(Prices::new().model("fn", Price::per_million(1.0, 2.0)))
            .with_limits(limits);
        let error = second.flow(Research).resume(journal).await.unwrap_err();
        assert_eq!(
            (error.category(), rest.requests().len()),
            (Category::LimitExceeded, 2),
            "{what}: {error}"
        );
    }
}

#[tokio::test]
async fn what_was_spent_before_counts_for_the_limits_of_its_node() {
    let journal = Memory::default();
    run(fails_after(4))
        .flow(Research)
        .journal(journal.clone())
        .await
        .unwrap_err();
    let rest = model();
    let mut second = run(rest.clone()).with_node_limits::<Ask<1>>(Limits::new().requests(3));
    let error = second.flow(Research).resume(journal).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    assert_eq!(
        rest.requests().len(),
        3,
        "two searches were made before, and a third one is made: {error}"
    );
}
