//! The words and characters of KIF in the three encodings of Japanese records, so that lines are read as bytes and only
//! names are decoded.

use std::sync::LazyLock;

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8};
use evalcurve_calibration::types::Color;
use memchr::memmem::Finder;

use crate::record::comment::{PIYO, SHOGIGUI};

/// The meaning of a header of a KIF record. Unknown keys (備考) are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// 先手, 下手.
    Black,
    /// 後手, 上手.
    White,
    /// 開始日時.
    StartTime,
    /// 対局日.
    Date,
    /// 持ち時間.
    TimeControl,
    /// 手合割.
    Handicap,
    /// 先手の持駒, 下手の持駒; 後手の持駒, 上手の持駒.
    Hand(Color),
    /// A known key that is not used, but shows where a header begins.
    Other,
}

/// The meaning of the first word of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// `先手：NAME`.
    Header(Key),
    /// `手数----指手---------消費時間--`.
    Columns,
    /// `後手番`: the side to move below a diagram.
    ToMove(Color),
    /// `まで115手で先手の勝ち`.
    Until,
    /// `変化：30手`.
    Variation,
    /// `▲７六歩`: a move of KI2, by this side.
    Ki2(Color),
}

impl Word {
    /// Whether the line belongs to the head of a record, so that it begins a new game after moves.
    pub(super) fn begins_header(self) -> bool {
        matches!(self, Self::Header(_) | Self::Columns)
    }
}

/// The first words of lines, with blanks between them. A key ends with its colon, so that `先手` is not `先手省略名`.
const WORDS: &[(&str, Word)] = &[
    ("手合割：", Word::Header(Key::Handicap)),
    ("先手： 下手：", Word::Header(Key::Black)),
    ("後手： 上手：", Word::Header(Key::White)),
    ("開始日時：", Word::Header(Key::StartTime)),
    ("対局日：", Word::Header(Key::Date)),
    ("持ち時間：", Word::Header(Key::TimeControl)),
    ("先手の持駒： 下手の持駒：", Word::Header(Key::Hand(Color::Black))),
    ("後手の持駒： 上手の持駒：", Word::Header(Key::Hand(Color::White))),
    ("終了日時： 棋戦： 表題： 場所： 戦型： 記録ID：", Word::Header(Key::Other)),
    ("手数----", Word::Columns),
    ("まで", Word::Until),
    ("変化：", Word::Variation),
    ("後手番 上手番", Word::ToMove(Color::White)),
    ("先手番 下手番", Word::ToMove(Color::Black)),
    ("▲ ☗ ▼", Word::Ki2(Color::Black)),
    ("△ ☖ ▽", Word::Ki2(Color::White)),
];

/// The standard handicaps and the pieces removed from White's side, as CSA writes them after `PI`.
const HANDICAPS: &[(&str, &[u8])] = &[
    ("平手", b""),
    ("香落ち", b"11KY"),
    ("右香落ち", b"91KY"),
    ("角落ち", b"22KA"),
    ("飛車落ち", b"82HI"),
    ("飛香落ち", b"82HI11KY"),
    ("二枚落ち", b"82HI22KA"),
    ("三枚落ち", b"82HI22KA11KY"),
    ("四枚落ち", b"82HI22KA11KY91KY"),
    ("五枚落ち", b"82HI22KA11KY91KY81KE"),
    ("左五枚落ち", b"82HI22KA11KY91KY21KE"),
    ("六枚落ち", b"82HI22KA11KY91KY81KE21KE"),
    ("左七枚落ち", b"82HI22KA11KY91KY81KE21KE31GI"),
    ("右七枚落ち", b"82HI22KA11KY91KY81KE21KE71GI"),
    ("八枚落ち", b"82HI22KA11KY91KY81KE21KE71GI31GI"),
    ("十枚落ち", b"82HI22KA11KY91KY81KE21KE71GI31GI61KI41KI"),
];

/// A character of a move, as [`Script::symbol`] gives it: 1 to 9 are the files １ to ９.
pub(super) mod symbol {
    /// Ranks 一 to 九 are this plus 1 to 9.
    pub(crate) const RANK: u8 = 0x10;
    /// Pieces are this plus their code (1 to 14).
    pub(crate) const PIECE: u8 = 0x20;
    /// 成.
    pub(crate) const PROMOTES: u8 = 0x40;
    /// 打.
    pub(crate) const DROP: u8 = 0x41;
    /// 同.
    pub(crate) const SAME: u8 = 0x42;
    /// The wide blank.
    pub(crate) const BLANK: u8 = 0x43;
    /// 不.
    pub(crate) const NOT: u8 = 0x44;
    /// ・ (an empty square).
    pub(crate) const EMPTY: u8 = 0x45;
    /// 十.
    pub(crate) const TEN: u8 = 0x46;
    /// 左, 右, 直, 上 (also 行 and 入), 寄, 引: which of several pieces moves, in KI2.
    pub(crate) const LEFT: u8 = 0x50;
    pub(crate) const RIGHT: u8 = 0x51;
    pub(crate) const STRAIGHT: u8 = 0x52;
    pub(crate) const FORWARD: u8 = 0x53;
    pub(crate) const SIDEWAYS: u8 = 0x54;
    pub(crate) const BACK: u8 = 0x55;
}

/// Every character of a move with its symbol.
fn symbols() -> impl Iterator<Item = (char, u8)> {
    let files = "１２３４５６７８９".chars().zip(1..);
    let ranks = "一二三四五六七八九".chars().zip(symbol::RANK + 1..);
    let pieces = "歩香桂銀金角飛玉と杏圭全馬龍".chars().zip(symbol::PIECE + 1..);
    let others = [
        ('王', symbol::PIECE + 8),
        ('竜', symbol::PIECE + 14),
        ('成', symbol::PROMOTES),
        ('打', symbol::DROP),
        ('同', symbol::SAME),
        ('\u{3000}', symbol::BLANK),
        ('不', symbol::NOT),
        ('・', symbol::EMPTY),
        ('十', symbol::TEN),
        ('左', symbol::LEFT),
        ('右', symbol::RIGHT),
        ('直', symbol::STRAIGHT),
        ('上', symbol::FORWARD),
        ('行', symbol::FORWARD),
        ('入', symbol::FORWARD),
        ('寄', symbol::SIDEWAYS),
        ('引', symbol::BACK),
    ];
    files.chain(ranks).chain(pieces).chain(others)
}

/// The words and characters in one encoding.
pub(super) struct Script {
    pub(super) encoding: &'static Encoding,
    /// Bytes of a Japanese character.
    pub(super) width: usize,
    /// A hash table of characters (upper 24 bits) with their symbols; the index is the top bits of the character times
    /// `factor`.
    slots: Box<[u32; 1 << SLOT_BITS]>,
    factor: u32,
    words: Vec<(Vec<u8>, Word)>,
    handicaps: Vec<(Vec<u8>, &'static [u8])>,
    shogigui: Vec<Vec<u8>>,
    piyo: Vec<Vec<u8>>,
    /// 評価値=
    pub(super) score: Vec<u8>,
    /// 詰み=
    pub(super) mate: Vec<u8>,
    /// エンジン=
    pub(super) engine: Vec<u8>,
    /// 読み筋
    pub(super) pv: Finder<'static>,
    /// 評価値
    value: Finder<'static>,
    /// The minus of mathematics.
    minus: Vec<u8>,
}

const SLOT_BITS: u32 = 10;

impl Script {
    fn new(encoding: &'static Encoding) -> Self {
        let encode = |text: &str| encoding.encode(text).0.into_owned();
        let width = encode("歩").len();
        let all: Vec<(u32, u8)> = symbols().map(|(c, s)| (key(&encode(c.encode_utf8(&mut [0; 4]))), s)).collect();
        let mut factor = 0x9E37_79B1_u32;
        let mut slots = Box::new([0; 1 << SLOT_BITS]);
        // about every fourth factor is free of collisions
        for _ in 0..10_000 {
            slots.fill(0);
            let clash = all.iter().any(|&(key, symbol)| {
                let slot = &mut slots[slot_of(key, factor)];
                let taken = *slot != 0;
                *slot = key << 8 | u32::from(symbol);
                taken
            });
            if !clash {
                break;
            }
            factor = factor.wrapping_mul(0x2545_F491).wrapping_add(2);
        }
        // a character that the encoding lacks (☗ in Shift_JIS) becomes a character reference
        let words = WORDS.iter().flat_map(|(texts, word)| texts.split(' ').map(|text| (encode(text), *word)));
        let words = words.filter(|(text, _)| !text.starts_with(b"&"));
        Self {
            encoding,
            width,
            slots,
            factor,
            words: words.collect(),
            handicaps: HANDICAPS.iter().map(|(text, off)| (encode(text), *off)).collect(),
            shogigui: SHOGIGUI.split_ascii_whitespace().map(encode).collect(),
            piyo: PIYO.split(' ').map(encode).collect(),
            score: encode("評価値="),
            mate: encode("詰み="),
            engine: encode("エンジン="),
            pv: Finder::new(&encode("読み筋")).into_owned(),
            value: Finder::new(&encode("評価値")).into_owned(),
            minus: encode("−"),
        }
    }

    /// The symbol of the character at the beginning of `text`; 0 for another character.
    #[inline(always)]
    pub(super) fn symbol(&self, text: &[u8]) -> u8 {
        let key = match (self.width, text) {
            (2, [a, b, ..]) => u32::from_le_bytes([*a, *b, 0, 0]),
            (3, [a, b, c, ..]) => u32::from_le_bytes([*a, *b, *c, 0]),
            _ => return 0,
        };
        let slot = self.slots[slot_of(key, self.factor)];
        if slot >> 8 == key { slot as u8 } else { 0 }
    }

    /// The meaning of the first word of `line`, and its length.
    pub(super) fn word(&self, line: &[u8]) -> Option<(Word, usize)> {
        self.words.iter().find(|(text, _)| line.starts_with(text)).map(|(text, word)| (*word, text.len()))
    }

    /// The pieces that a handicap removes from White's side; `None` for その他 and names that are not standard.
    pub(super) fn handicap(&self, name: &[u8]) -> Option<&'static [u8]> {
        self.handicaps.iter().find(|(text, _)| text == name).map(|(_, off)| *off)
    }

    /// Whether the body of a comment begins like an analysis of ぴよ将棋.
    #[inline]
    pub(super) fn is_piyo(&self, body: &[u8]) -> bool {
        self.piyo.iter().any(|word| body.starts_with(word))
    }

    /// Whether a comment in no known form may still give a score: it says 評価値, or begins with a number.
    pub(super) fn may_score(&self, comment: &[u8]) -> bool {
        let text = comment.trim_ascii_start();
        matches!(text, [b'+' | b'-' | b'0'..=b'9', ..])
            || text.starts_with(&self.minus)
            || self.value.find(comment).is_some()
    }

    /// Whether the body of a comment begins like those of ShogiGUI. ShogiHome's `深さ=5` does not.
    #[inline]
    pub(super) fn is_shogigui(&self, body: &[u8]) -> bool {
        let word = self.shogigui.iter().find(|word| body.starts_with(word));
        word.is_some_and(|word| body.get(word.len()) != Some(&b'='))
    }
}

fn key(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len().min(3)].copy_from_slice(&bytes[..bytes.len().min(3)]);
    u32::from_le_bytes(word)
}

#[inline(always)]
fn slot_of(key: u32, factor: u32) -> usize {
    (key.wrapping_mul(factor) >> (32 - SLOT_BITS)) as usize
}

/// UTF-8, Shift_JIS and EUC-JP, in the order in which they are tried.
pub(super) static SCRIPTS: LazyLock<[Script; 3]> = LazyLock::new(|| [UTF_8, SHIFT_JIS, EUC_JP].map(Script::new));

/// The script of an encoding; UTF-8 if it is unknown.
pub(super) fn script_of(encoding: Option<&'static Encoding>) -> &'static Script {
    SCRIPTS.iter().find(|s| Some(s.encoding) == encoding).unwrap_or_default()
}

impl Default for &'static Script {
    fn default() -> Self {
        &SCRIPTS[0]
    }
}

/// The meaning of the first word of `line` in any of the encodings; `first` is tried first.
pub(super) fn word_of(line: &[u8], first: &'static Script) -> Option<(Word, usize, &'static Script)> {
    let scripts = std::iter::once(first).chain(SCRIPTS.iter());
    scripts.filter_map(|s| s.word(line).map(|(word, length)| (word, length, s))).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_its_symbol_in_every_encoding() {
        for script in SCRIPTS.iter() {
            for (c, symbol) in symbols() {
                let bytes = script.encoding.encode(c.encode_utf8(&mut [0; 4])).0.into_owned();
                assert_eq!(bytes.len(), script.width);
                assert_eq!(script.symbol(&bytes), symbol, "{c}");
            }
            assert_eq!(script.symbol(b"abc"), 0);
            assert_eq!(script.symbol(b""), 0);
        }
    }

    #[test]
    fn handicaps_are_on_the_even_board() {
        for (name, off) in HANDICAPS {
            let mut position = crate::record::position::Position::EMPTY;
            assert!(position.read_csa(&[b"I", *off].concat()).is_some(), "{name}");
        }
    }
}
