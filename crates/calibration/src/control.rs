//! Time controls as seconds of a player, as people and records write them.

/// Moves for which increments count: the usual length of a game, as on lichess.
const MOVES: f64 = 40.0;

/// Words of lichess and the seconds of a usual game of each: 1+0, 5+0, 10+0, 30+0.
const WORDS: [(&str, f64); 5] =
    [("ultrabullet", 15.0), ("bullet", 60.0), ("blitz", 300.0), ("rapid", 600.0), ("classical", 1_800.0)];

/// The seconds that a player has for a game of 40 moves: those of `blitz`, the base and 40 increments or byoyomis of
/// `300+3`, `900+0+5`, `300+10F` and `5分+10秒`, the share of 40 moves of `40/7200`. `None` for what says no time.
pub fn control_seconds(control: &str) -> Option<f64> {
    let control = control.trim();
    if let Some((_, seconds)) = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(control)) {
        return Some(*seconds);
    }
    let seconds = match control.split_once('/') {
        Some((moves, rest)) => {
            let moves: f64 = moves.parse().ok().filter(|moves| *moves > 0.0)?;
            parts(rest.split(':').next()?)? * MOVES / moves
        }
        None => parts(control)?,
    };
    (1.0..1e7).contains(&seconds).then_some(seconds)
}

/// The base, and 40 times what follows a `+`.
fn parts(text: &str) -> Option<f64> {
    let mut parts = text.split('+').map(seconds);
    let base = parts.next()??;
    parts.try_fold(base, |sum, part| Some(sum + MOVES * part?))
}

/// A part: seconds, `h:mm`, or Japanese units with words around them.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some((hours, minutes)) = text.split_once(':') {
        return Some(3_600.0 * hours.parse::<u32>().map(f64::from).ok()? + 60.0 * number(minutes)?);
    }
    if !text.contains(['時', '分', '秒']) {
        return number(text.trim_end_matches(['F', 's']));
    }
    let (mut sum, mut digits) = (0.0, String::new());
    for c in text.chars() {
        let unit = match c {
            '時' => 3_600.0,
            '分' => 60.0,
            '秒' => 1.0,
            _ => {
                if c.is_ascii_digit() {
                    digits.push(c)
                } else {
                    digits.clear()
                }
                continue;
            }
        };
        if let Ok(count) = digits.parse::<u32>() {
            sum += unit * f64::from(count);
        }
        digits.clear();
    }
    Some(sum)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::control_seconds;

    #[test]
    fn controls_of_records_and_words_are_seconds() {
        let seconds = [
            ("300+3", 420.0),
            ("180", 180.0),
            ("Blitz", 300.0),
            ("40/7200:3600", 7_200.0),
            ("20/600", 1_200.0),
            ("53.596+0.536", 75.036),
            ("300+10F", 700.0),
            ("900+0+5", 1_100.0),
            ("00:25+30", 2_700.0),
            ("5分+10秒", 700.0),
            ("各1時間30分", 5_400.0),
        ];
        for (control, expected) in seconds {
            let found = control_seconds(control).unwrap();
            assert!((found - expected).abs() < 1e-9, "{control}: {found}");
        }
        for control in ["", "-", "?", "*180", "0", "0/5", "-5", "1e99", "fast", "５分", "nodes=1000"] {
            assert_eq!(control_seconds(control), None, "{control}");
        }
    }
}
