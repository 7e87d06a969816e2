//! One game between two engines.

use std::time::Duration;

use evalcurve_core::calibration::Score;
use evalcurve_core::types::{Color, Declared, Termination};
use evalcurve_council::usi::{Position, engines_are_stopping};
use evalcurve_council::{Board, EngineConfig, Failure, Player, SearchResult};

use super::clock::SideClock;
use super::ending::{End, History};
use super::tournament::{Adjudication, Tournament};

/// The engine on one side. It is started when a game needs it, also after a failure.
pub(crate) struct Seat<'a> {
    pub engine: &'a EngineConfig,
    player: Option<Player>,
}

impl<'a> Seat<'a> {
    pub fn new(engine: &'a EngineConfig) -> Self {
        Self { engine, player: None }
    }

    /// Ends the engine.
    pub fn leave(&mut self) {
        if let Some(player) = self.player.take() {
            player.quit();
        }
    }

    fn begin_game(&mut self) -> Result<(), Failure> {
        if self.player.is_none() {
            self.player = Some(Player::start(self.engine)?);
        }
        let begun = self.player.as_mut().map_or(Ok(()), Player::new_game);
        if begun.is_err() {
            self.player = None;
        }
        begun
    }

    fn answer(&mut self, question: Question) -> Result<SearchResult, Failure> {
        let Question { position, side, go, patience } = question;
        let Some(player) = &mut self.player else { return Err(Failure::Ended("is not running".to_owned())) };
        let answer = player.search(position, side, go, patience);
        if answer.is_err() {
            self.player = None;
        }
        answer
    }

    fn game_over(&mut self, result: &str) {
        if let Some(player) = &mut self.player {
            player.game_over(result);
        }
    }
}

struct Question {
    position: Position,
    side: Color,
    go: evalcurve_council::usi::Go,
    patience: Duration,
}

/// A move of a game.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlayedMove {
    /// As records write it.
    pub text: String,
    /// What the engine found; `None` for a move of the opening.
    pub search: Option<Found>,
}

/// What an engine found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// The score from the engine's point of view, unless it is only a bound.
    pub score: Option<Score>,
    /// The rates of wins, draws and losses that the engine declared with the score.
    pub declared: Option<Declared>,
    pub depth: Option<u32>,
    /// The moves that the engine expects after its own, as records write them.
    pub expected: Vec<String>,
    pub time: Duration,
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
}

/// The most moves of a variation that records contain.
const LONGEST_LINE: usize = 20;

/// Plays a game from an opening; `seats` has Black's engine first. `None` if this program is ending.
pub(crate) fn play(tournament: &Tournament, opening: &Position, mut seats: [&mut Seat<'_>; 2]) -> Option<PlayedGame> {
    let start = Position { start: opening.start.clone(), moves: Vec::new() };
    let (board, _) = Board::new(tournament.game, &start);
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
    for (color, seat) in [Color::Black, Color::White].into_iter().zip(&mut seats) {
        seat.game_over(match end.winner {
            None => "draw",
            Some(winner) if winner == color => "win",
            Some(_) => "lose",
        });
    }
    let Table { first, moves, time, .. } = table;
    Some(PlayedGame { start: opening.start.clone(), first, moves, end, time })
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
    time: [Duration; 2],
}

fn failed(side: Color, failure: &Failure) -> End {
    match failure {
        Failure::Ended(_) => End::lost(Termination::Abnormal, side, failure.to_string()),
        Failure::Late(_) => End::lost(Termination::TimeUp, side, failure.to_string()),
    }
}

impl Table<'_> {
    /// The engine whose turn it is moves. Returns the end of the game, if this is one.
    fn turn(&mut self, seat: &mut Seat<'_>) -> Option<End> {
        let side = self.board.side();
        let (own, other) = (&self.clocks[side.index()], &self.clocks[side.opponent().index()]);
        let available_ms = own.available_ms().map(|ms| ms + self.tournament.margin_ms);
        let patience = Duration::from_millis(available_ms.unwrap_or(self.tournament.patience_ms));
        let question = Question { position: self.position.clone(), side, go: own.go(side, other), patience };
        let answer = match seat.answer(question) {
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
                let detail = if text.is_empty() { "no move".to_owned() } else { text };
                return Some(End::lost(Termination::IllegalMove, side, detail));
            }
            _ => {}
        }
        let score = answer.score.filter(|_| answer.bound.is_none());
        let decided = self.adjudicated(side, seat.engine, score);
        let declared = answer.declared.filter(|_| score.is_some());
        let found = Found { score, declared, depth: answer.depth, expected: self.expected(&text, &answer.pv), time };
        self.make_move(&text, Some(found)).or(decided)
    }

    /// Plays a legal move. Returns the end of the game by the rules, or at the ply limit.
    fn make_move(&mut self, text: &str, search: Option<Found>) -> Option<End> {
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
        board.play(first);
        let mut line = Vec::new();
        for text in rest.iter().take(LONGEST_LINE) {
            let Some(written) = board.record_text(text) else { break };
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
            if *agreed >= 2 * moves {
                return Some(End::won(Termination::Adjudication, winner));
            }
        }
        None
    }
}
