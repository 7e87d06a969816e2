//! `evalcurve replay` of a log of made-up votes, compared with a Python script (`tests/oracle/votes.py`).

use serde_json::{Value, json};

use crate::interface::snapshot;
use crate::support::{Folder, Ran, root};

pub(crate) const LOG: &str = include_str!("../oracle/votes.jsonl");

fn expected() -> Value {
    serde_json::from_str(include_str!("../oracle/votes.expected.json")).unwrap()
}

fn with_log() -> Folder {
    let folder = Folder::new();
    folder.write("votes.jsonl", LOG);
    folder
}

fn parsed(ran: &Ran) -> Value {
    let document: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}\n{}{}", ran.out, ran.err));
    let lines = &document["lines"];
    let sum: u64 =
        ["headers", "decisions", "ends", "blank", "not_used"].iter().map(|k| lines[*k].as_u64().unwrap()).sum();
    assert_eq!(lines["read"].as_u64().unwrap(), sum, "{lines}");
    document
}

/// `[{"kind": "2:1", "decisions": 49}]` as `{"2:1": 49}`.
fn counts(shares: &Value) -> Value {
    shares
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["kind"].as_str().unwrap().to_owned(), s["decisions"].clone()))
        .collect()
}

/// Compares the rules that the script knows; a new rule may be added to it.
#[track_caller]
fn same_rules(ours: &Value, theirs: &Value, place: &str) {
    let find = |name: &Value| ours.as_array().unwrap().iter().find(|r| r["rule"] == *name);
    assert!(!theirs.as_array().unwrap().is_empty(), "{place}");
    for expected in theirs.as_array().unwrap() {
        let name = &expected["rule"];
        let rule = find(name).unwrap_or_else(|| panic!("{place}: no {name}"));
        for key in ["decided", "ties", "as_logged"] {
            assert_eq!(rule[key], expected[key], "{place}, {name}: {key}");
        }
        for adoption in rule["adoption"].as_array().unwrap() {
            let voter = adoption["voter"].as_str().unwrap();
            assert_eq!(adoption["adopted"], expected["adopted"][voter], "{place}, {name}: adoption of {voter}");
        }
        let (regret, wanted) = (&rule["regret"], &expected["regret"]);
        assert_eq!(regret["missing"], wanted["missing"], "{place}, {name}");
        same_regret(regret, wanted, &format!("{place}, {name}"));
    }
}

#[track_caller]
fn same_regret(ours: &Value, theirs: &Value, place: &str) {
    assert_eq!(ours["judged"], theirs["judged"], "{place}");
    for key in ["mean", "standard_error"] {
        let (a, b) = (ours[key].as_f64().unwrap(), theirs[key].as_f64().unwrap());
        assert!((a - b).abs() < 1e-12, "{place}: regret {key} {a}, {b} by the oracle");
    }
}

#[test]
fn every_rule_decides_as_the_script_does() {
    let folder = with_log();
    let document = parsed(&folder.good(&["replay", "votes.jsonl", "--reference", "YaneuraOu", "--json"]));
    let (replay, expected) = (&document["replay"], expected());
    assert_eq!(replay["decisions"], expected["decisions"]);
    assert_eq!((&replay["logged"]["same"], &replay["logged"]["different"]), (&expected["decisions"], &json!([])));
    assert_eq!(counts(&replay["splits"]), expected["splits"]);
    assert_eq!(counts(&replay["groups"]), expected["groups"]);
    for pair in replay["agreement"].as_array().unwrap() {
        let name = format!("{} {}", pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap());
        assert_eq!(json!([pair["both"], pair["same"]]), expected["pairs"][&name], "{name}");
    }
    for voter in replay["noise"].as_array().unwrap() {
        let wanted = &expected["noise"][voter["voter"].as_str().unwrap()];
        assert_eq!(voter["pairs"], wanted["pairs"], "{voter}");
        assert!(near(&voter["noise"], &wanted["noise"]), "{voter} {wanted}");
    }
    same_rules(&replay["rules"], &expected["rules"], "all");
    for rule in expected["rules"].as_array().unwrap() {
        let ours = replay["rules"].as_array().unwrap().iter().find(|r| r["rule"] == rule["rule"]).unwrap();
        assert_eq!(ours["against_best"]["voter"], rule["against_best"]["voter"]);
        same_regret(&ours["against_best"], &rule["against_best"], "against the best voter");
    }
    let alone = replay["alone"].as_array().unwrap();
    // the reference does not judge itself
    assert_eq!(alone.len(), 2);
    for voter in alone {
        let name = voter["voter"].as_str().unwrap();
        same_regret(&voter["regret"], &expected["alone"][name], name);
    }
    let left_out = replay["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 3);
    for left in left_out {
        let name = left["voter"].as_str().unwrap();
        same_rules(&left["rules"], &expected["without"][name], &format!("without {name}"));
    }
    // the rule that needs a chooser reports that there is none
    assert_eq!(replay["impossible"][0]["rule"], "3-hirn");
    folder.run(&["replay", "votes.jsonl", "--rule", "3-hirn"]).ends(2).says(&["chooser"]);
}

/// Our shares satisfy the identities that hold in Hanawa and Ito 2009, table 5, and Takeuchi 2018, table 6.
#[test]
fn shares_are_consistent() {
    let folder = with_log();
    let document = parsed(&folder.good(&["replay", "votes.jsonl", "--json"]));
    let replay = &document["replay"];
    let share = |list: &Value, kind: &str| {
        list.as_array().unwrap().iter().find(|s| s["kind"] == kind).map_or(0.0, |s| s["share"].as_f64().unwrap())
    };
    for list in [&replay["splits"], &replay["groups"]] {
        let sum: f64 = list.as_array().unwrap().iter().map(|s| s["share"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
    let majority = replay["rules"].as_array().unwrap().iter().find(|r| r["rule"] == "majority").unwrap();
    let decided = majority["decided"].as_u64().unwrap() as f64;
    let adopted = |name: &str| {
        let all = majority["adoption"].as_array().unwrap();
        all.iter().find(|a| a["voter"] == name).unwrap()["adopted"].as_u64().unwrap() as f64 / decided
    };
    // with three voters and ties to the leader, its rate is 1 minus the decisions in which it is outvoted or abstains
    let silent: f64 =
        ["技巧, nozomi", "技巧+nozomi", "技巧", "nozomi"].iter().map(|k| share(&replay["groups"], k)).sum();
    let outvoted = share(&replay["groups"], "技巧+nozomi, YaneuraOu");
    assert!((adopted("YaneuraOu") - (1.0 - outvoted - silent)).abs() < 1e-12);
    // every adopted vote counts once, so the mean number of adopted voters is the mean size of the chosen group
    let carried: u64 = majority["adoption"].as_array().unwrap().iter().map(|a| a["carried"].as_u64().unwrap()).sum();
    assert_eq!(carried as f64, decided);
    let largest: f64 = replay["splits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| {
            let top: f64 = s["kind"].as_str().unwrap().split(':').next().unwrap().parse().unwrap();
            top * s["share"].as_f64().unwrap()
        })
        .sum();
    let sum: f64 = ["YaneuraOu", "技巧", "nozomi"].iter().map(|n| adopted(n)).sum();
    assert!((sum - largest).abs() < 1e-12, "{sum} {largest}");
}

#[test]
fn the_table_matches_its_snapshot() {
    let folder = with_log();
    let ran = folder.good(&["replay", "votes.jsonl", "--rule", "majority", "--rule", "winrate-optimistic"]);
    snapshot("replay.txt", &ran.out);
    assert_eq!(ran.err, "");
    let without = folder.good(&["replay", "votes.jsonl", "--without", "nozomi", "--reference", "nozomi"]).out;
    assert!(!without.contains("+nozomi") && without.contains("regret"), "{without}");
    let japanese = folder.good(&["replay", "votes.jsonl", "--reference", "nozomi", "--lang", "ja"]).out;
    for words in ["記録の規則で同じ決定", "票の割れ方", "一致率", "採用率", "nozomi を除く", "損失", "最良との差"]
    {
        assert!(japanese.contains(words), "{words}\n{japanese}");
    }
    let english = ["decisions", "agreement", "without", "regret", "missing", "same"];
    assert!(english.iter().all(|word| !japanese.contains(word)), "{japanese}");
    let quiet = folder.good(&["replay", "votes.jsonl", "--quiet"]);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn a_decision_that_replays_differently_is_reported_with_its_line() {
    let folder = Folder::new();
    let mut lines: Vec<String> = LOG.lines().map(str::to_owned).collect();
    let mut line: Value = serde_json::from_str(&lines[4]).unwrap();
    let logged = line["decision"]["move"].as_str().unwrap().to_owned();
    line["decision"]["move"] = "m9".into();
    lines[4] = line.to_string();
    folder.write("votes.jsonl", lines.join("\n"));
    folder
        .run(&["replay", "votes.jsonl"])
        .ends(1)
        .says(&[&format!("votes.jsonl:5: the log has m9, the replay {logged}")]);
    let document = parsed(&folder.run(&["replay", "votes.jsonl", "--json"]).ends(1));
    let different = &document["replay"]["logged"]["different"];
    assert_eq!((&different[0]["line"], different.as_array().unwrap().len()), (&json!(5), 1));
    assert_eq!(document["replay"]["logged"]["played_otherwise"], 1);
}

#[test]
fn bad_lines_are_reported_and_the_rest_is_used() {
    let folder = Folder::new();
    let lines: Vec<&str> = LOG.lines().collect();
    let stranger = lines[1].replacen("\"voter\":\"nozomi\"", "\"voter\":\"stranger\"", 1);
    let unknown = lines[2].replacen("\"ply\"", "\"plyy\"", 1);
    let text = [lines[0], &stranger, &unknown, "", "{not json", "\u{feff}", lines[3]].join("\n");
    folder.write("votes.jsonl", text);
    let document = parsed(&folder.good(&["replay", "votes.jsonl", "--json"]));
    assert_eq!(
        document["lines"],
        json!({"read": 7, "headers": 1, "decisions": 1, "ends": 0, "blank": 1, "not_used": 4})
    );
    let ran = folder.good(&["replay", "votes.jsonl"]).says(&[
        "votes.jsonl:2: a vote of \"stranger\", which is not in the header; it has YaneuraOu, 技巧, nozomi",
        "votes.jsonl:3: unknown field 'plyy'",
        "votes.jsonl:5: ",
    ]);
    assert!(ran.out.contains("decisions   1\n"), "{}", ran.out);
    folder.run(&["replay", "votes.jsonl", "--strict"]).ends(1).says(&["--strict"]);

    // headers: missing, another version, an invalid one
    folder.write("headless.jsonl", lines[1]);
    folder
        .run(&["replay", "headless.jsonl"])
        .ends(1)
        .says(&["headless.jsonl:1: there is no usable header", "no decision"]);
    for (from, to, word) in [
        ("\"version\":1", "\"version\":2", "of version 2, this program reads"),
        (
            "\"tie\":\"leader\"",
            "\"tie\":\"coin\"",
            "unknown variant 'coin', expected one of 'leader', 'draw', 'strongest'",
        ),
        ("\"gap\":0.3", "\"gap\":0", "the gap d is 0"),
        ("\"w1\":0.002895", "\"w1\":-1", "w1"),
        ("\"name\":\"nozomi\"", "\"name\":\"技巧\"", "two voters are called"),
    ] {
        folder.write("header.jsonl", [&lines[0].replacen(from, to, 1), lines[1]].join("\n"));
        folder.run(&["replay", "header.jsonl"]).ends(1).says(&[
            "header.jsonl:1: ",
            word,
            "header.jsonl:2: there is no usable header",
        ]);
    }
    // a valid header after an invalid one
    folder.write(
        "second.jsonl",
        [&lines[0].replacen("\"gap\":0.3", "\"gap\":0", 1), lines[1], lines[0], lines[1]].join("\n"),
    );
    folder.good(&["replay", "second.jsonl"]).says(&["second.jsonl:1: ", "second.jsonl:2: "]);
    folder.write("noise.bin", [0xff, 0xfe, b'\n', 0, b'{', b'\n']);
    folder.run(&["replay", "noise.bin"]).ends(2).says(&["noise.bin is no text; unpack it first"]);
    folder.write("empty.jsonl", "");
    folder.run(&["replay", "empty.jsonl"]).ends(1).says(&["no decision"]);
}

#[test]
fn invalid_values_are_usage_errors() {
    let folder = with_log();
    folder.run(&["replay"]).ends(2);
    folder.run(&["replay", "none.jsonl"]).ends(2).says(&["none.jsonl"]);
    folder.run(&["replay", "votes.jsonl", "--rule", "plurality"]).ends(2).says(&["plurality", "winrate-optimistic"]);
    folder.run(&["replay", "votes.jsonl", "--tie", "coin"]).ends(2).says(&["coin", "strongest"]);
    folder.run(&["replay", "votes.jsonl", "--mates", "maybe"]).ends(2).says(&["on or off"]);
    folder.run(&["replay", "votes.jsonl", "--without", "elmo"]).ends(2).says(&["elmo", "YaneuraOu, 技巧, nozomi"]);
    let all = ["replay", "votes.jsonl", "--without", "YaneuraOu", "--without", "技巧", "--without", "nozomi"];
    folder.run(&all).ends(2).says(&["keep at least one"]);
}

/// Two files are two sessions, and repeated runs give the same bytes.
#[test]
fn a_log_is_decided_by_other_calibrations() {
    let folder = Folder::new();
    let header: Value = serde_json::from_str(LOG.lines().next().unwrap()).unwrap();
    let voter = &header["voters"][0];
    let (name, mut calibration) = (voter["name"].as_str().unwrap(), voter["calibration"].clone());
    folder.write("votes.jsonl", LOG);
    let adoption = |more: &[&str]| {
        let ran = folder.good(&[&["replay", "votes.jsonl", "--rule", "winrate-optimistic", "--json"], more].concat());
        parsed(&ran)["replay"]["rules"][0]["adoption"].clone()
    };
    // a voter whose scores mean ten times as much is followed more often
    folder.write("same.json", calibration.to_string());
    for place in ["model", "models"] {
        let of = &mut calibration[place];
        let w1 = if place == "model" { &mut of["w1"] } else { &mut of["least_squares"]["w1"] };
        *w1 = json!(10.0 * w1.as_f64().unwrap());
    }
    folder.write("steep.json", calibration.to_string());
    let adopted = |document: &Value| {
        let all = document.as_array().unwrap();
        all.iter().find(|a| a["voter"] == *name).unwrap()["adopted"].as_u64().unwrap()
    };
    let (same, steep) = (format!("{name}=same.json"), format!("{name}=steep.json"));
    let logged = adoption(&["--calibration", &same]);
    assert!(adopted(&adoption(&["--calibration", &steep])) > adopted(&logged), "{logged}");
    folder
        .run(&["replay", "votes.jsonl", "--calibration", "X=same.json"])
        .ends(2)
        .says(&["no voter is called 'X'", name]);
    folder.run(&["replay", "votes.jsonl", "--calibration", "same.json"]).ends(2).says(&["expected ENGINE=FILE"]);
}

#[test]
fn several_logs_are_one() {
    let folder = with_log();
    folder.write("again.jsonl", LOG.replace("\"game ", "\"other "));
    let both = parsed(&folder.good(&["replay", "votes.jsonl", "again.jsonl", "--json"]));
    assert_eq!((&both["replay"]["games"], &both["replay"]["decisions"]), (&json!(8), &json!(240)));
    // one after the other in one file, each with a byte order mark
    let marked = |name: &str| format!("\u{feff}{}", folder.text(name));
    folder.write("joined.jsonl", marked("votes.jsonl") + &marked("again.jsonl"));
    let joined = parsed(&folder.good(&["replay", "joined.jsonl", "--json"]));
    assert_eq!((&joined["replay"]["games"], &joined["replay"]["decisions"]), (&json!(8), &json!(240)));
    let first = folder.good(&["replay", "votes.jsonl", "--json"]).out;
    assert_eq!(first, folder.good(&["replay", "votes.jsonl", "--json"]).out);
    // a drawn tie depends on seed, game and ply, so a second draw gives the same move
    let drawn = folder.good(&["replay", "votes.jsonl", "--rule", "majority", "--tie", "draw"]).out;
    assert_eq!(drawn, folder.good(&["replay", "votes.jsonl", "--rule", "majority", "--tie", "draw"]).out);
    assert_ne!(drawn, folder.good(&["replay", "votes.jsonl", "--rule", "majority"]).out);
}

/// Equality except for the last digits of floats, which depend on the platform.
fn near(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| near(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b)),
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-12,
            _ => a == b,
        },
    }
}

/// The script writes the committed log. It needs only Python.
#[test]
#[ignore = "needs python3"]
fn the_script_writes_the_committed_log_with_python3() {
    let folder = Folder::new();
    folder.write("tests/oracle/votes.py", std::fs::read(root().join("tests/oracle/votes.py")).unwrap());
    for name in ["yaneuraou.json", "gikou.json", "nozomi.json"] {
        folder
            .write(&format!("data/published/{name}"), std::fs::read(root().join("data/published").join(name)).unwrap());
    }
    let ran = std::process::Command::new("python3").arg(folder.at("tests/oracle/votes.py")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(folder.text("tests/oracle/votes.jsonl") == LOG, "tests/oracle/votes.jsonl is not what votes.py writes");
    assert!(near(&folder.json("tests/oracle/votes.expected.json"), &expected()), "votes.expected.json is another");
}

/// The example in `docs/council-log.md` is a valid log.
#[test]
fn the_documented_example_replays() {
    let text = include_str!("../../docs/council-log.md");
    let example = text.split("```json\n").nth(1).and_then(|t| t.split("```").next()).expect("an example");
    let folder = Folder::new();
    folder.write("votes.jsonl", example);
    let ran = folder.good(&["replay", "votes.jsonl"]);
    assert_eq!(ran.err, "");
    assert!(ran.out.contains("replayed    1 the same"), "{}", ran.out);
    // every rule is documented
    let rules = include_str!("../../docs/rules.md");
    let document = parsed(&folder.good(&["replay", "votes.jsonl", "--json"]));
    let named = |list: &Value| {
        list.as_array().unwrap().iter().map(|r| r["rule"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all: Vec<String> = [named(&document["replay"]["rules"]), named(&document["replay"]["impossible"])].concat();
    assert_eq!(all.len(), evalcurve::rule::Rule::ALL.len());
    for rule in all {
        assert!(rules.contains(&format!("`{rule}`")), "{rule} is not in docs/rules.md");
    }
}

/// 165 KB of 100 voters took 5 s, a line of the longest lists for ever.
#[test]
fn logs_have_limits() {
    let folder = with_log();
    let header = folder.text("votes.jsonl").lines().next().unwrap().to_owned();
    let moves = |n: usize| (0..n).map(|i| format!("{{\"move\":\"m{i}\",\"score\":{i}}}")).collect::<Vec<_>>().join(",");
    let line = |list: usize, searched: usize| {
        format!(
            "{{\"game_id\":\"g\",\"ply\":1,\"position\":\"startpos\",\"side\":\"black\",\"time_ms\":1,\
             \"votes\":[{{\"voter\":\
             \"nozomi\",\"move\":\"m0\",\"score\":1,\"list\":[{}]}}],\
             \"searched\":[{}],\"decision\":null,\"played\":\"m0\"}}",
            moves(list),
            moves(searched)
        )
    };
    folder.write("long.jsonl", [header.clone(), line(600, 600), line(601, 0), line(0, 601)].join("\n"));
    let ran = folder.run(&["replay", "long.jsonl"]).ends(1);
    ran.says(&[
        "long.jsonl:3: a list of \"nozomi\" has 601 moves, more than 600; shorten it",
        "long.jsonl:4: the line has 601 moves, more than 600; remove some of them",
    ]);
    // problems are counted, and the first are kept
    folder.write("bad.jsonl", header + "\n" + &line(1, 0) + &"\nx".repeat(5_000));
    let ran = folder.run(&["replay", "bad.jsonl", "--json"]).ends(1);
    let document = parsed(&ran);
    assert_eq!(document["lines"]["not_used"], 5_000);
    assert_eq!(document["problems"].as_array().unwrap().len(), 100);
    std::fs::File::create(folder.at("big.jsonl")).unwrap().set_len(3_000_000_000).unwrap();
    folder.run(&["replay", "big.jsonl"]).ends(2).says(&["big.jsonl", "larger than 1024 MiB"]);
}

/// Votes on two moves that 技巧 judges nearly as YaneuraOu does, and nozomi at random.
fn lesson(games: u64) -> String {
    let header = LOG.lines().next().unwrap().replace("\"game\":\"made up\"", "\"game\":\"shogi\"");
    let mut state = 1u64;
    let mut draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    };
    let mut line = |at: u64| {
        let worth = [600.0 * draw(), 600.0 * draw()];
        let vote = |name: &str, scores: [f64; 2]| {
            let best = usize::from(scores[1] > scores[0]);
            format!(
                "{{\"voter\":\"{name}\",\"move\":\"m{best}\",\"score\":{:.0},\
                 \"judged\":[{{\"move\":\"m{}\",\"score\":{:.0}}}]}}",
                scores[best],
                1 - best,
                scores[1 - best]
            )
        };
        let near = [worth[0] + 100.0 * draw(), worth[1] + 100.0 * draw()];
        let random = [900.0 * draw(), 900.0 * draw()];
        format!(
            "{{\"game_id\":\"g{}\",\"ply\":{},\"position\":\"startpos\",\"side\":\"black\",\"time_ms\":1,\
             \"votes\":[{}],\"decision\":null,\"played\":\"m0\"}}",
            at / 2,
            1 + at % 2,
            [vote("YaneuraOu", worth), vote("技巧", near), vote("nozomi", random)].join(",")
        )
    };
    std::iter::once(header).chain((0..2 * games).map(&mut line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn weights_are_learned_and_used() {
    let folder = Folder::new();
    folder.write("lesson.jsonl", lesson(400));
    let learn = ["replay", "lesson.jsonl", "--learn", "--reference", "YaneuraOu", "--out"];
    let ran = folder.good(&[&learn[..], &["w.json"]].concat());
    assert!(ran.out.contains("400 games") && ran.out.contains("better"), "{}", ran.out);
    let weights = folder.json("w.json");
    assert_eq!((&weights["rule"], &weights["teacher"]), (&json!("cross-examination"), &json!("YaneuraOu")));
    assert_eq!(weights["votes"]["sources"], json!(["lesson.jsonl"]));
    let weight = |i: usize| weights["members"][i]["weight"].as_f64().unwrap();
    assert!(weight(0) > 1.8 && weight(1) < 0.2, "{weights:#}");
    // the same bytes from one thread and from several
    for threads in ["1", "3"] {
        let mut command = folder.command(&[&learn[..], &["again.json", "--force", "--quiet"]].concat());
        assert!(command.env("RAYON_NUM_THREADS", threads).status().unwrap().success());
        assert_eq!(folder.read("again.json"), folder.read("w.json"));
    }
    let replay = ["replay", "lesson.jsonl", "--reference", "YaneuraOu", "--without", "YaneuraOu", "--json"];
    let regret = |more: &[&str]| {
        let document = parsed(&folder.run(&[&replay[..], more].concat()));
        let rules = document["replay"]["rules"].as_array().unwrap().clone();
        let cross = rules.iter().find(|rule| rule["rule"] == "cross-examination").unwrap();
        cross["regret"]["mean"].as_f64().unwrap()
    };
    assert!(regret(&["--weights", "w.json"]) < 0.6 * regret(&[]));
    folder.good(&[
        "simulate",
        "--noise",
        "1,2",
        "--rule",
        "cross-examination",
        "--weights",
        "w.json",
        "--trials",
        "1000",
    ]);
    for (arguments, says) in [
        (
            &["replay", "lesson.jsonl", "--weights", "w.json"][..],
            "the weights have none of YaneuraOu, only of 技巧, nozomi",
        ),
        (&["replay", "lesson.jsonl", "--weights", "lesson.jsonl"], "lesson.jsonl: "),
        (&[&learn[..], &["w.json"]].concat(), "--force"),
        (
            &[&learn[..], &["x.json", "--rule", "majority"]].concat(),
            "cross-examination, log-pool, mean-winrate, weighted",
        ),
        (&[&learn[..], &["x.json", "--without", "nozomi"]].concat(), "1 members are left"),
        (&["simulate", "--noise", "1,2,3", "--weights", "w.json"], "--weights has 2 values for 3 engines"),
    ] {
        folder.run(arguments).ends(2).says(&[says]);
    }
    folder.write("few.jsonl", lesson(9));
    folder
        .run(&["replay", "few.jsonl", "--learn", "--reference", "nozomi"])
        .ends(2)
        .says(&["9 games", "10 games or more"]);
}

#[test]
fn councils_read_learned_weights() {
    let folder = Folder::new();
    folder.write("lesson.jsonl", lesson(30));
    folder.good(&["replay", "lesson.jsonl", "--learn", "--reference", "YaneuraOu", "--out", "w.json", "--quiet"]);
    let engine = |name: &str| format!("[[engine]]\nname = \"{name}\"\ncommand = \"none\"\ncalibration = \"none\"\n");
    let check = |top: &str, engines: &[String], says: &[&str]| {
        folder.write("c.toml", format!("weights = \"w.json\"\n{top}\n{}", engines.concat()));
        folder.run(&["council", "c.toml", "--check"]).says(says);
    };
    let both = [engine("技巧"), engine("nozomi")];
    let cross = "rule = \"cross-examination\"";
    check("rule = \"log-pool\"", &both, &["c.toml:1: the weights are for the rule cross-examination", "by log-pool"]);
    check(
        &format!("{cross}\ngame = \"chess\""),
        &both,
        &["c.toml:1: the weights are of shogi, and the council plays chess"],
    );
    check(cross, &[&both[..], &[engine("third")]].concat(), &["c.toml:1: the weights have none of third"]);
    let weighed = [engine("技巧") + "weight = 2.0\n", engine("nozomi")];
    check(cross, &weighed, &["c.toml:7: engine '技巧' has a weight, and learned weights, too; remove one"]);
}
