//! Processor time, at its best.

use std::time::{Duration, Instant};

use llmnode_benches::measure::cpu;

/// A batch takes at least so long, so that the clock's steps don't matter.
const BATCH: Duration = Duration::from_millis(4);
/// A table's rounds take at least so long each, on average: a machine that others share is slow for seconds at a time.
const ROUND: Duration = Duration::from_secs(2);

/// What is done, again and again, and how long it takes.
pub struct Timed<'a> {
    work: Box<dyn FnMut() + 'a>,
    /// How often makes a batch.
    times: u32,
    /// The least seconds that it took.
    pub least: f64,
}

impl<'a> Timed<'a> {
    pub fn new(work: impl FnMut() + 'a) -> Self {
        Timed {
            work: Box::new(work),
            times: 0,
            least: f64::INFINITY,
        }
    }

    /// Finds how often makes a batch.
    fn warm_up(&mut self) {
        // The first time fills caches, such as that of schemas.
        (self.work)();
        self.times = 1;
        loop {
            let took = self.batch() * f64::from(self.times);
            if took >= BATCH.as_secs_f64() / 2.0 {
                self.times = ((f64::from(self.times) * BATCH.as_secs_f64() / took) as u32).max(1);
                return;
            }
            self.times *= 4;
        }
    }

    fn batch(&mut self) -> f64 {
        let before = cpu();
        for _ in 0..self.times {
            (self.work)();
        }
        (cpu() - before).as_secs_f64() / f64::from(self.times)
    }
}

/// Measures all of a table. All take their turn in each round, so that whatever else the machine does hits all of
/// them; works whose times are compared stand side by side.
pub fn measure<'t, 'a: 't>(rounds: usize, table: impl Iterator<Item = &'t mut Timed<'a>>) {
    let mut table: Vec<_> = table.collect();
    table.iter_mut().for_each(|timed| timed.warm_up());
    let (begin, mut round) = (Instant::now(), 0);
    while round < rounds || begin.elapsed() < ROUND * rounds as u32 {
        for timed in &mut table {
            timed.least = timed.least.min(timed.batch());
        }
        round += 1;
    }
}
