//! The embedded font: measuring text and shortening it.

use std::sync::OnceLock;

use evalcurve_words::text::printable;
use plotters::style::{FontDesc, FontFamily, FontStyle};
use ttf_parser::Face;
use unicode_normalization::UnicodeNormalization;

use super::PlotError;
use super::unit::{UNIT, unit};

/// A subset of VL PGothic (M+ 1P letters and kana) with all of JIS X 0208.
static FONT: &[u8] = include_bytes!("font/VLPGothic-subset.ttf");

/// The name of the font in plotters.
pub(super) const FAMILY: &str = "VL PGothic";

/// The fonts that a viewer of the SVG tries in turn: the embedded one and its relatives, then those of common systems.
pub(super) const FAMILIES: &str = "'VL PGothic','M PLUS 1p','M+ 1p','Noto Sans JP','Noto Sans CJK JP',\
                                   'Hiragino Sans','Yu Gothic',Meiryo,sans-serif";

/// Drawn in place of a character that must not reach a file; the font has it.
const REPLACEMENT: char = '□';

/// The outlines of the font.
pub(super) fn face() -> Result<Face<'static>, PlotError> {
    Face::parse(FONT, 0).map_err(|_| PlotError::Font)
}

/// A font of that size in SVG pixels (the em).
///
/// plotters takes a size from ascender to descender; in this font that is exactly one em.
pub(super) fn sized(size_px: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::Name(FAMILY), f64::from(unit(size_px)), FontStyle::Normal)
}

/// A text as it is drawn: letters and their marks as one character (names from macOS have them apart), and a box for
/// what must not reach a file.
pub(super) fn clean(text: &str) -> String {
    // most texts are of such letters alone, and are measured often
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return text.to_owned();
    }
    printable(&text.nfc().collect::<String>(), REPLACEMENT)
}

/// The width of a text in SVG pixels.
pub fn width(text: &str, size_px: f64) -> f64 {
    f64::from(extent(&clean(text), f64::from(unit(size_px))).0) / f64::from(UNIT)
}

/// How far each character of the font advances: the units of an em, then runs of characters of one width, each as its
/// first character and the width. A character that the font lacks is in the run around it. What measures text needs no
/// outlines, which take most of the font.
struct Advances {
    em: f32,
    runs: Vec<(u32, f32)>,
}

impl Advances {
    fn read() -> Self {
        let lines = include_str!("font/advances.txt").lines();
        let mut runs = lines.filter_map(|line| {
            let (first, width) = line.split_once(' ')?;
            Some((u32::from_str_radix(first, 16).ok()?, width.parse().ok()?))
        });
        let em = runs.next().map_or(1.0, |(_, em)| em);
        Self { em, runs: runs.collect() }
    }

    fn of(&self, c: char) -> f32 {
        let run = self.runs.partition_point(|(first, _)| *first <= u32::from(c));
        self.runs[..run].last().map_or(self.em, |(_, width)| *width)
    }
}

/// Width and height of a text in whole units, of which the em has `size`.
pub(super) fn extent(text: &str, size: f64) -> (u32, u32) {
    static ADVANCES: OnceLock<Advances> = OnceLock::new();
    let advances = ADVANCES.get_or_init(Advances::read);
    // the em is as high as a line
    let per_unit = size as f32 / advances.em;
    let width: f32 = text.chars().map(|c| advances.of(c) * per_unit).sum();
    (width as u32, (size / 1.24) as u32)
}

/// The text if it fits, otherwise its start and its end around an ellipsis.
pub(super) fn elide(text: &str, size_px: f64, max_px: f64) -> String {
    if width(text, size_px) <= max_px {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let shortened = |length: usize| {
        // Names often end in a version, which matters more than the middle: the end gets two fifths.
        let tail = length * 2 / 5;
        let head = length - tail;
        let start: String = chars.iter().take(head).collect();
        let end: String = chars.iter().skip(chars.len() - tail).collect();
        format!("{start}…{end}")
    };
    let (mut low, mut high) = (0, chars.len().saturating_sub(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if width(&shortened(middle), size_px) <= max_px {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    shortened(low)
}

/// Breaks a text into lines no wider than `max_px`, between words and between Japanese characters where possible. A
/// closing sign such as a full stop never begins a line.
pub(super) fn wrap(text: &str, size_px: f64, max_px: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        for (i, part) in unbroken(word).into_iter().enumerate() {
            let gap = if i == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if width(&format!("{line}{gap}{part}"), size_px) <= max_px => {
                    line.push_str(gap);
                    line.push_str(&part);
                }
                _ => lines.extend(broken(&part, size_px, max_px)),
            }
        }
    }
    lines
}

/// The parts of a word between which a line may end.
fn unbroken(word: &str) -> Vec<String> {
    let is_japanese = |c: char| c >= '\u{2e80}';
    let mut parts: Vec<String> = Vec::new();
    let mut before = None;
    for c in word.chars() {
        let apart = before.is_some_and(|b| is_japanese(b) || is_japanese(c));
        let may_end = !"。、)」』】:ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ%".contains(c)
            && !before.is_some_and(|b| "(「『【".contains(b));
        match parts.last_mut() {
            Some(part) if !(apart && may_end) => part.push(c),
            _ => parts.push(c.to_string()),
        }
        before = Some(c);
    }
    parts
}

/// The parts of a word, each as wide as fits. A name may be wider than a figure.
fn broken(word: &str, size_px: f64, max_px: f64) -> Vec<String> {
    let mut parts = vec![String::new()];
    for c in word.chars() {
        match parts.last_mut() {
            Some(part) if part.is_empty() || width(&format!("{part}{c}"), size_px) <= max_px => part.push(c),
            _ => parts.push(c.to_string()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::EUC_JP;

    /// All characters of JIS X 0208 in the given rows.
    fn jis(rows: std::ops::RangeInclusive<u8>) -> Vec<char> {
        let mut out = Vec::new();
        for row in rows {
            for cell in 1..=94 {
                let bytes = [0xA0 + row, 0xA0 + cell];
                let (text, _, failed) = EUC_JP.decode(&bytes);
                if !failed {
                    out.extend(text.chars());
                }
            }
        }
        out
    }

    /// `EVALCURVE_BLESS=1` writes the file.
    #[test]
    fn advances_are_those_of_the_font() {
        let face = face().unwrap();
        let mut text = format!("0 {}\n", i32::from(face.ascender()) - i32::from(face.descender()));
        let mut last = None;
        for c in '\0'..=char::MAX {
            let Some(glyph) = face.glyph_index(c) else { continue };
            let advance = face.glyph_hor_advance(glyph).unwrap_or_default();
            if last != Some(advance) {
                text += &format!("{:x} {advance}\n", u32::from(c));
                last = Some(advance);
            }
        }
        if std::env::var("EVALCURVE_BLESS").is_ok_and(|bless| bless == "1") {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/font/advances.txt"), &text).unwrap();
        }
        assert!(text == include_str!("font/advances.txt") || std::env::var("EVALCURVE_BLESS").is_ok());
    }

    fn missing(chars: impl IntoIterator<Item = char>) -> String {
        let face = face().unwrap();
        chars.into_iter().filter(|c| face.glyph_index(*c).is_none()).collect()
    }

    #[test]
    fn every_kanji_of_jis_x_0208_has_a_glyph() {
        let level_1 = jis(16..=47);
        assert_eq!(level_1.len(), 2965);
        assert_eq!(missing(level_1), "");
        let level_2 = jis(48..=84);
        assert_eq!(level_2.len(), 3390);
        assert_eq!(missing(level_2), "");
    }

    #[test]
    fn names_and_signs_have_glyphs() {
        let text = "技巧やねうら王水匠弐大定跡 Ｇｉｋｏｕ ﾎﾟﾅﾝｻﾞ −–—…±≥≤×·→←↔αβµσ√²≈ØéßłźřčěоБ□";
        assert_eq!(missing(text.chars()), "");
        assert_eq!(missing((' '..='~').chain('\u{a0}'..='\u{ff}')), "");
    }

    #[test]
    fn marks_are_joined_to_their_letters() {
        assert_eq!(clean("か\u{3099}き\u{3099} e\u{301}\u{7}"), "がぎ é□");
        assert_eq!(width("ハ\u{309a}ワ", 12.0), width("パワ", 12.0));
    }

    #[test]
    fn long_names_keep_start_and_end() {
        let name = "SILENT_MAJORITY-1.2_6950X_SY1010";
        assert_eq!(elide(name, 12.0, 1000.0), name);
        let short = elide(name, 12.0, 120.0);
        assert!(short.starts_with("SILENT") && short.ends_with("1010") && short.contains('…'), "{short}");
        assert!(width(&short, 12.0) <= 120.0);
        assert_eq!(elide("技巧", 12.0, 1.0), "…");
    }

    #[test]
    fn lines_break_at_words() {
        let text = "clipped: 12 points beyond ±3000 · left out: 14 bins";
        let lines = wrap(text, 12.0, 160.0);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l, 12.0) <= 160.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        let name = "激指".repeat(20);
        let lines = wrap(&name, 12.0, 160.0);
        assert!(lines.len() > 2 && lines.iter().all(|l| width(l, 12.0) <= 160.0), "{lines:?}");
        assert_eq!(lines.concat(), name);
    }

    #[test]
    fn japanese_breaks_between_characters_but_not_before_a_full_stop() {
        assert_eq!(unbroken("実線(joint)は。"), ["実", "線", "(joint)", "は。"]);
        let text = "曲線が急なほど評価値 1 の重みは大きくなります。勝率 75% に要る評価値です。";
        let lines = wrap(text, 12.0, 100.0);
        assert!(lines.iter().all(|l| width(l, 12.0) <= 100.0 && !l.starts_with(['。', '%'])), "{lines:?}");
        // lines are filled, although the text has few spaces
        assert!(lines[..lines.len() - 1].iter().all(|l| width(l, 12.0) > 70.0), "{lines:?}");
    }
}
