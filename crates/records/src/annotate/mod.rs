//! The text of a game in parts: the times of its moves, and the game again with an analysis in its comments.
//!
//! An analysis that the record has already is replaced; what the players said stays.
//!
//! | format | form | comment after a move | position |
//! |---|---|---|---|
//! | CSA, KIF | [`Form::ShogiHome`] | `*#評価値=`, `*#詰み=`, `*#読み筋=`, `*#深さ=`, `*#ノード数=`, `*#エンジン=` | after the move |
//! | CSA, KIF | [`Form::ShogiGui`] | `**Engines 0 NAME` once, `**解析 0 深さ … ノード数 … 評価値 … 読み筋 …` | after the move |
//! | CSA, KIF | [`Form::Floodgate`] | `** 30 -8384FU`: it reads as the mover's own score | before the move |
//! | PGN | all | `{[%eval 0.25,18]}`, as lichess writes it | after the move |
//!
//! In CSA the shogi comments follow a `'`. Sources: ShogiHome's `src/common/record/comment.ts`, records of ShogiGUI,
//! lichess's export, python-chess's `ChildNode.eval`.

mod csa;
mod kif;
mod pgn;

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

use crate::games::Written;
use crate::record::encoding::{declared, guess};

/// A part of the text of a game. All parts together are the text.
#[derive(Debug, Clone, PartialEq)]
struct Part<'a> {
    text: Cow<'a, [u8]>,
    kind: Kind,
}

/// What a part of a text is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A move of the game, with the seconds that it took if they are in the same part.
    Move(Option<f64>),
    /// The seconds of the move above.
    Time(f64),
    /// The clock of the mover after the move above, in seconds.
    Clock(f64),
    /// The engine's analysis of the game, which another replaces.
    Analysis(Form),
    /// Where what concerns the whole game ends.
    HeadEnd,
    Other,
}

/// How programs for shogi write a score into a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Form {
    /// ShogiHome's analysis.
    #[default]
    ShogiHome,
    /// ShogiGUI's analysis.
    ShogiGui,
    /// A player's own score on floodgate.
    Floodgate,
}

/// What an engine says of a position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remark {
    /// Its score in the view of the side that begins a standard game: Black in shogi, White in chess.
    pub score_cp: i32,
    /// Instead, a mate by that side (positive) or against it, and the plies if they are known.
    pub mate: Option<(bool, Option<u32>)>,
    /// The move that it would play: as KIF writes it with the sign of the side, and as CSA writes it.
    pub best: Option<[String; 2]>,
    /// Depth in plies.
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
}

/// The parts of the text; `None` for a format whose moves cannot be told apart in it.
fn parts(written: &Written) -> Option<Vec<Part<'_>>> {
    match written.format.name {
        "csa" => Some(csa::parts(&written.text)),
        "kif" => Some(kif::parts(&written.text, encoding(written))),
        "pgn" => Some(pgn::parts(&written.text)),
        _ => None,
    }
}

/// The seconds that each move took, as far as the record says; a clock is read with the increment of this time control.
pub fn times(written: &Written, time_control: &str) -> Vec<Option<f64>> {
    let mut times: Vec<Option<f64>> = Vec::new();
    let mut clocks: [Option<f64>; 2] = [None; 2];
    let increment = time_control.split_once('+').and_then(|(_, text)| text.parse::<f64>().ok()).unwrap_or(0.0);
    for part in parts(written).unwrap_or_default() {
        match part.kind {
            Kind::Move(time) => times.push(time),
            Kind::Time(seconds) => {
                if let Some(last) = times.last_mut() {
                    last.get_or_insert(seconds);
                }
            }
            Kind::Clock(left) => {
                let mover = times.len() % 2;
                if let (Some(last), Some(before)) = (times.last_mut(), clocks[mover]) {
                    last.get_or_insert((before + increment - left).max(0.0));
                }
                clocks[mover] = Some(left);
            }
            Kind::Analysis(_) | Kind::HeadEnd | Kind::Other => {}
        }
    }
    times
}

/// The text of the game with what an engine says of its positions: `remarks` has the start position first, and one for
/// each move. `None` for a format whose moves cannot be told apart.
pub fn annotated(written: &Written, engine: &str, remarks: &[Option<Remark>], form: Form) -> Option<Vec<u8>> {
    let parts = parts(written)?;
    // moves of KI2 are cut from their lines; ShogiGUI has no comments there
    let is_ki2 = parts.iter().any(|part| matches!((part.kind, &part.text), (Kind::Move(_), Cow::Owned(_))));
    let form = if is_ki2 && form == Form::ShogiGui { Form::ShogiHome } else { form };
    let before = if written.format.name == "csa" { "'" } else { "" };
    let encoding = encoding(written);
    let end_of_line = if written.text.windows(2).any(|bytes| bytes == b"\r\n") { "\r\n" } else { "\n" };
    let engine: String = engine.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let engine = engine.trim();
    if written.format.name == "pgn" {
        return Some(pgn::annotated(&parts, engine, remarks, end_of_line));
    }
    let mut out = Vec::with_capacity(written.text.len() * 2);
    let add_lines = |out: &mut Vec<u8>, lines: Vec<String>| {
        for line in lines {
            end_line(out, end_of_line);
            let (bytes, ..) = encoding.encode(&line);
            out.extend_from_slice(before.as_bytes());
            out.extend_from_slice(&bytes);
            out.extend_from_slice(end_of_line.as_bytes());
        }
    };
    let of_ply = |ply: usize| match form {
        // the score before the move
        Form::Floodgate => remarks.get(ply.checked_sub(1)?)?.as_ref(),
        Form::ShogiHome | Form::ShogiGui => remarks.get(ply)?.as_ref(),
    };
    let lines = |ply: usize| of_ply(ply).map(|remark| lines(remark, engine, form)).unwrap_or_default();
    let (mut ply, mut pending, mut told) = (0, false, false);
    for part in parts {
        match part.kind {
            Kind::Analysis(old) if old == form || form != Form::Floodgate && old != Form::Floodgate => continue,
            Kind::Time(_) => {}
            _ if pending => {
                pending = false;
                add_lines(&mut out, lines(ply));
            }
            _ => {}
        }
        if matches!(part.kind, Kind::Move(_)) {
            if !told {
                told = true;
                if form == Form::ShogiGui {
                    add_lines(&mut out, vec![format!("**Engines 0 {engine}")]);
                }
                add_lines(&mut out, lines(0));
            }
            ply += 1;
            pending = true;
        }
        out.extend_from_slice(&part.text);
    }
    if pending {
        add_lines(&mut out, lines(ply));
    }
    end_line(&mut out, end_of_line);
    Some(out)
}

/// Ends the last line, also where a comma joins statements.
fn end_line(out: &mut Vec<u8>, end_of_line: &str) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    if !matches!(out.last(), None | Some(b'\n')) {
        out.extend_from_slice(end_of_line.as_bytes());
    }
}

/// What an engine says, as lines that begin with `*`.
fn lines(remark: &Remark, engine: &str, form: Form) -> Vec<String> {
    let best = remark.best.as_ref();
    match form {
        Form::ShogiHome => {
            let score = match remark.mate {
                Some((black, plies)) => {
                    let plies = plies.map_or_else(String::new, |plies| format!(":{plies}手"));
                    format!("*#詰み={}{plies}", if black { "先手勝ち" } else { "後手勝ち" })
                }
                None => format!("*#評価値={}", remark.score_cp),
            };
            let mut lines = vec![score];
            lines.extend(best.map(|[kif, _]| format!("*#読み筋={kif}")));
            lines.extend(remark.depth.map(|depth| format!("*#深さ={depth}")));
            lines.extend(remark.nodes.map(|nodes| format!("*#ノード数={nodes}")));
            lines.push(format!("*#エンジン={engine}"));
            lines
        }
        Form::ShogiGui => {
            let depth = remark.depth.map_or_else(String::new, |depth| format!(" 深さ {depth}"));
            let nodes = remark.nodes.map_or_else(String::new, |nodes| format!(" ノード数 {nodes}"));
            let value = match remark.mate {
                Some((black, plies)) => {
                    let plies = plies.map_or_else(String::new, |plies| format!(" {plies}"));
                    format!("{}詰{plies}", if black { '+' } else { '-' })
                }
                None => remark.score_cp.to_string(),
            };
            let best = best.map_or_else(String::new, |[kif, _]| format!(" 読み筋 {kif}"));
            vec![format!("**解析 0{depth}{nodes} 評価値 {value}{best}")]
        }
        Form::Floodgate => {
            let score = remark.mate.map_or(remark.score_cp, |(black, _)| if black { MATE } else { -MATE });
            // without a line, floodgate's 0 would be a book move
            let best = best.map_or("%TORYO", |[_, csa]| csa);
            vec![format!("** {score} {best}")]
        }
    }
}

/// A mate on floodgate, as ShogiHome writes it.
const MATE: i32 = 30_000;

/// The encoding of the text: what it declares, unless its bytes contradict that.
fn encoding(written: &Written) -> &'static Encoding {
    let is_utf8 = std::str::from_utf8(&written.text).is_ok();
    match declared(&written.text).or(written.encoding) {
        Some(encoding) if is_utf8 == (encoding == UTF_8) || written.text.is_ascii() => encoding,
        _ if is_utf8 => UTF_8,
        _ => guess(&written.text),
    }
}

#[cfg(test)]
mod tests;
