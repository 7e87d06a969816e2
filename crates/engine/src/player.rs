//! An engine that plays by itself, for match runners: every call waits for its answer.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use evalcurve_calibration::types::Color;
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::{display_text, text};

use super::config::EngineConfig;
use super::member::Member;
use super::queue::{QUEUE_CAPACITY, wait};
use super::task::{FailureKind, MemberEvent, SearchResult, Task};
use crate::usi::{EngineOutput, Go, Position, Processes, Protocol};

/// How long an engine has to end after `quit`. A council waits for its own members in this time.
const QUIT_TIME: Duration = Duration::from_millis(1_500);

/// How often to look whether an engine that is silent has ended while something that it started holds its output.
const WATCH_TIME: Duration = Duration::from_millis(100);

/// How long the last output of an engine that has ended may take to arrive.
const LAST_OUTPUT_TIME: Duration = Duration::from_millis(500);

/// Why an engine gave no answer: its kind, and a message. Unless the position was at fault, its process has ended, and
/// the player cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    kind: FailureKind,
    what: Text,
}

impl Failure {
    /// A failure with its message.
    pub fn new(kind: FailureKind, what: Text) -> Self {
        Self { kind, what }
    }

    /// What a program can do about it.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }
}

impl ToText for Failure {
    fn to_text(&self) -> Text {
        self.what.clone()
    }
}

display_text!(Failure);

impl std::error::Error for Failure {}

/// A running engine. Dropping it ends the engine and everything that the engine started.
pub struct Player {
    member: Member,
    output: Receiver<(u64, EngineOutput)>,
    protocol: Protocol,
    /// The engine has answered `isready` since its last game.
    ready: bool,
    /// Its process is the engine. One that has ended when the engine is ready has only launched it.
    watched: bool,
    /// Why it cannot be used any more.
    failure: Option<Failure>,
}

impl Player {
    /// Starts an engine, sets its options and waits until it is ready.
    ///
    /// # Errors
    /// The program does not exist, ends, or does not get ready in the time of its configuration.
    pub fn start(config: &EngineConfig) -> Result<Self, Failure> {
        let (sender, output) = sync_channel(QUEUE_CAPACITY);
        let listener = Arc::new(move |process, output| sender.send((process, output)).is_ok());
        let member = Member::new(config.clone(), 0, listener);
        let mut player =
            Self { member, output, protocol: config.protocol, ready: false, watched: false, failure: None };
        player.member.start(Instant::now());
        player.prepare()?;
        player.watched = !player.member.has_ended();
        Ok(player)
    }

    /// Begins a game with an engine that is left from an earlier one. If there is none, or it has ended since, another
    /// is started.
    ///
    /// # Errors
    /// As of [`Player::start`] and [`Player::new_game`].
    pub fn for_game(kept: Option<Self>, config: &EngineConfig) -> Result<Self, Failure> {
        if let Some(mut kept) = kept
            && kept.new_game().is_ok()
        {
            return Ok(kept);
        }
        let mut player = Self::start(config)?;
        player.new_game()?;
        Ok(player)
    }

    /// The name that the engine reports.
    pub fn own_name(&self) -> Option<&str> {
        self.member.own_name.as_deref()
    }

    /// The processor time of the engine since its start, with that of everything that it started.
    pub fn processor_time(&self, now: &Processes) -> Duration {
        self.member.processor_time(now)
    }

    /// Why its moves are not the same every time although its limit is a number of nodes or a depth.
    pub fn not_repeatable(&self) -> Option<Text> {
        self.member.not_repeatable()
    }

    /// What its configuration sets that it does not declare.
    pub fn unknown_options(&self) -> impl Iterator<Item = Text> {
        self.member.unknown_options()
    }

    /// Begins a game: `isready` and `usinewgame`, or `ucinewgame` and `isready`.
    ///
    /// # Errors
    /// The engine does not get ready, or has failed before.
    pub fn new_game(&mut self) -> Result<(), Failure> {
        self.check()?;
        match self.protocol {
            Protocol::Usi => {
                if !self.ready {
                    self.prepare()?;
                }
                self.member.new_game(Instant::now());
            }
            Protocol::Uci => {
                self.member.new_game(Instant::now());
                self.prepare()?;
            }
        }
        self.ready = false;
        Ok(())
    }

    /// Lets the engine search and returns its answer, whatever it is: a move, `resign`, `win`, or another word.
    ///
    /// # Errors
    /// The engine ends, or it does not answer within `patience`, or has failed before. Its process is ended then.
    pub fn search(
        &mut self,
        position: Position,
        side: Color,
        go: Go,
        patience: Duration,
    ) -> Result<SearchResult, Failure> {
        self.check()?;
        let since = Instant::now();
        let task = Task { position, side, go, since, nodes: None, budget: None, margin: None };
        self.member.search(&task, since);
        if self.wait(since + patience, |member| member.is_asked())? {
            return Ok(self.member.result());
        }
        if self.watched && self.member.has_ended() {
            self.member.close(Instant::now());
            // it has failed, whether it was in time or not
            self.wait(since, |_| false)?;
        }
        self.end();
        let what = text!("no move within {ms} ms", ms = patience.as_millis());
        Err(self.failed(Failure::new(FailureKind::Late, what)))
    }

    /// Reports the result of the game: `win`, `lose` or `draw`.
    pub fn game_over(&mut self, result: &str) {
        self.member.game_over(result);
    }

    /// Sends `quit`, and ends the process if it does not end by itself.
    pub fn quit(mut self) {
        self.end();
    }

    fn check(&self) -> Result<(), Failure> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Ends the process at once. The failure is the answer to everything from now on.
    fn failed(&mut self, failure: Failure) -> Failure {
        self.member.end();
        self.failure = Some(failure.clone());
        failure
    }

    fn end(&mut self) {
        self.member.quit();
        // a failure is an end, too
        let _ = self.wait(Instant::now() + QUIT_TIME, |member| !member.is_gone());
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        self.member.prepare(Instant::now());
        // the engine has its own deadlines for this
        let until = Instant::now() + Duration::from_secs(24 * 3600);
        self.wait(until, |member| member.is_starting() || member.is_preparing())?;
        self.ready = true;
        Ok(())
    }

    /// Processes output until the engine is not busy any more. Returns false if it still is at `until`.
    fn wait(&mut self, until: Instant, busy: impl Fn(&Member) -> bool) -> Result<bool, Failure> {
        let mut ended = None;
        loop {
            for event in std::mem::take(&mut self.member.events) {
                if let MemberEvent::Fault { kind, what, .. } = event {
                    return Err(self.failed(Failure::new(kind, what)));
                }
            }
            let now = Instant::now();
            if !busy(&self.member) {
                return Ok(true);
            }
            if now >= until {
                return Ok(false);
            }
            let next = self.member.deadline().map_or(until, |at| at.min(until));
            let next = if self.watched { next.min(now + WATCH_TIME) } else { next };
            if let Some((process, output)) = wait(&self.output, Some(next)) {
                self.member.on_output(process, output, Instant::now());
            } else if self.watched && self.member.has_ended() {
                let now = Instant::now();
                if now >= *ended.get_or_insert(now) + LAST_OUTPUT_TIME {
                    self.member.close(now);
                }
            }
            // also after output: an engine that floods cannot put a deadline off
            self.member.check_deadline(Instant::now());
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::usi::Launch;

    fn config(script: &str) -> EngineConfig {
        let args = vec!["-c".into(), script.into()];
        let launch = Launch { command: "sh".into(), args, ..Launch::default() };
        EngineConfig { name: "script".into(), launch, start_ms: 5_000, ready_ms: 5_000, ..EngineConfig::default() }
    }

    #[test]
    fn a_program_alone_is_a_configuration() {
        let launch = engine("echo bestmove 7g7f").launch;
        let mut player = Player::start(&EngineConfig { launch, ..EngineConfig::default() }).unwrap();
        player.new_game().unwrap();
    }

    /// A shell script that answers the commands of USI; `$go` is what it does when it is asked for a move.
    fn engine(go: &str) -> EngineConfig {
        config(&format!(
            "while read w r; do case $w in usi) echo id name Shell; echo usiok;; isready) echo readyok;; \
             go) {go};; quit) exit;; esac; done"
        ))
    }

    fn search(go: &str, patience_ms: u64) -> Result<SearchResult, Failure> {
        let mut player = Player::start(&engine(go))?;
        assert_eq!(player.own_name(), Some("Shell"));
        player.new_game()?;
        let go = Go { nodes: Some(7), ..Go::default() };
        player.search(Position::default(), Color::Black, go, Duration::from_millis(patience_ms))
    }

    #[test]
    fn the_command_reaches_the_engine_as_it_is() {
        let found = search("echo info score cp 12 pv 7g7f; echo bestmove \"$(echo $r | tr ' ' -)\"", 20_000).unwrap();
        assert_eq!(found.best.as_deref(), Some("nodes-7"));
        assert!(found.time.is_some());
    }

    fn said<T>(found: Result<T, Failure>) -> Option<String> {
        found.err().map(|failure| failure.to_string())
    }

    fn kind<T>(found: Result<T, Failure>) -> Option<FailureKind> {
        found.err().map(|failure| failure.kind())
    }

    #[test]
    fn each_failure_has_its_kind() {
        let failure = search("echo broken >&2; exit 1", 20_000).unwrap_err();
        assert_eq!((failure.kind(), &*failure.to_string()), (FailureKind::Ended, "ended during its search (broken)"));
        let failure = search("sleep 1000", 50).unwrap_err();
        assert_eq!((failure.kind(), &*failure.to_string()), (FailureKind::Late, "no move within 50 ms"));
        let of_command = |command: &str| {
            let launch = Launch { command: command.into(), ..Launch::default() };
            Player::start(&EngineConfig { launch, ..config("") }).err().unwrap()
        };
        let failure = of_command("no/such/engine");
        assert!(failure.to_string().starts_with("cannot start 'no/such/engine'"));
        assert_eq!(failure.kind(), FailureKind::NotFound);
        assert_eq!(of_command("/").kind(), FailureKind::NotStarted);
        let mute = || Player::start(&EngineConfig { start_ms: 100, ..config("sleep 1000") });
        assert_eq!(said(mute()).as_deref(), Some("no usiok within 100 ms"));
        assert_eq!(kind(mute()), Some(FailureKind::NotReady));
        assert_eq!(kind(Player::start(&config("read w; echo unknown command"))), Some(FailureKind::Unusable));
    }

    #[test]
    fn a_flood_at_the_start_puts_no_deadline_off() {
        // long lines: it takes longer to read them than to write them, so that the queue is never empty
        let flood = format!("exec yes 'info depth 10 score cp 1 pv{}'", " 7g7f".repeat(400));
        let mute = Player::start(&EngineConfig { start_ms: 200, ..config(&flood) });
        assert_eq!(said(mute).as_deref(), Some("no usiok within 200 ms"));
        let greets = format!("echo usiok; {flood}");
        let unready = Player::start(&EngineConfig { ready_ms: 200, ..config(&greets) });
        assert_eq!(said(unready).as_deref(), Some("no readyok within 200 ms"));
    }

    #[test]
    fn an_engine_that_ends_has_ended_although_its_child_holds_its_output() {
        for patience_ms in [20_000, 300] {
            let go = "echo broken >&2; sleep 1000 & exit 1";
            assert_eq!(
                said(search(go, patience_ms)).as_deref(),
                Some("ended during its search (broken)"),
                "{patience_ms} ms"
            );
        }
        // its answer still counts
        let found = search("echo bestmove 7g7f; sleep 1000 & exit", 20_000).unwrap();
        assert_eq!(found.best.as_deref(), Some("7g7f"));
    }

    #[test]
    fn a_program_that_launches_the_engine_and_ends_is_not_the_engine() {
        let script = "exec 3<&0; while read w r; do case $w in usi) echo usiok;; isready) sleep 0.3; echo readyok;; \
                      go) sleep 1; echo bestmove 7g7f;; esac; done <&3 & exit";
        let mut player = Player::start(&config(script)).unwrap();
        player.new_game().unwrap();
        let found = player.search(Position::default(), Color::Black, Go::default(), Duration::from_secs(20)).unwrap();
        assert_eq!(found.best.as_deref(), Some("7g7f"));
    }

    #[test]
    fn what_an_engine_adds_after_its_answer_is_no_answer_to_the_next_search() {
        let go = "n=$((n+1)); echo bestmove first$n; echo info score cp 99 pv 1a1b; echo bestmove late$n";
        let mut player = Player::start(&engine(go)).unwrap();
        player.new_game().unwrap();
        for first in ["first1", "first2", "first3"] {
            let found =
                player.search(Position::default(), Color::Black, Go::default(), Duration::from_secs(20)).unwrap();
            assert_eq!((found.best.as_deref(), found.score), (Some(first), None));
            // by then, the rest has been read
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    #[test]
    fn a_player_that_has_failed_fails_again_and_has_no_process() {
        for (go, patience_ms, expected) in
            [("exit 1", 20_000, "ended during its search"), ("sleep 1000", 50, "no move within 50 ms")]
        {
            let script = format!(
                "echo id name $$; while read w; do case $w in usi) echo usiok;; isready) echo readyok;; \
                 go*) {go};; esac; done"
            );
            let mut player = Player::start(&config(&script)).unwrap();
            player.new_game().unwrap();
            let mut search = || {
                let patience = Duration::from_millis(patience_ms);
                player.search(Position::default(), Color::Black, Go::default(), patience)
            };
            assert_eq!([said(search()), said(search())].map(Option::unwrap), [expected; 2]);
            assert_eq!(said(player.new_game()).as_deref(), Some(expected));
            let alive = std::process::Command::new("kill").args(["-0", player.own_name().unwrap()]).output().unwrap();
            assert!(!alive.status.success(), "{expected}");
        }
    }
}
