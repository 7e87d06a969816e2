//! Lines of engines, GUIs and peers: USI and UCI both ways, the proxy, the TCP protocol.

use evalcurve_calibration::types::Color;
use evalcurve_calibration::{Calibration, FittedModel, Method, Reading, Score, Situation};
use evalcurve_engine::usi::{
    FromEngine, FromGui, LineReader, MAX_LINE_BYTES, OptionSpec, Protocol, ReadLine, set_option,
};
use evalcurve_lab::protocol::{Candidate, Position as TcpPosition, Question, position_of_csa};
use evalcurve_use::Rewriter;

pub(super) const ENGINE_PROMISE: &str = "lines have no control characters; options are written and read back; the \
                                         proxy changes numbers only";
pub(super) const GUI_PROMISE: &str = "positions, options and go commands are written and read back";
pub(super) const TCP_PROMISE: &str = "positions, questions and candidates are written and read back";

const PROTOCOLS: [Protocol; 2] = [Protocol::Usi, Protocol::Uci];

/// The lines as the council reads them.
fn lines(bytes: &[u8]) -> Vec<String> {
    let mut reader = LineReader::new(bytes);
    let mut all = Vec::new();
    while let Some(line) = reader.read().expect("reading from memory does not fail") {
        match line {
            ReadLine::Text(text) => {
                assert!(!text.contains(char::is_control), "{text:?}");
                all.push(text);
            }
            ReadLine::TooLong(length) => assert!(length > MAX_LINE_BYTES as u64),
        }
    }
    all
}

pub(super) fn engine(bytes: &[u8]) {
    let calibration = Calibration::from_model("A", Method::MaximumLikelihood, FittedModel::sigmoid(0.002, 0.1));
    let rewriter = Rewriter::new(calibration, Reading::Equal, None, true);
    for line in lines(bytes) {
        for protocol in PROTOCOLS {
            let read = FromEngine::parse(&line, protocol);
            match &read {
                FromEngine::Option(spec) => {
                    let written = spec.to_string();
                    let again = FromEngine::parse(&written, protocol);
                    // an empty default is written in words
                    assert!(matches!(&again, FromEngine::Option(again) if again.to_string() == written), "{again:?}");
                    let _ = spec.check(spec.default.as_deref().unwrap_or_default());
                }
                FromEngine::Info(info) => {
                    if let Some(score) = &info.score {
                        assert!(!matches!(score, Score::Cp(cp) if !cp.is_finite()));
                    }
                }
                _ => {}
            }
            let mut rewritten = Vec::new();
            rewriter.rewrite(line.as_bytes(), protocol, &Situation::default(), &mut rewritten);
            let rewritten = String::from_utf8(rewritten).expect("text remains text");
            match (read, FromEngine::parse(&rewritten, protocol)) {
                (FromEngine::Info(before), FromEngine::Info(after)) => {
                    assert_eq!((before.multipv, &before.pv), (after.multipv, &after.pv), "{line} -> {rewritten}");
                }
                (before, after) => assert_eq!(before, after, "{line} -> {rewritten}"),
            }
        }
    }
}

pub(super) fn gui(bytes: &[u8]) {
    for line in lines(bytes) {
        let read = FromGui::parse(&line);
        for protocol in PROTOCOLS {
            match &read {
                // after "sfen" it would be a list of moves
                FromGui::Position(position) if position.start.as_ref().is_none_or(|s| !s.starts_with("moves")) => {
                    let written = position.line(protocol);
                    assert_eq!(FromGui::parse(&written), read, "{written}");
                }
                FromGui::Go(go) => {
                    for side in [Color::Black, Color::White] {
                        let written = go.line(protocol, side);
                        // a clock of 292 million years with byoyomi
                        if written.split(' ').any(|word| word.parse::<u64>().is_ok_and(|n| i64::try_from(n).is_err())) {
                            continue;
                        }
                        let FromGui::Go(again) = FromGui::parse(&written) else { panic!("{written}") };
                        // UCI has no byoyomi: what replaces it is kept from then on
                        assert_eq!(again.line(protocol, side), written);
                        assert!(protocol == Protocol::Uci || again == *go, "{go:?}: {written}");
                    }
                }
                FromGui::SetOption { name, value } if !name.is_empty() => {
                    let written = set_option(name, value.as_deref());
                    assert_eq!(FromGui::parse(&written), read, "{written}");
                }
                _ => {}
            }
        }
        let _ = OptionSpec::parse(&line);
    }
}

/// The lines of a peer: a position with a question, then candidates for it.
pub(super) fn tcp(bytes: &[u8]) {
    let lines = lines(bytes);
    let end = lines.iter().position(|line| line == "END Position").unwrap_or(lines.len());
    let (asked, answers) = lines.split_at(end);
    if let Some(position) = asked.first().and_then(|line| TcpPosition::from_sfen(line)) {
        let csa = position.to_csa();
        assert_eq!(position_of_csa(csa.iter().map(String::as_str)), Some(position.clone()), "{csa:?}");
        assert_eq!(TcpPosition::from_sfen(&position.to_sfen()), Some(position.clone()));
        candidates(&position, answers);
    }
    if let Ok(question) = Question::parse(asked) {
        let text = question.to_text();
        let written: Vec<String> = text.lines().map(str::to_owned).collect();
        let [first, body @ .., last] = &written[..] else { panic!("{text}") };
        assert_eq!((first.as_str(), last.as_str()), ("BEGIN Position", "END Position"));
        assert_eq!(Question::parse(body), Ok(question.clone()), "{text}");
        candidates(&question.position, answers);
    }
}

fn candidates(position: &TcpPosition, lines: &[String]) {
    for line in lines {
        let Ok(candidate) = Candidate::parse(line, position) else { continue };
        let written = candidate.to_line(position).expect("what is read can be written");
        assert_eq!(Candidate::parse(&written, position), Ok(candidate.clone()), "{written}");
        if let Some(next) = position.play(&candidate.best) {
            assert_ne!(next.side(), position.side());
            assert_eq!(
                position.csa_of_usi(&candidate.best).and_then(|csa| position.usi_of_csa(&csa)),
                Some(candidate.best)
            );
        }
    }
}
