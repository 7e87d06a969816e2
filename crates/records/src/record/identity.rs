//! The identity of a game: a hash of start position, moves, raw names and start time, equal for the same game in two
//! formats or two archives.

use std::fmt;

/// When a game began, to the second if the record gives it; the hash and the order of the sample table use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StartTime {
    /// Year, e.g. 2016.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day, 1 to 31.
    pub day: u8,
    /// Hour, minute, second; `None` if the record gives only the date.
    pub time: Option<(u8, u8, u8)>,
}

impl StartTime {
    /// Reads `2016/12/30 01:00:01`, `2015/3/14`, `2015-03-14T10:00`, `2015.03.14`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = [0u32; 6];
        let mut count = 0;
        let mut rest = text.trim();
        while count < 6 && !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 || digits > 4 {
                return None;
            }
            numbers[count] = rest[..digits].parse().ok()?;
            count += 1;
            rest = &rest[digits..];
            let separator = rest.chars().next();
            match separator {
                None => {}
                Some('/' | '-' | '.' | ':' | ' ' | 'T') => rest = &rest[1..],
                Some(_) => break,
            }
        }
        let [year, month, day, hour, minute, second] = numbers;
        let plausible = count >= 3
            && (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour < 24
            && minute < 60
            && second < 61;
        plausible.then(|| Self {
            year: year as u16,
            month: month as u8,
            day: day as u8,
            time: (count >= 5).then_some((hour as u8, minute as u8, second as u8)),
        })
    }

    fn key(self) -> u64 {
        let (h, m, s) = self.time.unwrap_or((31, 63, 63));
        u64::from(self.year) << 40
            | u64::from(self.month) << 32
            | u64::from(self.day) << 24
            | u64::from(h) << 16
            | u64::from(m) << 8
            | u64::from(s)
    }
}

impl fmt::Display for StartTime {
    /// ISO 8601: `2016-12-30T01:00:01`, or the date alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)?;
        match self.time {
            Some((h, m, s)) => write!(f, "T{h:02}:{m:02}:{s:02}"),
            None => Ok(()),
        }
    }
}

/// The running hash of a game: a folded multiplication per word, so that a move costs a few cycles.
#[derive(Debug, Clone, Copy)]
pub struct GameHash(u64);

impl Default for GameHash {
    fn default() -> Self {
        Self(0x243F_6A88_85A3_08D3)
    }
}

impl GameHash {
    /// Adds one word.
    #[inline]
    pub fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ self.0.rotate_left(23);
    }

    /// Adds one shogi move: sign of the mover, from, to (`00` for a drop) and the piece after the move, as the seven
    /// bytes of a CSA move (`+7776FU`). Every shogi format can be converted to this.
    #[inline]
    pub(crate) fn shogi_move(&mut self, token: [u8; 7]) {
        let [a, b, c, d, e, f, g] = token;
        self.word(u64::from_le_bytes([a, b, c, d, e, f, g, 0]));
    }

    /// Adds bytes with their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// The hash of what was added.
    pub fn digest(self) -> u64 {
        evalcurve_words::random::mix(self.0)
    }

    /// The identity of the game whose start position and moves were added.
    pub fn finish(mut self, names: &[String; 2], start_time: Option<StartTime>) -> u64 {
        names.iter().for_each(|name| self.bytes(name.as_bytes()));
        self.word(start_time.map_or(u64::MAX, StartTime::key));
        self.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_formats_are_read() {
        let full = StartTime::parse("2016/12/30 01:00:01");
        assert_eq!(full.map(|t| t.to_string()).as_deref(), Some("2016-12-30T01:00:01"));
        assert_eq!(StartTime::parse("2016-12-30T01:00:01"), full);
        assert_eq!(StartTime::parse("2015/3/14").map(|t| t.to_string()).as_deref(), Some("2015-03-14"));
        // `csa` panics on this date; here it is only a number
        assert!(StartTime::parse("2002/02/30").is_some());
        for bad in ["", "2002", "2002/13/01", "soon", "2002/1/1 25:00:00", "20020/1/1"] {
            assert_eq!(StartTime::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn identity_depends_on_everything() {
        let names = ["a".to_owned(), "b".to_owned()];
        let swapped = ["b".to_owned(), "a".to_owned()];
        let time = StartTime::parse("2016/12/30 01:00:01");
        let mut h = GameHash::default();
        h.shogi_move(*b"+7776FU");
        let id = h.finish(&names, time);
        assert_ne!(id, h.finish(&swapped, time));
        assert_ne!(id, h.finish(&names, StartTime::parse("2016/12/30")));
        assert_ne!(id, h.finish(&names, None));
        let mut other = GameHash::default();
        other.shogi_move(*b"+2726FU");
        assert_ne!(id, other.finish(&names, time));
        let mut long = h;
        long.shogi_move(*b"-3334FU");
        assert_ne!(id, long.finish(&names, time));
    }
}
