//! Independent cases on several threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::RunError;
use crate::run;

/// Between two looks at the caller's wish to stop.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// A scenario (JSON) and its seed.
pub type Case<'a> = (&'a str, u64);

/// The case that cannot be simulated, counted from 0, and why. An interruption is of the first.
#[derive(Debug, PartialEq, Eq)]
pub struct CaseError {
    pub case: usize,
    pub error: RunError,
}

/// Simulates every case as [`run`] does, on `threads` threads at a time (None: one per core), and
/// returns the results in the order of the cases.
///
/// # Errors
/// Of several cases that cannot be simulated the first is told, whichever was tried first.
/// `interrupted` is asked now and then, by the calling thread alone; true ends all.
pub fn run_many(
    cases: &[Case],
    threads: Option<NonZeroUsize>,
    mut interrupted: impl FnMut() -> bool,
) -> Result<Vec<String>, CaseError> {
    let cores = threads.or_else(|| thread::available_parallelism().ok());
    let workers = cores.map_or(1, NonZeroUsize::get).min(cases.len());
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    // The first case known to fail: what comes after it need not be tried.
    let failing = AtomicUsize::new(usize::MAX);
    let (sender, receiver) = mpsc::channel();
    let work = |sender: mpsc::Sender<(usize, Result<String, RunError>)>| loop {
        let case = next.fetch_add(1, Ordering::Relaxed);
        let needless = || stop.load(Ordering::Relaxed) || failing.load(Ordering::Relaxed) < case;
        let Some((scenario, seed)) = cases.get(case).filter(|_| !needless()) else {
            return;
        };
        let result = run(scenario, *seed, needless);
        if matches!(result, Err(RunError::Scenario(_))) {
            failing.fetch_min(case, Ordering::Relaxed);
        }
        if sender.send((case, result)).is_err() {
            return;
        }
    };
    let mut results = vec![None; cases.len()];
    thread::scope(|scope| {
        for _ in 0..workers {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        drop(sender);
        let mut looked = Instant::now();
        loop {
            match receiver.recv_timeout(CHECK_EVERY) {
                Ok((case, result)) => results[case] = Some(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if looked.elapsed() >= CHECK_EVERY && !stop.load(Ordering::Relaxed) {
                stop.store(interrupted(), Ordering::Relaxed);
                looked = Instant::now();
            }
        }
    });
    let results = results.into_iter().enumerate().map(|(case, result)| {
        // What was not tried came after a failure or an interruption.
        let result = result.unwrap_or(Err(RunError::Interrupted));
        result.map_err(|error| CaseError { case, error })
    });
    results.collect()
}
