//! Processor time, at its best.

use std::time::Duration;

use llmnode_benches::measure::cpu;

/// A batch takes at least so long, so that the clock's steps don't matter.
const BATCH: Duration = Duration::from_millis(10);

/// What is done, again and again.
pub type Work<'a> = Box<dyn FnMut() + 'a>;

/// The least seconds that each of `works` took, in rounds in which all take their turn: what else the machine does
/// is in none of the figures, or in all.
pub fn best(rounds: usize, works: &mut [Work<'_>]) -> Vec<f64> {
    let times: Vec<u32> = works.iter_mut().map(enough).collect();
    let mut least = vec![f64::INFINITY; works.len()];
    for _ in 0..rounds {
        for ((work, times), least) in works.iter_mut().zip(&times).zip(&mut least) {
            *least = least.min(batch(work, *times));
        }
    }
    least
}

/// How often makes a batch.
fn enough(work: &mut Work<'_>) -> u32 {
    // The first time fills caches, such as that of schemas.
    work();
    let mut times = 1;
    loop {
        let took = batch(work, times) * f64::from(times);
        if took >= BATCH.as_secs_f64() / 2.0 {
            return ((f64::from(times) * BATCH.as_secs_f64() / took) as u32).max(1);
        }
        times *= 4;
    }
}

fn batch(work: &mut Work<'_>, times: u32) -> f64 {
    let before = cpu();
    for _ in 0..times {
        work();
    }
    (cpu() - before).as_secs_f64() / f64::from(times)
}
