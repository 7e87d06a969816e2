//! A tournament in the options of a command, in the words of fastchess: `--engine cmd=… name=… --each tc=10+0.1`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use evalcurve_engine::{ConfigText, ReadCouncil, parse_limit, words};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use toml::{Table, Value};

use super::match_stats::two_numbers;
use crate::Tournament;
use crate::match_stats::EloModel;

/// The options of fastchess that this program knows and that several words follow, and those with one.
const SEVERAL: &str = "engine each openings sprt resign draw pgnout";
const ONE: &str = "concurrency rounds games event srand tournament variant maxmoves use-affinity ratinginterval";

/// Options of fastchess that say what this program does in any case, or how its text looks.
const IGNORED: [&str; 8] =
    ["repeat", "recover", "scoreinterval", "autosaveinterval", "output", "report", "log", "force-concurrency"];

/// Options of fastchess and cutechess that this program lacks, and without which a match would be another one.
const LACKED: &str = "config crc32 ecopos epdout noswap quick seeds show-latency site startup-ms strikes tb \
    tbadjudicate tbignore50 tbpieces testEnv wait reverse";

/// Between the words of one option; none of them has it.
const SEPARATOR: char = '\u{1f}';

/// The arguments of `play` as clap reads them: options have two dashes, and the words after one are one value.
pub(super) fn joined(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut arguments = arguments.into_iter().peekable();
    while let Some(argument) = arguments.next() {
        let name = argument.to_str().and_then(|text| text.strip_prefix('-'));
        let name = name.map_or("", |name| name.strip_prefix('-').unwrap_or(name));
        let ignored = IGNORED.contains(&name);
        let of = |list: &'static str| list.split(' ').find(|known| *known == name);
        let lacked = of(LACKED).filter(|_| argument != "--config");
        let known = of(SEVERAL).map(|known| (known, true)).or(of(ONE).map(|known| (known, false)));
        let known = known.or((ignored || lacked.is_some()).then_some(("", true)));
        let Some((name, several)) = known else {
            all.push(argument);
            continue;
        };
        let mut value: Vec<String> = Vec::new();
        while let Some(word) = arguments.peek().filter(|_| several).and_then(|word| word.to_str()) {
            let is_option = word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii_digit()));
            if is_option {
                break;
            }
            value.push(word.to_owned());
            arguments.next();
        }
        if let Some(lacked) = lacked {
            all.push(format!("--lacks={lacked}").into());
        }
        if ignored || lacked.is_some() {
            continue;
        }
        let words = value.join(&SEPARATOR.to_string());
        all.push(if value.is_empty() { format!("--{name}") } else { format!("--{name}={words}") }.into());
    }
    all
}

/// A tournament without a file.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Without a file, as fastchess has it")]
pub(super) struct Words {
    /// An engine in words: cmd= name= args= dir= proto= option.NAME=VALUE, and a limit, tc=40/60+0.6 nodes= depth= or
    /// st=SECONDS; once for each engine
    #[arg(long, value_name = "WORDS", conflicts_with = "file", required_unless_present_any = ["file", "lacks"])]
    engine: Vec<String>,

    /// Words for every engine; its own count more
    #[arg(long, value_name = "WORDS", requires = "engine")]
    each: Vec<String>,

    /// Where games begin: file= order=random plies= start= [default: 8 random plies]
    #[arg(long, value_name = "WORDS", requires = "engine")]
    openings: Option<String>,

    /// End lost games: score= (centipawns) movecount= twosided=true movenumber=
    #[arg(long, value_name = "WORDS", requires = "engine")]
    resign: Option<String>,

    /// End drawn games: score= movecount= movenumber=
    #[arg(long, value_name = "WORDS", requires = "engine")]
    draw: Option<String>,

    /// Append the records to file=, too; append=false replaces the file
    #[arg(long, value_name = "WORDS", requires = "engine")]
    pgnout: Option<String>,

    /// standard (chess), fischerandom, shogi or minishogi [default: shogi with proto=usi, else standard]
    #[arg(long, value_name = "GAME", requires = "engine", hide_short_help = true)]
    variant: Option<String>,

    /// roundrobin, or gauntlet: the first engine against every other [default: roundrobin]
    #[arg(long = "tournament", value_name = "FORMAT", requires = "engine", hide_short_help = true)]
    format: Option<String>,

    /// The seed of the openings [default: 1]
    #[arg(long, value_name = "SEED", requires = "engine", hide_short_help = true)]
    srand: Option<u32>,

    /// The event in the records
    #[arg(long, value_name = "NAME", requires = "engine", hide_short_help = true)]
    event: Option<String>,

    /// A game of so many moves of both sides is a draw
    #[arg(long, value_name = "N", requires = "engine", hide_short_help = true)]
    maxmoves: Option<u32>,

    /// Games of each opening: 2, with colours swapped
    #[arg(long, value_name = "2", requires = "engine", hide_short_help = true,
          value_parser = clap::value_parser!(u8).range(2..=2))]
    games: Option<u8>,

    /// An option of fastchess that this program lacks
    #[arg(long, hide = true)]
    lacks: Vec<String>,
}

/// A key with its value; a word without `=` has no key.
type Pair = (String, String);

/// Where records go besides the folder, and whether they are added to the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub file: PathBuf,
    pub append: bool,
}

/// The words of an option.
fn pairs(text: &str) -> anyhow::Result<Vec<Pair>> {
    let list = match text.contains(SEPARATOR) {
        true => text.split(SEPARATOR).map(str::to_owned).collect(),
        false if Path::new(text).is_file() => vec![text.to_owned()],
        false => words(text)?,
    };
    let pair = |word: String| match word.split_once('=') {
        Some((key, value)) => (key.to_owned(), value.to_owned()),
        None => (String::new(), word),
    };
    Ok(list.into_iter().map(pair).collect())
}

fn unknown(option: &str, (key, value): &Pair, known: &str) -> anyhow::Error {
    let word = if key.is_empty() { value.clone() } else { format!("{key}={value}") };
    text!("--{option}: '{word}' is not understood; write {known}").into()
}

/// A table with the values of words: numbers under the names that the tournament file has for them.
fn numbers(option: &str, text: &str, keys: &[(&str, &str)], known: &str) -> anyhow::Result<Table> {
    let mut table = Table::new();
    for pair in pairs(text)? {
        let name = keys.iter().find(|(key, _)| *key == pair.0).map(|(_, name)| *name);
        let value = pair.1.parse().map(Value::Integer).or_else(|_| pair.1.parse().map(Value::Boolean));
        let (name, value) = name.zip(value.ok()).ok_or_else(|| unknown(option, &pair, known))?;
        table.insert(name.to_owned(), value);
    }
    if !table.contains_key("score") {
        return Err(text!("--{option}: score=CENTIPAWNS is missing").into());
    }
    Ok(table)
}

const PGNOUT: &str = "file= and append=; nodes=, seldepth=, nps= and pv= are there";
const ENGINE_WORDS: &str = "cmd=, name=, args=, dir=, proto=, option.NAME=VALUE, tc=, st=, nodes=, depth=, movetime=, \
                            byoyomi=, timemargin=, restart=, calibration=, mate-threshold= or council=";

/// Milliseconds of a number of seconds, as `1.5` or `1:30`.
fn milliseconds(seconds: &str) -> Option<i64> {
    let (minutes, seconds) = seconds.split_once(':').unwrap_or(("0", seconds));
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| (0.0..=1e9).contains(n));
    Some((1_000.0 * (60.0 * number(minutes)? + number(seconds)?)).round() as i64)
}

/// A time control: `moves/time+increment`; empty for `inf`.
fn clock(text: &str) -> Option<Table> {
    let mut table = Table::new();
    if matches!(text, "inf" | "infinite") {
        return Some(table);
    }
    let (moves, rest) = text.split_once('/').map_or((None, text), |(moves, rest)| (Some(moves), rest));
    let (main, increment) = rest.split_once('+').map_or((rest, None), |(main, more)| (main, Some(more)));
    let moves = moves.map(|moves| moves.parse::<i64>().ok().filter(|n| *n > 0));
    for (key, value) in
        [("main-ms", Some(milliseconds(main))), ("increment-ms", increment.map(milliseconds)), ("moves", moves)]
    {
        if let Some(value) = value {
            table.insert(key.to_owned(), Value::Integer(value?));
        }
    }
    Some(table)
}

impl Words {
    /// The tournament of the options.
    pub(super) fn tournament(&self, read_council: ReadCouncil) -> anyhow::Result<Tournament> {
        let text = toml::to_string(&self.table()?)?;
        let place = std::env::current_dir()?.join("options");
        Tournament::parse(&ConfigText::of(place, text), read_council).map_err(|mut error| {
            // there is no file that has the line
            error.line = None;
            error.into()
        })
    }

    fn table(&self) -> anyhow::Result<Table> {
        // as in fastchess, an engine plays one game after the other
        let mut all = Table::from_iter([("keep-engines".to_owned(), Value::Boolean(true))]);
        let mut of_all = Table::new();
        let each = self.each.iter().map(|text| pairs(text)).collect::<anyhow::Result<Vec<_>>>()?.concat();
        let mut engines = Vec::new();
        for text in &self.engine {
            let mut engine = Table::new();
            add_words("each", &each, &mut engine, &mut of_all)?;
            add_words("engine", &pairs(text)?, &mut engine, &mut of_all)?;
            engines.push(Value::Table(named(engine)?));
        }
        all.extend(of_all);
        let is_usi = engines.iter().any(|engine| engine.get("protocol").and_then(Value::as_str) == Some("usi"));
        let variant = self.variant.as_deref().unwrap_or(if is_usi { "shogi" } else { "standard" });
        let game = if matches!(variant, "standard" | "fischerandom") { "chess" } else { variant };
        all.insert("game".to_owned(), game.into());
        all.insert("chess960".to_owned(), (variant == "fischerandom").into());
        let format = self.format.as_deref().map(|format| if format == "roundrobin" { "round-robin" } else { format });
        let text = [("format", format), ("name", self.event.as_deref())];
        let number = [("seed", self.srand), ("max-plies", self.maxmoves.map(|moves| moves.saturating_mul(2)))];
        all.extend(text.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))));
        all.extend(number.into_iter().filter_map(|(key, value)| Some((key.to_owned(), i64::from(value?).into()))));
        let counts =
            [("score", "score"), ("movecount", "moves"), ("movenumber", "from-move"), ("twosided", "two-sided")];
        for (option, given, keys, known) in [
            ("resign", &self.resign, &counts[..], "score=, movecount=, movenumber= or twosided=true"),
            ("draw", &self.draw, &counts[..3], "score=, movecount= or movenumber="),
        ] {
            if let Some(text) = given {
                all.insert(option.to_owned(), Value::Table(numbers(option, text, keys, known)?));
            }
        }
        if let Some(text) = &self.openings {
            all.insert("openings".to_owned(), Value::Table(openings(text)?));
        }
        all.insert("engine".to_owned(), Value::Array(engines));
        Ok(all)
    }

    /// Where `--pgnout` writes.
    pub(super) fn copy(&self) -> anyhow::Result<Option<Copy>> {
        if let Some(name) = self.lacks.first() {
            return Err(text!("play has no -{name}; leave it out").into());
        }
        let Some(text) = &self.pgnout else { return Ok(None) };
        let (mut file, mut append) = (None, true);
        for pair in pairs(text)? {
            match (pair.0.as_str(), pair.1.as_str()) {
                ("" | "file", path) if !path.is_empty() && file.is_none() => file = Some(PathBuf::from(path)),
                ("append", "true" | "false") => append = pair.1 == "true",
                // what records have in any case, and what they do not have
                ("notation", "san") | ("nodes" | "seldepth" | "nps" | "pv", "true" | "false") => {}
                ("hashfull" | "tbhits" | "timeleft" | "latency" | "min", "false") => {}
                _ => return Err(unknown("pgnout", &pair, PGNOUT)),
            }
        }
        let file = file.ok_or_else(|| anyhow::Error::from(text!("--pgnout: file=NAME is missing")))?;
        Ok(Some(Copy { file, append }))
    }
}

/// Adds words to the table of an engine, and to that of the tournament what is the same for all.
fn add_words(option: &str, words_of: &[Pair], engine: &mut Table, all: &mut Table) -> anyhow::Result<()> {
    let wrong = |pair: &Pair| unknown(option, pair, ENGINE_WORDS);
    let mut has_limit = false;
    for pair in words_of {
        let (key, value) = (pair.0.as_str(), pair.1.as_str());
        let name = match key {
            "" if option == "engine" && !engine.contains_key("command") => "command",
            "cmd" => "command",
            "dir" => "directory",
            "proto" => "protocol",
            other => other,
        };
        match name {
            "command" | "directory" | "protocol" | "name" | "council" | "calibration" => {
                engine.insert(name.to_owned(), value.into());
            }
            "" if option == "engine" => push(engine, "args", value),
            "args" => words(value)?.iter().for_each(|word| push(engine, "args", word)),
            "mate-threshold" => {
                engine.insert(name.to_owned(), value.parse::<f64>().map_err(|_| wrong(pair))?.into());
            }
            "tc" | "st" | "nodes" | "depth" | "plies" | "movetime" | "byoyomi" => {
                let (kind, limit) = limit(name, value).ok_or_else(|| wrong(pair))?;
                if limit.is_empty() {
                    continue;
                }
                if let (Some(Value::Table(clock)), "byoyomi") = (engine.get_mut("clock"), name) {
                    clock.extend(limit);
                    continue;
                }
                if std::mem::replace(&mut has_limit, true) {
                    let word = format!("{key}={value}");
                    return Err(text!("--{option}: '{word}' is a second limit; an engine has one").into());
                }
                engine.remove(if kind == "clock" { "limit" } else { "clock" });
                engine.insert(kind.to_owned(), Value::Table(limit));
            }
            "timemargin" | "restart" => {
                let of_all = match (name, value.parse::<i64>(), value) {
                    ("timemargin", Ok(ms), _) => ("margin-ms", Value::Integer(ms)),
                    ("restart", _, "on" | "off") => ("keep-engines", Value::Boolean(value == "off")),
                    _ => return Err(wrong(pair)),
                };
                let known = all.insert(of_all.0.to_owned(), of_all.1.clone());
                if known.is_some_and(|known| known != of_all.1) {
                    return Err(text!("{key} is the same for all engines; write it once, after --each").into());
                }
            }
            _ => {
                let option = key.strip_prefix("option.").filter(|name| !name.is_empty()).ok_or_else(|| wrong(pair))?;
                let options = engine.entry("options").or_insert_with(|| Value::Table(Table::new()));
                options.as_table_mut().map(|options| options.insert(option.to_owned(), value.into()));
            }
        }
    }
    Ok(())
}

fn push(table: &mut Table, key: &str, word: &str) {
    if let Value::Array(list) = table.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
        list.push(word.into());
    }
}

/// The key of a limit in the tournament file with its table.
fn limit(name: &str, value: &str) -> Option<(&'static str, Table)> {
    let one = |key: &str, number: i64| Some(("limit", Table::from_iter([(key.to_owned(), Value::Integer(number))])));
    match name {
        "tc" => Some(("clock", clock(value)?)),
        "st" => one("movetime-ms", milliseconds(value)?),
        _ => {
            let name = if name == "plies" { "depth" } else { name };
            let limit = parse_limit(&format!("{name}={value}")).ok()?;
            let mut table: Table = toml::from_str(&format!("limit = {}", limit.toml())).ok()?;
            Some(("limit", table.remove("limit")?.try_into().ok()?))
        }
    }
}

/// The table of an engine with a name, the folder of its command, and a limit.
fn named(mut engine: Table) -> anyhow::Result<Table> {
    let of = |engine: &Table, key: &str| engine.get(key).and_then(Value::as_str).map(str::to_owned);
    let program = of(&engine, "command").or_else(|| of(&engine, "council"));
    let Some(program) = program else {
        return Err(text!("--engine: cmd=PROGRAM is missing").into());
    };
    let in_folder = of(&engine, "directory").map(|folder| Path::new(&folder).join(&program));
    if let Some(path) = in_folder.filter(|path| path.is_file()).and_then(|path| path.to_str().map(str::to_owned)) {
        engine.insert("command".to_owned(), path.into());
    }
    let stem = || Path::new(&program).file_stem().map_or_else(|| program.clone(), |stem| stem.to_string_lossy().into());
    let name = of(&engine, "name").unwrap_or_else(stem);
    if !["limit", "clock", "council"].iter().any(|key| engine.contains_key(*key)) {
        let limits = "tc=10+0.1, nodes=100000, depth=9 or st=1";
        return Err(text!("engine '{name}' has no limit; write {limits} after --engine or --each").into());
    }
    engine.insert("name".to_owned(), name.into());
    Ok(engine)
}

fn openings(text: &str) -> anyhow::Result<Table> {
    let mut table = Table::new();
    for pair in pairs(text)? {
        let (key, value) = (pair.0.as_str(), pair.1.as_str());
        let value: Value = match (key, value, value.parse::<i64>()) {
            ("file", ..) => value.into(),
            ("order", "sequential", _) => "file".into(),
            ("order", "random", _) => "random".into(),
            ("plies" | "start", _, Ok(number)) => number.into(),
            // the content says it
            ("format", "epd" | "pgn", _) | ("policy", "round", _) => continue,
            _ => return Err(unknown("openings", &pair, "file=, format=epd, order=random, plies= or start=")),
        };
        table.insert(key.to_owned(), value);
    }
    Ok(table)
}

/// The bounds of a sequential test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub elo: (f64, f64),
    pub errors: [Option<f64>; 2],
    pub model: Option<EloModel>,
}

/// `0:5`, or `elo0=0 elo1=5 alpha=0.05 beta=0.05 model=normalized`, whose Elo is normalised as in fastchess.
pub(super) fn bounds(text: &str) -> Result<Bounds, Text> {
    if !text.contains('=') {
        return two_numbers(text).map(|elo| Bounds { elo, errors: [None; 2], model: None });
    }
    let wrong = || text!("write 0:5, or elo0=0 elo1=5 alpha=0.05 beta=0.05 model=logistic");
    let mut numbers = [None; 4];
    let mut model = EloModel::Normalized;
    for (key, value) in pairs(text).map_err(|_| wrong())? {
        match ["elo0", "elo1", "alpha", "beta"].iter().position(|known| *known == key) {
            Some(place) => numbers[place] = Some(value.parse::<f64>().map_err(|_| wrong())?),
            None if key == "model" => model = value.parse().map_err(|_| wrong())?,
            None => return Err(wrong()),
        }
    }
    let [elo0, elo1, alpha, beta] = numbers;
    let elo = elo0.zip(elo1).ok_or_else(wrong)?;
    Ok(Bounds { elo, errors: [alpha, beta], model: Some(model) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options name no council.
    fn no_council(_: &Path) -> Result<evalcurve_engine::CouncilConfig, evalcurve_engine::ConfigError> {
        panic!("no engine is a council")
    }

    use crate::ResignRule;
    use evalcurve_engine::{Limit, TimeControl};

    fn arguments(line: &str) -> Vec<String> {
        let joined = joined(line.split_whitespace().map(OsString::from).collect());
        joined.into_iter().map(|word| word.to_str().unwrap().replace(SEPARATOR, " ")).collect()
    }

    #[test]
    fn words_after_an_option_are_its_value() {
        let line = "evalcurve play -engine cmd=a name=A --engine cmd=b -sprt elo0=-5 elo1=0 -rounds 9 -repeat \
                    -output format=cutechess -recover --quiet";
        let expected = [
            "evalcurve",
            "play",
            "--engine=cmd=a name=A",
            "--engine=cmd=b",
            "--sprt=elo0=-5 elo1=0",
            "--rounds",
            "9",
            "--quiet",
        ];
        assert_eq!(arguments(line), expected);
        // what is no option of fastchess, and what has its value, stays
        assert_eq!(
            arguments("evalcurve play t.toml --sprt=0:5 -q"),
            ["evalcurve", "play", "t.toml", "--sprt=0:5", "-q"]
        );
        assert_eq!(arguments("play --sprt 0:5 --pairs 3"), ["play", "--sprt=0:5", "--pairs", "3"]);
    }

    fn words_of(line: &str) -> Words {
        #[derive(clap::Parser)]
        struct Only {
            file: Option<PathBuf>,
            #[command(flatten)]
            words: Words,
        }
        let arguments = joined(std::iter::once("play").chain(line.split(' ')).map(OsString::from).collect());
        let Only { file, words } = clap::Parser::try_parse_from(arguments).unwrap();
        assert_eq!(file, None);
        words
    }

    #[test]
    fn a_tournament_has_what_the_words_say() {
        let words = words_of(
            "-engine cmd=sf args=-a name=A tc=40/1:30+0.5 option.Hash=16 -engine cmd=sf name=B nodes=10k -each depth=7 \
             option.Hash=8 timemargin=50 -resign movecount=3 score=600 twosided=true movenumber=9 -draw score=5 \
             -variant fischerandom -srand 7 -openings order=random plies=2 -maxmoves 90",
        );
        let found = words.tournament(no_council).unwrap();
        assert_eq!((found.game.as_str(), found.chess960, found.seed), ("chess", true, 7));
        let clock = TimeControl { main_ms: 90_000, increment_ms: 500, moves: 40, byoyomi_ms: 0 };
        assert_eq!((found.engines[0].clock, found.engines[0].limit), (Some(clock), None));
        assert_eq!(found.engines[1].limit, Some(Limit::Nodes(10_000)));
        assert_eq!(found.engines[0].launch.args, ["-a"]);
        let hash = |at: usize| found.engines[at].options.iter().find(|(name, _)| name == "Hash").unwrap().1.clone();
        assert_eq!([hash(0), hash(1)], ["16", "8"]);
        assert_eq!((found.margin_ms, found.keep_engines, found.most_plies()), (50, true, Some(180)));
        let resign = ResignRule { score: 600, moves: 3, two_sided: true, from_move: 9 };
        assert_eq!((found.resign, found.draw.map(|draw| draw.moves)), (Some(resign), Some(1)));
        let usi = words_of("-engine cmd=a name=A -engine cmd=b -each proto=usi tc=60 byoyomi=1000 restart=on");
        let usi = usi.tournament(no_council).unwrap();
        assert_eq!((usi.game.as_str(), usi.keep_engines, usi.engines[1].name.as_str()), ("shogi", false, "b"));
        assert_eq!(usi.engines[0].clock.map(|clock| (clock.main_ms, clock.byoyomi_ms)), Some((60_000, 1_000)));
    }

    #[test]
    fn wrong_words_are_named() {
        for (line, expected) in [
            ("-engine name=A", "--engine: cmd=PROGRAM is missing"),
            ("-engine cmd=a nods=5", "--engine: 'nods=5' is not understood; write cmd=, name="),
            ("-engine cmd=a nodes=5 depth=3", "--engine: 'depth=3' is a second limit"),
            ("-engine cmd=a tc=1/x", "--engine: 'tc=1/x' is not understood"),
            ("-engine cmd=a tc=inf", "engine 'a' has no limit; write tc=10+0.1"),
            ("-engine cmd=a nodes=5 timemargin=9 -engine cmd=b timemargin=8", "timemargin is the same for all engines"),
            ("-engine cmd=a nodes=5", "options: a tournament needs two engines"),
            ("-engine cmd=a nodes=5 -engine cmd=a nodes=5", "options: two engines have the name 'a'"),
            ("-engine cmd=a nodes=5 -engine cmd=./no nodes=5", "options: there is no file '"),
            (
                "-engine cmd=a nodes=5 -engine cmd=b nodes=5 -resign movecount=3",
                "--resign: score=CENTIPAWNS is missing",
            ),
            ("-engine cmd=a nodes=5 -engine cmd=b nodes=5 -draw score=x", "--draw: 'score=x' is not understood"),
            ("-engine cmd=a nodes=5 -engine cmd=b nodes=5 -openings format=abk", "--openings: 'format=abk' is not"),
            ("-engine cmd=a nodes=5 -engine cmd=b nodes=5 -variant atomic", "options: invalid value 'atomic'"),
        ] {
            let found = words_of(line).tournament(no_council).map_err(|e| e.to_string()).err().unwrap_or_default();
            assert!(found.starts_with(expected), "{line}: {found}");
        }
        let copy = |line: &str| words_of(&format!("-engine cmd=a -pgnout {line}")).copy().map_err(|e| e.to_string());
        let expected = Copy { file: "a.pgn".into(), append: false };
        assert_eq!(copy("file=a.pgn append=false nodes=true").unwrap(), Some(expected));
        // cutechess's words after the file
        assert!(copy("a.pgn min fi").unwrap_err().contains("'min' is not understood"));
        for (line, lacked) in [("-tb /syzygy", "tb"), ("-quick a b", "quick"), ("--noswap", "noswap")] {
            let found = words_of(&format!("-engine cmd=a {line}")).copy().unwrap_err().to_string();
            assert_eq!(found, format!("play has no -{lacked}; leave it out"));
        }
        assert!(copy("append=true").unwrap_err().starts_with("--pgnout: file=NAME is missing"));
        assert!(copy("file=a latency=true").unwrap_err().contains("'latency=true' is not understood"));
    }

    #[test]
    fn bounds_are_read_in_either_form() {
        let read = |text: &str| bounds(text).ok().map(|found| (found.elo, found.errors, found.model));
        assert_eq!(read("-1:3"), Some(((-1.0, 3.0), [None; 2], None)));
        let fishtest = "elo0=0 elo1=2 alpha=0.1";
        assert_eq!(read(fishtest), Some(((0.0, 2.0), [Some(0.1), None], Some(EloModel::Normalized))));
        assert_eq!(read("elo0=0 elo1=2 model=bayesian").unwrap().2, Some(EloModel::Bayesian));
        for wrong in ["elo0=0", "elo0=0 elo1=x", "elo0=0 elo1=2 model=ordo", "5"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
