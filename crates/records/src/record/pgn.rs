//! PGN records with the score comments of cutechess, fastchess, OpenBench, Arena, TCEC, ChessBase and lichess.
//!
//! A scanner over bytes: it counts half-moves and reads comments without a board. What it reads:
//!
//! ```text
//! [White "Stockfish 16"]  [BlackElo "3475"]  [Round "1.2"]     tag pairs, one per line; `\"` and `\\` are escapes
//! [FEN "… b KQkq - 0 12"]                                      side to move and number of the first move
//! 12... e4 13. Nf3 exd3+! $5 O-O 0-0 e8=Q# a7a8q               numbers and moves
//! {+0.98/25 11s} {book} {d=35, …, wv=0.47, …} {[%eval #-3]}    scores: see `comment`; comments may span lines
//! (13. Nd2 {better} (13. Ke2))                                 variations: not part of the game
//! ; to the end of the line                                     comment, which may hold a score, too
//! % to the end of the line                                     escape, in the first column
//! 1-0  0-1  1/2-1/2  *                                         ends the game
//! ```
//!
//! **Colours** are those of chess: [`Color::White`] moves first, and `names[0]` is the player of the Black pieces.
//! **Ply** k is the k-th half-move of the record; [`Game::plies_before`] counts those before it by the FEN.
//!
//! A game begins at a tag pair in the first column after movetext, or at movetext after a result. Two tag pairs on two
//! lines begin a game even if a comment or variation is still open, so that a missing brace breaks its own game only.
//! Move numbers are compared with the count, because a lost move would turn the sign of all later scores.
//!
//! Source: PGN specification and implementation guide (Edwards 1994).

use std::ops::Range;

pub mod columns;
pub mod comment;
pub mod replay;
mod spelling;
mod tags;

use super::format::{Above, Cursor, Format, Reader};
use super::game::{Convention, Game, GameError, OddityKind, ScoredPosition, SkipReason, UnreadComment, quoted};
use super::identity::GameHash;
use super::lines::Lines;
use super::search::BraceOrLineFeed;
use comment::{Comment, View};
use evalcurve_calibration::types::{Color, Outcome};
use spelling::ends_move;
pub use spelling::san;
use tags::{Ending, Tags, is_tag};

/// The entry in the list of formats.
pub static FORMAT: Format = Format {
    material: Some(|text, plies| replay::material(text, plies).map_err(|error| error.to_string())),
    ..Format::of_games::<Pgn>(
        "pgn",
        "PGN",
        "PGN with the score comments of cutechess, fastchess, OpenBench, Arena, TCEC, ChessBase and lichess",
    )
};

/// Whether two tag pairs on two lines begin here.
fn are_tags(block: &[u8], at: usize) -> bool {
    is_tag(&block[at..]) && memchr::memchr(b'\n', &block[at..]).is_some_and(|end| is_tag(&block[at + end + 1..]))
}

/// Whether a game begins at this `[` after movetext or other text: at two tag pairs, after an empty line or a result.
fn begins_game(block: &[u8], at: usize) -> bool {
    let before = block[..at].trim_ascii_end();
    let line = memchr::memrchr(b'\n', before).map_or(before, |i| &before[i + 1..]).trim_ascii_start();
    let blank = block[before.len()..at].iter().filter(|b| **b == b'\n').count() > 1;
    let ended = [&b"1-0"[..], b"0-1", b"1/2-1/2", b"*"].iter().any(|mark| line.ends_with(mark));
    (blank || ended) && !matches!(line.first(), None | Some(b'%' | b';')) && !is_tag(line) && are_tags(block, at)
}

/// The reader of PGN, and what it knows of the block, once a game needs it.
#[derive(Clone, Copy, Default)]
struct Pgn {
    /// Whether a comment can hold rates of wins, draws and losses. Most blocks have no rates, and looking for them in
    /// every comment takes time.
    declares: Option<bool>,
    /// The encoding of the tags that are not UTF-8.
    encoding: Option<&'static encoding_rs::Encoding>,
}

impl Reader for Pgn {
    /// A tag pair comes first, or `1.` and a move.
    fn recognise(head: &[u8]) -> bool {
        let mut rest = head;
        loop {
            rest = rest.trim_ascii_start();
            if !matches!(rest.first(), Some(b'%' | b';')) {
                break;
            }
            let Some(end) = memchr::memchr(b'\n', rest) else { return false };
            rest = &rest[end..];
        }
        match rest {
            [b'[', ..] => is_tag(rest),
            [b'1', b'.', text @ ..] => san(text.trim_ascii_start()).is_some(),
            _ => false,
        }
    }

    fn last_boundary(block: &[u8]) -> Option<usize> {
        let mut feeds = memchr::memrchr_iter(b'\n', block).map(|feed| feed + 1);
        feeds.find(|at| block.get(*at) == Some(&b'[') && begins_game(block, *at))
    }

    fn below(_: &Above) -> Self {
        Self::default()
    }

    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        let mut scan = Scan { known: *self, ..Scan::new(block, cursor) };
        let read = scan.run(game);
        scan.lines.store(cursor);
        *self = scan.known;
        read
    }
}

/// How the reading of a comment or variation ended.
enum Closed {
    /// The cursor is after its end.
    Yes,
    /// A new game begins at the cursor, or the block ends.
    No,
}

/// The parts of a game that a replay needs.
pub(super) struct Movetext<'a> {
    /// The start position, if the record gives one.
    pub fen: Option<&'a [u8]>,
    /// The rules, if the record names them; else empty.
    pub variant: &'a [u8],
    /// The moves, as `spelling::san` spells them.
    pub moves: Vec<u64>,
}

impl<'a> Movetext<'a> {
    /// Reads the first game of `text`. `None` if there is none.
    pub(crate) fn read(text: &'a [u8]) -> Option<Self> {
        let mut scan = Scan { moves: Some(Vec::new()), ..Scan::new(text, &Cursor::default()) };
        let found = scan.run(&mut Game::default()).ok()?;
        let moves = scan.moves.filter(|_| found)?;
        Some(Self { fen: scan.tags.fen(text), variant: scan.tags.variant(text), moves })
    }
}

#[derive(Default)]
struct Scan<'a> {
    lines: Lines<'a>,
    finder: BraceOrLineFeed,
    tags: Tags,
    hash: GameHash,
    /// Whether Black moves first.
    black_first: bool,
    /// Twice the number of the first move that has one, less the half-moves before it.
    base: Option<i64>,
    /// The mark that ended the movetext; `None` inside for `*`.
    mark: Option<Option<Outcome>>,
    mate_sign: bool,
    /// Comments that are a value and nothing else, or OpenBench's `unknown`, until one of another form makes the values
    /// prose.
    bare: u32,
    /// Whether a comment of another form was read.
    other_form: bool,
    /// Whether the comments are ChessBase's.
    chessbase: bool,
    /// Comments that look like scores and are not read.
    alike: u64,
    /// The first of them, or else the first with a number, and its line.
    unread: Option<(Range<usize>, u64)>,
    /// The last comment and the half-moves before it.
    comment: (Range<usize>, u32),
    /// The moves as `spelling::san` spells them, if they are wanted.
    moves: Option<Vec<u64>>,
    known: Pgn,
}

impl<'a> Scan<'a> {
    fn new(block: &'a [u8], cursor: &Cursor) -> Self {
        Self { lines: Lines::new(block, cursor), ..Self::default() }
    }

    fn run(&mut self, game: &mut Game) -> Result<bool, GameError> {
        loop {
            let next = self.read_tags(game);
            let start = self.tags.start(self.lines.block);
            if let Ok((first, before)) = start {
                self.black_first = first == Color::Black;
                game.plies_before = before;
            }
            self.tags.hash_start(self.lines.block, &mut self.hash);
            self.chessbase = self.tags.are_chessbase(self.lines.block);
            if !next {
                self.read_moves(game)?;
            }
            if self.lines.begun {
                // reported only now, with the cursor after the game
                start?;
                self.finish(game);
                return Ok(true);
            }
            if self.lines.at >= self.lines.block.len() {
                return Ok(false);
            }
            // this was not a game (a comment before the first tag)
            let place = Cursor { offset: self.lines.at, line: self.lines.line };
            let (moves, known) = (self.moves.take(), self.known);
            *self = Self { moves, known, ..Self::new(self.lines.block, &place) };
            game.clear();
        }
    }

    /// Reads tag pairs up to the first line of movetext and skips lines that are neither. Returns whether another game
    /// begins, at a second Event tag or at tags after text, because this one broke off.
    fn read_tags(&mut self, game: &mut Game) -> bool {
        let block = self.lines.block;
        let mut text = false;
        while let Some(&byte) = block.get(self.lines.at) {
            match byte {
                b'\n' => self.lines.skip_feed(),
                b' ' | b'\t' | b'\r' => self.lines.at += 1,
                b'[' if self.lines.begun && block[self.lines.at..].starts_with(b"[Event \"") => return true,
                b'[' if text && begins_game(block, self.lines.at) => return true,
                b'[' if is_tag(&block[self.lines.at..]) => {
                    self.lines.begin(game);
                    let end = self.lines.line_end(self.lines.at);
                    self.tags.add(block, self.lines.at, end, self.lines.line);
                    self.lines.skip_line();
                }
                b'%' | b';' => self.lines.skip_line(),
                b'{' | b'(' | b'*' | b'$' | b'0'..=b'9' => return false,
                _ if san(&block[self.lines.at..]).is_some() => return false,
                _ => {
                    if self.lines.begun {
                        self.lines.odd(game, OddityKind::UnknownStatement);
                        text = true;
                    }
                    self.lines.skip_line();
                }
            }
        }
        false
    }

    /// Reads movetext up to the next game.
    fn read_moves(&mut self, game: &mut Game) -> Result<(), GameError> {
        let block = self.lines.block;
        while let Some(&byte) = block.get(self.lines.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'.' => self.lines.at += 1,
                b'\n' => {
                    self.lines.skip_feed();
                    match block.get(self.lines.at) {
                        Some(b'[') if is_tag(&block[self.lines.at..]) => return Ok(()),
                        Some(b'%') => self.skip_to_line_end(),
                        _ => {}
                    }
                }
                b'{' => {
                    let Closed::Yes = self.comment(game)? else { return Ok(()) };
                }
                b'0'..=b'9' => {
                    if self.number_or_mark(game)? {
                        return Ok(());
                    }
                }
                b'a'..=b'z' | b'A'..=b'Z' if self.mark.is_none() => self.make_move(game)?,
                b'*' => {
                    self.lines.at += 1;
                    self.end_by(None, game);
                }
                b';' => {
                    let from = self.lines.at + 1;
                    self.score(from..self.lines.text_end(from), self.lines.line, game);
                    self.skip_to_line_end();
                }
                b'(' => {
                    let (from, line) = (self.lines.at, self.lines.line);
                    let Closed::Yes = self.close_variation() else { return self.unclosed(game, from, line) };
                }
                b'$' => {
                    self.lines.at += 1;
                    while block.get(self.lines.at).is_some_and(u8::is_ascii_digit) {
                        self.lines.at += 1;
                    }
                }
                // some records have judgements between moves: `+-`, `=`, `±`; `--` is a null move
                b'+' | b'-' | b'=' | b'!' | b'?' | b'/' | b'~' | b'#' | 0x80..
                    if !block[self.lines.at..].starts_with(b"--") =>
                {
                    self.lines.at += 1;
                }
                _ if self.mark.is_some() => {
                    self.lines.odd(game, OddityKind::UnknownStatement);
                    self.skip_to_line_end();
                }
                _ => return Err(self.broken(self.lines.at, self.lines.line)),
            }
        }
        Ok(())
    }

    /// Reads the comment at the cursor.
    #[inline]
    fn comment(&mut self, game: &mut Game) -> Result<Closed, GameError> {
        let (from, line) = (self.lines.at + 1, self.lines.line);
        let Closed::Yes = self.close_comment() else {
            return self.unclosed(game, from - 1, line).map(|()| Closed::No);
        };
        self.score(from..self.lines.at - 1, line, game);
        if self.lines.block.get(self.lines.at) == Some(&b' ') {
            self.lines.at += 1;
        }
        Ok(Closed::Yes)
    }

    #[inline]
    fn make_move(&mut self, game: &mut Game) -> Result<(), GameError> {
        let rest = self.lines.rest();
        let Some((length, word, mate_sign)) = san(rest) else {
            if rest.starts_with(b"e.p.") {
                self.lines.at += 4;
                return Ok(());
            }
            return Err(self.broken(self.lines.at, self.lines.line));
        };
        self.lines.begin(game);
        self.hash.word(word);
        if self.moves.is_some() {
            self.keep_move(word);
        }
        self.mate_sign = mate_sign;
        game.plies += 1;
        self.lines.at += length;
        if self.lines.block.get(self.lines.at) == Some(&b' ') {
            self.lines.at += 1;
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn keep_move(&mut self, word: u64) {
        if let Some(moves) = &mut self.moves {
            moves.push(word);
        }
    }

    /// Reads a move number, a result, or castling written with zeros. Returns whether the next game begins here.
    #[inline]
    fn number_or_mark(&mut self, game: &mut Game) -> Result<bool, GameError> {
        let rest = self.lines.rest();
        let mut digits = 0;
        let mut number: i64 = 0;
        while let Some(digit) = rest.get(digits).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            number = (number * 10 + i64::from(digit)).min(1 << 40);
            digits += 1;
        }
        match rest.get(digits) {
            Some(b'.') => {
                if self.mark.is_some() {
                    // movetext without tags after a result
                    return Ok(true);
                }
                self.lines.begin(game);
                let black_moves = self.black_first != (game.plies % 2 == 1);
                let half_moves = 2 * number + i64::from(black_moves);
                let base = *self.base.get_or_insert(half_moves - i64::from(game.plies));
                if base + i64::from(game.plies) != half_moves {
                    return Err(self.broken(self.lines.at, self.lines.line));
                }
                self.lines.at += digits + 1;
                while self.lines.block.get(self.lines.at) == Some(&b'.') {
                    self.lines.at += 1;
                }
                self.lines.at += usize::from(self.lines.block.get(self.lines.at) == Some(&b' '));
                Ok(false)
            }
            Some(b'-' | b'/') => {
                const MARKS: [(&[u8], Outcome); 4] = [
                    (b"1-0", Outcome::Win),
                    (b"0-1", Outcome::Loss),
                    (b"1/2-1/2", Outcome::Draw),
                    (b"1/2", Outcome::Draw),
                ];
                let ends = |mark: &[u8]| rest.get(mark.len()).is_none_or(|b| ends_move(*b));
                if let Some((mark, outcome)) = MARKS.iter().find(|(mark, _)| rest.starts_with(mark) && ends(mark)) {
                    self.lines.at += mark.len();
                    self.end_by(Some(*outcome), game);
                } else if self.mark.is_some() {
                    self.skip_to_line_end();
                } else {
                    self.make_move(game)?;
                }
                Ok(false)
            }
            // `1 e4`
            None | Some(b' ' | b'\t' | b'\r' | b'\n') if self.mark.is_none() => {
                self.lines.begin(game);
                self.lines.at += digits;
                Ok(false)
            }
            _ if self.mark.is_some() => {
                self.skip_to_line_end();
                Ok(false)
            }
            _ => Err(self.broken(self.lines.at, self.lines.line)),
        }
    }

    /// Ends the movetext; the first mark counts.
    fn end_by(&mut self, outcome: Option<Outcome>, game: &mut Game) {
        self.lines.begin(game);
        self.mark.get_or_insert(outcome);
    }

    /// Reads the score in a comment.
    #[inline]
    fn score(&mut self, range: Range<usize>, line: u64, game: &mut Game) {
        let body = &self.lines.block[range.clone()];
        let plies = game.plies;
        let mut found = self.parse(body, game);
        if let Comment::Nothing | Comment::Unreadable | Comment::NoUnit = found
            && !body.is_ascii()
            && let Some(text) = super::comment::with_minus(&String::from_utf8_lossy(body))
        {
            found = self.parse(text.as_bytes(), game);
        }
        // what is above the first move describes the game
        if plies > 0 && !matches!(found, Comment::Score { .. } | Comment::Book) {
            self.note_unread(found, range.clone(), line);
        }
        self.comment = (range, plies);
        if !self.other_form {
            self.compare_form(found, body, game);
        }
        let (score_cp, mate, view, analysis) = match found {
            Comment::Score { score_cp, mate, view, analysis } => (score_cp, mate, view, analysis),
            Comment::Bare { score_cp, mate } if !self.other_form => (score_cp, mate, View::Mover, false),
            Comment::Bare { .. } => return,
            Comment::Book => {
                game.book_moves += u32::from(plies > 0);
                return;
            }
            Comment::Unreadable => return game.odd(OddityKind::UnreadableScore, line, body),
            Comment::NoUnit => return game.odd(OddityKind::ScoreWithoutUnit, line, body),
            Comment::Nothing => return,
        };
        // before the first move there was no search, and after the result there is no move that the score could belong
        // to
        if self.mark.is_some() || (plies == 0 && !analysis) {
            return;
        }
        let ply = plies + u32::from(analysis);
        let color = if self.black_first == (ply % 2 == 1) { Color::Black } else { Color::White };
        if view == View::Mover {
            game.convention = Some(Convention::Mover);
        }
        let own = view == View::Mover || color == Color::White;
        let score_cp = if own { score_cp } else { score_cp.saturating_neg() };
        let block = self.lines.block;
        let declares = *self.known.declares.get_or_insert_with(|| memchr::memmem::find(block, b"wdl").is_some());
        let declared = if declares { comment::declared(body) } else { None };
        let declared = declared.map(|rates| if own { rates } else { rates.reversed() });
        let scored = ScoredPosition { ply, color, score_cp, mate, analysis, declared, line };
        match game.score_of(ply, analysis) {
            // of several analyses the first counts, as in shogi
            Some(_) if analysis => {}
            Some(last) => *last = scored,
            None => game.scores.push(scored),
        }
    }

    #[inline]
    fn parse(&mut self, body: &[u8], game: &mut Game) -> Comment {
        let found = comment::parse(body);
        let of_chessbase = self.chessbase || body.last() == Some(&b')');
        if of_chessbase { self.of_chessbase(body, game).unwrap_or(found) } else { found }
    }

    /// Notes a comment without a score, for a message.
    #[cold]
    fn note_unread(&mut self, found: Comment, range: Range<usize>, line: u64) {
        let body = &self.lines.block[range.clone()];
        let may_score = comment::may_score(body);
        let looks_like_score = match found {
            Comment::Unreadable | Comment::NoUnit => true,
            // those before it are counted when the first comment of another form shows that they are no scores
            Comment::Bare { .. } => self.other_form,
            _ => may_score && super::comment::looks_like_score(&String::from_utf8_lossy(body)),
        };
        if (looks_like_score && self.alike == 0) || (may_score && self.unread.is_none()) {
            self.unread = Some((range, line));
        }
        self.alike += u64::from(looks_like_score);
    }

    /// Reads a comment of ChessBase. The first expected reply shows that the game has such comments; without the tag
    /// `Annotator`, those above it counted as the mover's.
    #[cold]
    #[inline(never)]
    fn of_chessbase(&mut self, body: &[u8], game: &mut Game) -> Option<Comment> {
        let found = comment::chessbase(body)?;
        if !self.chessbase {
            self.chessbase = true;
            game.convention = None;
            for score in game.scores.iter_mut().filter(|s| s.color == Color::Black && !s.analysis) {
                score.score_cp = score.score_cp.saturating_neg();
            }
        }
        Some(found)
    }

    /// Decides whether the game still has comments of the form of [`Comment::Bare`] only. Book moves and words for the
    /// end of the game are no other form. Cold, because in most games the first comment decides.
    #[cold]
    #[inline(never)]
    fn compare_form(&mut self, found: Comment, body: &[u8], game: &mut Game) {
        match found {
            Comment::Bare { .. } => self.bare += 1,
            Comment::Book => {}
            // OpenBench's mark for a move without a score
            Comment::Nothing if body.trim_ascii() == b"unknown" => self.bare += 1,
            Comment::Nothing if body.trim_ascii().is_empty() || (self.bare > 0 && comment::ending(body).is_some()) => {}
            _ => {
                self.other_form = true;
                self.drop_bare(game);
            }
        }
    }

    /// Drops the scores of the game, which are all values alone.
    fn drop_bare(&mut self, game: &mut Game) {
        self.alike += game.scores.len() as u64;
        game.scores.clear();
    }

    /// Skips to the end of the comment at the cursor.
    #[inline]
    fn close_comment(&mut self) -> Closed {
        let mut at = self.lines.at + 1;
        while let Some(found) = self.finder.find(&self.lines.block[at..]) {
            at += found + 1;
            if self.lines.block[at - 1] == b'}' {
                self.lines.at = at;
                return Closed::Yes;
            }
            self.lines.line += 1;
            if self.lines.block.get(at) == Some(&b'[') && are_tags(self.lines.block, at) {
                self.lines.at = at;
                return Closed::No;
            }
        }
        self.lines.at = self.lines.block.len();
        Closed::No
    }

    /// Skips to the end of the variation at the cursor, including nested ones.
    fn close_variation(&mut self) -> Closed {
        let mut depth = 0u32;
        while let Some(&byte) = self.lines.block.get(self.lines.at) {
            match byte {
                b'{' => {
                    let Closed::Yes = self.close_comment() else { return Closed::No };
                    continue;
                }
                b';' => {
                    self.skip_to_line_end();
                    continue;
                }
                b'\n' => {
                    self.lines.line += 1;
                    if self.lines.block.get(self.lines.at + 1) == Some(&b'[')
                        && are_tags(self.lines.block, self.lines.at + 1)
                    {
                        self.lines.at += 1;
                        return Closed::No;
                    }
                }
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        self.lines.at += 1;
                        return Closed::Yes;
                    }
                }
                _ => {}
            }
            self.lines.at += 1;
        }
        Closed::No
    }

    /// Reports a comment or variation that is not closed; the cursor is already at the next game.
    #[cold]
    fn unclosed(&mut self, game: &Game, from: usize, line: u64) -> Result<(), GameError> {
        // after the result the game is complete, and before its first tag it is not a game
        if self.mark.is_some() || (!self.lines.begun && game.plies == 0) {
            return Ok(());
        }
        Err(GameError::at(SkipReason::BrokenMove, line, self.shown(from)))
    }

    /// Gives up the game and skips to the next one.
    #[cold]
    fn broken(&mut self, from: usize, line: u64) -> GameError {
        let error = GameError::at(SkipReason::BrokenMove, line, self.shown(from));
        loop {
            self.lines.skip_line();
            match self.lines.block.get(self.lines.at..) {
                None | Some([]) => return error,
                Some(rest) if is_tag(rest) => return error,
                _ => {}
            }
        }
    }

    fn shown(&self, from: usize) -> &'a [u8] {
        self.lines.text(from).trim_ascii_end()
    }

    fn skip_to_line_end(&mut self) {
        self.lines.at = self.lines.line_end(self.lines.at);
    }

    fn finish(&mut self, game: &mut Game) {
        game.chess = true;
        // in a whole game of values alone only the last move may lack one
        if !self.other_form && self.bare + game.book_moves + 1 < game.plies {
            self.drop_bare(game);
        }
        game.unread = self.alike;
        if let Some((range, line)) = self.unread.take().filter(|_| self.alike > 0 || game.scores.is_empty()) {
            let value = quoted(&self.lines.block[range]).trim().to_owned();
            game.unread_comment = Some(UnreadComment { line, value });
        }
        let (range, plies) = self.comment.clone();
        let comment = if plies == game.plies { &self.lines.block[range] } else { &[] };
        let ending = Ending { mark: self.mark, comment, mate_sign: self.mate_sign };
        self.tags.finish(self.lines.block, &mut self.known.encoding, self.hash, ending, game);
    }
}

#[cfg(test)]
mod tests;
