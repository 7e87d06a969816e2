use std::fs;
use std::process::Command;

use evalcurve_calibration::{FittedModel, Method, Model};
use evalcurve_words::text::is_unsafe;
use proptest::prelude::*;

use super::*;

fn sigmoid_only(name: &str, w1: f64, w2: f64) -> Calibration {
    Calibration::from_model(name, Method::LeastSquares, FittedModel::sigmoid(w1, w2))
}

#[test]
fn ponanza_gets_the_constant_and_what_is_lost() {
    let text = export(&sigmoid_only("YaneuraOu", 0.002895, 0.1613), Target::Ponanza, None).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "# \"YaneuraOu\", least_squares, between equals: K of 1 / (1 + exp(-score / K))");
    assert_eq!(lines[1], "# against the opponents of the calibration, score 0 won 46.0%");
    assert_eq!(lines[2], "345.4231");
    let ponanza = export(&sigmoid_only("x\ny", 0.001_666_666_67, 0.0), Target::Ponanza, None).unwrap();
    assert!(ponanza.starts_with("# \"x\\u000ay\",") && ponanza.ends_with("\n600\n"), "{ponanza}");
}

/// U+202E, as it was, shows the rest of its line reversed.
#[test]
fn no_target_gets_characters_that_hide_text() {
    let name = "a\u{9b}\u{202e}\u{61c}\u{e0041}b";
    let calibration = sigmoid_only(name, 0.002895, 0.1613);
    for target in Target::ALL {
        let Ok(text) = export(&calibration, *target, None) else { continue };
        assert!(!text.chars().any(|c| is_unsafe(c) && c != '\n'), "{}: {text:?}", target.as_str());
    }
    let json: serde_json::Value = serde_json::from_str(&export(&calibration, Target::Json, None).unwrap()).unwrap();
    assert_eq!(json["name"], name);
    let yaml = export(&calibration, Target::ShogiGougiYaml, None).unwrap();
    assert!(yaml.contains("exe: \"a\\u009b\\u202e\\u061c\\U000e0041b\"\n"), "{yaml}");
}

#[test]
fn shogihome_gets_an_integer_in_its_settings() {
    let text = export(&sigmoid_only("YaneuraOu", 0.002895, 0.1613), Target::ShogiHome, None).unwrap();
    assert_eq!(text, "{\n  \"coefficientInSigmoid\": 345\n}\n");
}

#[test]
fn dlshogi_gets_a_usi_option() {
    let text = export(&sigmoid_only("dlshogi", 1.0 / 756.0, 0.1), Target::Dlshogi, None).unwrap();
    assert_eq!(text, "setoption name Eval_Coef value 756\n");
}

/// The words and formulas of the trainers: nnue-pytorch 9f72946 `calculate_sf_loss`, bullet cebc78a `make_mapper`.
#[test]
fn trainers_get_the_scale_of_their_data_in_their_words() {
    let calibration = sigmoid_only("Suisho", 1.0 / 464.8, 0.1);
    let text = |target| export(&calibration, target, None).unwrap();
    let pytorch = text(Target::NnuePytorch);
    assert!(pytorch.contains("\n--out-offset=0 --out-scaling=464.8\n"), "{pytorch}");
    assert!(pytorch.ends_with("\n--in-offset=0 --in-scaling=464.8\n"), "{pytorch}");
    assert!(text(Target::Bullet).ends_with("schedule.rs\neval_scale: 464.8,\n"), "{}", text(Target::Bullet));
    assert!(text(Target::YaneuraOu).ends_with("\nsetoption name Eval_Coef value 465\n"), "{}", text(Target::YaneuraOu));
    let refused = export(&calibration, Target::Lc0, None).unwrap_err().to_string();
    assert!(refused.contains("lc0 expects a model that separates draws"), "{refused}");
}

#[test]
fn shogi_gougi_gets_the_sigmoid_between_equals() {
    let text = export(&sigmoid_only("技\"巧", 0.0026, 0.1638), Target::ShogiGougiYaml, None).unwrap();
    let end = "engines:\n    - exe: \"技\\\"巧\"\n      winrate_regression:\n        weight: 0.0026\n        \
               bias: 0.0\n";
    assert!(text.ends_with(end), "{text}");
    let tiny = export(&sigmoid_only("x", 2e-7, 0.0), Target::ShogiGougiYaml, None).unwrap();
    assert!(tiny.ends_with("weight: 2.0e-7\n        bias: 0.0\n"), "{tiny}");
}

#[test]
fn json_is_minimal_and_in_order() {
    let text = export(&sigmoid_only("a\\b", 0.0026, -0.5), Target::Json, None).unwrap();
    assert_eq!(text, "{\n  \"name\": \"a\\\\b\",\n  \"w1\": 0.0026,\n  \"w2\": 0.0\n}\n");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["name"], "a\\b");
}

#[test]
fn a_coefficient_out_of_range_is_an_error() {
    for (target, w1) in [(Target::ShogiHome, 3.0), (Target::Dlshogi, 1e-6), (Target::Ponanza, 1e-320)] {
        let error = export(&sigmoid_only("x", w1, 0.0), target, None).unwrap_err().to_string();
        assert!(error.contains("as its coefficient (1 to 10000)"), "{error}");
    }
}

#[test]
fn source_code_needs_a_formula_and_stockfish_draws() {
    let sigmoid = sigmoid_only("x", 0.004, 0.3);
    let error = export(&sigmoid, Target::Stockfish, None).unwrap_err().to_string();
    assert!(error.contains("separates draws") && error.contains("`model` wdl-material"), "{error}");
    let rust = export(&sigmoid, Target::Rust, None).unwrap();
    assert!(rust.contains("const W1: f64 = 0.004;") && !rust.contains("0.3"), "{rust}");
    let points = vec![[-100.0, 0.2], [100.0, 0.9]];
    let isotonic = FittedModel {
        model: serde_json::from_value::<evalcurve_fit::fit::Isotonic>(json!({ "points": points }))
            .map(Model::Isotonic)
            .unwrap(),
        covariance: None,
        samples: None,
        games: None,
    };
    let kind = ModelKind::Isotonic;
    let table = Calibration::from_models("x", [(kind, isotonic)], kind).unwrap();
    let error = export(&table, Target::Python, None).unwrap_err().to_string();
    assert!(error.contains("list of points"), "{error}");
}

#[test]
fn a_normalisation_is_taken_back() {
    let of_stage = "300".parse().unwrap();
    let text = export(&sigmoid_only("x", 0.003, 0.0), Target::Json, Some(&of_stage)).unwrap();
    assert!(text.contains("\"w1\": 0.001,"), "{text}");
    let by_stage = "1,2,3,4".parse().unwrap();
    let error = export(&sigmoid_only("x", 0.003, 0.0), Target::Rust, Some(&by_stage)).unwrap_err().to_string();
    assert!(error.contains("x: the model sigmoid cannot take back"), "{error}");
}

#[test]
fn every_target_has_a_word() {
    for &target in Target::ALL {
        assert_eq!(target.as_str().parse(), Ok(target));
    }
    assert!("bonanza".parse::<Target>().is_err());
}

#[test]
fn what_a_target_loses_is_said_with_its_size() {
    let joint = serde_json::from_value(json!({
        "w1": 0.005, "w2": 0.1, "w3": 0.8, "lapse": 0.02, "drawn": 0.0, "draw_width": 0.0, "optimism": 0.3,
        "strength": 0.0, "field_w1": 0.006
    }));
    let model = FittedModel { model: Model::Joint(joint.unwrap()), covariance: None, samples: None, games: None };
    let kind = ModelKind::Joint;
    let lapsing = Calibration::from_models("x", [(kind, model)], kind).unwrap();
    let plain = sigmoid_only("x", 0.004, 0.3);
    for &target in Target::ALL {
        let source =
            matches!(target, Target::Stockfish | Target::Rust | Target::Python | Target::CHeader | Target::JavaScript);
        assert_eq!(target.lost(&lapsing).to_string().contains("the calibration 98.0%"), !source, "{target}");
        assert!(!target.lost(&plain).to_string().contains("follow no score"), "{target}");
    }
}

/// Texts that close a comment or a string, continue a comment in the next line, or name another encoding, and then run.
const HOSTILE: [&str; 9] = [
    "1)\nimport os; os.system(\"touch pwned\"); open('pwned', 'w') #",
    "x\r\n#error pwned\n}}} compile_error!(\"pwned\");",
    "*/ \"\"\" '''\n#include \"/etc/passwd\"\nstatic int pwned = 1/0; /*",
    "coding: unicode_escape \nopen('pwned', 'w')\n#",
    "coding: utf-7 +AAo-open('pwned', 'w')+AAo-#",
    "ends in a backslash \\",
    "ends in a trigraph ??/",
    "\u{85}\u{2028}\u{2029}\u{b}\u{c}\u{0}\u{1b}[31m\u{202e}\u{2066}",
    "---\n- !!python/object/apply:os.system [touch pwned]\n%YAML 1.1\n\"",
];

/// A sigmoid and a model with draws, with these texts in every field that is a text.
fn named(engine: &str, tool: &str, version: &str) -> [Calibration; 2] {
    let wdl = json!({ "stage": "material", "a": [1.0, 2.0, 3.0, 300.0], "b": [1.0, 2.0, 3.0, 60.0], "from_stage": 10,
                      "to_stage": 78 });
    let model = FittedModel {
        model: Model::Wdl(serde_json::from_value(wdl).unwrap()),
        covariance: None,
        samples: Some(9),
        games: Some(9),
    };
    let kind = ModelKind::WdlMaterial;
    [sigmoid_only(engine, 0.004, 0.3), Calibration::from_models(engine, [(kind, model)], kind).unwrap()].map(
        |mut of| {
            (of.tool.name, of.tool.version) = (tool.to_owned(), version.to_owned());
            of
        },
    )
}

/// The lines of a text without its comments.
fn code_of(text: &str, target: Target) -> Vec<&str> {
    let slashes = matches!(target, Target::Rust | Target::CHeader | Target::Stockfish | Target::JavaScript);
    let mark = if slashes { "//" } else { "#" };
    text.split_inclusive('\n').filter(|line| !line.starts_with(mark)).collect()
}

fn text() -> impl Strategy<Value = String> {
    let hostile = (any::<String>(), proptest::sample::select(&HOSTILE[..])).prop_map(|(any, known)| any + known);
    prop_oneof![any::<String>(), hostile, "[\\\\/?*#\"'\n\r\u{2028}a{}:!-]{0,12}"]
        .prop_map(|text| "x".to_owned() + &text)
}

proptest! {
    /// Whatever the texts of a file are, the code is that of another file; only comments and quoted names differ.
    #[test]
    fn no_text_of_a_file_becomes_code(engine in text(), tool in text(), version in text()) {
        for (plain, hostile) in named("plain", "tool", "1").iter().zip(named(&engine, &tool, &version)) {
            for &target in Target::ALL {
                let Ok(wanted) = export(plain, target, None) else { continue };
                let text = export(&hostile, target, None).unwrap();
                prop_assert!(!text.chars().any(|c| is_unsafe(c) && c != '\n'), "{target}: {text:?}");
                let (found, wanted) = (code_of(&text, target), code_of(&wanted, target));
                let kept = wanted.iter().zip(&found).filter(|(line, _)| !line.contains("\"plain\""));
                prop_assert!(wanted.len() == found.len() && kept.into_iter().all(|(a, b)| a == b), "{target}: {text}");
                for comment in text.lines().filter(|line| line.starts_with('#') || line.starts_with("//")) {
                    prop_assert!(!comment.trim_end().ends_with(['\\', '/']), "{comment}");
                }
                match target {
                    Target::Json => {
                        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
                        prop_assert_eq!(&read["name"], &json!(engine));
                    }
                    Target::Python => prop_assert!(text.starts_with("# -*- coding: utf-8 -*-\n"), "{}", text),
                    _ => {}
                }
            }
        }
    }
}

const MAIN_C: &str = "#include <stdio.h>\n#include \"code.h\"\n\
    int main(void) { printf(\"%.6f\\n\", win_rate(0)); return 0; }\n";
/// A score of a is a pawn and wins half of the games, whose shares add up to 1,000.
const MAIN_CPP: &str = "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <string>\n\
    enum PieceType { PAWN, KNIGHT, BISHOP, ROOK, QUEEN };\n\
    struct Position { template<PieceType T> int count() const { return 2; } };\n#include \"code.inc\"\n\
    int main() { const Position p; const double a = win_rate_params(p).a; int w, d, l;\n\
    if (std::sscanf(wdl(a, p).c_str(), \"%d %d %d\", &w, &d, &l) != 3 || w != 500 || w + d + l != 1000) return 1;\n\
    if (l != std::lround(1000 * win_rate(-a, p)) || to_cp(a, p) != 100 || to_cp(-2.5 * a, p) != -250) return 1;\n\
    std::printf(\"%.6f\\n\", win_rate(0, p)); return 0; }\n";
const MAIN_RS: &str = "#![deny(warnings)]\nmod code;\nfn main() { println!(\"{:.6}\", code::win_rate(0.0)); }\n";
const MAIN_JS: &str = "import * as code from './code.mjs';\nconsole.log(code.win_rate(0).toFixed(6));\n";
const MAIN_PY: &str = "import code_of_file\nprint('%.6f' % code_of_file.win_rate(0))\n";

/// A target, the model that it is for, the file with its code, and the program that runs or compiles it.
type Run = (Target, usize, &'static str, &'static str, &'static [&'static str]);

/// Compiles and runs what comes out for hostile files: it gives the win rates and does nothing else.
#[test]
fn exported_code_runs_nothing_of_a_file() {
    let targets: [Run; 6] = [
        (Target::JavaScript, 0, "code.mjs", "node", &["main.mjs"]),
        (Target::Python, 0, "code_of_file.py", "python3", &["-B", "main.py"]),
        (Target::Rust, 0, "code.rs", "rustc", &["--edition", "2021", "-o", "main", "main.rs"]),
        (Target::CHeader, 0, "code.h", "cc", &["main.c", "-lm"]),
        (Target::CHeader, 0, "code.h", "c++", &["-std=c++17", "-x", "c++", "main.c"]),
        (Target::Stockfish, 1, "code.inc", "c++", &["-std=c++17", "main.cpp"]),
    ];
    std::thread::scope(|scope| {
        for (at, target) in targets.into_iter().enumerate() {
            scope.spawn(move || run_for_hostile_files(at, target));
        }
    });
}

fn run_for_hostile_files(at: usize, (target, model, file, program, arguments): Run) {
    if !Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        eprintln!("SKIPPED: {program} cannot be run, so the code for {target} was not");
        return;
    }
    let folder = std::env::temp_dir().join(format!("evalcurve-export-{}-{at}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let ran = Command::new(program).args(arguments).current_dir(&folder).output().unwrap();
        assert!(ran.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).replace("\r\n", "\n")
    };
    for (name, main) in
        [("main.c", MAIN_C), ("main.cpp", MAIN_CPP), ("main.rs", MAIN_RS), ("main.mjs", MAIN_JS), ("main.py", MAIN_PY)]
    {
        fs::write(folder.join(name), main).unwrap();
    }
    let strict: &[&str] = match program {
        "cc" | "c++" => &["-trigraphs", "-Wall", "-Wextra", "-Werror", "-o", "main"],
        _ => &[],
    };
    let own = folder.join("main");
    let of = |[engine, tool, version]: [&str; 3]| export(&named(engine, tool, version)[model], target, None).unwrap();
    // every text as the name of the engine, of the tool and its version
    let hostile = (0..HOSTILE.len()).map(|at| [0, 3, 6].map(|more| HOSTILE[(at + more) % HOSTILE.len()]));
    let mut answers = Vec::new();
    for texts in std::iter::once(["A", "B", "1"]).chain(hostile) {
        fs::write(folder.join(file), of(texts)).unwrap();
        let printed = run(program, &[strict, arguments].concat());
        answers.push(if matches!(program, "node" | "python3") { printed } else { run(&own.to_string_lossy(), &[]) });
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{target}: {answers:?}");
    assert!(answers[0].trim_end().parse::<f64>().is_ok_and(|rate| rate > 0.0 && rate < 1.0), "{answers:?}");
    assert!(!folder.join("pwned").exists(), "{target}");
    let _ = fs::remove_dir_all(&folder);
}
