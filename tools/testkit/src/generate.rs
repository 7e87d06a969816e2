//! Generates game records for tests, whose scores and results follow a given sigmoid exactly.
//!
//! For each scored position a logit u is drawn from N(0, spread²) and accepted with the probability that a game
//! with this logit has the result of this game; the score is x = (u + w2) / w1, so that P(result | x) = 1 / (1 +
//! exp(-w1 x + w2)) holds for every engine at once, whatever its scale. Positions of one game share its result and are
//! not independent.

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_records::record::StartTime;
use evalcurve_words::random;
use thiserror::Error;

use crate::write_csa::{CsaGame, TokenError, write};

/// An engine with its true curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// The name in the records.
    pub name: String,
    /// Slope per centipawn.
    pub w1: f64,
    /// Offset.
    pub w2: f64,
}

/// What to generate.
#[derive(Debug, Clone)]
pub struct GenerateOptions {
    /// The engines. All pairs play in turn, with both colours.
    pub engines: Vec<Truth>,
    /// Players, each an engine under a name of its own, whose games are by chance; 0: the engines themselves, in pairs.
    pub players: u64,
    /// Games.
    pub games: u64,
    /// Plies per game.
    pub plies: u32,
    /// Standard deviation of the logits.
    pub spread: f64,
    /// Draws: a position with win rate p is drawn with probability 2·`draws`·min(p, 1 - p).
    pub draws: f64,
    /// The share of positions whose score is a mate (±30,000) for the winner.
    pub mates: f64,
    /// The share of games that the winner loses on time instead. If it is not 0, the last [`DECIDED_PLIES`] plies of
    /// all decided games have scores of ±10,000 in favour of the side that wins or loses on time.
    pub time_losses: f64,
    /// Seed.
    pub seed: u64,
}

/// Options that are not valid.
#[derive(Debug, Error, PartialEq)]
pub enum GenerateError {
    /// Fewer than two engines.
    #[error("{0} engines given, two are needed to play a game")]
    Engines(usize),
    /// A slope that is not positive, or a number that is not finite.
    #[error("{name}: w1 {w1} and w2 {w2} make no sigmoid; w1 must be positive")]
    Truth {
        /// The engine.
        name: String,
        /// Its slope.
        w1: f64,
        /// Its offset.
        w2: f64,
    },
    /// An illegal move (a bug of the generator).
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// A generated game.
struct Generated {
    names: [String; 2],
    /// The score of each ply in centipawns, in Black's view.
    scores: Vec<i64>,
    black_outcome: Outcome,
    lost_on_time: bool,
}

/// Scores of decided games, centipawns, ...
const DECIDED_CP: i64 = 10_000;
/// ... in so many of the last plies.
pub const DECIDED_PLIES: usize = 20;

fn generate(options: &GenerateOptions, index: u64) -> Result<Generated, GenerateError> {
    let n = options.engines.len() as u64;
    if n < 2 {
        return Err(GenerateError::Engines(options.engines.len()));
    }
    if let Some(t) = options.engines.iter().find(|t| !(t.w1 > 0.0 && t.w1.is_finite() && t.w2.is_finite())) {
        return Err(GenerateError::Truth { name: t.name.clone(), w1: t.w1, w2: t.w2 });
    }
    let (a, b) = if options.players > 1 {
        let a = random::below(options.players, &[options.seed, index, u64::MAX - 1]);
        (a, (a + 1 + random::below(options.players - 1, &[options.seed, index, u64::MAX - 2])) % options.players)
    } else {
        // pairs (a, b) in turn, all of them with both colours after n·(n-1) games
        let pair = index % (n * (n - 1));
        let a = pair / (n - 1);
        (a, (pair % (n - 1) + a + 1) % n)
    };
    let players = [a, b].map(|player| &options.engines[(player % n) as usize]);
    let names = [a, b].map(|player| match options.players {
        0 | 1 => options.engines[player as usize].name.clone(),
        _ => format!("{}-{player}", options.engines[(player % n) as usize].name),
    });
    let mut draw = Draws { seed: options.seed, game: index, next: 0 };

    // the result of one unconditional position has the right share of draws
    let black_outcome = outcome_of(draw.normal() * options.spread, options.draws, draw.unit());
    let mut scores = Vec::new();
    for ply in 1..=options.plies {
        let color = if ply % 2 == 1 { Color::Black } else { Color::White };
        let truth = players[color.index()];
        let outcome = black_outcome.in_view_of(color);
        let own_score = if draw.unit() < options.mates && outcome != Outcome::Draw {
            if outcome == Outcome::Win { 30_000.0 } else { -30_000.0 }
        } else {
            loop {
                let logit = draw.normal() * options.spread;
                if outcome_of(logit, options.draws, draw.unit()) == outcome {
                    break ((logit + truth.w2) / truth.w1).round();
                }
            }
        };
        scores.push(if color == Color::Black { own_score } else { -own_score } as i64);
    }
    // a key of its own: the other games are the same with and without losses on time
    let lost_on_time =
        black_outcome != Outcome::Draw && random::unit(&[options.seed, index, u64::MAX]) < options.time_losses;
    if options.time_losses > 0.0 && black_outcome != Outcome::Draw {
        let ahead = if black_outcome == Outcome::Win { DECIDED_CP } else { -DECIDED_CP };
        scores.iter_mut().rev().take(DECIDED_PLIES).for_each(|score| *score = ahead);
    }
    let black_outcome = if lost_on_time { black_outcome.reversed() } else { black_outcome };
    Ok(Generated { names, scores, black_outcome, lost_on_time })
}

/// The text of game number `index`, PGN with TCEC's comments.
///
/// # Errors
/// [`GenerateError`] for options that are not valid.
pub fn pgn(options: &GenerateOptions, index: u64) -> Result<String, GenerateError> {
    let Generated { names, scores, black_outcome, lost_on_time } = generate(options, index)?;
    let start = start_time(options.seed, index);
    let result = match black_outcome {
        // Black of the generator moves first, and is White in chess
        Outcome::Win => "1-0",
        Outcome::Loss => "0-1",
        Outcome::Draw => "1/2-1/2",
    };
    let ending = if lost_on_time { "time forfeit" } else { "adjudication" };
    let (h, m, s) = start.time.unwrap_or_default();
    let mut text = String::new();
    for (tag, value) in [
        ("Event", &format!("generated {}", options.seed)),
        ("Date", &format!("{:04}.{:02}.{:02}", start.year, start.month, start.day)),
        ("Time", &format!("{h:02}:{m:02}:{s:02}")),
        ("Round", &(index + 1).to_string()),
        ("White", &names[0]),
        ("Black", &names[1]),
        ("Result", &result.to_owned()),
        ("Termination", &ending.to_owned()),
    ] {
        text += &format!("[{tag} \"{value}\"]\n");
    }
    text.push('\n');
    for (ply, score) in scores.iter().enumerate() {
        let number = if ply % 2 == 0 { format!("{}. ", ply / 2 + 1) } else { String::new() };
        let other = is_other(index, ply);
        let token = [["Nf3", "Nh3"], ["Nf6", "Nh6"], ["Ng1"; 2], ["Ng8"; 2]][ply % 4][usize::from(other)];
        text += &format!("{number}{token} {{d=20, sd=30, mt=1000, wv={:.2}, }}\n", *score as f64 / 100.0);
    }
    Ok(text + result + "\n\n")
}

/// The text of game number `index`, CSA V2.2 with floodgate's score comments (Black's view).
///
/// # Errors
/// [`GenerateError`] for options that are not valid.
pub fn csa(options: &GenerateOptions, index: u64) -> Result<String, GenerateError> {
    let Generated { names, scores, black_outcome, lost_on_time } = generate(options, index)?;
    let mut moves = Vec::new();
    for (ply, score) in scores.iter().enumerate() {
        let (tokens, reply) = match (ply % 2, is_other(index, ply)) {
            (0, false) => (["+5958OU", "+5859OU"], "-3334FU"),
            (0, true) => (["+5948OU", "+4859OU"], "-3334FU"),
            (_, false) => (["-5152OU", "-5251OU"], "+7776FU"),
            (_, true) => (["-5162OU", "-6251OU"], "+7776FU"),
        };
        moves.push((tokens[ply / 2 % 2].to_owned(), Some(format!("** {score} {reply}"))));
    }
    let to_move = if options.plies.is_multiple_of(2) { Color::Black } else { Color::White };
    let kind = if lost_on_time { "time up" } else { "toryo" };
    let (words, end, kind) = match black_outcome {
        Outcome::Win => (["win", "lose"], if to_move == Color::White { "%TORYO" } else { "%TIME_UP" }, kind),
        Outcome::Loss => (["lose", "win"], if to_move == Color::Black { "%TORYO" } else { "%TIME_UP" }, kind),
        Outcome::Draw => (["draw", "draw"], "%SENNICHITE", "sennichite"),
    };
    let summary = format!("summary:{kind}:{} {}:{} {}", names[0], words[0], names[1], words[1]);
    Ok(write(&CsaGame {
        names,
        event: format!("generated+{}+{index}", options.seed),
        start_time: Some(start_time(options.seed, index)),
        moves,
        end: end.to_owned(),
        trailer: vec![summary],
    })?)
}

/// Whether the piece takes the other way from this ply, and back: each game has its own moves, as games with the same
/// ones count once.
fn is_other(index: u64, ply: usize) -> bool {
    let bit = 2 * (ply / 4) + ply % 2;
    bit < 64 && index >> bit & 1 == 1
}

/// A unique time per game of a seed, as records have it.
fn start_time(seed: u64, index: u64) -> StartTime {
    let day = index / 86_400;
    StartTime {
        year: 2000 + (seed % 1_000) as u16,
        month: (day / 28 % 12) as u8 + 1,
        day: (day % 28) as u8 + 1,
        time: Some(((index / 3_600 % 24) as u8, (index / 60 % 60) as u8, (index % 60) as u8)),
    }
}

/// The result of a position with this logit, for a uniform random number.
fn outcome_of(logit: f64, draws: f64, uniform: f64) -> Outcome {
    let p = 1.0 / (1.0 + libm::exp(-logit));
    let drawn = 2.0 * draws * p.min(1.0 - p);
    let wins = p - drawn / 2.0;
    if uniform < wins {
        Outcome::Win
    } else if uniform < wins + drawn {
        Outcome::Draw
    } else {
        Outcome::Loss
    }
}

/// The random numbers of one game.
struct Draws {
    seed: u64,
    game: u64,
    next: u64,
}

impl Draws {
    fn unit(&mut self) -> f64 {
        self.next += 1;
        random::unit(&[self.seed, self.game, self.next])
    }

    fn normal(&mut self) -> f64 {
        random::normal(self.unit(), self.unit())
    }
}
