//! KIF, KIFU and KI2 records: Shift_JIS, UTF-8 or EUC-JP, with the score comments of ShogiGUI, ShogiHome and floodgate.
//!
//! A line scanner over bytes: Shift_JIS has no line feed inside a character, so that lines can be cut before anything
//! is decoded, and the words and characters of the three encodings stand in tables (`words`). What it reads:
//!
//! ```text
//! #KIF version=2.0 encoding=UTF-8             a claim, believed until a known word stands there in another encoding
//! 開始日時：2021/10/02 22:35:06                part of the identity; else 対局日
//! 手合割：平手                                 or a handicap: White (上手) moves first
//! 先手：NAME  後手：NAME  下手：  上手：        players
//! 持ち時間：30+0+5                             time control
//! 後手の持駒：飛　歩三  |v香v桂…|一  後手番     a start position of its own
//! 手数----指手---------消費時間--
//! *prose                                      no score, even if it speaks of 評価値
//!    1 ７六歩(77)   ( 0:02/00:00:02)          move; 同　歩(23), ２三歩打, ２一飛成(24), ５八成銀(49)
//! **対局 深さ 2 ノード数 960 評価値 100 読み筋 …   ShogiGUI, see `comment`
//! **評価値=8  **詰み=先手勝ち:5手  *#評価値=-60  ShogiHome, see `comment`
//! *#エンジン=NAME                             who made the analysis
//! ** 30 -8384FU +2625FU                       floodgate, as in CSA; `** 0` is a book move
//!  116 投了                                   end
//! まで115手で先手の勝ち                         end where no end stands among the moves
//! 変化：30手                                   nothing below counts until the next game
//! ```
//!
//! # Whose view, and of which position
//!
//! Every score is in **Black's view**. A player's own score (`対局`, `**評価値=`, `** 30`) belongs to the position
//! **before** the move above it, an analysis to the position **behind** it. This is what records say:
//!
//! - ShogiGUI, a game of 斎藤 against Apery (White) in CSA and KIF: all 51 `対局` lines stand below White's moves. 38 of them
//!   repeat the first `候補1` score below the move before, which is of the same position; the other 13 stand beside a
//!   mate there. The scores grow from 126 to 19,482 and `+詰 18` while Black wins.
//! - ShogiGUI, a game of two engines that look at material: White's captures are -1,000,001 and Black's +1,000,001, below
//!   the capture itself.
//! - ShogiHome, an engine with the White pieces that names itself in `**エンジン=`: scores below its own moves grow to 3,985 and
//!   `詰み=先手勝ち`, and then it resigns. The PV that stands with them goes on behind its move.
//! - Analyses by ShogiHome begin their PV with the move of the side to move behind the move above.
//!
//! ShogiGUI writes one `候補1` line for every iteration, the deepest first, so the first counts.
//!
//! A line with `*` and a bare number (`* 123`) is somebody's own habit and gives no score: no record with a result shows
//! whose view that is in.
//!
//! # Several games in one file
//!
//! A header (`手合割：`, `先手：`, `開始日時：`, `手数----` and the like) below a move, an end or a variation begins the next game; so do `#KIF`
//! anywhere and move 1 below an end. A head without moves is part of the next one, whose keys rule over its own. A
//! file is cut into blocks at headers below moves only. Moves are numbered, so a line that is missing or damaged
//! shows: the game is broken.
//!
//!
//! # KI2
//!
//! `▲７六歩    △３四歩    ▲５八金右`, several moves a line and none with its number or the square that it comes from. The
//! moves are played on a board, so that the game has the identity that it has in KIF; a move that no piece or more
//! than one could make breaks the game. Comments stand below the line of their move. How it ended says the まで line.

use super::board::Board;
use super::comment::{self, begins_pv};
use super::encoding::{declared, decode_into};
use super::position::StartPosition;
use super::search::LineFeed;
use super::{Cursor, Game, GameError, GameHash, OddityKind, Reader, SkipReason, StartTime};
use evalcurve_core::types::Color;

mod end;
mod ki2;
mod line;
mod words;

use end::End;
pub use line::looks_like;
use line::{integer, numbered, parse_move};
use words::{Key, SCRIPTS, Script, Word, script_of, symbol, word_of};

/// The reader of KIF records.
#[derive(Debug, Clone, Copy)]
pub struct KifReader;

impl Reader for KifReader {
    fn last_boundary(&self, block: &[u8]) -> Option<usize> {
        // backwards: the uppermost header between two moves; the line that the block ends in may be cut short
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

    fn read_game(&self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        game.clear();
        let mut scan = Scan::new(block, cursor);
        scan.run(game);
        cursor.offset = scan.at;
        cursor.line = scan.line;
        cursor.encoding = Some(scan.script.encoding);
        scan.finish(game)
    }
}

/// Text by its place in the block.
type Range = std::ops::Range<usize>;

struct Scan<'a> {
    block: &'a [u8],
    line_feed: LineFeed,
    at: usize,
    line: u64,
    script: &'static Script,
    /// A statement of this game was seen.
    begun: bool,
    /// The head of the game lies behind.
    body: bool,
    position: StartPosition,
    /// Rows of a diagram that were read.
    rows: usize,
    hash: GameHash,
    mover: Option<Color>,
    last_to: Option<[u8; 2]>,
    /// The board of a game in KI2, from its first move on.
    board: Option<Board>,
    names: [Option<Range>; 2],
    date: Option<Range>,
    time_control: Option<Range>,
    /// The engine of the analysis.
    annotator: Option<Range>,
    annotators_differ: bool,
    /// What ended the moves.
    end: Option<End>,
    /// A まで line ended the moves.
    until: Option<Range>,
    variation: bool,
    trouble: Option<GameError>,
}

impl<'a> Scan<'a> {
    fn new(block: &'a [u8], cursor: &Cursor) -> Self {
        Self {
            block,
            line_feed: LineFeed::new(),
            at: cursor.offset,
            line: cursor.line,
            script: script_of(cursor.encoding),
            begun: false,
            body: false,
            position: StartPosition::even(),
            rows: 0,
            hash: GameHash::default(),
            mover: None,
            last_to: None,
            board: None,
            names: [None, None],
            date: None,
            time_control: None,
            annotator: None,
            annotators_differ: false,
            end: None,
            until: None,
            variation: false,
            trouble: None,
        }
    }

    /// Reads up to the head of the next game.
    fn run(&mut self, game: &mut Game) {
        while let Some(&byte) = self.block.get(self.at) {
            let new_game = match byte {
                b' ' | b'0'..=b'9' => self.numbered_line(game),
                b'*' => {
                    self.comment(game);
                    false
                }
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    continue;
                }
                b'|' => {
                    self.row();
                    false
                }
                b'#' if self.block[self.at..].starts_with(b"#KIF") => {
                    let new = self.begun;
                    if !new {
                        self.begin(game);
                        let encoding = declared(&self.block[self.at..self.text_end(self.at)]);
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
            self.skip_line();
        }
    }

    fn begin(&mut self, game: &mut Game) {
        if !self.begun {
            self.begun = true;
            game.line = self.line;
        }
    }

    fn ended(&self) -> bool {
        self.end.is_some() || self.until.is_some()
    }

    /// The line's end, less a carriage return.
    fn text_end(&self, from: usize) -> usize {
        let rest = &self.block[from..];
        let end = self.line_feed.find(rest).map_or(self.block.len(), |i| from + i);
        if end > from && self.block[end - 1] == b'\r' { end - 1 } else { end }
    }

    #[inline]
    fn skip_line(&mut self) {
        match self.line_feed.find(&self.block[self.at..]) {
            Some(i) => {
                self.at += i + 1;
                self.line += 1;
            }
            None => self.at = self.block.len(),
        }
    }

    /// Notes what breaks the game; its other lines are passed over.
    #[cold]
    fn broken(&mut self, reason: SkipReason) {
        if self.trouble.is_none() {
            let shown = &self.block[self.at..self.text_end(self.at).min(self.at + 60)];
            let mut value = String::new();
            decode_into(shown, Some(self.script.encoding), shown, &mut value);
            self.trouble = Some(GameError { reason, line: self.line, value: value.trim().to_owned() });
        }
    }

    /// A move or an end. Gives whether a new game begins here.
    #[inline]
    fn numbered_line(&mut self, game: &mut Game) -> bool {
        let rest = &self.block[self.at..];
        let Some((number, text)) = numbered(rest) else { return false };
        if self.ended() && !self.variation && self.trouble.is_none() && number == 1 {
            return true;
        }
        self.begin(game);
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

    /// Who moves next. Before the first move the start position goes into the hash.
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
    }

    /// A line of moves in KI2.
    fn ki2_line(&mut self, game: &mut Game) {
        self.body = true;
        if self.ended() || self.variation || self.trouble.is_some() {
            return;
        }
        let line = &self.block[self.at..self.text_end(self.at)];
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
            let board = self.board.get_or_insert_with(|| self.position.board());
            let found = match self.script.word(rest) {
                Some((Word::Ki2(by), length)) if by == color => {
                    rest = &rest[length..];
                    ki2::play(self.script, rest, color, self.last_to, board)
                }
                _ => None,
            };
            let Some((found, length)) = found else {
                // the rest of the line shows which of its moves it is
                self.at += line.len() - rest.len();
                return self.broken(SkipReason::BrokenMove);
            };
            self.moved(color, found, game);
            rest = &rest[length..];
        }
    }

    /// A line without a move in this encoding: an end, a first move in another encoding, or damage.
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

    /// A line that begins with a Japanese character. Gives whether a new game begins here.
    fn words(&mut self, game: &mut Game) -> bool {
        let rest = &self.block[self.at..];
        if let Some(behind) = rest.strip_prefix(b"\xEF\xBB\xBF")
            && !self.begun
        {
            self.at += 3;
            // the line goes on behind the mark: `skip_line` of the caller must not eat it
            return !behind.is_empty() && self.behind_mark(game);
        }
        let Some((word, length, script)) = word_of(rest, self.script) else {
            if self.body && !self.variation {
                let end = self.text_end(self.at);
                game.odd(OddityKind::UnknownStatement, self.line, &self.block[self.at..end]);
            }
            return false;
        };
        if word.begins_header() && self.body {
            return true;
        }
        let value = self.at + length..self.text_end(self.at).max(self.at + length);
        self.begin(game);
        self.script = script;
        match word {
            Word::Header(key) => self.header(key, value, game),
            Word::Columns => self.body = true,
            Word::WhiteToMove if !self.body => self.position.side_to_move = Color::White,
            Word::BlackToMove if !self.body => self.position.side_to_move = Color::Black,
            Word::WhiteToMove | Word::BlackToMove => {}
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

    /// The first line, behind a byte order mark.
    fn behind_mark(&mut self, game: &mut Game) -> bool {
        match self.block[self.at] {
            0x80.. => self.words(game),
            b' ' | b'0'..=b'9' => self.numbered_line(game),
            _ => false,
        }
    }

    fn header(&mut self, key: Key, value: Range, game: &mut Game) {
        let text = &self.block[value.clone()];
        match key {
            Key::Black => self.names[0] = Some(value),
            Key::White => self.names[1] = Some(value),
            Key::TimeControl => self.time_control = Some(value),
            Key::Date => self.date = Some(value),
            Key::StartTime => {
                game.start_time = start_time(text);
                if game.start_time.is_none() && !text.trim_ascii().is_empty() {
                    game.odd(OddityKind::UnreadableHeader, self.line, text);
                }
            }
            Key::Handicap => {
                if let Some(off) = self.script.handicap(self.trimmed(text))
                    && self.rows == 0
                {
                    self.position = StartPosition::even();
                    // the table holds what stands on the board
                    if !off.is_empty() && self.position.read_csa(&[b"I", off].concat()).is_some() {
                        self.position.side_to_move = Color::White;
                    }
                }
            }
            Key::BlackHand | Key::WhiteHand => {
                let color = if key == Key::BlackHand { Color::Black } else { Color::White };
                if self.hand(color, text).is_none() {
                    self.broken(SkipReason::BrokenPosition);
                }
            }
            Key::Other => {}
        }
    }

    /// A value without blanks around it, wide ones among them.
    fn trimmed<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let mut text = text.trim_ascii();
        while self.script.symbol(text) == symbol::BLANK {
            text = text[self.script.width..].trim_ascii_start();
        }
        while text.len().checked_sub(self.script.width).is_some_and(|i| self.script.symbol(&text[i..]) == symbol::BLANK)
        {
            text = text[..text.len() - self.script.width].trim_ascii_end();
        }
        text
    }

    /// `飛　角　歩十三　`, or なし.
    fn hand(&mut self, color: Color, text: &[u8]) -> Option<()> {
        let mut text = text;
        let mut last: Option<(u8, u8)> = None;
        while let Some(&byte) = text.first() {
            if byte == b' ' {
                text = &text[1..];
                continue;
            }
            let found = self.script.symbol(text);
            match found {
                symbol::BLANK => {}
                symbol::TEN => last = Some((last?.0, 10)),
                0x11..=0x19 => {
                    let (piece, tens) = last?;
                    last = Some((piece, if tens == 10 { 10 } else { 0 } + found - symbol::RANK));
                }
                0x21..=0x27 => {
                    if let Some((piece, count)) = last {
                        self.position.hold(color, piece, count)?;
                    }
                    last = Some((found - symbol::PIECE, 1));
                }
                // なし
                _ => break,
            }
            text = text.get(self.script.width..)?;
        }
        match last {
            Some((piece, count)) => self.position.hold(color, piece, count),
            None => Some(()),
        }
    }

    /// A row of a diagram, `|v香v桂 ・…|一`.
    fn row(&mut self) {
        if self.body {
            return;
        }
        if self.rows == 0 {
            // hands may stand above the board
            self.position.clear_board();
        }
        let mut rest = &self.block[self.at + 1..];
        for column in 0..9 {
            let color = if matches!(rest.first(), Some(b'v' | b'V')) { Color::White } else { Color::Black };
            let found = self.script.symbol(rest.get(1..).unwrap_or_default());
            let code = match found {
                symbol::EMPTY => 0,
                0x21..=0x2e => found - symbol::PIECE,
                _ => return self.broken(SkipReason::BrokenPosition),
            };
            self.position.put(self.rows.min(9), column, code, color);
            rest = &rest[1 + self.script.width..];
        }
        self.rows += 1;
    }

    /// A line that begins with `*`.
    #[inline]
    fn comment(&mut self, game: &mut Game) {
        let rest = &self.block[self.at..];
        let analysis = match rest.get(1) {
            Some(b'*') => false,
            Some(b'#') => true,
            _ => return,
        };
        // Before the first move there is no mover; after the end there is no move that the score would explain.
        let Some(mover) = self.mover else { return };
        if self.ended() || self.variation || self.trouble.is_some() {
            return;
        }
        let body = &rest[2..];
        let script = self.script;
        if let Some(number) = body.strip_prefix(&script.score[..]) {
            match integer(number) {
                Some((score, end)) if matches!(number.get(end), None | Some(b'\n' | b'\r' | b' ')) => {
                    game.add_score(mover, score, false, analysis, self.line);
                }
                _ => self.unreadable_score(game),
            }
        } else if analysis && body.starts_with(&script.engine) {
            self.engine(script.engine.len());
        } else if matches!(body, [b' ', b'-' | b'+' | b'0'..=b'9', ..]) && !analysis {
            self.floodgate_score(mover, game);
        } else if body.starts_with(&script.mate) || script.is_shogigui(body.trim_ascii_start()) {
            self.text_score(mover, game);
        }
    }

    #[cold]
    fn unreadable_score(&self, game: &mut Game) {
        let end = self.text_end(self.at);
        game.odd(OddityKind::UnreadableScore, self.line, &self.block[self.at..end]);
    }

    /// `** INT[ PV…]`, as floodgate's comments come out of programs that turn CSA into KIF.
    fn floodgate_score(&mut self, mover: Color, game: &mut Game) {
        let number = &self.block[self.at + 3..];
        match integer(number) {
            Some((score, end)) if matches!(number.get(end), None | Some(b' ' | b'\n' | b'\r' | b'\'' | b'\t')) => {
                if score == 0 && !begins_pv(&number[end..]) {
                    game.book_moves += 1;
                } else {
                    game.add_score(mover, score, false, false, self.line);
                }
            }
            _ => self.unreadable_score(game),
        }
    }

    /// ShogiGUI's comments and announced mates: what stands before the PV is decoded.
    fn text_score(&mut self, mover: Color, game: &mut Game) {
        let text = &self.block[self.at..self.text_end(self.at)];
        let head = &text[..self.script.pv.find(text).unwrap_or(text.len()).min(300)];
        let mut buffer = [0; 1024];
        let decoded = match std::str::from_utf8(head) {
            Ok(text) => text,
            Err(_) => {
                let mut decoder = self.script.encoding.new_decoder_without_bom_handling();
                let (_, _, written, _) = decoder.decode_to_utf8(head, &mut buffer, true);
                std::str::from_utf8(&buffer[..written]).unwrap_or_default()
            }
        };
        if let Some(found) = comment::parse(decoded)
            && found.candidate == 1
            && !found.bound
        {
            game.add_score(mover, found.black_score_cp, found.mate, found.analysis, self.line);
        }
    }

    /// `*#エンジン=NAME`.
    fn engine(&mut self, length: usize) {
        let range = self.at + 2 + length..self.text_end(self.at);
        match &self.annotator {
            None => self.annotator = Some(range),
            Some(known) => self.annotators_differ |= self.block[known.clone()] != self.block[range],
        }
    }

    fn finish(mut self, game: &mut Game) -> Result<bool, GameError> {
        if let Some(error) = self.trouble.take() {
            return Err(error);
        }
        if !self.begun {
            return Ok(false);
        }
        let encoding = Some(self.script.encoding);
        let decode = |range: &Option<Range>, out: &mut String| {
            if let Some(range) = range {
                let text = self.trimmed(&self.block[range.clone()]);
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
            game.start_time = start_time(&self.block[range.clone()]);
        }
        if game.plies == 0 {
            self.position.hash_into(&mut self.hash);
        }
        game.id = self.hash.finish(&game.names, game.start_time);
        let end = match (self.end, &self.until) {
            (Some(end), _) => Some(end),
            (None, Some(range)) => Some(End::of_until(&self.decoded(&self.block[range.clone()]))),
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

fn start_time(text: &[u8]) -> Option<StartTime> {
    // what follows the numbers (a day of the week) may be in any encoding
    let ascii = text.trim_ascii_start();
    let end = ascii.iter().position(|b| !b.is_ascii()).unwrap_or(ascii.len());
    std::str::from_utf8(&ascii[..end]).ok().and_then(StartTime::parse)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod real;
