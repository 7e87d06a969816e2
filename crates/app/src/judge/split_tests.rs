use evalcurve_calibration::types::{Color, Outcome, Termination};
use evalcurve_records::sample::GameInfo;
use evalcurve_words::language::Text;
use evalcurve_words::random;

use super::*;

/// Games whose White wins as if its scores were `shift` centipawns larger; a game's two samples share its luck.
fn table(games: u64, shift: f64, slope: f64) -> SampleTable {
    let mut table = SampleTable::default();
    let (engine, opponent, control) = (table.names.intern("A"), table.names.intern("B"), table.names.intern(""));
    for g in 0..games {
        let color = if g % 2 == 0 { Color::Black } else { Color::White };
        let luck = random::unit(&[70, g]);
        let score = |i: u64| ((random::unit(&[80, g]) + 0.2 * random::unit(&[90, g, i]) - 0.6) * 3000.0) as i32;
        // both samples deviate from it equally, so phases do not differ
        let x = (random::unit(&[80, g]) - 0.5) * 3000.0;
        let (w1, d) = if color == Color::White { (0.002 * slope, 0.002 * shift) } else { (0.002, 0.0) };
        let outcome = if luck < (Sigmoid { w1, w2: 0.1 - d }).win_rate(x) { Outcome::Win } else { Outcome::Loss };
        table.games.push(GameInfo {
            id: random::mix(g),
            players: [engine, opponent],
            ratings: [Some(3000.0), (g % 3 > 0).then_some(2950.0)],
            start_time: None,
            time_control: control,
            termination: Termination::Resignation,
            black_outcome: outcome.in_view_of(color),
            without_colors: false,
            source: control,
            line: 1,
            end: None,
            moves: None,
            unread: 0,
        });
        for i in 0..2 {
            table.samples.push(Sample {
                game: g as u32,
                engine,
                opponent,
                color,
                ply: 40 + 60 * i,
                window: i,
                score_cp: score(u64::from(i)),
                reply_cp: None,
                declared: None,
                mate: false,
                material: None,
                outcome,
                line: 1,
            });
        }
    }
    table
}

fn by(table: &SampleTable, splits: &[&str]) -> Vec<SplitCurves> {
    let splits: Vec<Split> = splits.iter().map(|s| Split::parse(s).unwrap()).collect();
    split_curves(table, &splits, &CalibrateOptions::default())
}

#[test]
fn a_missing_feature_is_found_with_its_worth() {
    let found = by(&table(4000, 150.0, 1.0), &["color", "phase", "ply >= 90"]);
    assert_eq!(found.len(), 3);
    let color = &found[0];
    assert!(color.splits, "{}", color.sentence(Language::English));
    assert_eq!(color.groups.iter().map(|g| g.label.to_string()).collect::<Vec<_>>(), ["black", "white"]);
    assert_eq!(color.groups[0].shift, None);
    let shift = color.groups[1].shift.unwrap();
    assert!(shift.low < 150.0 && 150.0 < shift.high && shift.low > 0.0 && shift.high < 350.0, "{shift:?}");
    assert!(color.test.as_ref().unwrap().slopes.p > 0.01);
    assert!(
        !found[1].splits && !found[2].splits,
        "{} {}",
        found[1].sentence(Language::English),
        found[2].sentence(Language::English)
    );
    assert_eq!(found[1].groups.iter().map(|g| g.label.to_string()).collect::<Vec<_>>(), ["ply 30–89", "ply 90–149"]);
    assert_eq!(found[2].groups[0].label.to_string(), "not (ply >= 90)");
    assert_eq!(color.groups.iter().map(|g| g.curve.total()).sum::<u64>(), 8000);
    assert!(color.sentence(Language::English).contains("white +1"), "{}", color.sentence(Language::English));
}

#[test]
fn slopes_that_differ_are_reported() {
    let found = by(&table(6000, 0.0, 0.5), &["color"]);
    let test = found[0].test.clone().unwrap();
    assert!(found[0].splits && test.slopes.p < 1e-6 && test.slopes.df == 1 && test.any.df == 2);
    assert!(
        found[0].sentence(Language::English).contains("slopes differ too"),
        "{}",
        found[0].sentence(Language::English)
    );
}

#[test]
fn one_curve_is_seldom_split() {
    // 60 tests at 5%: 3 expected, 9 or more with a probability of 0.002; games counted as two would give far more
    let rejected = (0..60u64).filter(|seed| {
        let mut table = table(500, 0.0, 1.0);
        for (i, game) in table.games.iter_mut().enumerate() {
            game.id = random::bits(&[*seed, i as u64]);
        }
        // colours by chance: the split has nothing to do with the result
        for sample in &mut table.samples {
            let color = random::bits(&[5, *seed, u64::from(sample.game)]) % 2;
            sample.color = if color == 0 { Color::Black } else { Color::White };
        }
        by(&table, &["color"])[0].test.as_ref().unwrap().any.p < 0.05
    });
    let count = rejected.count();
    assert!(count < 9, "{count}");
}

#[test]
fn small_groups_and_missing_values_are_counted() {
    let mut small = table(400, 0.0, 1.0);
    let rare = small.names.intern("rare");
    small.samples.iter_mut().take(30).for_each(|s| s.opponent = rare);
    let found = by(&small, &["opponent", "rating-gap", "time-control"]);
    assert_eq!((found[0].groups.len(), found[0].in_small_groups), (1, 30));
    assert!(found[0].sentence(Language::English).contains("only one group has"));
    // every third game lacks a rating
    assert_eq!(found[1].unknown, 268);
    assert_eq!(found[2].unknown, 800);
    assert!(found[2].groups.is_empty() && found[2].test.is_err());
}

#[test]
fn a_group_that_lost_every_game_leaves_the_others_their_test() {
    let mut lost = table(900, 0.0, 1.0);
    let [strong, other] = ["strong", "other"].map(|n| lost.names.intern(n));
    for sample in &mut lost.samples {
        match sample.game % 3 {
            0 => (sample.opponent, sample.outcome) = (strong, Outcome::Loss),
            1 => sample.opponent = other,
            _ => {}
        }
    }
    let found = &by(&lost, &["opponent"])[0];
    assert_eq!(found.without_curve, [Text::same("strong")]);
    assert_eq!(found.groups.len(), 2);
    assert!(
        found.test.is_ok() && found.sentence(Language::English).contains("no curve fits them: strong"),
        "{}",
        found.sentence(Language::English)
    );
}

#[test]
fn words_that_are_no_split_are_refused() {
    for (text, part) in [("phaze", "neither phase, color"), ("ply >", "a value is missing"), ("", "write COLUMN")] {
        let error = Split::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    for word in Split::WORDS {
        assert_eq!(Split::parse(word).unwrap().to_string(), word);
    }
}

#[test]
fn coefficients_that_are_not_determined_are_an_error() {
    let outcome = |won: bool| if won { Outcome::Win } else { Outcome::Loss };
    let one = |game: u64, score_cp: i32, won: bool| Observation { game, score_cp, outcome: outcome(won) };
    let same = (0..40).map(|i| one(i, 500, i % 2 == 1)).collect();
    let split = (0..40).map(|i| one(i, 10 * i as i32, i >= 20)).collect();
    for undetermined in [same, split] {
        let error = regression(&[(Text::same("all"), undetermined)], true).unwrap_err().to_string();
        assert!(error.contains("do not determine 2 coefficients"), "{error}");
    }
}
