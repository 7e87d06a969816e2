//! The threads that a command computes on.

use std::io;

use crate::Error;

/// Computes on this many threads, or on the current rayon pool if it has as many or no number is given.
///
/// # Errors
/// [`Error::File`] if the system gives no threads.
pub fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    /// The stack of each thread, as the main thread of a program has it.
    const STACK: usize = 8 << 20;
    let is_there =
        |threads: &usize| rayon::current_thread_index().is_some() && rayon::current_num_threads() == *threads;
    let Some(threads) = threads.map(|n| n.max(1)).filter(|n| !is_there(n)) else { return Ok(work()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    let failed =
        |error| Error::File { what: "cannot begin threads".to_owned().into(), source: io::Error::other(error) };
    Ok(pool.map_err(failed)?.install(work))
}
