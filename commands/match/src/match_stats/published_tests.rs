//! All rates that two papers print, computed from the counts: Hanawa and Ito 2009
//! ("思考アルゴリズムにおける最適合議システム"), tables 2 to 4, and Takeuchi 2018
//! ("異種プログラム間における楽観合議について"), tables 1, 4 and 5, and the tests of its section 4.3.

use super::results_csv::{Table, matches_of, shares_of};
use super::*;

macro_rules! table {
    ($name:literal) => {
        Table::parse(include_str!(concat!("../../../../data/published/", $name)), $name)
    };
}

/// The sum over the matches of a player in one table of Hanawa and Ito.
fn hanawa_ito(number: &str, player: &str) -> Wdl {
    let text = include_str!("../../../../data/published/hanawa-ito-2009.csv");
    let head = text.lines().next().unwrap();
    let rows: Vec<&str> = text.lines().filter(|l| l.starts_with(&format!("{number},{player},"))).collect();
    assert!(rows.len() >= 3, "{number} {player}");
    let matches = matches_of(&Table::parse(&format!("{head}\n{}", rows.join("\n")), "hanawa-ito")).unwrap();
    matches.list.iter().fold(Wdl::default(), |mut sum, m| {
        assert_eq!(m.games.games(), 100);
        sum += m.games;
        sum
    })
}

#[test]
fn hanawa_and_ito_table_2() {
    // printed without and, in brackets, with 50 wins and 50 losses against itself
    for (player, without, with) in [
        ("静止独自", "0.683", "0.638"),
        ("静止K55", "0.410", "0.433"),
        ("独自", "0.590", "0.568"),
        // the paper prints 0.316: 95 of 300 cut off instead of rounded
        ("K55", "0.317", "0.363"),
    ] {
        let mut games = hanawa_ito("2", player);
        assert_eq!(games.printed_rate(3).as_deref(), Some(without), "{player}");
        games += Wdl::new(50, 0, 50);
        assert_eq!(games.printed_rate(3).as_deref(), Some(with), "{player}");
    }
    assert_eq!(hanawa_ito("2", "K55"), Wdl::new(95, 0, 205));
}

#[test]
fn hanawa_and_ito_table_2_holds_every_match_twice() {
    let matches = matches_of(&table!("hanawa-ito-2009.csv")).unwrap().list;
    let find = |a: &str, b: &str| matches.iter().find(|m| m.player == a && m.opponent == b).unwrap();
    for a in ["静止独自", "静止K55", "独自", "K55"] {
        for b in ["静止独自", "静止K55", "独自", "K55"].iter().filter(|b| **b != a) {
            assert_eq!(find(a, b).games, find(b, a).games.reversed(), "{a} {b}");
        }
    }
}

#[test]
fn hanawa_and_ito_tables_3_and_4() {
    for (table, leader, printed) in [
        ("3", "静止独自", "0.673"),
        ("3", "静止K55", "0.590"),
        ("3", "独自", "0.643"),
        ("3", "K55", "0.565"),
        ("4", "ランダム", "0.653"),
    ] {
        let council = hanawa_ito(table, &format!("合議 ({leader})"));
        assert_eq!(council.printed_rate(3).as_deref(), Some(printed), "{leader}");
        if table == "4" {
            continue;
        }
        // section 7: with any leader the council wins more than its leader alone (with 50 wins against itself)
        let mut alone = hanawa_ito("2", leader);
        alone += Wdl::new(50, 0, 50);
        assert!(council.rate() > alone.rate(), "{leader}");
    }
    // the paper makes no test: χ² finds three of the four gains beyond chance, two after correction for all four
    let p = ["静止独自", "静止K55", "独自", "K55"].map(|leader| {
        let mut alone = hanawa_ito("2", leader);
        alone += Wdl::new(50, 0, 50);
        compare(hanawa_ito("3", &format!("合議 ({leader})")), alone).chi_squared.unwrap().p
    });
    assert_eq!((format!("{:.3}", p[0]), format!("{:.3}", p[2])), ("0.298".to_owned(), "0.030".to_owned()));
    assert!(p[1] < 1e-4 && p[3] < 1e-4);
    assert_eq!(bonferroni(&p).iter().filter(|p| **p < 0.05).count(), 2);
    // with a leader drawn at random (table 4) the council wins as often as with the leader 静止独自, section 7
    let random = compare(hanawa_ito("4", "合議 (ランダム)"), hanawa_ito("3", "合議 (静止独自)"));
    assert!(random.chi_squared.unwrap().p > 0.5);
}

#[test]
fn takeuchi_tables_1_4_and_5() {
    let texts = [
        include_str!("../../../../data/published/takeuchi-2018-table-1.csv"),
        include_str!("../../../../data/published/takeuchi-2018-table-4.csv"),
        include_str!("../../../../data/published/takeuchi-2018-table-5.csv"),
    ];
    let mut seen = 0;
    for text in texts {
        let matches = matches_of(&Table::parse(text, "takeuchi")).unwrap().list;
        for (found, line) in matches.iter().zip(text.lines().skip(1)) {
            let printed = line.rsplit(',').next().unwrap();
            let decimals = printed.len() as u32 - 2;
            assert_eq!(found.games.printed_rate(decimals).as_deref(), Some(printed), "{line}");
            assert_eq!(found.games.games(), 1000);
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
    // the lower half of table 1 prints the other side: .302, .3105, .228, .475, .462, .4305
    let table = matches_of(&table!("takeuchi-2018-table-1.csv")).unwrap().list;
    let turned: Vec<String> = table.iter().map(|m| m.games.reversed().printed_rate(4).unwrap()).collect();
    assert_eq!(turned, ["0.3020", "0.3105", "0.2280", "0.4750", "0.4620", "0.4305"]);
    // section 5: 399 wins, 9 draws, 592 losses are .4035
    assert_eq!(Wdl::new(399, 9, 592).printed_rate(4).as_deref(), Some("0.4035"));
}

/// Table 4 and, from table 1, the engines alone, all against Apery.
fn against_apery() -> ([Wdl; 3], [Wdl; 3]) {
    let all = matches_of(&table!("takeuchi-2018-figure-6.csv")).unwrap().list;
    let table_4 = matches_of(&table!("takeuchi-2018-table-4.csv")).unwrap().list;
    let table_1 = matches_of(&table!("takeuchi-2018-table-1.csv")).unwrap().list;
    for i in 0..3 {
        assert_eq!(all[i], table_4[i]);
        assert_eq!((all[i + 3].games, &all[i + 3].player), (table_1[i].games.reversed(), &table_1[i].opponent));
    }
    ([0, 1, 2].map(|i| all[i].games), [3, 4, 5].map(|i| all[i].games))
}

#[test]
fn takeuchi_section_4_3() {
    let ([win_rate, simple, majority], engines) = against_apery();
    let p = |a, b| compare(a, b).chi_squared.unwrap().p;
    let half = |a, b| compare(a, b).half_draws.unwrap().p;
    let shown = |p: f64| format!("{p:.3}");
    // without draws: win-rate against majority is significant at 5%, the others are not, as the paper says
    assert_eq!(
        [p(win_rate, majority), p(simple, majority), p(win_rate, simple)].map(shown),
        ["0.020", "0.096", "0.500"]
    );
    // draws half
    assert_eq!([half(win_rate, majority), half(simple, majority)].map(shown), ["0.029", "0.131"]);
    // three comparisons were made: at .05/3 = .0167 nothing is significant
    let three = [p(win_rate, majority), p(simple, majority), p(win_rate, simple)];
    assert!(three.iter().all(|p| *p > 0.05 / 3.0));
    assert!(bonferroni(&three).iter().chain(&holm(&three)).all(|p| *p > 0.05));
    assert_eq!(shown(bonferroni(&three)[0]), "0.059");
    // each council against each engine alone: significant at 5%, and after correction for all nine
    let nine: Vec<f64> = [win_rate, simple, majority].iter().flat_map(|c| engines.iter().map(|e| p(*c, *e))).collect();
    assert!(bonferroni(&nine).iter().all(|p| *p < 0.05), "{nine:?}");
    // section 5: two engines without nozomi, .4035; not significantly different from the three (.427) or from majority
    let two = Wdl::new(399, 9, 592);
    assert!(p(two, win_rate) > 0.2 && p(two, majority) > 0.1, "{} {}", p(two, win_rate), p(two, majority));
}

#[test]
fn takeuchi_section_4_4() {
    // councils against each other: no result is significant
    for m in matches_of(&table!("takeuchi-2018-table-5.csv")).unwrap().list {
        assert!(sign_test(m.games) > 0.6, "{}", m.player);
        let strength = strength(&m.games.into()).unwrap();
        let (low, high) = strength.elo_interval;
        assert!(low.unwrap() < 0.0 && high.unwrap() > 0.0);
    }
}

#[test]
fn takeuchi_table_6_agrees_with_the_shares_of_section_4_5() {
    // all agree .47, Y+G .11, Y+N .14, G+N .14, three moves .14 (then YaneuraOu leads), "程度", to two digits
    let shares = shares_of(&table!("takeuchi-2018-table-6.csv")).unwrap();
    let majority = |name: &str| shares.iter().find(|s| s.0 == "多数決合議" && s.1 == name).unwrap().2;
    for (name, sum) in
        [("YaneuraOu", 0.47 + 0.11 + 0.14 + 0.14), ("技巧", 0.47 + 0.11 + 0.14), ("nozomi", 0.47 + 0.14 + 0.14)]
    {
        assert!((majority(name) - sum).abs() < 0.01, "{name}");
    }
}
