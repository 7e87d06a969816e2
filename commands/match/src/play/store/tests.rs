use evalcurve_calibration::types::{Color, Outcome};

use super::*;

pub(super) fn row(pair: u32, game: u8) -> GameRow {
    GameRow {
        pair,
        game,
        player: "A, the first".into(),
        opponent: "後手".into(),
        opening: pair,
        colour: if game == 1 { Color::Black } else { Color::White },
        result: Outcome::Draw,
        termination: "repetition".into(),
        detail: "said \"no\", and\nended".into(),
        plies: 9,
        opening_plies: 1,
        moves: 5,
        player_ms: 3,
        opponent_ms: 4,
        player_cpu_ms: Some(30),
        opponent_cpu_ms: None,
        from: 0,
        to: 0,
    }
}

/// A record with what is compared with the table.
fn record_of(game: Game, row: &GameRow) -> String {
    let names = if row.colour == Color::Black { [&row.player, &row.opponent] } else { [&row.opponent, &row.player] };
    let [black, white] = names;
    let (round, number) = (row.opening, row.game);
    let beginning = record::beginning(game);
    match game {
        Game::Chess => format!(
            "{beginning}x\"]\n[Round \"{round}.{number}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\
             [Result \"1/2-1/2\"]\n\
             [PlyCount \"9\"]\n[Termination \"normal\"]\n\n1/2-1/2\n"
        ),
        _ => format!(
            "{beginning}N+{black}\nN-{white}\n$EVENT:x {round}.{number}\n{}\
             'summary:sennichite:{black} draw:{white} draw\n",
            "+7776FU\n".repeat(9)
        ),
    }
}

fn record(pair: u32, game: u8) -> String {
    record_of(Game::Shogi, &row(pair, game))
}

/// The games of a pair, by the first two engines of a tournament that has any.
pub(super) fn pair(tournament: &Tournament, number: u32) -> [(GameRow, String); 2] {
    [1, 2].map(|game| {
        let mut row = row(number, game);
        if let [player, opponent, ..] = &tournament.engines[..] {
            (row.player, row.opponent) = (player.name.clone(), opponent.name.clone());
        }
        let record = record_of(tournament.game, &row);
        (row, record)
    })
}

pub(super) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("evalcurve-store-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_killed_run_leaves_whole_pairs() {
    let folder = folder("killed");
    let tournament = Tournament::default();
    let mut store = Store::open(&folder, &tournament, false).unwrap();
    for number in [2, 1, 3] {
        store.add(pair(&Tournament::default(), number)).unwrap();
    }
    let (results, records) = (store.results_path.clone(), store.records_path.clone());
    assert!(matches!(Store::open(&folder, &tournament, false), Err(StoreError::Busy(_))));
    drop(store);
    // killed while it wrote the last row, at any byte
    let whole = fs::read(&results).unwrap();
    let games = fs::read(&records).unwrap();
    let second = record(2, 1).len();
    let last = whole.windows(3).rposition(|w| w == b"\n3,").unwrap() + 1;
    for cut in last..whole.len() - 1 {
        fs::write(&results, &whole[..cut]).unwrap();
        let store = Store::open(&folder, &tournament, false).unwrap();
        let pairs: Vec<(u32, u8)> = store.rows.iter().map(|row| (row.pair, row.game)).collect();
        assert_eq!(pairs, [(2, 1), (2, 2), (1, 1), (1, 2)], "cut at {cut}");
        drop(store);
        // or while it wrote the records
        fs::write(&records, &games[..(4 * second + cut - last).min(games.len())]).unwrap();
    }
    // an editor that leaves out the last line break costs nothing
    fs::write(&results, &whole[..whole.len() - 1]).unwrap();
    fs::write(&records, &games).unwrap();
    assert_eq!(Store::open(&folder, &tournament, false).unwrap().rows.len(), 6);
    assert_eq!((fs::read(&results).unwrap(), fs::read(&records).unwrap()), (whole.clone(), games.clone()));
    fs::write(&results, &whole[..last]).unwrap();
    fs::write(&records, &games[..4 * second]).unwrap();
    let mut store = Store::open(&folder, &tournament, false).unwrap();
    store.add(pair(&tournament, 3)).unwrap();
    store.sort().unwrap();
    let text = fs::read_to_string(&records).unwrap();
    assert!(text.starts_with(&(record(1, 1) + &record(1, 2) + &record(2, 1))) && text.lines().count() == 6 * 14);
    let store = Store::open(&folder, &tournament, false).unwrap();
    assert_eq!((store.rows.len(), &store.rows[0].detail), (6, &row(1, 1).detail));
    drop(store);
    fs::write(&records, "short").unwrap();
    assert!(matches!(Store::open(&folder, &tournament, false), Err(StoreError::Records { .. })));
    assert!(Store::open(&folder, &tournament, true).unwrap().rows.is_empty());
    let _ = fs::remove_dir_all(&folder);
}

/// Whatever became of the table, only --force deletes a game.
#[test]
fn a_table_that_was_changed_costs_no_game() {
    let folder = folder("changed");
    let open = |restart| Store::open(&folder, &Tournament::default(), restart);
    let mut store = open(false).unwrap();
    (1..=4).for_each(|number| store.add(pair(&Tournament::default(), number)).unwrap());
    drop(store);
    let [results, records, settings] = ["results.csv", "games.csa", "settings.json"].map(|name| folder.join(name));
    let good = fs::read_to_string(&results).unwrap();
    let lines = |order: &[usize]| {
        let lines: Vec<&str> = good.lines().collect();
        let mut text = format!("{}\n", lines[0]);
        // a line break in a cell makes two lines of each row
        order.iter().for_each(|at| text += &format!("{}\n{}\n", lines[2 * at + 1], lines[2 * at + 2]));
        text
    };
    assert_eq!(lines(&[0, 1, 2, 3, 4, 5, 6, 7]), good);
    let all = fs::read(&records).unwrap();
    let game = all.len() / 8;
    for (text, expected) in [
        (good.replace(',', ";"), "results.csv:1: the columns are 'pair;game;".to_owned()),
        ("player,wins\nA,3\n".to_owned(), "results.csv:1: the columns are 'player,wins'".to_owned()),
        (good.replace("\n2,2,", "\nx,2,"), "results.csv:8: pair is 'x': invalid digit".to_owned()),
        (good.replace("\n2,2,", "\n"), "results.csv:8: the row has 16 cells instead of 18".to_owned()),
        (lines(&[0, 1, 2, 4, 3, 5, 6, 7]), "results.csv:6: game 1 of pair 2 is not in two lines".to_owned()),
        (lines(&[0, 1, 3, 2, 4, 5]), "results.csv:6: game 2 of pair 2 is not".to_owned()),
        (lines(&[0, 1, 2, 3, 2, 3]), "results.csv:10: pair 2 is there twice".to_owned()),
        (good.replace("\n2,2,", "\n2,7,"), "results.csv:6: game 1 of pair 2 is not".to_owned()),
        // a quote that never ends takes the rest of the table, as the end of a run in a cell would
        (good.replace("\n2,1,", "\n\"2,1,"), "results.csv:6: the row has 17".to_owned()),
        (
            lines(&[0, 1]) + "2,1,\"A\n" + &good.replace('"', ""),
            format!("games.csa: the games from byte {} to byte", 2 * game),
        ),
        (lines(&[0, 1, 4, 5, 6, 7]), format!("games from byte {} to byte {} are", 2 * game, 4 * game)),
        (lines(&[0, 1, 2, 3]), format!("games from byte {} to byte {} are", 4 * game, 8 * game)),
        (lines(&[]), "games from byte 0 to byte".to_owned()),
    ] {
        fs::write(&results, &text).unwrap();
        let error = open(false).unwrap_err().to_string();
        assert!(error.contains(&expected) && error.contains("`force`"), "{error}");
        assert_eq!((fs::read_to_string(&results).unwrap(), fs::read(&records).unwrap()), (text, all.clone()));
    }
    // without the table, not even the settings count as those of no game
    fs::remove_file(&results).unwrap();
    let others = Tournament { seed: 2, ..Tournament::default() };
    let before = fs::read(&settings).unwrap();
    assert!(matches!(Store::open(&folder, &others, false), Err(StoreError::Unlisted { .. })));
    assert_eq!((fs::read(&records).unwrap(), fs::read(&settings).unwrap()), (all.clone(), before));
    // as an editor or a spreadsheet may store it again
    fs::write(&results, format!("\u{feff}{}", good.replace("\n", "\r\n"))).unwrap();
    assert_eq!(open(false).unwrap().rows.len(), 8);
    fs::write(&results, lines(&[6, 7, 0, 1, 2, 3, 4, 5])).unwrap();
    assert_eq!(open(false).unwrap().rows.len(), 8);
    assert_eq!(fs::read(&records).unwrap(), all);
    fs::remove_file(&results).unwrap();
    assert!(open(true).unwrap().rows.is_empty());
    assert_eq!(fs::read(&records).unwrap().len(), 0);
    let _ = fs::remove_dir_all(&folder);
}

/// A table that an editor changed is refused, cell by cell.
#[test]
fn a_table_that_claims_what_no_record_says_is_refused() {
    for game in [Game::Shogi, Game::Chess] {
        let folder = folder(&format!("edited-{game:?}"));
        let engine = |name: &str| evalcurve_engine::EngineConfig { name: name.to_owned(), ..Default::default() };
        let tournament = Tournament { game, engines: vec![engine("A"), engine("B")], ..Tournament::default() };
        let open = || Store::open(&folder, &tournament, false);
        let mut store = open().unwrap();
        (1..=2).for_each(|number| store.add(pair(&tournament, number)).unwrap());
        drop(store);
        let results = folder.join("results.csv");
        let good = fs::read_to_string(&results).unwrap();
        assert!(open().is_ok());
        let row = "\n2,2,A,B,2,white,draw,repetition,";
        for (changed, expected) in [
            ("\n2,2,A,B,2,white,win,repetition,", "the row says "),
            ("\n2,2,A,B,2,white,loss,repetition,", "the row says "),
            ("\n2,2,A,B,2,black,draw,repetition,", "the row says "),
            ("\n2,2,A,B,2,white,draw,time_up,", "the row says "),
            ("\n2,2,A,B,2,white,draw,bored,", "termination is 'bored'"),
            ("\n2,2,B,A,2,black,draw,repetition,", "pair 2 is that of 'A' and 'B' with opening 2"),
            ("\n2,2,A,B,1,white,draw,repetition,", "pair 2 is that of 'A' and 'B' with opening 2"),
        ] {
            assert!(good.contains(row), "{good}");
            fs::write(&results, good.replace(row, changed)).unwrap();
            let error = open().map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("results.csv:8: ") && error.contains(expected), "{error}");
        }
        fs::write(&results, good.replace("\",9,1,", "\",8,1,")).unwrap();
        let error = open().map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains("results.csv:2: the row says ") && error.contains('8') && error.contains('9'),
            "{error}"
        );
        let _ = fs::remove_dir_all(&folder);
    }
}

/// The folder of a user may have such files.
#[test]
fn files_of_others_are_left_alone() {
    let folder = folder("others");
    fs::create_dir_all(&folder).unwrap();
    for (name, text, expected) in [
        ("games.csa", "V2.2\nN+A\n", "are not in"),
        ("settings.json", "{\"editor\": 1}", "no file of `evalcurve play`"),
        ("results.csv", "a,b\n", ":1: the columns are 'a,b'"),
    ] {
        fs::write(folder.join(name), text).unwrap();
        let error = Store::open(&folder, &Tournament::default(), false).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(expected) && error.contains("`force`"), "{error}");
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
        fs::remove_file(folder.join(name)).unwrap();
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Tournaments of two games write to records of two names, and to one table.
#[test]
fn a_folder_has_one_run_whatever_it_plays() {
    let folder = folder("two-games");
    let shogi = Tournament::default();
    let chess = Tournament { game: Game::Chess, ..shogi.clone() };
    let mut store = Store::open(&folder, &shogi, false).unwrap();
    store.add(pair(&shogi, 1)).unwrap();
    for restart in [false, true] {
        let error = Store::open(&folder, &chess, restart).unwrap_err();
        assert!(matches!(error, StoreError::Busy(_)), "{error}");
    }
    // what is in the folder can be read meanwhile, on Windows, too
    assert!(fs::read_to_string(folder.join("games.csa")).unwrap().contains("N+"));
    store.sort().unwrap();
    assert!(matches!(Store::open(&folder, &chess, false), Err(StoreError::Settings { .. })));
    // without the table, nothing else shows whose games they are
    fs::remove_file(folder.join("results.csv")).unwrap();
    assert!(matches!(Store::open(&folder, &chess, false), Err(StoreError::Unlisted { .. })));
    assert!(folder.join("games.csa").exists());
    drop(Store::open(&folder, &chess, true).unwrap());
    assert!(!folder.join("games.csa").exists() && folder.join("games.pgn").exists());
    let _ = fs::remove_dir_all(&folder);
}

/// A kill while files are sorted loses no game, wherever it comes.
#[test]
fn sorting_is_completed_or_taken_back() {
    let [folder, sorted] = ["unsorted", "sorted"].map(folder);
    for folder in [&folder, &sorted] {
        let mut store = Store::open(folder, &Tournament::default(), false).unwrap();
        for number in [2, 1] {
            store.add(pair(&Tournament::default(), number)).unwrap();
        }
    }
    Store::open(&sorted, &Tournament::default(), false).unwrap().sort().unwrap();
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let good = record(1, 1) + &record(1, 2) + &record(2, 1) + &record(2, 2);
    assert_eq!(read(&sorted, "games.csa"), good);
    assert_eq!(fs::read_dir(&sorted).unwrap().count(), 4);
    let copy = |from: &str, to: &str| fs::copy(sorted.join(from), folder.join(to)).unwrap();
    let states: [&[(&str, &str)]; 3] = [
        &[("games.csa", "games.csa.sorted")],
        &[("games.csa", "games.csa.sorted"), ("results.csv", "results.csv.sorted")],
        &[("games.csa", "games.csa"), ("results.csv", "results.csv.sorted")],
    ];
    for state in states {
        for (from, to) in state {
            copy(from, to);
        }
        let store = Store::open(&folder, &Tournament::default(), false).unwrap();
        let text = read(&folder, "games.csa");
        let records = store.rows.iter().map(|row| &text[row.from as usize..row.to as usize]);
        let wanted = store.rows.iter().map(|row| record(row.pair, row.game));
        assert!(records.eq(wanted) && store.rows.len() == 4, "{state:?}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "{state:?}");
    }
    assert_eq!((read(&folder, "games.csa"), read(&folder, "results.csv")), (good, read(&sorted, "results.csv")));
    // a tournament of another game that is refused changes nothing of it
    copy("games.csa", "games.csa.sorted");
    fs::write(folder.join("results.csv.sorted"), "not for these records").unwrap();
    assert!(Store::open(&folder, &Tournament { game: Game::Chess, ..Tournament::default() }, false).is_err());
    assert_eq!(read(&folder, "results.csv"), read(&sorted, "results.csv"));
    [folder, sorted].iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
}
