//! Whole games for people: every position with the scores of engines as win rates of one side, what moves cost, and
//! where engines disagree.
//!
//! Win rates are in view of the side that begins a standard game, Black in shogi and White in chess.

use evalcurve_app::calibrate::mates::DEFAULT_THRESHOLD_CP;
use evalcurve_app::judge::judges::{Conflicts, found};
use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_engine::{Board, Game, usi};
use evalcurve_fit::calibration::{Calibration, Model, Reading, Score, Situation, control_seconds};
use evalcurve_fit::validate::mean_by_game;
use evalcurve_records::Record;
use evalcurve_records::record::position::{PIECES, Position as ShogiPosition};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{key, text};

use crate::annotate::{Remark, times};
use crate::{Answer, Position, Searched, Value};

/// A game with its positions.
#[derive(Debug, Clone)]
pub struct WholeGame {
    pub record: Record,
    /// The position before each move and the one after the last.
    pub positions: Vec<Place>,
    pub moves: Vec<Played>,
    /// The move at which the record leaves the rules, and after which nothing is shown.
    pub illegal: Option<Text>,
}

/// A position.
#[derive(Debug, Clone)]
pub struct Place {
    /// As SFEN or FEN.
    pub text: String,
    /// The side to move.
    pub side: Color,
    /// Material, in chess.
    pub material: Option<u32>,
    /// Whether the game goes on from here by the rules.
    pub has_moves: bool,
    /// Number of the move to be made.
    pub ply: u32,
}

impl Place {
    fn new(board: &Board, ply: u32) -> Self {
        Self {
            text: board.text().unwrap_or_default(),
            side: board.side(),
            material: board.material(),
            has_moves: !board.legal_moves().is_empty(),
            ply,
        }
    }
}

/// A move.
#[derive(Debug, Clone)]
pub struct Played {
    /// As USI or UCI writes it.
    pub text: String,
    pub words: Words,
    /// The seconds that it took, if the record says so.
    pub seconds: Option<f64>,
}

/// A move as people and records write it: shogi in Japanese (`▲７六歩(77)`), in letters (`P77-76`) and as CSA, chess as
/// SAN.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// Japanese; the same as `letters` in chess.
    pub japanese: String,
    pub letters: String,
    /// CSA or SAN.
    pub record: String,
}

impl Words {
    /// As readers of a language know it.
    pub fn in_language(&self, language: Language) -> &str {
        match language {
            Language::English => &self.letters,
            Language::Japanese => &self.japanese,
        }
    }
}

/// The pieces in kanji, and the kanji of one character that a board has, in the order of
/// [`PIECES`](evalcurve_records::record::position::PIECES).
pub(crate) const KANJI: [(&str, char); 14] = [
    ("歩", '歩'),
    ("香", '香'),
    ("桂", '桂'),
    ("銀", '銀'),
    ("金", '金'),
    ("角", '角'),
    ("飛", '飛'),
    ("玉", '玉'),
    ("と", 'と'),
    ("成香", '杏'),
    ("成桂", '圭'),
    ("成銀", '全'),
    ("馬", '馬'),
    ("龍", '龍'),
];

/// The letters of SFEN for a piece, and its kanji.
fn written(is_it: impl Fn([u8; 2], &str) -> bool) -> Option<(&'static str, &'static str)> {
    let mut pieces = PIECES.iter().zip(KANJI);
    pieces.find(|((csa, letters), _)| is_it(*csa, letters)).map(|((_, letters), (kanji, _))| (*letters, kanji))
}

impl Words {
    /// A legal move on a board; `None` for `resign` and what is illegal.
    fn of(board: &Board, text: &str) -> Option<Self> {
        let record = board.record_text(text)?;
        let is_shogi = record.starts_with(['+', '-']);
        if !is_shogi {
            return Some(Self { japanese: record.clone(), letters: record.clone(), record });
        }
        let position = board.text()?;
        let digit =
            |at: usize| record.as_bytes().get(at).map(|b| usize::from(b.wrapping_sub(b'0'))).filter(|d| *d < 10);
        let [a, b, c, d] = [digit(1)?, digit(2)?, digit(3)?, digit(4)?];
        let (letter, kanji) = written(|csa, _| record.as_bytes().ends_with(&csa))?;
        let sign = if record.starts_with('+') { '▲' } else { '△' };
        let square =
            format!("{}{}", "１２３４５６７８９".chars().nth(c - 1)?, "一二三四五六七八九".chars().nth(d - 1)?);
        if a == 0 {
            let (japanese, letters) = (format!("{sign}{square}{kanji}打"), format!("{letter}*{c}{d}"));
            return Some(Self { japanese, letters, record });
        }
        let position = ShogiPosition::from_sfen(&position)?;
        let before = position.piece(a, b)?;
        let promotes = before != letter;
        let (letter, kanji) = written(|_, letters| letters == before)?;
        let takes = if position.piece(c, d).is_some() { 'x' } else { '-' };
        let (promoted, plus) = if promotes { ("成", "+") } else { ("", "") };
        let japanese = format!("{sign}{square}{kanji}{promoted}({a}{b})");
        Some(Self { japanese, letters: format!("{letter}{a}{b}{takes}{c}{d}{plus}"), record })
    }
}

impl WholeGame {
    /// The positions of a game that was read with its moves, or single positions of it; `None` where there are neither.
    pub fn new(record: Record) -> Option<Self> {
        let played = record.game.played.as_ref()?;
        let written = record.written.as_ref()?;
        let game = if record.game.chess { Game::Chess } else { Game::Shogi };
        if !played.positions.is_empty() {
            let place = |(ply, _, text): &(u32, Color, String)| {
                let at = usi::Position { start: Some(text.clone()), moves: Vec::new() };
                let (board, _) = Board::new(game, &at);
                board.checks_moves().then(|| Place::new(&board, *ply))
            };
            let positions: Vec<Place> = played.positions.iter().filter_map(place).collect();
            return (!positions.is_empty()).then_some(Self { positions, moves: Vec::new(), illegal: None, record });
        }
        if played.moves.is_empty() {
            return None;
        }
        let start = usi::Position { start: played.start.clone(), moves: Vec::new() };
        let (mut board, problem) = Board::new(game, &start);
        if !board.checks_moves() {
            let positions =
                vec![Place { text: String::new(), side: board.side(), material: None, has_moves: false, ply: 1 }];
            let illegal = problem.map(|problem| Text::same(problem.to_string()));
            return Some(Self { positions, moves: Vec::new(), illegal, record });
        }
        let times = times(written, &record.game.time_control);
        let first = record.game.plies_before + 1;
        let (mut positions, mut moves, mut illegal) = (vec![Place::new(&board, first)], Vec::new(), None);
        for (number, text) in played.moves.iter().enumerate() {
            let (words, seconds) = (Words::of(&board, text), times.get(number).copied().flatten());
            let Some(words) = words.filter(|_| board.play(text)) else {
                let number = number + 1;
                illegal = Some(text!("move {number}, '{text}', is illegal; what follows is left out"));
                break;
            };
            moves.push(Played { text: text.clone(), words, seconds });
            positions.push(Place::new(&board, first + number as u32 + 1));
        }
        if illegal.is_none() && (moves.len() as u32) < record.game.plies {
            let number = moves.len() + 1;
            illegal = Some(text!("move {number} is illegal; what follows is left out"));
        }
        Some(Self { record, positions, moves, illegal })
    }

    /// The game of its rules.
    pub fn rules(&self) -> Game {
        if self.record.game.chess { Game::Chess } else { Game::Shogi }
    }

    /// The side in whose view win rates are.
    pub fn view(&self) -> Color {
        if self.record.game.chess { Color::White } else { Color::Black }
    }

    /// The positions that an engine can search, by the moves before them.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.positions.len()).filter(|plies| self.positions[*plies].has_moves)
    }

    /// The position after so many moves, for an engine.
    pub fn to_search(&self, plies: usize) -> Position {
        if self.moves.is_empty() {
            // a single position
            return Position { start: Some(self.positions[plies].text.clone()), moves: Vec::new() };
        }
        let start = self.record.game.played.as_ref().and_then(|played| played.start.clone());
        Position { start, moves: self.moves.iter().take(plies).map(|played| played.text.clone()).collect() }
    }

    /// The number of a move that was played, counted from 1, as people say it: `51` in shogi, `26.` or `25...` in
    /// chess.
    fn number(&self, ply: usize) -> String {
        let Some(place) = ply.checked_sub(1).and_then(|at| self.positions.get(at)) else { return ply.to_string() };
        match (self.rules(), place.side) {
            (Game::Chess, Color::White) => format!("{}.", place.ply.div_ceil(2)),
            (Game::Chess, Color::Black) => format!("{}...", place.ply.div_ceil(2)),
            _ => place.ply.to_string(),
        }
    }

    /// A move with its number, counted from 1; `None` where there is none.
    pub fn played(&self, ply: usize, language: Language) -> Option<String> {
        let played = self.moves.get(ply.checked_sub(1)?)?;
        Some(format!("{} {}", self.number(ply), played.words.in_language(language)))
    }

    /// How many moves the game has: in chess one of each side is one.
    pub fn length(&self) -> usize {
        if self.rules() == Game::Chess { self.moves.len().div_ceil(2) } else { self.moves.len() }
    }

    /// Whether White gave a handicap: it moves first in shogi.
    pub fn is_handicap(&self) -> bool {
        self.rules() == Game::Shogi && self.positions.first().is_some_and(|p| p.ply == 1 && p.side == Color::White)
    }

    /// The phase of the game in which a move was played: by its number, and at the end of chess by the material.
    pub fn phase(&self, ply: usize) -> usize {
        let Some(place) = ply.checked_sub(1).and_then(|at| self.positions.get(at)) else { return 0 };
        let opening = place.ply <= OPENING[usize::from(self.rules() == Game::Chess)];
        let is_late = place.material.map_or(place.ply > SHOGI_ENDGAME, |material| material <= CHESS_ENDGAME);
        if is_late { 2 } else { usize::from(!opening) }
    }

    /// The words of a move in the position after so many moves.
    pub(crate) fn words(&self, plies: usize, text: &str) -> Option<Words> {
        let position = self.positions.get(plies)?;
        let at = usi::Position { start: Some(position.text.clone()), moves: Vec::new() };
        let (board, _) = Board::new(self.rules(), &at);
        Words::of(&board, &board.normalized(text)?)
    }

    /// What the record itself says: the scores of the two players, and those of an analysis.
    pub fn recorded(&self, calibrations: &[Calibration]) -> Vec<Series> {
        let game = &self.record.game;
        let mut all = Vec::new();
        for own in [Some(Color::Black), Some(Color::White), None] {
            let name = match own {
                Some(side) => game.names[side.index()].clone(),
                None => game.annotator.clone(),
            };
            let scores =
                game.scores.iter().filter(|s| s.analysis == own.is_none() && own.is_none_or(|side| side == s.color));
            let mut said = vec![None; self.positions.len()];
            let scale = Scale::of(&name, calibrations, self.rules());
            for score in scores {
                let plies = score.ply.saturating_sub(1) as usize;
                let value = match score.mate {
                    true => Score::Mate { wins: score.score_cp > 0, plies: None },
                    false => Score::Cp(f64::from(score.score_cp)),
                };
                if let Some(place) = said.get_mut(plies) {
                    *place = self.said(plies, value, &scale, None);
                }
            }
            if said.iter().any(Option::is_some) {
                all.push(Series {
                    name,
                    limit: None,
                    own,
                    scale,
                    said,
                    deeper: Vec::new(),
                    noise: None,
                    given_up: None,
                });
            }
        }
        all
    }

    /// What an engine said, whose answers to the positions of this game begin at `from`.
    pub fn searched(&self, engine: &Searched, from: usize, calibrations: &[Calibration]) -> Series {
        let scale = Scale::of(&engine.name, calibrations, self.rules());
        let mut said = vec![None; self.positions.len()];
        for (plies, answer) in self.open().zip(engine.answers.iter().skip(from)) {
            said[plies] = self.answered(plies, answer, &scale);
        }
        let limit = engine.limit.map(|limit| limit.to_string());
        Series {
            name: engine.name.clone(),
            limit,
            own: None,
            scale,
            said,
            deeper: Vec::new(),
            noise: None,
            given_up: engine.given_up.as_ref().map(|given_up| given_up.why().clone()),
        }
    }

    /// What an engine answered to the position after so many moves.
    pub fn answered(&self, plies: usize, answer: &Answer, scale: &Scale) -> Option<Said> {
        let Answer::Scored(scored) = answer else { return None };
        let value = match scored.value {
            Value::Cp(cp) => Score::Cp(f64::from(cp)),
            Value::Wins(plies) => Score::Mate { wins: true, plies: Some(plies).filter(|n| *n > 0) },
            Value::Loses(plies) => Score::Mate { wins: false, plies: Some(plies).filter(|n| *n > 0) },
        };
        let said = self.said(plies, value, scale, Some(&scored.best))?;
        Some(Said { depth: scored.depth, nodes: scored.nodes, ..said })
    }

    /// The win rate of a side, by what an engine says.
    pub fn rate_of(&self, side: Color, said: &Said) -> f64 {
        if side == self.view() { said.rates[0] } else { 1.0 - said.rates[0] }
    }

    /// How strong the players are, and how much time they have.
    fn level(&self) -> Situation {
        let game = &self.record.game;
        let [black, white] = game.ratings;
        let rating = black.zip(white).map(|(black, white)| 0.5 * (black + white));
        Situation { rating, seconds: control_seconds(&game.time_control), ..Situation::default() }
    }

    /// What a calibration for games of people does not know of these players.
    pub fn doubt(&self, series: &Series) -> Option<Text> {
        let Scale::Calibrated(calibration) = &series.scale else { return None };
        let Model::People(people) = &calibration.model.model else { return None };
        let (name, known) = (&series.name, people.rating);
        match self.level().rating {
            None => Some(text!(
                "the record has no ratings of both players, so the win rates by {name} are those of players of {:.0}, \
                 the mean of its calibration",
                known.middle
            )),
            Some(rating) if !known.contains(rating) => Some(text!(
                "cannot tell what scores of {name} mean to players of {rating:.0}: its calibration is of players of \
                 {:.0} to {:.0}, and the nearest of these is shown",
                known.from,
                known.to
            )),
            Some(_) => None,
        }
    }

    fn said(&self, plies: usize, score: Score, scale: &Scale, best: Option<&str>) -> Option<Said> {
        let place = self.positions.get(plies)?;
        let situation = Situation { ply: Some(place.ply), material: place.material, ..self.level() };
        let (score, [rate, low, high]) = scale.rates(score, &situation);
        let own = place.side == self.view();
        let rates = if own { [rate, low, high] } else { [1.0 - rate, 1.0 - high, 1.0 - low] };
        let score = match score {
            Score::Cp(cp) => Score::Cp(if own { cp } else { -cp }),
            Score::Mate { wins, plies } => Score::Mate { wins: wins == own, plies },
        };
        let best = best.and_then(|text| self.words(plies, text));
        Some(Said { score, rates, best, depth: None, nodes: None })
    }
}

/// What one engine says of a game.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name; may be empty.
    pub name: String,
    /// The limit of its searches.
    pub limit: Option<String>,
    /// The side whose moves it made: it speaks of its own moves only.
    pub own: Option<Color>,
    /// How its scores become win rates.
    pub scale: Scale,
    /// By position.
    pub said: Vec<Option<Said>>,
    /// What deeper searches say of the positions around moves that look bad, with their limits. Each is of moves that
    /// the one before it left.
    pub deeper: Vec<(String, Vec<Option<Said>>)>,
    /// How sure costs by deeper searches are, see [`Noise::edge`](crate::checked::Noise).
    pub noise: Option<f64>,
    /// Why it was given up.
    pub given_up: Option<Text>,
}

/// What an engine says of a position, in the view that all win rates have.
#[derive(Debug, Clone)]
pub struct Said {
    pub score: Score,
    /// The win rate and its interval.
    pub rates: [f64; 3],
    /// The move that it would play.
    pub best: Option<Words>,
    /// Depth in plies.
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
}

/// How scores become win rates.
#[derive(Debug, Clone)]
pub enum Scale {
    /// By the calibration of the engine.
    Calibrated(Box<Calibration>),
    /// By a constant that is not that of the engine.
    Assumed(f64),
}

/// The constant that is assumed without a calibration: Ponanza's, and lichess's for people.
const ASSUMED: [f64; 2] = [600.0, 272.0];

/// Constants of engines lie within this factor of the assumed one, or its inverse: of those measured for the
/// documentation, from 518 to 1,340 in shogi.
pub(crate) const ASSUMED_WITHIN: f64 = 2.5;

impl Scale {
    fn of(name: &str, calibrations: &[Calibration], game: Game) -> Self {
        match calibrations.iter().find(|calibration| calibration.engine.name == name) {
            Some(found) => Self::Calibrated(Box::new(found.clone())),
            None => Self::Assumed(ASSUMED[usize::from(game == Game::Chess)]),
        }
    }

    /// The score as it counts, and its win rate with the interval, in the view of the score.
    fn rates(&self, score: Score, situation: &Situation) -> (Score, [f64; 3]) {
        match self {
            Self::Calibrated(calibration) => {
                let score = calibration.classify_score(score);
                let rate = calibration.win_rate_in(Reading::Equal, score, situation);
                let (low, high) = calibration.interval(Reading::Equal, score, situation).unwrap_or((rate, rate));
                (score, [rate, low, high])
            }
            Self::Assumed(constant) => match score {
                // no calibration says from where on scores are mates
                Score::Cp(cp) if cp.abs() < f64::from(DEFAULT_THRESHOLD_CP) => {
                    let rate = |constant: f64| evalcurve_calibration::logistic::logistic(cp / constant);
                    let ends = [rate(constant * ASSUMED_WITHIN), rate(constant / ASSUMED_WITHIN)];
                    (score, [rate(*constant), ends[0].min(ends[1]), ends[0].max(ends[1])])
                }
                Score::Cp(cp) => (Score::Mate { wins: cp > 0.0, plies: None }, [f64::from(u8::from(cp > 0.0)); 3]),
                Score::Mate { wins, .. } => (score, [f64::from(u8::from(wins)); 3]),
            },
        }
    }
}

/// A move that cost win rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Number of the move, from 1.
    pub ply: usize,
    /// Who played it.
    pub side: Color,
    /// The win rate that the mover lost, the mean over the engines.
    pub cost: f64,
    /// By engine; 0 by one that would have played the move.
    pub by: Vec<Option<f64>>,
    /// The mover's win rate before and after, means.
    pub rates: [f64; 2],
    /// In one of ten such moves more than this of the cost is noise of the search; `None` where no engine looked again.
    pub edge: Option<f64>,
    /// Whether an engine searched, and not the record speaks.
    pub searched: bool,
    /// Whether one of the engines would have played the move.
    pub own_choice: bool,
}

impl Cost {
    /// The cost that is more than noise. A search that was not repeated says nothing of a mistake.
    fn sure(&self) -> f64 {
        match self.edge {
            _ if self.own_choice => f64::NEG_INFINITY,
            Some(edge) => self.cost - edge,
            None if self.searched => f64::NEG_INFINITY,
            None => self.cost,
        }
    }

    /// Whether it is a mistake, and no engine's own choice.
    pub fn is_mistake(&self) -> bool {
        self.sure() >= MISTAKE
    }

    /// Whether it is a mistake of the worst kind.
    pub fn is_blunder(&self) -> bool {
        self.sure() >= BLUNDER
    }

    /// What a mistake is called.
    pub fn verdict(&self) -> &'static str {
        if self.is_blunder() { key!("blunder") } else { key!("mistake") }
    }

    /// The cost in points of 100, never -0, and how sure it is.
    pub fn points(&self) -> String {
        let edge = self.edge.map_or_else(String::new, |edge| format!(" ± {:.0}", (100.0 * edge).ceil()));
        format!("{:.0}{edge}", (100.0 * self.cost).round() + 0.0)
    }
}

/// The last ply of the opening in shogi and in chess, the last of the middlegame in shogi, and the material of both
/// sides with which the endgame of chess begins: that of two rooks and a few pawns each.
pub(crate) const OPENING: [u32; 2] = [40, 24];
/// See [`OPENING`].
pub(crate) const SHOGI_ENDGAME: u32 = 90;
/// See [`OPENING`].
pub(crate) const CHESS_ENDGAME: u32 = 30;

/// The words for the phases of a game.
pub(crate) const PHASES: [&str; 3] = [key!("opening"), key!("middlegame"), key!("endgame")];

/// From this cost on, a move is a mistake (疑問手), and from the second on a blunder (悪手): ShogiHome's defaults.
pub(crate) const MISTAKE: f64 = 0.1;
/// See [`MISTAKE`].
pub(crate) const BLUNDER: f64 = 0.2;

/// What a move cost by one engine, the mover's win rate before and after, and the edge of the noise.
type OneCost = (f64, [f64; 2], Option<f64>);

/// The cost of every move that an engine judged before and after it, by the deepest limit that it searched both with:
/// a deeper search sees more, so two limits differ by more than the move. A player's own scores stand before its moves:
/// what it lost until its next move counts as the cost of the move. To an engine that would have played the move it
/// costs nothing, whatever the searches say: where they differ, the earlier one was wrong.
pub fn costs(game: &WholeGame, engines: &[Series]) -> Vec<Cost> {
    let mut costs = Vec::new();
    for ply in 1..=game.moves.len() {
        let side = game.positions[ply - 1].side;
        let of = |series: &Series| {
            let after = if series.own.is_some() { ply + 1 } else { ply };
            let own = series.own.is_none_or(|own| own == side);
            let both = |level: usize| Some((level, series.level(level, ply - 1).zip(series.level(level, after))?));
            let (level, (before, after)) = (0..=series.deeper.len()).rev().find_map(both).filter(|_| own)?;
            let rates = |(before, after)| [before, after].map(|said| game.rate_of(side, said));
            let [before, after] = rates((before, after));
            let cost = if series.would_play(game, ply) { 0.0 } else { before - after };
            // what the last search has not confirmed is no mistake, and a cost is no surer than what it changed by
            let is_confirmed = level > 0 && level == series.deeper.len();
            let earlier = level.checked_sub(1).filter(|level| *level > 0).and_then(both).map(|(_, said)| rates(said));
            let change = earlier.map_or(0.0, |[a, b]| (before - after - (a - b)).abs());
            Some((cost, [before, after], series.noise.filter(|_| is_confirmed).map(|noise| noise.max(change))))
        };
        let by: Vec<Option<OneCost>> = engines.iter().map(of).collect();
        let known: Vec<&OneCost> = by.iter().flatten().collect();
        if known.is_empty() {
            continue;
        }
        let count = known.len() as f64;
        let mean = |value: &dyn Fn(&OneCost) -> f64| known.iter().map(|one| value(one)).sum::<f64>() / count;
        let squares: Option<f64> = known.iter().map(|(.., edge)| Some(edge.as_ref()? * edge.as_ref()?)).sum();
        costs.push(Cost {
            ply,
            side,
            cost: mean(&|(cost, ..)| *cost),
            rates: [mean(&|(_, rates, _)| rates[0]), mean(&|(_, rates, _)| rates[1])],
            edge: squares.map(|sum| sum.sqrt() / count),
            searched: engines.iter().any(|series| series.limit.is_some()),
            own_choice: engines.iter().any(|series| series.would_play(game, ply)),
            by: by.into_iter().map(|one| Some(one?.0)).collect(),
        });
    }
    costs
}

/// The accuracy of a side's moves in percent by lichess's formula for a move, as a plain mean: 100 where no move costs
/// anything, 64 where each costs 10 points. `None` without a judged move.
pub fn accuracy(costs: &[Cost], side: Color) -> Option<f64> {
    let of = |cost: &Cost| (103.1668 * libm::exp(-4.354 * cost.cost.max(0.0)) - 3.1669).clamp(0.0, 100.0);
    let moves: Vec<f64> = costs.iter().filter(|cost| cost.side == side).map(of).collect();
    (!moves.is_empty()).then(|| moves.iter().sum::<f64>() / moves.len() as f64)
}

/// The mistakes, the costliest first.
pub fn costly(costs: &[Cost]) -> Vec<&Cost> {
    let mut found: Vec<&Cost> = costs.iter().filter(|cost| cost.is_mistake()).collect();
    found.sort_by(|a, b| b.cost.total_cmp(&a.cost).then(a.ply.cmp(&b.ply)));
    found
}

/// Positions where engines disagree.
const MOST_DISAGREEMENTS: usize = 8;
/// Two of them are further apart than this.
const APART: usize = 3;

/// The positions where two engines are furthest apart, by moves before them, with the difference: at least `MISTAKE`,
/// and without a win rate that both intervals hold.
pub fn disagreements(engines: &[Series], positions: usize) -> Vec<(usize, f64)> {
    let spread = |at: usize| {
        let rates: Vec<[f64; 3]> = engines.iter().filter_map(|series| Some(series.at(at)?.rates)).collect();
        let low = rates.iter().min_by(|a, b| a[0].total_cmp(&b[0]))?;
        let high = rates.iter().max_by(|a, b| a[0].total_cmp(&b[0]))?;
        (high[0] - low[0] >= MISTAKE && high[1] > low[2]).then_some((at, high[0] - low[0]))
    };
    let mut found: Vec<(usize, f64)> = (0..positions).filter_map(spread).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut chosen: Vec<(usize, f64)> = Vec::new();
    for (at, difference) in found {
        if chosen.len() < MOST_DISAGREEMENTS && chosen.iter().all(|(other, _)| at.abs_diff(*other) > APART) {
            chosen.push((at, difference));
        }
    }
    chosen
}

/// What two engines say of one position, and which of them was right so far where they differed as much.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispute<'a> {
    /// The engine that promises more to the side to move, and the one that promises least.
    pub engines: [usize; 2],
    /// Their win rates for the side to move.
    pub rates: [f64; 2],
    /// Such conflicts so far; `None` where none is known.
    pub known: Option<&'a Conflicts>,
}

impl Dispute<'_> {
    /// The engine to believe; `None` if it cannot be told.
    pub fn believe(&self) -> Option<usize> {
        self.known?.believe().map(|which| self.engines[which])
    }
}

/// The two engines that are furthest apart in a position; `None` if fewer than two say anything.
pub fn dispute<'a>(game: &WholeGame, engines: &[Series], at: usize, known: &'a [Conflicts]) -> Option<Dispute<'a>> {
    let side = game.positions.get(at)?.side;
    let rate = |series: &Series| Some(game.rate_of(side, series.at(at)?));
    let rates: Vec<(usize, f64)> =
        engines.iter().enumerate().filter_map(|(e, series)| Some((e, rate(series)?))).collect();
    let low = rates.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let high = rates.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|high| high.0 != low.0)?;
    let (chosen, rates) = ([high.0, low.0], [high.1, low.1]);
    let names = chosen.map(|engine| engines[engine].name.as_str());
    Some(Dispute { engines: chosen, rates, known: found(known, names, rates) })
}

/// How often two engines were on different sides of 50%, and which of them was right.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The numbers of the engines.
    pub engines: [usize; 2],
    /// Such positions, and the games that have them. Drawn games and those without a result do not count.
    pub positions: usize,
    /// See `positions`.
    pub games: usize,
    /// The share of them in which the first engine named the winner, each game with equal weight, and its standard
    /// error over games; `None` with fewer than two, or where all agree.
    pub right: (f64, Option<f64>),
}

/// The conflicts of every two engines in games that all of them have searched.
pub fn conflicts(games: &[WholeGame], series: &[Vec<Series>]) -> Vec<Conflict> {
    let engines = series.iter().map(Vec::len).min().unwrap_or(0);
    let of_pair = |engines: [usize; 2]| {
        let in_game = |(game, series): (&WholeGame, &Vec<Series>)| {
            let winner = match game.record.game.black_outcome? {
                Outcome::Win => Color::Black,
                Outcome::Loss => Color::White,
                Outcome::Draw => return None,
            };
            let rates = |at: usize| engines.map(|engine| Some(series[engine].said.get(at)?.as_ref()?.rates[0] - 0.5));
            let differ = |at: usize| match rates(at) {
                [Some(a), Some(b)] if a * b < 0.0 => Some((a > 0.0) == (winner == game.view())),
                _ => None,
            };
            let all: Vec<bool> = (0..game.positions.len()).filter_map(differ).collect();
            let right = all.iter().filter(|right| **right).count();
            (!all.is_empty()).then(|| (all.len(), right as f64 / all.len() as f64))
        };
        let found: Vec<(usize, f64)> = games.iter().zip(series).filter_map(in_game).collect();
        let mean = mean_by_game(&(0..).zip(found.iter().map(|(_, right)| *right)).collect::<Vec<_>>())?;
        let positions = found.iter().map(|(positions, _)| positions).sum();
        Some(Conflict { engines, positions, games: found.len(), right: (mean.value, mean.standard_error()) })
    };
    let pairs = (0..engines).flat_map(|a| (a + 1..engines).map(move |b| [a, b]));
    pairs.filter_map(of_pair).collect()
}

impl Series {
    /// What it says of a position by its first search (0) or a deeper one.
    pub fn level(&self, level: usize, at: usize) -> Option<&Said> {
        let said = level.checked_sub(1).map_or(Some(&self.said), |level| Some(&self.deeper.get(level)?.1));
        said?.get(at)?.as_ref()
    }

    /// What all its searches say of a position, the deepest first.
    fn searches(&self, at: usize) -> impl Iterator<Item = &Said> {
        (0..=self.deeper.len()).rev().filter_map(move |level| self.level(level, at))
    }

    /// What its deepest search says of a position.
    pub fn known(&self, at: usize) -> Option<&Said> {
        self.searches(at).next()
    }

    /// Whether it would have played the move that was, counted from 1, by any of its searches.
    pub fn would_play(&self, game: &WholeGame, ply: usize) -> bool {
        let Some(at) = ply.checked_sub(1) else { return false };
        let played = game.moves.get(at).map(|played| &played.words);
        self.searches(at).any(|said| said.best.is_some() && said.best.as_ref() == played)
    }

    /// What it says of a position. A player's own score stands for the position after its move, too.
    pub fn at(&self, at: usize) -> Option<&Said> {
        let said = |at: usize| self.known(at);
        said(at).or_else(|| said(at.checked_sub(1).filter(|_| self.own.is_some())?))
    }

    /// What it says of every position, for the comments of a record.
    pub fn remarks(&self, is_chess: bool) -> Vec<Option<Remark>> {
        let remark = |said: &Said| {
            let (score_cp, mate) = match said.score {
                Score::Cp(cp) => (cp as i32, None),
                Score::Mate { wins, plies } => (0, Some((wins, plies))),
            };
            let best = said.best.as_ref().filter(|_| !is_chess);
            let best = best.map(|words| [words.japanese.clone(), words.record.clone()]);
            Remark { score_cp, mate, best, depth: said.depth, nodes: said.nodes }
        };
        (0..self.said.len()).map(|at| self.known(at).map(remark)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_are_means_of_lichess_s_formula() {
        let cost = |side, cost| Cost {
            ply: 1,
            side,
            cost,
            by: Vec::new(),
            rates: [0.5, 0.5 - cost],
            edge: None,
            searched: false,
            own_choice: false,
        };
        let costs = [cost(Color::Black, 0.0), cost(Color::Black, 0.1), cost(Color::White, 1.0)];
        let black = accuracy(&costs, Color::Black).unwrap();
        assert!((black - 0.5 * (100.0 + 63.58)).abs() < 0.01, "{black}");
        // a move that costs everything, and one that gains
        assert_eq!(accuracy(&costs, Color::White), Some(0.0));
        assert!(accuracy(&[cost(Color::White, -0.4)], Color::White).unwrap() > 99.99);
        assert_eq!(accuracy(&costs[2..], Color::Black), None);
    }
}
