//! Files that were cut short or changed.

use std::path::Path;

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Fsync, JournalError, JournalFile};
use llmnode_runtime::{Category, FormatError};

use crate::support::{Outcome, Research, STEPS, fails_after, model, path, run, undisturbed};

/// The bytes of a journal of two steps and a half.
async fn journal(name: &str) -> Vec<u8> {
    let path = path(name);
    run(fails_after(2))
        .flow(Research)
        .journal(open(&path))
        .await
        .unwrap_err();
    std::fs::read(path).unwrap()
}

/// A file that is not synced to the disk, as nobody pulls the plug here.
fn open(path: &Path) -> JournalFile {
    JournalFile::open(path).unwrap().fsync(Fsync::Never)
}

/// How many whole lines these bytes begin with; one may lack its break.
fn lines(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let whole = |line: &&str| {
        line.len() >= 18 && usize::from_str_radix(&line[9..17], 16) == Ok(line.len() - 18)
    };
    text.split('\n').filter(whole).count()
}

fn steps(path: &Path) -> Result<u64, JournalError> {
    JournalFile::open(path)?
        .history()
        .map(|history| history.steps())
}

#[tokio::test]
async fn cut_at_any_byte_a_journal_goes_on_from_the_last_whole_record() {
    let (bytes, path) = (journal("whole-to-cut").await, path("cut"));
    let text = String::from_utf8(bytes.clone()).unwrap();
    let completed = |cut: usize| {
        let whole = text.split_inclusive('\n').take(lines(&bytes[..cut]));
        whole
            .filter(|line| line.contains(r#""record":{"stepped""#))
            .count()
    };
    // Also of the step under way.
    let answered = |cut: usize| {
        let whole = text.split_inclusive('\n').take(lines(&bytes[..cut]));
        whole
            .filter(|line| line.contains(r#""record":{"answered""#))
            .count()
    };
    let expected = undisturbed().await;
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert_eq!(steps(&path).unwrap(), completed(cut) as u64, "cut at {cut}");
        // All the way to the end at every 31st byte, and near the ends of lines.
        let near_end = bytes[cut.saturating_sub(2)..bytes.len().min(cut + 2)].contains(&b'\n');
        if cut % 31 == 0 || near_end {
            let rest = model();
            let mut second = run(rest.clone());
            let action = second.flow(Research).resume(open(&path)).await.unwrap();
            assert_eq!(
                (action, rest.requests().len()),
                (
                    Outcome::Published("done".into()),
                    STEPS as usize - answered(cut)
                )
            );
            assert_eq!(*second.state(), expected, "cut at {cut}");
            assert_eq!(
                steps(&path).unwrap(),
                STEPS,
                "what was torn does not stand between records: cut at {cut}"
            );
        }
    }
}

#[tokio::test]
async fn any_byte_that_changed_is_found_and_its_line_named() {
    let (bytes, path) = (journal("whole-to-flip").await, path("flipped"));
    for at in 0..bytes.len() {
        // One bit, or a line break where none was.
        let changed = if at % 2 == 0 || bytes[at] == b'\n' {
            bytes[at] ^ (1 << (at / 2 % 8))
        } else {
            b'\n'
        };
        let mut flipped = bytes.clone();
        flipped[at] = changed;
        std::fs::write(&path, &flipped).unwrap();
        let error = steps(&path).unwrap_err();
        let JournalError::Damaged { line, whole, .. } = &error else {
            panic!("{at}: {error}")
        };
        let before = bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(*line, before + 1, "{at}: {error}");
        assert_eq!(
            *line == 1,
            error
                .to_string()
                .ends_with("or start again with another one"),
            "{error}"
        );
        assert!(*whole as usize <= at);
        assert_eq!(std::fs::read(&path).unwrap(), flipped, "nothing is lost");
    }
}

#[tokio::test]
async fn a_line_that_is_missing_or_stands_twice_is_found() {
    let (bytes, path) = (journal("whole-to-shuffle").await, path("shuffled"));
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    for (at, shuffled) in [
        (4, [&lines[..3], &lines[4..]].concat().concat()),
        (5, [&lines[..4], &lines[3..]].concat().concat()),
    ] {
        std::fs::write(&path, shuffled).unwrap();
        let error = run(model())
            .flow(Research)
            .resume(open(&path))
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(
            error
                .message()
                .starts_with(&format!("line {at} of the journal ")),
            "{error}"
        );
        assert!(
            error
                .message()
                .contains("lines are missing, or two programs wrote at once"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn blocks_that_were_never_written_are_a_torn_end() {
    let (bytes, path) = (journal("whole-to-fill").await, path("filled"));
    for (cut, zeros) in [(0, 30), (12, 4096), (25, 4096)] {
        let begin = bytes.len() - 40;
        let torn = [&bytes[..begin + cut], &vec![0; zeros]].concat();
        std::fs::write(&path, torn).unwrap();
        assert_eq!(steps(&path).unwrap(), 2);
        run(model())
            .flow(Research)
            .resume(open(&path))
            .await
            .unwrap();
        assert_eq!(steps(&path).unwrap(), STEPS);
    }
}

#[test]
fn what_is_no_journal_is_refused_and_stays_as_it_is() {
    let path = path("foreign");
    std::fs::write(&path, "{\"format\": \"llmnode/ledger\", \"version\": 1}\n").unwrap();
    assert!(matches!(steps(&path), Err(JournalError::Foreign { .. })));
    for (format, version, error) in [
        (
            "llmnode/ledger",
            1,
            "not a llmnode/journal: its format is \"llmnode/ledger\"",
        ),
        (
            "llmnode/journal",
            8,
            "llmnode/journal version 8 is newer than version 7",
        ),
    ] {
        let json = format!(
            r#"{{"format":"{format}","version":{version},"n":0,"record":"of another kind"}}"#
        );
        std::fs::write(
            &path,
            format!(
                "{:08x} {:08x} {json}\n",
                crc32fast::hash(json.as_bytes()),
                json.len()
            ),
        )
        .unwrap();
        let found = steps(&path).unwrap_err();
        assert!(matches!(
            found,
            JournalError::Format(FormatError::Foreign { .. } | FormatError::Newer { .. })
        ));
        assert!(found.to_string().starts_with(error), "{found}");
    }
    #[cfg(unix)]
    assert!(
        JournalFile::open("/dev/zero")
            .unwrap_err()
            .to_string()
            .ends_with("it is not a regular file")
    );
    let directory = JournalFile::open(env!("CARGO_TARGET_TMPDIR")).unwrap_err();
    assert!(
        matches!(directory, JournalError::Io { verb: "opened", .. }),
        "{directory}"
    );
}

#[tokio::test]
async fn a_file_that_was_never_a_journal_is_refused_and_stays_as_it_is() {
    let path = path("foreign-short");
    let foreign = [
        "1.0",
        "note",
        "hello world",
        "DEADBEEF",
        "deadbeef-0000001",
        "deadbeef 00000010 my notes",
        r#"deadbeef 00000200 {"format":"llmnode/ledger""#,
        "a line of some other file\n",
        "{\"some\": \"other JSON\"}\nand more",
        "note\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ];
    for bytes in foreign {
        std::fs::write(&path, bytes).unwrap();
        assert!(
            matches!(steps(&path), Err(JournalError::Foreign { .. })),
            "{bytes}"
        );
        let resumed = run(model())
            .flow(Research)
            .resume(open(&path))
            .await
            .unwrap_err();
        let started = run(model())
            .flow(Research)
            .journal(open(&path))
            .await
            .unwrap_err();
        for error in [resumed, started] {
            assert_eq!(error.category(), Category::ConfigError);
            let message = format!(
                "the file {} is not a journal, and was not changed; ",
                path.display()
            );
            assert!(error.message().starts_with(&message), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), bytes);
    }
}
