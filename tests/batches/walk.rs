//! A map over a batch API, from its nodes to their answers.

use llmnode::Category;
use llmnode::evals::{Dataset, evaluate, exact};
use llmnode::journal::MapExt as _;

use crate::support::{APIS, Api, Place, label, letters, quick, run, sorting};

#[tokio::test]
async fn each_letter_gets_its_own_answer_and_corrections_share_the_next_batch() {
    for api in APIS {
        let server = sorting().start().await.unwrap();
        let place = Place::new(&format!("walk-{api:?}"));
        let run = run(&server, api);
        let reports = run
            .map(letters(30))
            .resume(place.open())
            .batch_api(quick())
            .report()
            .await;
        for (number, report) in reports.into_iter().enumerate() {
            let report = report.unwrap_or_else(|error| panic!("{api:?} {number}: {error}"));
            assert_eq!(report.value, label(number), "{api:?}");
            let batch = report.record.attempts[0].batch.as_deref().unwrap();
            assert!(batch.batch.is_some() && batch.ended.is_some());
        }
        // Letters 3, 13 and 23 were corrected, together.
        assert_eq!(server.batches_seen(), 2, "{api:?}");
        assert_eq!(server.billed_lines().len(), 33, "{api:?}");
        let usage = run.ledger().total();
        assert_eq!(usage.requests, 33, "{api:?}");
        assert_eq!(usage.total.known, 33 * 110, "{api:?}");
        assert_eq!(server.files_left(), 0, "files are deleted: {api:?}");

        // Started again, nothing is asked.
        let again = run
            .map(letters(30))
            .resume(place.open())
            .batch_api(quick())
            .await;
        assert!(again.iter().all(Result::is_ok));
        assert_eq!(server.batches_seen(), 2);
    }
}

#[tokio::test]
async fn an_evaluation_asks_by_batches() {
    let server = sorting().start().await.unwrap();
    let place = Place::new("evaluate");
    let run = run(&server, Api::Chat);
    let cases = letters(6).into_iter().enumerate();
    let data = Dataset::new(cases.map(|(number, node)| (node, label(number))));
    let report = evaluate(&run, &data, exact())
        .resume(place.open())
        .batch_api(quick())
        .await
        .unwrap();
    assert_eq!(report.mean(), 1.0);
    assert_eq!(server.billed_lines().len(), 7);
    assert_eq!(server.batches_seen(), 2);
}

#[tokio::test]
async fn a_map_over_a_batch_needs_a_journal_and_a_model_that_has_batches() {
    let server = sorting().start().await.unwrap();
    let run = run(&server, Api::Chat);
    let without_journal = run.map(letters(1)).batch_api(quick()).await;
    let error = without_journal[0].as_ref().unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains(".resume("), "{error}");

    let place = Place::new("config");
    let elsewhere = crate::support::run_at("https://llm.example/v1", Api::Chat);
    let outcome = elsewhere
        .map(letters(1))
        .resume(place.open())
        .batch_api(quick())
        .await;
    let error = outcome[0].as_ref().unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains("no batch API"), "{error}");
    assert_eq!(server.requests_seen(), 0);
}

/// Written by version 6, by a process that was killed while its batch was under way. Later versions read it.
#[tokio::test]
async fn a_journal_of_version_6_knows_its_batch() {
    let place = Place::new("golden");
    std::fs::write(
        place.path(),
        include_bytes!("../older_formats/map-batch-v6.journal"),
    )
    .unwrap();
    let history = place.open().history().unwrap();
    assert_eq!(history.unknown().len(), 4);
    let lost = history.unknown()[0].attempt.as_ref().unwrap();
    assert!(lost.batch.as_ref().unwrap().name.starts_with("llmnode-"));
    assert_eq!(history.ledger().total().requests, 4);
}
