use proptest::prelude::*;

use super::hcpe3::{Games, last_boundary};
use super::position::is_position;
use super::position::tests::{START_HCP, START_PSFEN};
use super::*;

fn position(packed: Packed, white: bool) -> [u8; 32] {
    let mut bytes = if packed == Packed::Psv { START_PSFEN } else { START_HCP };
    bytes[0] |= u8::from(white);
    bytes
}

fn record(packed: Packed, white: bool, score: i16, ply: u16, result: u8) -> Vec<u8> {
    let mut bytes = position(packed, white).to_vec();
    bytes.extend(score.to_le_bytes());
    bytes.extend([7, 1]);
    if packed == Packed::Psv {
        bytes.extend(ply.to_le_bytes());
    }
    bytes.extend([result, 0]);
    bytes
}

/// A game of HCPE3 with these scores; `None` is a move that was not searched.
fn game(scores: &[Option<i16>], result: u8) -> Vec<u8> {
    let mut bytes = START_HCP.to_vec();
    bytes.extend((scores.len() as u16).to_le_bytes());
    bytes.extend([result, 0]);
    for score in scores {
        bytes.extend([7, 1]);
        bytes.extend(score.unwrap_or(0).to_le_bytes());
        let candidates = if score.is_some() { 2u16 } else { 0 };
        bytes.extend(candidates.to_le_bytes());
        (0..candidates).for_each(|i| bytes.extend([7, 1, i as u8 + 1, 0]));
    }
    bytes
}

fn games_of(bytes: &[u8]) -> Vec<Result<u64, SkipReason>> {
    Games::new(bytes, true).map(|game| game.map(|g| g.id).map_err(|e| e.reason)).collect()
}

#[test]
fn views_of_the_result() {
    use Outcome::{Draw, Loss, Win};
    // HCPE holds the winner's colour, PSV the result of the side to move
    for (white, result, black) in [(false, 1, Win), (true, 1, Win), (true, 2, Loss), (false, 0, Draw)] {
        let read = Packed::Hcpe.single(&record(Packed::Hcpe, white, -5, 0, result)).unwrap();
        let color = if white { Color::White } else { Color::Black };
        assert_eq!((read.color, read.score_cp, read.black_outcome, read.ply), (color, -5, black, None));
    }
    for (white, result, black) in [(false, 1, Win), (true, 1, Loss), (true, 0xff, Win), (true, 0, Draw)] {
        let read = Packed::Psv.single(&record(Packed::Psv, white, 9, 77, result)).unwrap();
        assert_eq!((read.black_outcome, read.ply), (black, Some(77)));
    }
    let ended =
        |byte| Packed::Hcpe.single(&record(Packed::Hcpe, false, 0, 0, byte)).map(|r| (r.black_outcome, r.termination));
    assert_eq!(ended(4), Ok((Draw, Termination::Repetition)));
    assert_eq!(ended(9), Ok((Win, Termination::Declaration)));
    // dlshogi's constant for the ply limit has the bit of a win of White
    assert_eq!(ended(0x16), Ok((Draw, Termination::MaxMoves)));
    for byte in 0..=255 {
        assert_eq!(ended(byte).is_ok(), Packed::Hcpe.has_result(&record(Packed::Hcpe, false, 0, 0, byte)), "{byte}");
        let psv = record(Packed::Psv, false, 0, 1, byte);
        assert_eq!(Packed::Psv.single(&psv).is_ok(), Packed::Psv.has_result(&psv), "{byte}");
    }
    assert_eq!(ended(3), Err(SkipReason::IllegalResult));
    assert_eq!(Packed::Hcpe.single(&[0; 38]), Err(SkipReason::BrokenPosition));
    assert_eq!(Packed::Psv.single(&[0; 20]), Err(SkipReason::BrokenRecord));
}

#[test]
fn formats_are_recognised_by_content() {
    for packed in [Packed::Hcpe, Packed::Psv] {
        for n in [1, 2, 40] {
            let file: Vec<u8> = (0..n).flat_map(|i| record(packed, i % 2 == 1, 100 - i as i16, i, 1)).collect();
            assert_eq!(Packed::detect(&file), Some(packed), "{n}");
            // a cut last record does not matter
            assert_eq!(Packed::detect(&[&file[..], &file[..20]].concat()), Some(packed), "{n}");
        }
    }
    for n in [1, 2, 40] {
        let file: Vec<u8> = (0..n).flat_map(|i| game(&[Some(3), None, Some(i)], 2)).collect();
        assert_eq!(Packed::detect(&file), Some(Packed::Hcpe3), "{n}");
    }
    assert_eq!(Packed::detect(b""), None);
    assert_eq!(Packed::detect(&[0; 4_000]), None);
    assert_eq!(Packed::detect(b"V2.2\nN+A\0\n+7776FU\n"), None);
}

#[test]
fn positions_of_a_game_move_in_turn() {
    let bytes = game(&[Some(50), None, Some(-70), Some(30_000)], 1);
    let game = Games::new(&bytes, true).next().unwrap().unwrap();
    let found: Vec<_> = game.positions().map(|(n, p)| (n, p.color, p.score_cp)).collect();
    assert_eq!(found, [(0, Color::Black, 50), (2, Color::Black, -70), (3, Color::White, 30_000)]);
    assert_eq!((game.black_outcome, game.moves), (Outcome::Win, 4));
}

#[test]
fn games_of_psv_go_on_while_the_ply_grows_and_the_winner_stays() {
    let r = |white, ply, result| record(Packed::Psv, white, 1, ply, result);
    assert!(psv::goes_on(&r(false, 30, 1), &r(true, 31, 0xff)));
    assert!(psv::goes_on(&r(true, 31, 0), &r(true, 35, 0)));
    assert!(!psv::goes_on(&r(false, 30, 1), &r(true, 31, 1)));
    assert!(!psv::goes_on(&r(false, 30, 1), &r(false, 12, 1)));
    // no ply at all
    assert!(!psv::goes_on(&r(false, 0, 1), &r(false, 0, 1)));
}

fn three_games() -> (Vec<u8>, [usize; 2]) {
    let games = [game(&[Some(10), Some(20)], 1), game(&[Some(-5), None, Some(7)], 2), game(&[Some(99)], 0)];
    let ends = [games[0].len(), games[0].len() + games[1].len()];
    (games.concat(), ends)
}

#[test]
fn a_changed_byte_costs_its_own_game_alone() {
    let (bytes, ends) = three_games();
    let whole: Vec<u64> = games_of(&bytes).into_iter().map(Result::unwrap).collect();
    assert_eq!(whole.len(), 3);
    for at in 0..bytes.len() {
        let own = ends.iter().filter(|&&end| at >= end).count();
        for change in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            let found = games_of(&damaged);
            for other in (0..3).filter(|&other| other != own) {
                assert!(found.contains(&Ok(whole[other])), "byte {at} by {change}: game {other} of {found:?}");
            }
            // the damaged one may be read with its change, and in its rest a piece may look like a game, but never two
            let others = found.iter().flatten().filter(|id| !whole.contains(id)).count();
            assert!(others <= 1, "byte {at} by {change}: {found:?}");
        }
    }
}

#[test]
fn a_cut_costs_the_game_it_cuts() {
    let (bytes, ends) = three_games();
    let whole: Vec<u64> = games_of(&bytes).into_iter().map(Result::unwrap).collect();
    for cut in 0..=bytes.len() {
        let found = games_of(&bytes[..cut]);
        let kept = ends.iter().chain([&bytes.len()]).filter(|&&end| end <= cut).count();
        assert!(whole[..kept].iter().all(|id| found.contains(&Ok(*id))), "cut at {cut}: {found:?}");
        // the rest after the last whole game is reported as one piece
        let rest = found.len() - kept;
        assert_eq!(rest, usize::from(cut > 0 && cut != bytes.len() && !ends.contains(&cut)), "cut at {cut}: {found:?}");
    }
}

#[test]
fn blocks_are_cut_between_games() {
    let (bytes, ends) = three_games();
    for cut in 0..=bytes.len() {
        let boundary = last_boundary(&bytes[..cut]);
        assert!(boundary == 0 || ends.contains(&boundary), "{boundary} of {cut}");
    }
    // the last game is left for the next block, since it may go on
    assert_eq!(last_boundary(&bytes), ends[1]);
    assert_eq!(Packed::Hcpe.last_boundary(&[1; 100]), Some(76));
    assert_eq!(Packed::Psv.last_boundary(&[1; 39]), None);
}

#[test]
fn damaged_games_are_the_same_in_blocks() {
    let (bytes, _) = three_games();
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            let whole = games_of(&damaged);
            for end in 1..damaged.len() {
                let cut = last_boundary(&damaged[..end]);
                let parts = [games_of(&damaged[..cut]), games_of(&damaged[cut..])].concat();
                assert_eq!(parts, whole, "byte {at} by {change}, block of {end} cut at {cut}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Packed::detect(&bytes);
        for packed in [Packed::Hcpe, Packed::Psv] {
            let _ = (packed.single(&bytes), packed.last_boundary(&bytes));
        }
        let games = games_of(&bytes);
        prop_assert!(bytes.is_empty() || !games.is_empty());
        prop_assert!(last_boundary(&bytes) <= bytes.len());
    }

    /// Headers in noise: every byte belongs to one game or one error, in order.
    #[test]
    fn games_cover_the_bytes(
        parts in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..6),
    ) {
        let bytes: Vec<u8> =
            parts
                .iter()
                .flat_map(|(real, noise)| if *real { game(&[Some(1), Some(2)], 1) } else { noise.clone() })
                .collect();
        let mut games = Games::new(&bytes, true);
        let mut before = 0;
        while let Some(game) = games.next() {
            prop_assert!(games.offset() > before);
            if let Err(error) = game {
                prop_assert_eq!(error.range, before..games.offset());
            }
            before = games.offset();
        }
        prop_assert_eq!(before, bytes.len());
    }
}

/// The code of a piece by kind: bits from the low end, and how many.
const CODE: [(u64, u32); 6] = [(0b01, 2), (0b0011, 4), (0b1011, 4), (0b0111, 4), (0b01111, 5), (0b011111, 6)];

/// Every piece is put on a square of the 79 that the kings leave, or in hand if there is no `square`.
fn packed_position(pieces: &[(usize, Option<usize>, u64)]) -> [u8; 32] {
    let mut bits: Vec<bool> = vec![true];
    let mut push = |value: u64, n: u32| bits.extend((0..n).map(|i| value >> i & 1 == 1));
    push(4, 7);
    push(76, 7);
    let flags = |kind: usize| if kind == 4 { 1 } else { 2 };
    let mut board = [None; 79];
    let mut hand = Vec::new();
    for &(kind, square, flag) in pieces {
        match square.map(|s| s % 79).and_then(|s| (0..79).map(|k| (s + k) % 79).find(|&s| board[s].is_none())) {
            Some(free) => board[free] = Some((kind, flag)),
            None => hand.push((kind, flag)),
        }
    }
    for square in board {
        match square {
            None => push(0, 1),
            Some((kind, flag)) => {
                push(CODE[kind].0, CODE[kind].1);
                push(flag, flags(kind));
            }
        }
    }
    for (kind, flag) in hand {
        push(CODE[kind].0 >> 1, CODE[kind].1 - 1);
        push(flag, flags(kind));
    }
    let mut bytes = [0; 32];
    for (i, bit) in bits.iter().enumerate().take(256) {
        bytes[i / 8] |= u8::from(*bit) << (i % 8);
    }
    bytes
}

/// [`is_position`] word by word.
fn is_position_by_word(bytes: &[u8; 32]) -> bool {
    let bit = |at: usize| bytes.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    let number = |at: usize| (0..7).fold(0, |n, i| n | u32::from(bit(at + i)) << i);
    if number(1) == number(8) || number(1) > 80 || number(8) > 80 {
        return false;
    }
    let (mut at, mut squares, mut count) = (15, 0, [0; 6]);
    while squares < 79 || at < 256 {
        let on_board = squares < 79;
        squares += usize::from(on_board);
        if on_board && !bit(at) {
            at += 1;
            continue;
        }
        // the code with its first bit, which is 1 on the board and left out in hand
        let code = |i: usize| if on_board { bit(at + i) } else { i == 0 || bit(at + i - 1) };
        let fits = |&(value, n): &(u64, u32)| (0..n as usize).all(|i| code(i) == (value >> i & 1 == 1));
        let kind = CODE.iter().position(fits).unwrap_or(5);
        count[kind] += 1;
        at += CODE[kind].1 as usize - usize::from(!on_board) + if kind == 4 { 1 } else { 2 };
    }
    at == 256 && count.iter().zip([18, 4, 4, 4, 4, 4]).all(|(n, most)| *n <= most)
}

proptest! {
    #[test]
    fn positions_are_checked_as_word_by_word(
        places in prop::collection::vec((prop::option::weighted(0.8, 0usize..79), 0u64..4), 38),
        flips in prop::collection::vec(0usize..256, 0..4),
        noise in any::<[u8; 32]>(),
    ) {
        let kinds = [18, 4, 4, 4, 4, 4].into_iter().enumerate().flat_map(|(kind, n)| vec![kind; n]);
        let pieces: Vec<_> = kinds.zip(&places).map(|(kind, &(square, flag))| (kind, square, flag)).collect();
        let mut bytes = packed_position(&pieces);
        prop_assert!(is_position(&bytes));
        for flip in flips {
            bytes[flip / 8] ^= 1 << (flip % 8);
        }
        prop_assert_eq!(is_position(&bytes), is_position_by_word(&bytes));
        prop_assert_eq!(is_position(&noise), is_position_by_word(&noise));
    }
}
