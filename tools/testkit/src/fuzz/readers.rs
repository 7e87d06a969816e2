//! The readers of records: progress, counts, cuts at game boundaries, and games that damage elsewhere leaves alone.

use evalcurve_records::record::format::remove_marks;
use evalcurve_records::record::packed::PackedPosition;
use evalcurve_records::record::packed::hcpe3::Games;
use evalcurve_records::record::{
    Above, FORMATS, Format, Game, GameError, Packed, SkipReason, csa, encoding, kif, pgn, usi_log, votes,
};

pub(super) const PROMISE: &str = "every byte is passed, lines are counted, a game has its scores in order; a file cut \
                                  at any boundary gives the games of the whole; any text before a game leaves it alone";
pub(super) const PACKED_PROMISE: &str = "every byte belongs to one game or one error; a file cut at any boundary gives \
                                         the games of the whole; other scores change nothing else";

/// Boundaries that are tried for one input, from its end.
const CUTS: usize = 8;

/// A game that no input is likely to hold.
pub(super) const CSA_GAME: &str = "V2.2\nN+Isolated\nN-Control\nPI\n+\n+7776FU\n'** 30\n-3334FU\n'** -20\n%TORYO\n";

pub(super) fn csa(bytes: &[u8]) {
    text(&csa::FORMAT, bytes);
    alone(&csa::FORMAT, bytes, "\n/\n", CSA_GAME);
}

pub(super) fn pgn(bytes: &[u8]) {
    text(&pgn::FORMAT, bytes);
    alone(
        &pgn::FORMAT,
        bytes,
        "\n\n",
        "[Event \"x\"]\n[White \"Isolated\"]\n[Black \"Control\"]\n[Result \"1-0\"]\n\n\
         1. e4 {+0.30/12 1.0s} e5 {-0.20/12 1.0s} 2. Nf3 {+0.40/12 1s} 1-0\n",
    );
}

pub(super) fn kif(bytes: &[u8]) {
    text(&kif::FORMAT, bytes);
    alone(
        &kif::FORMAT,
        bytes,
        "\n",
        "#KIF version=2.0 encoding=UTF-8\n手合割：平手\n先手：Isolated\n後手：Control\n手数----指手---------消費時間--\n   \
         1 ７六歩(77)\n**評価値=35\n   2 ３四歩(33)\n**評価値=-35\n   3 投了\n",
    );
}

pub(super) fn usi_log(bytes: &[u8]) {
    text(&usi_log::FORMAT, bytes);
}

pub(super) fn votes(bytes: &[u8]) {
    text(&votes::FORMAT, bytes);
    alone(
        &votes::FORMAT,
        bytes,
        "\n",
        "{\"format\":\"evalcurve-votes\",\"version\":1,\"voters\":[]}\n\
         {\"game_id\":\"isolated\",\"ply\":2,\"position\":\"startpos moves 7g7f\",\"side\":\"white\",\"time_ms\":5,\
         \"votes\":[{\"voter\":\"A\",\"move\":\"3c3d\",\"score\":10}],\"decision\":null,\"played\":\"3c3d\"}\n\
         {\"game_id\":\"isolated\",\"end\":\"win\",\"side\":\"white\",\"ply\":2}\n",
    );
}

type Read = Result<Game, GameError>;

/// Reads all games of a text with their texts, and checks that the reader passes every byte.
fn games<'a>(format: &Format, text: &'a [u8], above: &Above) -> Vec<(Read, &'a [u8])> {
    let (mut games, mut all) = (format.games(text, above), Vec::new());
    // a vote log gives a game once for each voter
    let mut without_progress = 0;
    loop {
        let before = games.place().offset;
        let Some(read) = games.next() else { break };
        let after = games.place().offset;
        assert!(after <= text.len(), "the reader is after the text");
        all.push((read, text.get(before..after).expect("the reader moves forward")));
        without_progress = if after > before { 0 } else { without_progress + 1 };
        assert!(without_progress < if *format == votes::FORMAT { 100 } else { 1 }, "no progress");
    }
    assert_eq!(games.place().offset, text.len(), "bytes are left");
    assert_eq!(games.place().line, lines(text), "lines are counted");
    all
}

fn lines(text: &[u8]) -> u64 {
    text.iter().filter(|b| **b == b'\n').count() as u64
}

/// The same game, `by` lines further down.
fn moved(read: &Read, by: u64) -> Read {
    let mut read = read.clone();
    match &mut read {
        Err(error) => error.line += by,
        Ok(game) => game.move_down(by),
    }
    read
}

fn text(format: &Format, bytes: &[u8]) {
    let _ = Format::detect(bytes);
    let mut bytes = bytes.to_vec();
    let length = remove_marks(&mut bytes, 0);
    let bytes = &bytes[..length];
    let start = Above { encoding: encoding::declared(bytes), ..Above::default() };
    let whole = games(format, bytes, &start);
    for (read, own) in &whole {
        let Ok(game) = read else { continue };
        let last = lines(bytes);
        assert!(game.line <= last && game.scores.iter().all(|s| s.line <= last));
        for analysis in [false, true] {
            let mut plies = game.scores.iter().filter(|s| s.analysis == analysis).map(|s| s.ply);
            assert!(plies.clone().zip(plies.by_ref().skip(1)).all(|(a, b)| a < b), "scores are in order: {game:?}");
        }
        assert!(game.oddities.iter().all(|o| o.value.chars().count() <= 60));
        if let Some(check) = format.verify {
            let _ = check(own);
        }
        if let Some(count) = format.material {
            let _ = count(own, &mut game.scores.iter().map(|s| s.ply));
        }
    }
    let mut end = bytes.len();
    for _ in 0..CUTS {
        let Some(cut) = format.last_boundary(&bytes[..end]) else { break };
        assert!(0 < cut && cut <= end, "the boundary {cut} of {end} bytes");
        let (first, second) = bytes.split_at(cut);
        let by = lines(first);
        let parts = games(format, first, &start).into_iter().map(|(read, _)| read);
        let mut then = start.clone();
        format.note(first, &mut then);
        let parts = parts.chain(games(format, second, &then).into_iter().map(|(read, _)| moved(&read, by)));
        let parts: Vec<Read> = parts.filter_map(|read| shown(format, read)).collect();
        let whole: Vec<Read> = whole.iter().filter_map(|(read, _)| shown(format, read.clone())).collect();
        assert_eq!(parts, whole, "cut at {cut} of {} bytes", bytes.len());
        end = cut - 1;
    }
}

/// What must not depend on cuts: in a vote log, unreadable lines without a game of their own count with the next game.
fn shown(format: &Format, read: Read) -> Option<Read> {
    if *format != votes::FORMAT {
        return Some(read);
    }
    let mut game = read.ok()?;
    game.oddities.clear();
    Some(Ok(game))
}

/// Reads `game` after any bytes.
fn alone(format: &Format, before: &[u8], separator: &str, game: &str) {
    let mut expected = games(format, game.as_bytes(), &Above::default());
    let (expected, _) = expected.pop().expect("one game");
    let before = [before, separator.as_bytes()].concat();
    let text = [&before[..], game.as_bytes()].concat();
    let (mut found, _) = games(format, &text, &Above::default()).pop().expect("at least one game");
    if let Ok(game) = &mut found {
        // lines before the game that belong to no other
        game.oddities.clear();
    }
    assert_eq!(found, moved(&expected, lines(&before)));
}

/// Training data; the first byte chooses the format.
pub(super) fn packed(bytes: &[u8]) {
    let _ = Packed::detect(bytes);
    let Some((choice, bytes)) = bytes.split_first() else { return };
    const ALL: [Packed; 5] = [Packed::Hcpe, Packed::Hcpe3, Packed::Psv, Packed::Plain, Packed::Binpack];
    let packed = ALL[usize::from(choice % 5)];
    let format = FORMATS.iter().find(|format| format.packed() == Some(packed)).expect("a format");
    assert!(format.games(bytes, &Above::default()).next().is_none());
    if let Some(cut) = format.last_boundary(bytes) {
        assert!(0 < cut && cut <= bytes.len());
    }
    match packed.record_bytes() {
        Some(size) => bytes.chunks(size).for_each(|record| {
            if packed.single(record).is_ok() {
                assert!(packed.has_result(record));
            }
        }),
        None if packed == Packed::Hcpe3 => hcpe3(bytes),
        None => {}
    }
    rescored(packed, bytes);
}

/// Positions with the scores that a map gives them, and the bytes with those scores.
fn walked(
    packed: Packed,
    bytes: &[u8],
    map: impl Fn(i32) -> i32,
) -> (Vec<Result<PackedPosition, SkipReason>>, Vec<u8>) {
    let (mut found, mut out, mut last) = (Vec::new(), Vec::new(), 0);
    packed.walk(bytes, Some(&mut out), &mut |range, position| {
        assert!(last <= range.start && range.end <= bytes.len());
        last = range.start;
        let new = position.map(|position| PackedPosition { score_cp: map(position.score_cp), ..*position });
        found.push(new);
        new.map_or(0, |position| position.score_cp)
    });
    (found, out)
}

/// Scores that stay leave every byte, but for numbers that binpack stores in more bits than they need; others are
/// read back, and nothing else changes.
fn rescored(packed: Packed, bytes: &[u8]) {
    let (found, same) = walked(packed, bytes, |score| score);
    assert!(packed == Packed::Binpack || same == bytes);
    let (new, changed) = walked(packed, bytes, |score| score / 2 + 1);
    assert_eq!(new.len(), found.len());
    let (read, _) = walked(packed, &changed, |score| score);
    assert_eq!(read, new);
    if let Some(cut) = packed.last_boundary(bytes) {
        let [first, second] = [&bytes[..cut], &bytes[cut..]].map(|part| walked(packed, part, |score| score));
        assert_eq!([first.1, second.1].concat(), same, "cut at {cut}");
    }
}

fn hcpe3(bytes: &[u8]) {
    let read = |bytes: &[u8], from: usize| {
        let mut games = Games::new(bytes, true);
        let mut all = Vec::new();
        loop {
            let begin = games.offset();
            let Some(game) = games.next() else { break };
            assert!(games.offset() > begin, "no progress");
            let range = begin + from..games.offset() + from;
            match game {
                Ok(game) => {
                    let positions: Vec<_> = game.positions().collect();
                    assert!(positions.len() <= game.moves as usize);
                    all.push((range, Ok((game.id, game.moves, positions))));
                }
                Err(error) => {
                    assert_eq!(error.range.start + from..error.range.end + from, range);
                    all.push((range, Err(error.reason)));
                }
            }
        }
        assert_eq!(games.offset(), bytes.len(), "bytes are left");
        all
    };
    let whole = read(bytes, 0);
    if let Some(cut) = Packed::Hcpe3.last_boundary(bytes) {
        let mut parts = read(&bytes[..cut], 0);
        parts.extend(read(&bytes[cut..], cut));
        assert_eq!(parts, whole, "cut at {cut} of {} bytes", bytes.len());
    }
}
