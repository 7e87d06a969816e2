//! Compares our numbers with those of scipy, statsmodels and fishtest; see `tests/oracle/README.md`.

use serde_json::Value;

use super::*;

fn expected() -> Value {
    serde_json::from_str(include_str!("../../../../tests/oracle/match_stats.expected.json")).unwrap()
}

#[track_caller]
fn close(what: &str, ours: f64, theirs: &Value, tolerance: f64) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() <= tolerance * (1.0 + theirs.abs()), "{what}: {ours:e} here, {theirs:e} there");
}

fn numbers<const N: usize>(value: &Value) -> [u64; N] {
    let list: Vec<u64> = value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    list.try_into().unwrap()
}

fn wdl(value: &Value) -> Wdl {
    let [wins, draws, losses] = numbers(value);
    Wdl::new(wins, draws, losses)
}

/// Strength and SPRT of one row. fishtest mixes 0.001 games into empty cells, so results with empty cells have a
/// larger tolerance.
fn row(points: &Points, theirs: &Value, bounds: &[Value]) {
    let what = theirs.to_string().replace('\n', " ");
    let loose = if points.counts().contains(&0) { 6e-3 } else { 1e-9 };
    let ours = strength(points).unwrap();
    close(&what, ours.elo.unwrap(), &theirs["elo"], loose);
    close(&what, ours.elo_interval.0.unwrap(), &theirs["elo_interval"][0], loose);
    close(&what, ours.elo_interval.1.unwrap(), &theirs["elo_interval"][1], loose);
    close(&what, ours.normalized_elo.unwrap(), &theirs["normalized_elo"], loose);
    for (i, bound) in bounds.iter().enumerate() {
        let options = SprtOptions::new(bound[0].as_f64().unwrap(), bound[1].as_f64().unwrap());
        let llr = |model| sprt(points, &SprtOptions { model, ..options }).unwrap().llr;
        close(&what, llr(EloModel::Logistic), &theirs["llr"][i], 1e-6);
        close(&what, llr(EloModel::Normalized), &theirs["llr_normalized"][i], 1e-5);
    }
}

#[test]
fn games_agree_with_fishtest_and_statsmodels() {
    let expected = expected();
    let bounds = expected["bounds"].as_array().unwrap();
    for theirs in expected["games"].as_array().unwrap() {
        let games = wdl(&theirs["wdl"]);
        let points = Points::from(games);
        row(&points, theirs, bounds);
        close("wilson", games.wilson().0, &theirs["wilson"][0], 1e-9);
        close("wilson", games.wilson().1, &theirs["wilson"][1], 1e-9);
        close("los", strength(&points).unwrap().los.unwrap(), &theirs["los"], 1e-12);
        let exact = theirs["sign_test"].as_f64().unwrap();
        assert!((sign_test(games) / exact - 1.0).abs() < 1e-8, "{theirs}");
    }
}

#[test]
fn pairs_agree_with_fishtest() {
    let expected = expected();
    let bounds = expected["bounds"].as_array().unwrap();
    for theirs in expected["pairs"].as_array().unwrap() {
        let points = Points::from(Pentanomial::new(numbers(&theirs["counts"])));
        row(&points, theirs, bounds);
        // fishtest divides by the deviation about the mean, we by that about ½
        close("los", strength(&points).unwrap().los.unwrap(), &theirs["fishtest_los"], 5e-3);
    }
}

#[test]
fn comparisons_agree_with_scipy() {
    let expected = expected();
    for theirs in expected["comparisons"].as_array().unwrap() {
        let ours = compare(wdl(&theirs["first"]), wdl(&theirs["second"]));
        let (dropped, half) = (ours.chi_squared.unwrap(), ours.half_draws.unwrap());
        for (what, ours) in [
            ("difference", ours.difference.unwrap()),
            ("chi_squared", dropped.chi_squared),
            ("p", dropped.p),
            ("half_chi_squared", half.chi_squared),
            ("half_p", half.p),
        ] {
            close(what, ours, &theirs[what], 1e-11);
        }
        let exact = theirs["fisher"].as_f64().unwrap();
        assert!((ours.exact_p / exact - 1.0).abs() < 1e-8, "{} {exact}", ours.exact_p);
        let (low, high) = ours.interval.unwrap();
        close("interval", low, &theirs["interval"][0], 1e-11);
        close("interval", high, &theirs["interval"][1], 1e-11);
    }
}

#[test]
fn corrections_and_power_agree_with_statsmodels() {
    let expected = expected();
    let list = |v: &Value| v.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<_>>();
    let corrections = &expected["corrections"];
    let p = list(&corrections["p"]);
    for (ours, name) in [(bonferroni(&p), "bonferroni"), (holm(&p), "holm")] {
        for (a, b) in ours.iter().zip(list(&corrections[name])) {
            assert!((a - b).abs() < 1e-12, "{name}");
        }
    }
    for theirs in expected["power"].as_array().unwrap() {
        let rate = |name: &str| theirs[name].as_f64().unwrap();
        let question = PowerQuestion {
            level: rate("level"),
            first: rate("first"),
            second: rate("second"),
            draws: 0.0,
            known_second: false,
        };
        close("power", question.power(theirs["games"].as_u64().unwrap()).unwrap(), &theirs["power"], 1e-6);
    }
}
