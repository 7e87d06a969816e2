use std::path::PathBuf;
use evalcurve::sample::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let t = std::time::Instant::now();
    let o = CollectOptions { sampling: SamplingOptions::default(), threads: args[1].parse().unwrap(), strict: false, verify: args[1] == "9" };
    let c = collect(&args[2..].iter().map(PathBuf::from).collect::<Vec<_>>(), &o, &Progress::default());
    match c { Ok(c) => { println!("{:?}", t.elapsed()); let mut r = c.report; let p = std::mem::take(&mut r.problems); println!("{r:?} samples {}", c.table.samples.len()); for p in p.iter().take(100) { println!("{p}") }
      let h = c.table.samples.iter().fold(0u64, |h, s| evalcurve::random::bits(&[h, s.game as u64, s.ply as u64, s.score_cp as u64])); println!("{h:x}") }, Err(e) => println!("{e}") }
}
