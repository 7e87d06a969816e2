//! The comments of a KIF record: scores, and the engine of an analysis.

use evalcurve_calibration::types::Color;

use super::Scan;
use crate::record::comment::{self, begins_pv, integer};
use crate::record::game::{Convention, Game, OddityKind};

impl Scan<'_> {
    /// Reads a line that begins with `*`.
    #[inline]
    pub(super) fn comment(&mut self, game: &mut Game) {
        let rest = self.lines.rest();
        let kind = rest.get(1).copied();
        let analysis = kind == Some(b'#');
        if let Some(length) = comment::engine_of_analysis(rest)
            && self.body
            && !self.ended()
            && !self.variation
        {
            self.engine(self.lines.at + length);
        }
        // before the first move there is no mover, and after the end no move that the score could belong to
        let Some(mover) = self.mover else { return };
        if self.ended() || self.variation || self.trouble.is_some() {
            return;
        }
        let script = self.script;
        let Some(body) = rest.get(2..).filter(|_| matches!(kind, Some(b'*' | b'#'))) else {
            return self.other_comment(1, mover, game);
        };
        if let Some(number) = body.strip_prefix(&script.score[..]) {
            match integer(number) {
                Some((score, end)) if matches!(number.get(end), None | Some(b'\n' | b'\r' | b' ')) => {
                    game.add_score(mover, score, false, analysis, self.lines.line);
                }
                _ => self.text_score(mover, game),
            }
        } else if analysis && body.starts_with(&script.engine) {
            self.engine(self.lines.at + 2 + script.engine.len());
        } else if matches!(body, [b' ', b'-' | b'+' | b'0'..=b'9', ..]) && !analysis {
            self.floodgate_score(mover, game);
        } else if body.starts_with(&script.mate)
            || script.is_shogigui(body.trim_ascii_start())
            || (analysis && script.is_piyo(body))
        {
            self.text_score(mover, game);
        } else {
            self.other_comment(2, mover, game);
        }
    }

    /// Reads a comment in another form, whose text begins after so many bytes.
    fn other_comment(&self, begins: usize, mover: Color, game: &mut Game) {
        let text = self.lines.text(self.lines.at);
        if text.get(begins..).is_some_and(|text| self.script.may_score(text)) {
            self.text_score(mover, game);
        }
    }

    #[cold]
    fn unreadable_score(&self, game: &mut Game) {
        self.lines.odd(game, OddityKind::UnreadableScore);
    }

    /// `** INT[ PV…]`: a comment of floodgate, kept by programs that convert CSA to KIF.
    fn floodgate_score(&self, mover: Color, game: &mut Game) {
        let text = &self.lines.block[self.lines.at + 3..];
        match comment::floodgate_score(text) {
            Some((0, end)) if !begins_pv(&text[end..]) => game.book_moves += 1,
            Some((score, _)) => {
                game.convention = Some(Convention::First);
                game.add_score(mover, score, false, false, self.lines.line);
            }
            None => {
                self.unreadable_score(game);
                game.add_unread(self.lines.line, &self.decoded(self.lines.rest()));
            }
        }
    }

    /// Comments of ShogiGUI and ぴよ将棋, announced mates, and numbers with another minus: the part before the PV is
    /// decoded.
    fn text_score(&self, mover: Color, game: &mut Game) {
        let text = self.lines.text(self.lines.at);
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
        let changed = comment::with_minus(decoded);
        let decoded = changed.as_deref().unwrap_or(decoded);
        let line = self.lines.line;
        if let Some(found) = comment::parse(decoded) {
            if found.counts() {
                game.add_score(mover, found.black_score_cp, found.mate, found.analysis, line);
            }
            return;
        }
        match decoded.strip_prefix("** ").and_then(|text| comment::floodgate_score(text.as_bytes())) {
            Some((score, _)) => game.add_score(mover, score, false, false, line),
            None if decoded.starts_with("**評価値=") || decoded.starts_with("*#評価値=") => {
                self.unreadable_score(game);
                game.add_unread(line, decoded);
            }
            None if comment::looks_like_score(decoded) => game.add_unread(line, decoded),
            None => {}
        }
    }

    /// `*#エンジン=NAME` or `**Engines 0 NAME`, where the name begins at `from`.
    fn engine(&mut self, from: usize) {
        let range = from..self.lines.text_end(self.lines.at).max(from);
        match &self.annotator {
            None => self.annotator = Some(range),
            Some(known) => self.annotators_differ |= self.lines.block[known.clone()] != self.lines.block[range],
        }
    }
}
