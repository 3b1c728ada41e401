//! What the bar shows at the end, and that it moved.

use indicatif::{InMemoryTerm, ProgressDrawTarget};

use super::*;

#[tokio::test(start_paused = true)]
async fn the_bar_ends_full_and_counts_what_failed() {
    let terminal = InMemoryTerm::new(5, 100);
    let bar = bar().unwrap();
    bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
    let run = Run::new(SlowModel);
    let tally = judge_all(&run, &bar).await;
    bar.abandon();
    assert_eq!(
        tally,
        Tally {
            pleased: 196,
            annoyed: 98,
            failed: 6
        }
    );
    let shown = terminal.contents();
    assert!(
        shown.contains("300/300, 6 failed") && shown.starts_with(&"█".repeat(40)),
        "{shown:?}"
    );
}

#[test]
fn the_bar_shows_what_it_is_told_half_way() {
    let terminal = InMemoryTerm::new(5, 100);
    let bar = bar().unwrap();
    bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let mut seen = Vec::new();
    runtime.block_on(async {
        let run = Run::new(SlowModel);
        let nodes = (0..4).map(|number| Judge {
            review: format!("Review {number}"),
        });
        let told = run.map(nodes).on_progress(|so_far| {
            show(&bar, so_far);
            bar.force_draw();
            seen.push(terminal.contents());
        });
        assert!(told.await.iter().all(Result::is_ok));
    });
    let ends = [
        "1/4, 0 failed",
        "2/4, 0 failed",
        "3/4, 0 failed",
        "4/4, 0 failed",
    ];
    assert!(
        seen.iter()
            .zip(ends)
            .all(|(shown, end)| shown.contains(end)),
        "{seen:?}"
    );
}
