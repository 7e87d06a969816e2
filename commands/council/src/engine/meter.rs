//! What the members spend, for the vote log.

use std::time::{Duration, Instant};

use evalcurve_engine::Member;
use evalcurve_engine::usi::Processes;

/// One part in so many of the time may go into looks: where many processes run, a look takes milliseconds.
const LOOKS: u32 = 50;

/// The processor time of the members between two looks at the processes of the system.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The time of each member at the last look.
    before: Vec<Duration>,
    /// When to look again at the earliest.
    next: Option<Instant>,
}

impl Meter {
    /// Begins to measure.
    pub(crate) fn start(&mut self, members: &[Member]) {
        if let Some(now) = Processes::now() {
            self.before = members.iter().map(|member| member.processor_time(&now)).collect();
        }
    }

    /// What each member spent since the last look. `None` where the system does not tell it, and so soon after the last
    /// look that looking would cost too much: the next one has it all.
    pub(crate) fn spent(&mut self, members: &[Member]) -> Option<Vec<Duration>> {
        let since = Instant::now();
        if self.next.is_some_and(|next| since < next) || self.before.is_empty() {
            return None;
        }
        let now = Processes::now()?;
        self.next = Some(since + LOOKS * since.elapsed());
        let times: Vec<Duration> = members.iter().map(|member| member.processor_time(&now)).collect();
        let spent = times.iter().zip(&self.before).map(|(now, before)| now.saturating_sub(*before)).collect();
        self.before = times;
        Some(spent)
    }
}
