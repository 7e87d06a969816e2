//! Files as the program gets them: any bytes under a name, which may be records, training data or an archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use evalcurve_engine::{Board, Game};
use evalcurve_match::play::positions;
use evalcurve_records::record::{FORMATS, Format, Formats};
use evalcurve_records::sample::{
    CollectOptions, Collected, Duplicates, GameInfo, Progress, Sample, SampleTable, SamplingOptions, Terminations,
    View, collect_with_rows,
};

pub(super) const PROMISE: &str = "games read = used + skipped, positions too; every sample belongs to a game, to an \
                                  engine and to a line";
pub(super) const OPENINGS_PROMISE: &str = "every position is one of its game and has a legal move; messages are short";
pub(super) const SAMPLES_PROMISE: &str = "as archive; the samples are the same with two threads, and a game keeps its \
                                          samples whatever is before it";

/// Writes the bytes into a file of this process, which the next call replaces, and gives its path.
pub(super) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("evalcurve-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the input");
        folder
    });
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the input is written");
    path
}

/// Any bytes, as a file: detection and all archives.
pub(super) fn archive(bytes: &[u8]) {
    let read = read(&file("archive", bytes), &options(0, None));
    check(&read);
}

/// A text with options, which the first two bytes choose.
pub(super) fn samples(bytes: &[u8]) {
    let [choice, format, text @ ..] = bytes else { return };
    let format = FORMATS.get(usize::from(*format)).copied();
    let options = options(*choice, format);
    let path = file("samples", text);
    let one = read(&path, &options);
    check(&one);
    let two = read(&path, &CollectOptions { threads: 2, ..options.clone() });
    assert_eq!(shown(&one.table), shown(&two.table), "the number of threads changes the samples");
    assert_eq!(one.report.problems, two.report.problems);
    // as a reader of a long file would meet them: other games before this one
    let options = CollectOptions { formats: Formats::default(), ..options };
    if Format::detect(text).is_some_and(|format| format.name == "csa") {
        let game = super::readers::CSA_GAME;
        let alone = read(&file("alone", game.as_bytes()), &options);
        let both = read(&file("both", &[text, b"\n/\n", game.as_bytes()].concat()), &options);
        check(&both);
        let of_game = |table: &SampleTable, id| -> Vec<Sample> {
            let samples = table.samples.iter().filter(|s| table.game(s).is_some_and(|g| g.id == id));
            samples.map(|s| Sample { game: 0, engine: 0, opponent: 0, line: 0, ..*s }).collect()
        };
        for game in &alone.table.games {
            assert_eq!(of_game(&both.table, game.id), of_game(&alone.table, game.id));
        }
    }
}

/// Openings and positions: lines or PGN, of a game and after numbers of moves that the first byte chooses.
pub(super) fn openings(bytes: &[u8]) {
    let [choice, text @ ..] = bytes else { return };
    let game = [Game::Shogi, Game::Chess, Game::Minishogi][usize::from(choice % 3)];
    let name = if choice & 0x40 == 0 { "openings.sfen" } else { "openings.pgn" };
    let plies: &[u32] = if choice & 0x80 == 0 { &[] } else { &[0, 1, 2, 30] };
    let short = |message: &str| assert!(message.chars().count() < 1_000, "{message}");
    match positions(game, &file(name, text), plies) {
        Ok((games, problems)) => {
            problems.iter().for_each(|problem| short(problem));
            for position in games.iter().flat_map(|game| &game.positions) {
                let (board, problem) = Board::new(game, position);
                assert_eq!(problem, None, "{position:?}");
                assert!(!board.legal_moves().is_empty(), "{position:?}");
            }
        }
        Err(error) => short(&error.to_string()),
    }
}

pub(super) fn options(choice: u8, format: Option<&'static Format>) -> CollectOptions {
    let flag = |bit: u8| choice >> bit & 1 == 1;
    CollectOptions {
        sampling: SamplingOptions {
            from_ply: 1,
            window: if flag(0) { 1 } else { 60 },
            seed: u64::from(choice),
            drop_draws: flag(2),
            annotator: flag(3).then(|| "analyst".to_owned()),
            packed_every: if flag(4) { 1 } else { 3 },
            terminations: Terminations::default(),
            unscored: flag(6),
            duplicates: if flag(7) { Duplicates::ByIdentity } else { Duplicates::ByMoves },
            view: [View::Auto, View::Mover, View::First][usize::from(choice) % 3],
        },
        material: flag(5),
        formats: Formats::default().only(format),
        ..CollectOptions::default()
    }
}

pub(super) fn read(path: &Path, options: &CollectOptions) -> Collected {
    collect_with_rows(&[path.to_owned()], &[], options, &Progress::default())
        .expect("the file exists and reading is not strict")
}

/// The games and samples with names, whose numbers may differ.
fn shown(table: &SampleTable) -> Vec<String> {
    let name = |id| table.names.get(id);
    let games = table.games.iter().map(|game| {
        let of = [game.players[0], game.players[1], game.time_control, game.source].map(name);
        format!("{of:?} {:?}", GameInfo { players: [0; 2], time_control: 0, source: 0, ..game.clone() })
    });
    let samples = table.samples.iter().map(|sample| {
        let of = [sample.engine, sample.opponent].map(name);
        format!("{of:?} {:?}", Sample { engine: 0, opponent: 0, ..*sample })
    });
    games.chain(samples).collect()
}

fn check(read: &Collected) {
    let Collected { table, report, .. } = read;
    assert!(report.adds_up(), "{report:?}");
    assert!(report.games_used >= table.games.len() as u64 || report.has_packed(), "{report:?}");
    for sample in &table.samples {
        let game = table.game(sample).expect("a sample belongs to a game");
        assert!(game.players.iter().all(|id| (*id as usize) < table.names.len()));
        assert!((sample.engine as usize) < table.names.len() && (sample.opponent as usize) < table.names.len());
    }
    for problem in &report.problems {
        assert!(problem.value.to_string().chars().count() < 2_000, "a message is short: {problem}");
    }
}
