//! KIF, KIFU and KI2 records: Shift_JIS, UTF-8 or EUC-JP, with the score comments of ShogiGUI, ShogiHome and floodgate.
//!
//! A line scanner over bytes: Shift_JIS has no line feed inside a character, so lines can be cut before anything is
//! decoded, and tables hold the words and characters of the three encodings (`words`). What it reads:
//!
//! ```text
//! #KIF version=2.0 encoding=UTF-8             a declaration, valid until a known word appears in another encoding; the
//!                                             first one of a file is valid for all its games
//! 開始日時：2021/10/02 22:35:06                part of the identity; else 対局日
//! 手合割：平手                                 or a handicap: White (上手) moves first
//! 先手：NAME  後手：NAME  下手：  上手：        players
//! 持ち時間：30+0+5                             time control
//! 後手の持駒：飛　歩三  |v香v桂…|一  後手番     another start position
//! 手数----指手---------消費時間--
//! *prose                                      not a score, even if it mentions 評価値
//!    1 ７六歩(77)   ( 0:02/00:00:02)          move; 同　歩(23), ２三歩打, ２一飛成(24), ５八成銀(49)
//! **対局 深さ 2 ノード数 960 評価値 100 読み筋 …   ShogiGUI, see `comment`
//! **評価値=8  **詰み=先手勝ち:5手  *#評価値=-60  ShogiHome, see `comment`
//! *#エンジン=NAME                             the engine of the analysis
//! ** 30 -8384FU +2625FU                       floodgate, as in CSA; `** 0` is a book move
//!  116 投了                                   end
//! まで115手で先手の勝ち                         end, if the moves have none
//! 変化：30手                                   nothing after it counts until the next game
//! ```
//!
//! # Point of view and position of scores
//!
//! Every score is from **Black's point of view**. A player's own score (`対局`, `**評価値=`, `** 30`) belongs to the
//! position **before** the move above it, an analysis to the position **after** it. The evidence from records:
//!
//! - ShogiGUI, a game of 斎藤 against Apery (White) in CSA and KIF: all 51 `対局` lines follow White's moves. 38 of
//!   them repeat the first `候補1` score after the previous move, which is of the same position; for the other 13 that
//!   is a mate. The scores grow from 126 to 19,482 and `+詰 18` while Black wins.
//! - ShogiGUI, a game of two engines that count material: White's captures are -1,000,001 and Black's +1,000,001, after
//!   the capture itself.
//! - ShogiHome, an engine with the White pieces that names itself in `**エンジン=`: scores after its own moves grow to
//!   3,985 and `詰み=先手勝ち`, and then it resigns. The PV of these comments continues after its move.
//! - Analyses by ShogiHome begin their PV with the next move after the move above.
//!
//! ShogiGUI writes one `候補1` line per iteration, the deepest first, so the first one counts.
//!
//! A line with `*` and a bare number (`* 123`) is a private convention and gives no score: no record with a result
//! shows whose point of view it has.
//!
//! # Several games in one file
//!
//! A header (`手合割：`, `先手：`, `開始日時：`, `手数----` and so on) after a move, an end or a variation begins the
//! next game; so do `#KIF` anywhere and move 1 after an end. A head without moves is part of the next one, whose keys
//! override its own. A file is cut into blocks only at headers after moves. Moves are numbered, so a missing or damaged
//! line is detected and breaks the game.
//!
//! # KI2
//!
//! `▲７六歩    △３四歩    ▲５八金右`: several moves per line, without their numbers and the squares they come from. The
//! moves are played on a board, so that the game has the same identity as in KIF; a move that no piece or more than one
//! could make breaks the game. Comments follow the line of their move. The まで line gives the outcome.

use evalcurve_calibration::types::Color;

use super::encoding::{declared, decode_into};
use super::format::{Above, Cursor, Format, Reader};
use super::game::{Game, GameError, OddityKind, SkipReason};
use super::identity::GameHash;
use super::lines::Lines;
use super::position::Position;

mod comments;
mod end;
mod header;
mod ki2;
mod line;
mod words;

use end::End;
use header::start_time;
pub use line::numbered;
use line::{parse_move, recognise};
use words::{SCRIPTS, Script, Word, script_of, symbol, word_of};

/// The entry in the list of formats.
pub static FORMAT: Format = Format::of_games::<Kif>(
    "kif",
    "KIF",
    "KIF, KIFU and KI2 with the score comments of ShogiGUI, ShogiHome and floodgate",
);

/// The reader of KIF, with the characters of the encoding that the file declares. What a game shows of its encoding is
/// valid for this game alone: the next one may be read on another thread.
struct Kif(&'static Script);

impl Reader for Kif {
    fn recognise(head: &[u8]) -> bool {
        recognise(head)
    }

    fn last_boundary(block: &[u8]) -> Option<usize> {
        // backwards to the first header line after a move; the last line of the block may be incomplete
        let script = script_of(declared(block));
        let mut end = memchr::memrchr(b'\n', block)? + 1;
        let mut found = None;
        while end > 0 {
            let start = memchr::memrchr(b'\n', &block[..end - 1]).map_or(0, |i| i + 1);
            let line = &block[start..end];
            let is_header = match line[0] {
                b' ' | b'0'..=b'9' if found.is_some() && numbered(line).is_some() => return found,
                b'#' => line.starts_with(b"#KIF"),
                0x80.. => match word_of(line, script) {
                    Some((Word::Ki2(_), ..)) if found.is_some() => return found,
                    Some((word, ..)) => word.begins_header(),
                    None => false,
                },
                _ => false,
            };
            if is_header {
                found = Some(start);
            }
            end = start;
        }
        None
    }

    fn below(above: &Above) -> Self {
        Self(script_of(above.encoding))
    }

    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        let lines = Lines::new(block, cursor);
        let mut scan = Scan { lines, script: self.0, position: Position::EVEN, ..Scan::default() };
        scan.run(game);
        scan.lines.store(cursor);
        scan.finish(game)
    }
}

/// The place of a text in the block.
type Range = std::ops::Range<usize>;

#[derive(Default)]
struct Scan<'a> {
    lines: Lines<'a>,
    script: &'static Script,
    /// Whether the head of the game has ended.
    body: bool,
    position: Position,
    /// Rows of a diagram that have been read.
    rows: usize,
    hash: GameHash,
    mover: Option<Color>,
    last_to: Option<[u8; 2]>,
    /// The board of a game in KI2, from its first move on.
    board: Option<Position>,
    names: [Option<Range>; 2],
    date: Option<Range>,
    time_control: Option<Range>,
    /// The engine of the analysis.
    annotator: Option<Range>,
    annotators_differ: bool,
    /// The end among the moves.
    end: Option<End>,
    /// The text of the まで line that ended the moves.
    until: Option<Range>,
    variation: bool,
    trouble: Option<GameError>,
}

impl<'a> Scan<'a> {
    /// Reads up to the head of the next game.
    fn run(&mut self, game: &mut Game) {
        while let Some(&byte) = self.lines.block.get(self.lines.at) {
            let new_game = match byte {
                b' ' | b'0'..=b'9' => self.numbered_line(game),
                b'*' => {
                    self.comment(game);
                    false
                }
                b'\n' => {
                    self.lines.skip_feed();
                    continue;
                }
                b'|' => {
                    self.row();
                    false
                }
                b'#' if self.lines.rest().starts_with(b"#KIF") => {
                    let new = self.lines.begun;
                    if !new {
                        // rows before the head are of no game
                        (self.position, self.rows, self.trouble) = (Position::EVEN, 0, None);
                        self.lines.begin(game);
                        let encoding = declared(self.lines.text(self.lines.at));
                        self.script = encoding.map_or(self.script, |e| script_of(Some(e)));
                    }
                    new
                }
                0x80.. => self.words(game),
                _ => false,
            };
            if new_game {
                return;
            }
            self.lines.skip_line();
        }
    }

    fn ended(&self) -> bool {
        self.end.is_some() || self.until.is_some()
    }

    /// Notes what breaks the game; its other lines are skipped.
    #[cold]
    fn broken(&mut self, reason: SkipReason) {
        if self.trouble.is_none() {
            let shown = &self.lines.block[self.lines.at..self.lines.text_end(self.lines.at).min(self.lines.at + 60)];
            let mut value = String::new();
            decode_into(shown, Some(self.script.encoding), shown, &mut value);
            self.trouble = Some(GameError { reason, line: self.lines.line, value: value.trim().to_owned() });
        }
    }

    /// Reads a move or an end. Returns whether a new game begins here.
    #[inline]
    fn numbered_line(&mut self, game: &mut Game) -> bool {
        let rest = self.lines.rest();
        let Some((number, text)) = numbered(rest) else { return false };
        if self.ended() && !self.variation && self.trouble.is_none() && number == 1 {
            return true;
        }
        self.lines.begin(game);
        self.body = true;
        if self.ended() || self.variation || self.trouble.is_some() {
            return false;
        }
        if number != game.plies.saturating_add(1) {
            self.broken(SkipReason::BrokenMove);
            return false;
        }
        let text = &rest[text..];
        let mut read = parse_move(self.script, text, self.last_to);
        if read.is_none() {
            read = self.end_or_other_script(text, game.plies);
        }
        let Some([a, b, c, d, e, f]) = read else { return false };
        let color = self.next_mover();
        self.moved(color, [a, b, c, d, e, f], game);
        false
    }

    /// The side that moves next. Before the first move this adds the start position to the hash.
    #[inline]
    fn next_mover(&mut self) -> Color {
        match self.mover {
            Some(last) => last.opponent(),
            None => {
                if !matches!(self.rows, 0 | 9) {
                    self.broken(SkipReason::BrokenPosition);
                }
                self.position.hash_into(&mut self.hash);
                self.position.side_to_move
            }
        }
    }

    #[inline]
    fn moved(&mut self, color: Color, [a, b, c, d, e, f]: [u8; 6], game: &mut Game) {
        self.mover = Some(color);
        self.last_to = Some([c, d]);
        game.plies += 1;
        let sign = if color == Color::Black { b'+' } else { b'-' };
        self.hash.shogi_move([sign, a, b, c, d, e, f]);
        game.keep_move([sign, a, b, c, d, e, f]);
    }

    /// Reads a line of moves in KI2.
    fn ki2_line(&mut self, game: &mut Game) {
        self.body = true;
        if self.ended() || self.variation || self.trouble.is_some() {
            return;
        }
        let line = self.lines.text(self.lines.at);
        let mut rest = line;
        loop {
            rest = rest.trim_ascii_start();
            while self.script.symbol(rest) == symbol::BLANK {
                rest = rest[self.script.width..].trim_ascii_start();
            }
            if rest.is_empty() {
                return;
            }
            let color = self.next_mover();
            let board = self.board.get_or_insert_with(|| self.position.clone());
            let found = match self.script.word(rest) {
                Some((Word::Ki2(by), length)) if by == color => {
                    rest = &rest[length..];
                    ki2::play(self.script, rest, color, self.last_to, board)
                }
                _ => None,
            };
            let Some((found, length)) = found else {
                // the quoted rest of the line shows the broken move
                self.lines.at += line.len() - rest.len();
                return self.broken(SkipReason::BrokenMove);
            };
            self.moved(color, found, game);
            rest = &rest[length..];
        }
    }

    /// Reads a line without a move in this encoding: an end, a first move in another encoding, or damage.
    #[cold]
    fn end_or_other_script(&mut self, text: &[u8], plies: u32) -> Option<[u8; 6]> {
        if plies == 0 {
            for script in SCRIPTS.iter() {
                if let Some(found) = parse_move(script, text, None) {
                    self.script = script;
                    return Some(found);
                }
            }
        }
        match End::of_word(&self.decoded(text)) {
            Some(end) => self.end = Some(end),
            None => self.broken(SkipReason::BrokenMove),
        }
        None
    }

    /// The beginning of a text as UTF-8.
    fn decoded(&self, text: &[u8]) -> String {
        let end = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len()).min(200);
        self.script.encoding.decode_without_bom_handling(&text[..end]).0.into_owned()
    }

    /// Reads a line that begins with a Japanese character. Returns whether a new game begins here.
    fn words(&mut self, game: &mut Game) -> bool {
        let rest = self.lines.rest();
        let Some((word, length, script)) = word_of(rest, self.script) else {
            if self.body && !self.variation {
                self.lines.odd(game, OddityKind::UnknownStatement);
            }
            return false;
        };
        if word.begins_header() && self.body {
            return true;
        }
        let value = self.lines.at + length..self.lines.text_end(self.lines.at).max(self.lines.at + length);
        self.lines.begin(game);
        self.script = script;
        match word {
            Word::Header(key) => self.header(key, value, game),
            Word::Columns => self.body = true,
            Word::ToMove(color) if !self.body => self.position.side_to_move = color,
            Word::ToMove(_) => {}
            Word::Ki2(_) => self.ki2_line(game),
            Word::Until => {
                self.body = true;
                if self.until.is_none() && !self.variation {
                    self.until = Some(value);
                }
            }
            Word::Variation => {
                self.body = true;
                self.variation = true;
            }
        }
        false
    }

    fn finish(mut self, game: &mut Game) -> Result<bool, GameError> {
        if let Some(error) = self.trouble.take() {
            return Err(error);
        }
        if !self.lines.begun {
            return Ok(false);
        }
        let encoding = Some(self.script.encoding);
        let decode = |range: &Option<Range>, out: &mut String| {
            if let Some(range) = range {
                let text = self.trimmed(&self.lines.block[range.clone()]);
                decode_into(text, encoding, text, out);
            }
        };
        for (name, range) in game.names.iter_mut().zip(&self.names) {
            decode(range, name);
        }
        decode(&self.time_control, &mut game.time_control);
        if !self.annotators_differ {
            decode(&self.annotator, &mut game.annotator);
        }
        if game.start_time.is_none()
            && let Some(range) = &self.date
        {
            game.start_time = start_time(&self.lines.block[range.clone()]);
        }
        if game.plies == 0 {
            self.position.hash_into(&mut self.hash);
        }
        game.identify_shogi(self.hash, &self.position);
        let end = match (self.end, &self.until) {
            (Some(end), _) => Some(end),
            (None, Some(range)) => Some(End::of_until(&self.decoded(&self.lines.block[range.clone()]))),
            (None, None) => None,
        };
        if let Some(end) = end {
            let to_move = self.mover.map_or(self.position.side_to_move, Color::opponent);
            game.termination = Some(end.termination);
            game.black_outcome = end.black_outcome(to_move);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
