//! Games as rows of a table: the movetext in one column, the tags in others, as in the tables of the lichess database.

/// Tags that matter to the reader, by which columns are recognised.
const TAGS: &str = "Event Site Date Time Round White Black Result WhiteElo BlackElo UTCDate UTCTime GameStartTime \
                    GameEndTime TimeControl Termination Variant SetUp FEN Annotator PlyCount GameDuration";

/// The name of the column with the movetext.
pub const MOVETEXT: &str = "movetext";

/// The tag of a column with this name, in any case and with or without underscores (`white_elo`).
pub fn tag(column: &str) -> Option<&'static str> {
    let plain = |text: &str| text.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect::<String>();
    let column = plain(column);
    TAGS.split(' ').find(|tag| plain(tag) == column)
}

/// Appends a game as PGN text. The result ends the movetext if that has no end of its own.
pub fn write_game<'a>(tags: impl Iterator<Item = (&'static str, &'a str)>, movetext: &str, out: &mut Vec<u8>) {
    let mut result = "*";
    for (tag, value) in tags {
        if tag == "Result" {
            result = value.trim();
        }
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
        out.extend_from_slice(format!("[{tag} \"{value}\"]\n").as_bytes());
    }
    // without a tag the text would not be recognised
    if out.is_empty() {
        out.extend_from_slice(b"[Event \"?\"]\n");
    }
    let movetext = movetext.trim();
    let ended = ["1-0", "0-1", "1/2-1/2", "*"].iter().any(|mark| movetext.ends_with(mark));
    let end = if ended { "" } else { result };
    out.extend_from_slice(format!("\n{movetext} {end}\n\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_tags_in_any_spelling() {
        assert_eq!(tag("WhiteElo"), Some("WhiteElo"));
        assert_eq!((tag("white_elo"), tag("utcdate"), tag("FEN")), (Some("WhiteElo"), Some("UTCDate"), Some("FEN")));
        assert_eq!((tag("movetext"), tag("Opening"), tag("")), (None, None, None));
    }

    #[test]
    fn a_row_becomes_a_game() {
        let text = |tags: &[(&'static str, &str)], movetext| {
            let mut out = Vec::new();
            write_game(tags.iter().copied(), movetext, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            text(&[("White", "a \"b\" \\"), ("Result", "1-0")], "1. e4 e5"),
            "[White \"a \\\"b\\\" \\\\\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n"
        );
        assert_eq!(text(&[], " 1. e4 1/2-1/2 "), "[Event \"?\"]\n\n1. e4 1/2-1/2 \n\n");
    }
}
