//! Long calls: on a thread of their own, without the lock of the interpreter, with progress and Ctrl-C.

use std::io::ErrorKind;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evalcurve::run::{Error, Progress, with_options};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    evalcurve,
    EvalcurveError,
    PyValueError,
    "What the program evalcurve reports as an error: a wrong option, records or samples that allow no result."
);

/// How often signals and progress are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// The stack of a thread that computes, as the main thread of a program has it.
const STACK: usize = 8 << 20;

/// An error with these words.
pub(crate) fn error(text: impl ToString) -> PyErr {
    EvalcurveError::new_err(text.to_string())
}

/// A failed call as an exception with the same words.
pub(crate) fn call_error(error: Error) -> PyErr {
    of_kind(error.io(), keywords(&error.to_string()))
}

/// A message with options as keyword arguments.
pub(crate) fn keywords(text: &str) -> String {
    with_options(text, |option| option.replace('-', "_") + "=")
}

/// The exception for an error of input or output of this kind, or for any other error.
pub(crate) fn of_kind(io: Option<ErrorKind>, text: String) -> PyErr {
    match io {
        None => EvalcurveError::new_err(text),
        Some(ErrorKind::NotFound) => PyFileNotFoundError::new_err(text),
        Some(_) => PyOSError::new_err(text),
    }
}

/// Runs `work` on its own thread. Meanwhile, `progress` is called with bytes read, bytes in all, and games.
///
/// After Ctrl-C, or an exception in `progress`, reading stops and the call ends at once; a computation that is under
/// way ends by itself, and its result is dropped.
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Progress) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let seen = Arc::new(Progress::default());
    let progress_of_work = Arc::clone(&seen);
    let run = move || {
        // after an interruption there is no receiver
        let _ = sender.send(work(&progress_of_work));
    };
    std::thread::Builder::new().stack_size(STACK).spawn(run).map_err(PyErr::from)?;
    let mut shown = None;
    loop {
        let found = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
        let ended = !matches!(found, Err(RecvTimeoutError::Timeout));
        let now = (seen.bytes.load(Relaxed), seen.total_bytes.load(Relaxed), seen.games.load(Relaxed));
        let mut look = || {
            py.check_signals()?;
            match &progress {
                Some(progress) if shown != Some(now) => {
                    shown = Some(now);
                    progress.call1(now).map(|_| ())
                }
                _ => Ok(()),
            }
        };
        if let Err(error) = look() {
            seen.stop.store(true, Relaxed);
            return Err(error);
        }
        if ended {
            return found.map_err(|_| PyRuntimeError::new_err("the computation ended with a panic; please report it"));
        }
    }
}
