//! `evalcurve council --prepare --does-it-pay`: the council against its members, at their limits and with the time of
//! the council.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use evalcurve_app::cli::files::shown;
use evalcurve_app::cli::{DoesItPay, Done, terminal};
use evalcurve_app::shipped::shipped_positions;
use evalcurve_engine::usi::{Go, Position, Processes};
use evalcurve_engine::{Board, EngineConfig, Game, Limit, Player, ReadCouncil};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{say, text, whole_file};

use super::play::{Live, standings_text, watch};
use crate::match_stats::results_csv::read_tables;
use crate::match_stats::spent::APART;
use crate::match_stats::{Entry, Match, Spent, Strength, strength};
use crate::report::matches::elo;
use crate::{RunOptions, Tournament};

/// How long a council may take to get ready, and anyone for a move with a limit of its own.
const READY: Duration = Duration::from_secs(600);

/// How long to wait for a move with a limit that is tried: an engine may not obey it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Positions on which times are measured, each from another game.
const POSITIONS: usize = 16;

/// The most plies by which a member with the time of the council is searched deeper.
const MOST_DEEPER: u64 = 16;

/// Moves of both sides in a game, about.
const USUAL_PLIES: u32 = 120;

/// Pairs between two reports of games where no terminal shows them.
const REPORT_EVERY: u64 = 10;

/// The chance of a wrong verdict where the council and its best member are equal, on either side.
const LEVEL: f64 = 0.025;

/// The plan and the games beside a configuration.
fn place(path: &Path) -> [PathBuf; 2] {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    ["pays.toml", "pays-games"].map(|ending| path.with_file_name(format!("{stem}-{ending}")))
}

/// What [`Services::does_it_pay`](evalcurve_app::cli::Services::does_it_pay) does: plays the games, or those that are
/// missing, and says what they show; without a number of pairs, says it of the games so far.
///
/// # Errors
/// Engines that cannot play, and files that cannot be read or written.
pub fn does_it_pay(wanted: &DoesItPay<'_>) -> anyhow::Result<Option<Done>> {
    let DoesItPay { config: path, pairs, force, language, read_council } = *wanted;
    let Some(pairs) = pairs else { return repeat(path, read_council, language) };
    let [file, folder] = place(path);
    if force || !file.exists() {
        whole_file::write(&file, plan(path, pairs, read_council, language)?.as_bytes())?;
    }
    let tournament = Tournament::read(&file, read_council)?;
    let options = RunOptions { restart: force, ..RunOptions::default() };
    let command = format!("evalcurve council {} --prepare --does-it-pay", shown(path));
    let standings = watch(&tournament, &folder, &options, Live::of(false, REPORT_EVERY, command, language))?;
    terminal::print(&standings_text(&tournament, &standings, &folder, false, language))?;
    Ok(Some(repeat(path, read_council, language)?.unwrap_or(Done::CannotTell)))
}

/// What a move takes.
struct Pace {
    wall: Duration,
    /// Of all processors.
    cpu: Duration,
    nodes: u64,
}

fn pace(engine: &EngineConfig, positions: &[Position], game: Game, patience: Duration) -> anyhow::Result<Pace> {
    let fail = |why: Text| text!("engine '{}': {why}; try it in a terminal", engine.name);
    let on_linux = || text!("the processor time of engines is known on Linux alone");
    let mut player = Player::for_game(None, engine).map_err(|e| fail(Text::same(e.to_string())))?;
    let before = player.processor_time(&Processes::now().ok_or_else(on_linux)?);
    let (since, mut nodes, moves) = (Instant::now(), 0, positions.len().max(1) as u32);
    for position in positions {
        let (board, _) = Board::new(game, position);
        let go = engine.limit.map_or(Go { movetime_ms: Some(patience.as_millis() as u64), ..Go::default() }, Limit::go);
        let found = player.search(position.clone(), board.side(), go, patience);
        nodes += found.map_err(|e| fail(Text::same(e.to_string())))?.nodes.unwrap_or(0);
    }
    let wall = since.elapsed() / moves;
    let spent = player.processor_time(&Processes::now().ok_or_else(on_linux)?).saturating_sub(before);
    player.quit();
    Ok(Pace { wall, cpu: spent / moves, nodes: nodes / u64::from(moves) })
}

/// The limit with which a member takes about as long as the council, given what a move takes at its own limit.
fn longer(
    engine: &EngineConfig,
    own: &Pace,
    all: Duration,
    pace: impl Fn(&EngineConfig) -> anyhow::Result<Pace>,
) -> anyhow::Result<Limit> {
    let seconds = |time: Duration| time.as_secs_f64().max(0.000_1);
    let times = |n: u64, time| (n as f64 * all.as_secs_f64() / seconds(time)).round().max(1.0) as u64;
    let apart = |time| (seconds(time) / all.as_secs_f64()).ln().abs();
    let time = |limit| anyhow::Ok(pace(&EngineConfig { limit: Some(limit), ..engine.clone() })?.cpu);
    let by_nodes = |nodes| {
        // more nodes a second or fewer in a longer search, and engines that go beyond their nodes
        let first = times(nodes, own.cpu);
        anyhow::Ok(Limit::Nodes(times(first, time(Limit::Nodes(first))?)))
    };
    Ok(match engine.limit {
        Some(Limit::MoveTime(ms)) => Limit::MoveTime(times(ms, own.cpu)),
        Some(Limit::Byoyomi(ms)) => Limit::Byoyomi(times(ms, own.cpu)),
        Some(Limit::Nodes(nodes)) => by_nodes(nodes)?,
        Some(Limit::Depth(plies)) => {
            let (mut best, mut nearest) = (Limit::Depth(plies), apart(own.cpu));
            for deeper in plies + 1..=plies + MOST_DEEPER {
                let took = time(Limit::Depth(deeper))?;
                if apart(took) < nearest {
                    (best, nearest) = (Limit::Depth(deeper), apart(took));
                }
                if took > all {
                    break;
                }
            }
            // a ply can be too much; but not every engine obeys nodes
            let in_nodes = (nearest > APART.ln()).then(|| by_nodes(own.nodes)).and_then(Result::ok);
            in_nodes.filter(|limit| time(*limit).is_ok_and(|took| apart(took) < nearest)).unwrap_or(best)
        }
        None => bail!(text!("engine '{}' has no limit; give it one", engine.name)),
    })
}

/// What follows the name of a member that has the time of the council.
const WITH_TIME: &str = ", time of all";

/// The name of a member with the time of the council.
fn with_time(name: &str) -> String {
    format!("{name}{WITH_TIME}")
}

/// Measures times, says how long the games take, and returns the tournament as TOML.
fn plan(path: &Path, pairs: u32, read_council: ReadCouncil, language: Language) -> anyhow::Result<String> {
    let config = read_council(path)?;
    if !matches!(config.game, Game::Shogi | Game::Chess) {
        bail!(text!("the program has positions of shogi and chess only; play matches with evalcurve play"));
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let council = EngineConfig::of_council(path, config.clone(), READY)?;
    let (positions, _) = shipped_positions(config.game, POSITIONS)?;
    let pace = |engine: &EngineConfig, patience| pace(engine, &positions, config.game, patience);
    let Pace { wall, cpu: all, .. } = pace(&council, READY)?;
    let mut table: toml::Table = whole_file::read_text(path)?.parse()?;
    let tables = table.remove("engine").and_then(|value| value.try_into::<Vec<toml::Table>>().ok()).unwrap_or_default();
    let mut engines = vec![toml::Table::from_iter([
        ("name".to_owned(), council.name.clone().into()),
        ("council".to_owned(), file.into()),
    ])];
    let mut per_move = Duration::ZERO;
    for (engine, mut table) in config.members.iter().zip(tables) {
        let own = pace(engine, READY)?;
        let limit = longer(engine, &own, all, |tried| pace(tried, PATIENCE))?;
        ["role", "weight", "strength", "noise", "stop-patience-ms"].iter().for_each(|key| drop(table.remove(*key)));
        engines.push(table.clone());
        per_move += own.wall + wall;
        if Some(limit) != engine.limit {
            table.insert("name".to_owned(), with_time(&engine.name).into());
            table.extend(format!("limit = {}", limit.toml()).parse::<toml::Table>()?);
            engines.push(table);
            per_move += all + wall;
        }
    }
    let games = 2 * pairs as usize * (engines.len() - 1);
    let minutes = (per_move * pairs * USUAL_PLIES).as_secs().div_ceil(60);
    let [wall_ms, all_ms] = [wall, all].map(|time| 1_000.0 * time.as_secs_f64());
    terminal::note(&say!(
        language,
        "the council takes {wall_ms:.1} ms a move, and {all_ms:.1} ms of all processors; {games} games against its \
         members take about {minutes} min; after Ctrl-C, the same command goes on"
    ));
    let mut plan = toml::Table::from_iter([
        ("name".to_owned(), "Does the council pay?".into()),
        ("game".to_owned(), config.game.as_str().into()),
        ("format".to_owned(), "gauntlet".into()),
        ("pairs".to_owned(), i64::from(pairs).into()),
        // the members of a council search at the same time
        ("concurrency".to_owned(), 1.into()),
    ]);
    plan.insert("engine".to_owned(), toml::Value::Array(engines.into_iter().map(Into::into).collect()));
    Ok(plan.to_string())
}

/// A member against the council, in its view.
#[derive(Clone)]
struct Arm {
    name: String,
    strength: Strength,
    spent: Spent,
}

/// Who is ahead, with the time of the council or with the members' own limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Member,
    Council,
    CannotTell,
}

/// Who is ahead of these members and the council. That the best is one of several is allowed for, and who took more
/// than a fifth more time is not ahead: `time` is that of a member, in times that of the council.
fn verdict(arms: &[Arm], time: fn(&Spent) -> f64) -> Verdict {
    let level = LEVEL / arms.len().max(1) as f64;
    let superior = |arm: &Arm| arm.strength.los.unwrap_or(0.5);
    if arms.iter().any(|arm| superior(arm) > 1.0 - level && time(&arm.spent) <= APART) {
        Verdict::Member
    } else if !arms.is_empty() && arms.iter().all(|arm| superior(arm) < LEVEL && APART * time(&arm.spent) >= 1.0) {
        Verdict::Council
    } else {
        Verdict::CannotTell
    }
}

/// The time of a member, in times that of the council, by the clock.
fn by_the_clock(spent: &Spent) -> f64 {
    spent.per_move(0).wall_ms / spent.per_move(1).wall_ms.max(0.1)
}

/// The time of a member, in times that of the council, of all processors.
fn of_all_processors(spent: &Spent) -> f64 {
    spent.per_move(0).beside(spent.per_move(1))
}

/// The best member, of those that did not take too long if there are any; the first of equals.
fn best(arms: &[Arm], time: fn(&Spent) -> f64) -> Option<&Arm> {
    let key = |arm: &Arm| (time(&arm.spent) <= APART, arm.strength.rate);
    arms.iter().rev().max_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)))
}

/// What a member gains by a doubling of its time, in Elo against the council, with half of the 95% interval.
fn gain(own: &Arm, longer: &Arm) -> Option<(f64, f64)> {
    let doublings = longer.spent.per_move(0).beside(own.spent.per_move(0)).log2();
    let half = |arm: &Arm| Some((arm.strength.elo_interval.1? - arm.strength.elo_interval.0?) / 2.0);
    let (gain, half) = (longer.strength.elo? - own.strength.elo?, half(own)?.hypot(half(longer)?));
    (doublings > 0.5).then_some((gain / doublings, half / doublings))
}

/// Says what the games so far show; `None` if there are none. [`Done::CannotTell`] if they do not decide.
fn repeat(path: &Path, read_council: ReadCouncil, language: Language) -> anyhow::Result<Option<Done>> {
    let [plan, folder] = place(path);
    let results = folder.join("results.csv");
    if !results.exists() {
        return Ok(None);
    }
    let config = read_council(path)?;
    let played = Tournament::read(&plan, read_council)?;
    let same = |engine: &EngineConfig| played.engines.iter().any(|p| p.name == engine.name && p.limit == engine.limit);
    if let Some(engine) = config.members.iter().find(|engine| !same(engine)) {
        let (name, plan) = (&engine.name, shown(&plan));
        terminal::warning(&say!(
            language,
            "does it pay? the games of {plan} were played with another limit of '{name}'; play them again: evalcurve \
             council {} --prepare --does-it-pay --force",
            shown(path)
        ));
        return Ok(Some(Done::CannotTell));
    }
    let matches = read_tables(&[results])?;
    let arm = |name: &str| {
        let found: Match = matches.list.iter().find(|m| m.opponent == name)?.reversed();
        Some(Arm { name: name.to_owned(), strength: strength(&Entry::from(&found).points())?, spent: found.spent? })
    };
    let names: Vec<&str> = config.members.iter().map(|engine| engine.name.as_str()).collect();
    let longer = names.iter().filter_map(|name| {
        let longer = with_time(name);
        // a member whose own limit is the nearest to the council's time plays once
        arm(if played.engines.iter().any(|p| p.name == longer) { &longer } else { name })
    });
    let longer: Vec<Arm> = longer.collect();
    let own: Vec<Arm> = names.iter().filter_map(|name| arm(name)).collect();
    for own @ Arm { name, .. } in &own {
        let longer = longer.iter().find(|arm| arm.name == with_time(name));
        if let Some((gain, half)) = longer.and_then(|longer| gain(own, longer)) {
            let gains = say!(
                language,
                "{name} gains {gain:.0} ± {half:.0} Elo by a doubling of its time, against the council\n"
            );
            terminal::print(&gains)?;
        }
    }
    let Some(with_time) = best(&longer, of_all_processors) else { return Ok(None) };
    let Some(of_own) = best(&own, by_the_clock) else { return Ok(None) };
    let (name, games) = (with_time.name.trim_end_matches(WITH_TIME), with_time.strength.games);
    let (result, times) = (elo(&with_time.strength, 0), of_all_processors(&with_time.spent));
    let with_all_time = verdict(&longer, of_all_processors);
    let mut words = match with_all_time {
        Verdict::Member => say!(
            language,
            "With the council's time, {name} alone is ahead: {result} Elo in {games} games against the council.\n"
        ),
        Verdict::Council => say!(
            language,
            "The council is ahead of each of its members with the same time; the best, {name}, has {result} Elo in \
             {games} games against the council.\n"
        ),
        Verdict::CannotTell => say!(
            language,
            "These games cannot tell whether the council pays: the best member with its time, {name}, has {result} Elo \
             in {games} games against it, in {times:.2} times its time.{}\n",
            if (APART.recip()..=APART).contains(&times) {
                text!(" Four times as many games halve the interval: --does-it-pay {} --force", 4 * games / 2)
            } else {
                text!(" More games do not mend that")
            }
        ),
    };
    let (best_own, result) = (&of_own.name, elo(&of_own.strength, 0));
    let times = 1.0 / by_the_clock(&of_own.spent);
    words += &match verdict(&own, by_the_clock) {
        Verdict::Member => say!(
            language,
            "With its own limit, too, {best_own} alone is ahead: {result} Elo. So a council of these does not pay even \
             where each member has a machine of its own.\n"
        ),
        Verdict::Council => say!(
            language,
            "Where each member has a machine of its own, the council is ahead: the best member with its own limit, \
             {best_own}, has {result} Elo against it.\n"
        ),
        Verdict::CannotTell => say!(
            language,
            "Where each member has a machine of its own, these games cannot tell: the best member with its own limit, \
             {best_own}, has {result} Elo against the council, which takes {times:.1} times as long a move here.\n"
        ),
    };
    terminal::print(&words)?;
    Ok(Some(if with_all_time == Verdict::CannotTell { Done::CannotTell } else { Done::Yes }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_stats::Wdl;

    fn arm(name: &str, [wins, draws, losses]: [u64; 3], wall_ms: u64) -> Arm {
        let strength = strength(&Wdl::new(wins, draws, losses).into()).unwrap();
        let spent = Spent { plies: 2_000, wall_ms: [wall_ms, 9_000], cpu_ms: None };
        Arm { name: name.to_owned(), strength, spent }
    }

    #[test]
    fn only_games_that_decide_give_a_verdict() {
        let verdict = |arms: &[Arm]| verdict(arms, by_the_clock);
        let far = |ms| arm("far", [88, 11, 1], ms);
        let level = arm("level", [50, 0, 50], 9_000);
        let behind = |ms| arm("behind", [10, 0, 90], ms);
        assert_eq!(verdict(&[behind(9_000), far(9_000)]), Verdict::Member);
        assert_eq!(verdict(&[level.clone(), behind(9_000)]), Verdict::CannotTell);
        assert_eq!(verdict(&[behind(9_000), behind(9_000)]), Verdict::Council);
        assert_eq!(verdict(&[]), Verdict::CannotTell);
        // ahead with more time, and behind with less, show nothing
        assert_eq!([verdict(&[far(10_700)]), verdict(&[far(10_900)])], [Verdict::Member, Verdict::CannotTell]);
        assert_eq!([verdict(&[behind(7_600)]), verdict(&[behind(7_400)])], [Verdict::Council, Verdict::CannotTell]);
        assert_eq!([verdict(&[far(100)]), verdict(&[behind(90_000)])], [Verdict::Member, Verdict::Council]);
        // the best of several is ahead by chance more easily than one
        let lucky = || arm("lucky", [60, 0, 40], 9_000);
        assert_eq!(verdict(&[lucky()]), Verdict::Member);
        let three = [lucky(), arm("b", [50, 0, 50], 9_000), arm("c", [60, 0, 40], 9_000)];
        assert_eq!(verdict(&three), Verdict::CannotTell);
        assert_eq!(best(&three, by_the_clock).unwrap().name, "lucky", "the first of equals");
        assert_eq!(best(&[level, far(10_900)], by_the_clock).unwrap().name, "level", "the other took too long");
    }

    #[test]
    fn time_is_that_of_all_processors_or_by_the_clock() {
        let spent = |cpu_ms| Spent { plies: 2_000, wall_ms: [6_000, 3_000], cpu_ms };
        assert_eq!(of_all_processors(&spent(Some([6_000, 9_000]))), 2.0 / 3.0);
        assert_eq!([of_all_processors(&spent(None)), by_the_clock(&spent(Some([6_000, 9_000])))], [2.0; 2]);
    }

    #[test]
    fn a_gain_is_that_of_a_doubling() {
        let (own, longer) = (arm("a", [24, 0, 76], 2_000), arm("a", [50, 0, 50], 8_000));
        let (points, half) = gain(&own, &longer).unwrap();
        assert!((points - 100.0).abs() < 2.0 && half > 30.0 && half < 70.0, "{points} {half}");
        assert_eq!(gain(&own, &arm("a", [50, 0, 50], 2_100)), None, "no doubling");
        assert_eq!(gain(&arm("a", [0, 0, 100], 2_000), &longer), None, "too far behind");
        assert_eq!(elo(&arm("a", [100, 0, 0], 1).strength, 0).split(' ').next(), Some("+∞"));
    }

    #[test]
    fn members_get_the_time_of_the_council() {
        let engine = |limit| EngineConfig { limit: Some(limit), ..EngineConfig::default() };
        let ms = Duration::from_millis;
        let own = Pace { wall: ms(10), cpu: ms(10), nodes: 500 };
        let found = |limit, time: &dyn Fn(Limit) -> Option<u64>| {
            let pace = |engine: &EngineConfig| {
                let cpu = ms(time(engine.limit.unwrap()).ok_or_else(|| anyhow::anyhow!("no move"))?);
                Ok(Pace { wall: cpu, cpu, nodes: 0 })
            };
            longer(&engine(limit), &own, ms(40), pace).unwrap()
        };
        assert_eq!(found(Limit::MoveTime(200), &|_| None), Limit::MoveTime(800));
        // half as many nodes a second in longer searches
        let slower = |limit| if let Limit::Nodes(nodes) = limit { Some(nodes / 50) } else { None };
        assert_eq!(found(Limit::Nodes(1_000), &slower), Limit::Nodes(2_000));
        // 20 and 45 ms after one and two more plies
        let plies = |limit| if let Limit::Depth(7) = limit { Some(20) } else { Some(45) };
        assert_eq!(found(Limit::Depth(6), &plies), Limit::Depth(8));
        // one more ply is too little, two are too much: nodes, if the engine obeys them
        let coarse = |limit| match limit {
            Limit::Depth(7) => Some(30),
            Limit::Nodes(nodes) => Some(nodes / 50),
            _ => Some(90),
        };
        assert_eq!(found(Limit::Depth(6), &coarse), Limit::Nodes(2_000));
        let deaf = |limit| if let Limit::Nodes(_) = limit { Some(1) } else { coarse(limit) };
        let stuck = |limit| if let Limit::Nodes(_) = limit { None } else { coarse(limit) };
        assert_eq!([found(Limit::Depth(6), &deaf), found(Limit::Depth(6), &stuck)], [Limit::Depth(7); 2]);
    }
}
