//! One game between two engines.

use std::time::Duration;

use evalcurve_calibration::Score;
use evalcurve_calibration::types::{Color, Termination};
use evalcurve_engine::usi::{Position, Processes, engines_are_stopping};
use evalcurve_engine::{Board, EngineConfig, Failure, FailureKind, Game, Player, SearchResult};
use evalcurve_words::text;
use evalcurve_words::text::shortened;

use super::clock::SideClock;
use super::ending::{End, History};
use super::score_rules::ScoreRules;
use super::tournament::{Adjudication, Tournament};

/// The engine on one side. It is started when a game needs it, also after a failure.
pub(crate) struct Seat<'a> {
    pub engine: &'a EngineConfig,
    player: Option<Player>,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(engine: &'a EngineConfig) -> Self {
        Self { engine, player: None }
    }

    /// Ends the engine.
    pub(crate) fn leave(&mut self) {
        if let Some(player) = self.player.take() {
            player.quit();
        }
    }

    /// Begins a game. An engine that is left from an earlier game and has ended since is started again: there is no
    /// game that it could lose.
    fn begin_game(&mut self) -> Result<(), Failure> {
        self.player = Some(Player::for_game(self.player.take(), self.engine)?);
        Ok(())
    }

    fn processor_time(&self, now: &Processes) -> Duration {
        self.player.as_ref().map_or(Duration::ZERO, |player| player.processor_time(now))
    }

    fn game_over(&mut self, result: &str) {
        if let Some(player) = &mut self.player {
            player.game_over(result);
        }
    }
}

/// A move of a game.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlayedMove {
    /// As records write it.
    pub text: String,
    /// What the engine found, with a score that is no bound, and as its line the moves that it expects: in chess its
    /// own and those after it as UCI has them, in shogi those after its own as CSA has them. `None` for a move of the
    /// opening.
    pub search: Option<SearchResult>,
}

/// A finished game.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlayedGame {
    /// The start position, if it is not the initial one.
    pub start: Option<String>,
    /// The side that moves first.
    pub first: Color,
    pub moves: Vec<PlayedMove>,
    pub end: End,
    /// Time that the engines used, Black's first.
    pub time: [Duration; 2],
    /// Their processor time, with that of everything that they started; `None` where the system does not tell it.
    pub processor_time: Option<[Duration; 2]>,
}

/// The longest text in place of a move that results and records quote, in characters.
const MOST_QUOTED: usize = 200;

/// The most moves of a variation that records contain.
const LONGEST_LINE: usize = 20;

/// Plays a game from an opening; `seats` has Black's engine first. `None` if this program is ending.
pub(crate) fn play(tournament: &Tournament, opening: &Position, mut seats: [&mut Seat<'_>; 2]) -> Option<PlayedGame> {
    let start = Position { start: opening.start.clone(), moves: Vec::new() };
    let (board, _) = tournament.board(&start);
    let clocks = [0, 1].map(|side: usize| SideClock::new(seats[side].engine, tournament.patience_ms));
    let mut table = Table {
        tournament,
        history: History::default(),
        first: board.side(),
        board,
        position: start,
        moves: Vec::new(),
        clocks,
        agreed: [0; 2],
        by_score: ScoreRules::new(tournament),
        time: [Duration::ZERO; 2],
    };
    let mut end = table.history.add(tournament.game, &table.board);
    for text in &opening.moves {
        if end.is_none() {
            end = table.make_move(text, None);
        }
    }
    // an engine that does not start has lost when it is its turn
    let mut failures = [None, None];
    for (failure, seat) in failures.iter_mut().zip(&mut seats) {
        *failure = seat.begin_game().err();
    }
    let before = processor_times(&seats);
    let end = loop {
        if let Some(end) = end {
            break end;
        }
        let side = table.board.side();
        end = match failures[side.index()].take() {
            Some(failure) => Some(failed(side, &failure)),
            None => table.turn(seats[side.index()]),
        };
        if engines_are_stopping() {
            return None;
        }
    };
    let after = processor_times(&seats);
    let processor_time = before.zip(after).map(|(a, b)| [b[0].saturating_sub(a[0]), b[1].saturating_sub(a[1])]);
    for (color, seat) in [Color::Black, Color::White].into_iter().zip(&mut seats) {
        seat.game_over(match end.winner {
            None => "draw",
            Some(winner) if winner == color => "win",
            Some(_) => "lose",
        });
    }
    let Table { first, moves, time, .. } = table;
    Some(PlayedGame { start: opening.start.clone(), first, moves, end, time, processor_time })
}

/// The processor times of both engines so far; `None` where the system does not tell them.
fn processor_times([black, white]: &[&mut Seat<'_>; 2]) -> Option<[Duration; 2]> {
    let now = Processes::now()?;
    Some([black.processor_time(&now), white.processor_time(&now)])
}

/// A game in progress.
struct Table<'a> {
    tournament: &'a Tournament,
    history: History,
    first: Color,
    board: Board,
    position: Position,
    moves: Vec<PlayedMove>,
    clocks: [SideClock; 2],
    /// For how many plies both engines agree that a side has won.
    agreed: [u32; 2],
    by_score: ScoreRules,
    time: [Duration; 2],
}

fn failed(side: Color, failure: &Failure) -> End {
    match failure.kind() {
        FailureKind::Late => End::lost(Termination::TimeUp, side, failure.to_string()),
        _ => End::lost(Termination::Abnormal, side, failure.to_string()),
    }
}

impl Table<'_> {
    /// The engine whose turn it is moves. Returns the end of the game, if this is one.
    fn turn(&mut self, seat: &mut Seat<'_>) -> Option<End> {
        let side = self.board.side();
        let (own, other) = (&self.clocks[side.index()], &self.clocks[side.opponent().index()]);
        let available_ms = own.available_ms().map(|ms| ms.saturating_add(self.tournament.margin_ms));
        let patience = Duration::from_millis(available_ms.unwrap_or(self.tournament.patience_ms));
        let Some(player) = &mut seat.player else {
            return Some(failed(side, &Failure::new(FailureKind::Ended, text!("is not running"))));
        };
        let answer = match player.search(self.position.clone(), side, own.go(side, other), patience) {
            Ok(answer) => answer,
            Err(failure) => return Some(failed(side, &failure)),
        };
        let time = answer.time.unwrap_or_default();
        let used_ms = time.as_millis() as u64;
        self.time[side.index()] += time;
        if let Some(available_ms) = available_ms.filter(|ms| used_ms > *ms) {
            let detail = format!("the move took {used_ms} ms of {available_ms}");
            return Some(End::lost(Termination::TimeUp, side, detail));
        }
        self.clocks[side.index()].moved(used_ms);
        let text = answer.best.clone().unwrap_or_default();
        match text.as_str() {
            "resign" => return Some(End::won(Termination::Resignation, side.opponent())),
            "win" if self.board.may_declare() => return Some(End::won(Termination::Declaration, side)),
            "win" => return Some(End::lost(Termination::IllegalDeclaration, side, "the declaration is not valid")),
            _ if !self.board.is_legal(&text) => {
                let detail = if text.is_empty() { "no move".to_owned() } else { shortened(&text, MOST_QUOTED) };
                return Some(End::lost(Termination::IllegalMove, side, detail));
            }
            _ => {}
        }
        let score = answer.score.filter(|_| answer.bound.is_none());
        let decided = self.adjudicated(side, seat.engine, score);
        let declared = answer.declared.filter(|_| score.is_some());
        let (any_score, pv) = (answer.score, self.expected(&text, &answer.pv));
        let end = self.make_move(&text, Some(SearchResult { score, declared, pv, ..answer })).or(decided);
        end.or_else(|| self.by_score.add(side, seat.engine, any_score, &self.board))
    }

    /// Plays a legal move. Returns the end of the game by the rules, or at the ply limit.
    fn make_move(&mut self, text: &str, search: Option<SearchResult>) -> Option<End> {
        let written = self.board.record_text(text).unwrap_or_else(|| text.to_owned());
        let text = self.board.normalized(text).unwrap_or_else(|| text.to_owned());
        self.board.play(&text);
        self.position.moves.push(text);
        self.moves.push(PlayedMove { text: written, search });
        let full = self.tournament.most_plies().is_some_and(|most| self.moves.len() >= most as usize);
        let by_rule = self.history.add(self.tournament.game, &self.board);
        by_rule.or_else(|| full.then(|| End::draw(Termination::MaxMoves)))
    }

    /// The rest of a variation that begins with the move.
    fn expected(&self, text: &str, pv: &[String]) -> Vec<String> {
        let Some((first, rest)) = pv.split_first().filter(|(first, _)| *first == text) else { return Vec::new() };
        let mut board = self.board.clone();
        let is_chess = self.tournament.game == Game::Chess;
        let mut line: Vec<String> = board.normalized(first).filter(|_| is_chess).into_iter().collect();
        board.play(first);
        for text in rest.iter().take(LONGEST_LINE) {
            let written = if is_chess { board.normalized(text) } else { board.record_text(text) };
            let Some(written) = written else { break };
            line.push(written);
            board.play(text);
        }
        line
    }

    /// The end of a game that both engines have seen as decided for long enough.
    fn adjudicated(&mut self, side: Color, engine: &EngineConfig, score: Option<Score>) -> Option<End> {
        let Adjudication { win_rate, moves } = self.tournament.adjudication?;
        let calibration = engine.calibration.as_ref()?;
        let rate = score.map(|score| calibration.win_rate(calibration.classify_score(score)));
        for winner in [Color::Black, Color::White] {
            let seen = rate.map(|rate| if winner == side { rate } else { 1.0 - rate });
            let agreed = &mut self.agreed[winner.index()];
            *agreed = if seen.is_some_and(|rate| rate >= win_rate) { *agreed + 1 } else { 0 };
            if *agreed >= moves.saturating_mul(2) {
                return Some(End::won(Termination::Adjudication, winner));
            }
        }
        None
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::Calibration;
    use evalcurve_engine::usi::Launch;
    use evalcurve_engine::{Limit, TimeControl};
    use std::path::Path;

    /// A shell script that answers the commands of USI; `more` are its answers to other commands.
    fn engine(more: &str) -> EngineConfig {
        let script = format!(
            "while read w r; do case $w in usi) echo usiok;; isready) echo readyok;; quit) exit;; {more} esac; done"
        );
        let launch = Launch { command: "sh".into(), args: vec!["-c".into(), script.into()], ..Launch::default() };
        let (name, limit) = ("script".to_owned(), Some(Limit::Nodes(1)));
        EngineConfig { name, launch, limit, start_ms: 20_000, ready_ms: 20_000, ..EngineConfig::default() }
    }

    /// The ends of games between two engines that stay in their seats.
    fn ends(black: &EngineConfig, white: &EngineConfig, games: usize) -> Vec<End> {
        let tournament = Tournament { patience_ms: 20_000, ..Tournament::default() };
        let mut seats = [black, white].map(Seat::new);
        let mut play = || {
            let [black, white] = &mut seats;
            play(&tournament, &Position::default(), [black, white]).unwrap().end
        };
        (0..games).map(|_| play()).collect()
    }

    /// The largest numbers of a tournament file.
    #[test]
    fn huge_times_and_numbers_of_moves_are_as_good_as_none() {
        let most = i64::MAX as u64;
        let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/published/gikou.json");
        let clock = Some(TimeControl { main_ms: most, increment_ms: most, byoyomi_ms: most, moves: most });
        let calibration = Some(Calibration::read(published).unwrap());
        let [plays, resigns] = ["7g7f", "resign"].map(|word| {
            let engine = engine(&format!("go) echo info depth 1 score cp 9000; echo bestmove {word};;"));
            EngineConfig { clock, limit: None, calibration: calibration.clone(), ..engine }
        });
        let adjudication = Some(Adjudication { win_rate: 0.9, moves: 1 << 31 });
        let tournament = Tournament { margin_ms: most, adjudication, ..Tournament::default() };
        let [black, white] = &mut [&plays, &resigns].map(Seat::new);
        let end = play(&tournament, &Position::default(), [black, white]).unwrap().end;
        assert_eq!(end, End::won(Termination::Resignation, Color::Black));
    }

    #[test]
    fn what_an_engine_says_in_place_of_a_move_is_shortened() {
        let long = engine("go) printf 'bestmove %060000d\\n' 7;;");
        let [end] = &ends(&long, &long, 1)[..] else { panic!("a game") };
        assert_eq!((end.termination, end.winner), (Termination::IllegalMove, Some(Color::White)));
        assert_eq!(end.detail, "0".repeat(200) + "…");
    }

    #[test]
    fn an_engine_that_ends_between_games_is_started_again() {
        let resigns = engine("go) echo bestmove resign;;");
        let leaves = engine("go) echo bestmove resign;; gameover) exit;;");
        let resigned = End::won(Termination::Resignation, Color::White);
        assert_eq!(ends(&leaves, &leaves, 3), [resigned.clone(), resigned.clone(), resigned]);
        // one that fails in a game has lost it, and is there for the next one
        let crashes = engine("go) exit;;");
        let lost = End::lost(Termination::Abnormal, Color::Black, "ended during its search");
        assert_eq!(ends(&crashes, &resigns, 2), [lost.clone(), lost]);
    }
}
