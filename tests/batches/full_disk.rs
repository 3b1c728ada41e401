//! Journals that cannot be written while a batch is read, as on a full disk: what is paid for stays with the provider until it is kept.

use llmnode::journal::{Journal, JournalError, JournalFile, MapExt as _, Record};
use llmnode::{BoxFuture, Category, NodeError};

use crate::support::{APIS, Api, Place, label, letters, quick, run, sorting};

/// Writes no records of one kind, but for the first `after`.
struct Full {
    file: JournalFile,
    kind: &'static str,
    after: usize,
}

impl Journal for Full {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        self.file.read(each)
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        if record.kind() != self.kind {
            return self.file.append(record);
        }
        let Some(after) = self.after.checked_sub(1) else {
            let full = JournalError::Other("no space left on device".into());
            return Box::pin(std::future::ready(Err(full)));
        };
        self.after = after;
        self.file.append(record)
    }
}

#[tokio::test]
async fn files_of_a_batch_stay_until_the_journal_has_all_of_its_answers() {
    for api in APIS {
        for (kind, after) in [("answered", 0), ("answered", 2), ("batch_ended", 0)] {
            let what = format!("{api:?} {kind} {after}");
            let server = sorting().start().await.unwrap();
            let place = Place::new("full-disk");
            let file = place.open();
            let outcomes = run(&server, api)
                .map(letters(3))
                .resume(Full { file, kind, after })
                .batch_api(quick())
                .await;
            let unwritten = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
            let categories: Vec<Category> = unwritten.map(NodeError::category).collect();
            let expected = match kind {
                "answered" => 3 - after,
                _ => 0,
            };
            assert_eq!(categories, vec![Category::Aborted; expected], "{what}");
            if matches!(api, Api::Chat | Api::Responses) {
                assert_eq!(server.files_left(), 2, "{what}");
            }

            let outcomes = run(&server, api)
                .map(letters(3))
                .resume(place.open())
                .batch_api(quick())
                .await;
            for (number, outcome) in outcomes.into_iter().enumerate() {
                let found = outcome.unwrap_or_else(|error| panic!("{what} {number}: {error}"));
                assert_eq!(found, label(number), "{what}");
            }
            assert_eq!(server.batches_seen(), 1, "{what}");
            assert_eq!(server.billed_lines().len(), 3, "{what}");
            let history = place.open().history().unwrap();
            assert!(history.unknown().is_empty(), "{what}");
            assert_eq!(history.ledger().total().requests, 3, "{what}");
            assert_eq!(history.ledger().total().total.known, 330, "{what}");
        }
    }
}
