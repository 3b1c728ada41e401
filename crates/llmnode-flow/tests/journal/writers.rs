//! One writer at a time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Fsync, JournalError, JournalFile};
use llmnode_runtime::{Category, FnModel};

use crate::support::{Research, STEPS, answer, fails_after, model, path, run};

fn open(path: &Path) -> JournalFile {
    JournalFile::open(path).unwrap().fsync(Fsync::Never)
}

fn lock_of(journal: &Path) -> PathBuf {
    format!("{}.lock", journal.display()).into()
}

#[tokio::test]
async fn a_second_writer_is_refused_and_goes_on_once_the_first_has_ended() {
    let path = path("two");
    let other = path.clone();
    let refused = std::sync::Arc::new(std::sync::Mutex::new(None));
    let kept = refused.clone();
    // While the third request of the first flow is under way, another one resumes the journal.
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let first_model = FnModel::new(move |request| {
        if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2 {
            let path = other.clone();
            let second = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                let mut run = run(model());
                let journal = JournalFile::open(path).unwrap();
                runtime.block_on(run.flow(Research).resume(journal).into_future())
            });
            *kept.lock().unwrap() = Some(second.join().unwrap().unwrap_err());
        }
        answer(&request.messages[0].content)
    });
    let mut first = run(first_model);
    let journal = JournalFile::open(&path).unwrap();
    first.flow(Research).journal(journal.clone()).await.unwrap();
    let error = refused.lock().unwrap().take().unwrap();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .starts_with("another flow or map is writing to the journal "),
        "{error}"
    );
    assert_eq!(
        (first.state().done, journal.history().unwrap().steps()),
        (STEPS as u32, STEPS)
    );

    // A handle that the program keeps holds no lock.
    let mut second = run(model());
    second
        .flow(Research)
        .resume(JournalFile::open(&path).unwrap())
        .await
        .unwrap();
    assert_eq!(second.state().done, STEPS as u32);
}

/// Whether a flow could write to the journal now.
async fn is_free(path: &Path) -> bool {
    let ended = run(fails_after(0))
        .flow(Research)
        .resume(open(path))
        .await
        .unwrap_err();
    assert!(
        matches!(ended.category(), Category::Refusal | Category::ConfigError),
        "{ended}"
    );
    ended.category() == Category::Refusal
}

#[tokio::test]
async fn the_journal_is_free_as_soon_as_its_flow_is_no_longer_run() {
    let path = path("free");
    // Its end, by an error here; the future is still there.
    let mut first = run(fails_after(1));
    let mut failed = first.flow(Research).resume(open(&path));
    (&mut failed).await.unwrap_err();
    assert!(is_free(&path).await);
    drop(failed);

    // Its future is dropped, in the middle of a request.
    let slow = FnModel::new(|_| answer("never").after(Duration::from_secs(60)));
    let mut second = run(slow);
    let mut under_way = Box::pin(second.flow(Research).resume(open(&path)).into_future());
    tokio::time::timeout(Duration::from_millis(50), &mut under_way)
        .await
        .unwrap_err();
    assert!(!is_free(&path).await);
    drop(under_way);
    assert!(is_free(&path).await);
}

/// A process that is being started has the handles of the one that starts it, for a moment.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_is_free_at_once_also_while_other_processes_are_started() {
    let path = path("free-in-spite-of-children");
    let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let children = [(); 2].map(|()| {
        let ended = ended.clone();
        std::thread::spawn(move || {
            for _ in 0..2000 {
                if ended.load(std::sync::atomic::Ordering::Relaxed) {
                    return;
                }
                std::process::Command::new("true").status().unwrap();
            }
        })
    });
    let mut held = 0;
    for _ in 0..300 {
        held += u32::from(!is_free(&path).await);
    }
    ended.store(true, std::sync::atomic::Ordering::Relaxed);
    children.into_iter().for_each(|child| child.join().unwrap());
    assert_eq!(held, 0);
}

#[cfg(unix)]
#[tokio::test]
async fn the_lock_file_is_for_whom_the_journal_is() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let path = path("private");
    let lock = lock_of(&path);
    let _ = std::fs::remove_file(&lock);
    std::fs::write(&path, "").unwrap();
    for given in [0o600, 0o660, 0o640] {
        set(&path, given);
        assert!(is_free(&path).await);
        assert_eq!((mode(&lock), mode(&path)), (given, given));
    }
    // A file of somebody else's is locked, and stays as it is.
    std::fs::write(&lock, "mine").unwrap();
    set(&path, 0o600);
    assert!(is_free(&path).await);
    assert_eq!(
        (mode(&lock), std::fs::read(&lock).unwrap()),
        (0o640, b"mine".to_vec())
    );
}

#[tokio::test]
async fn what_cannot_be_locked_is_refused() {
    let path = path("unlockable");
    let _ = std::fs::remove_file(lock_of(&path));
    std::fs::create_dir_all(lock_of(&path)).unwrap();
    let error = run(model())
        .flow(Research)
        .resume(open(&path))
        .await
        .unwrap_err();
    std::fs::remove_dir(lock_of(&path)).unwrap();
    assert_eq!(error.category(), Category::Aborted);
    assert!(error.message().contains(" cannot be locked: "), "{error}");
    assert!(
        error.message().ends_with(" is not a regular file"),
        "{error}"
    );
}

/// Two processes begin with one journal at the same time: one runs, the other one is refused.
#[cfg(unix)]
#[tokio::test]
async fn of_two_processes_that_begin_together_one_runs() {
    use crate::crash::{Orders, beside, check_end, fresh, so_far, start};
    use crate::killing::was_killed;
    let expected = crate::support::undisturbed().await;
    let wait_until = |reached: &mut dyn FnMut() -> bool| {
        while !reached() {
            std::thread::sleep(Duration::from_micros(200));
        }
    };
    for pair in 0..100 {
        let journal = fresh(&format!("pair-{pair}"));
        let mut pair = [(); 2].map(|()| {
            start(
                &journal,
                Orders {
                    waits: true,
                    ..Orders::default()
                },
            )
        });
        let ready = pair
            .each_ref()
            .map(|child| beside(&journal, &format!("ready-{}", child.id())));
        wait_until(&mut || ready.iter().all(|ready| ready.exists()));
        std::fs::write(beside(&journal, "start"), "").unwrap();
        // The one that runs waits in its first request until the other one has ended.
        wait_until(&mut || {
            pair.iter_mut()
                .any(|child| child.try_wait().unwrap().is_some())
        });
        let refused = std::fs::read_to_string(beside(&journal, "refused")).unwrap();
        assert!(refused.starts_with("config_error: "), "{refused}");
        assert!(
            refused.contains("another flow or map is writing to the journal "),
            "{refused}"
        );
        assert_eq!(so_far(&journal).0, 0);
        std::fs::write(beside(&journal, "go"), "").unwrap();
        pair.iter_mut()
            .for_each(|child| assert!(!was_killed(child)));
        assert_eq!(
            so_far(&journal),
            (STEPS, STEPS as usize),
            "each request was made once"
        );
        check_end(&journal, &expected, 0);
    }
}

#[tokio::test]
async fn a_handle_reads_and_writes_the_file_that_has_the_name_now() {
    let path = path("watched");
    let watching = JournalFile::open(&path).unwrap();
    let other = path.with_extension("other");
    run(fails_after(3))
        .flow(Research)
        .journal(open(&other))
        .await
        .unwrap_err();
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(watching.history().unwrap().steps(), 3);
    run(fails_after(2))
        .flow(Research)
        .resume(watching.clone())
        .await
        .unwrap_err();
    assert_eq!(open(&path).history().unwrap().steps(), 5);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(
        watching.history(),
        Err(JournalError::Io { verb: "opened", .. })
    ));
}
