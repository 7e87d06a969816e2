//! Training data and tables with their scores on another scale.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use evalcurve_app::calibrate::mates::Threshold;
use evalcurve_app::calibrate::{CalibrateOptions, EngineResult, calibrate, cases, observation};
use evalcurve_app::judge::Verdict;
use evalcurve_app::judge::evaluation::evaluate;
use evalcurve_app::report::json::rounded;
use evalcurve_app::report::text::estimate;
use evalcurve_app::{
    Calibrate, Calibrated, Error, FileFormat, Fitting, Input, InputSource, Outcome, Progress, Reading, on_threads,
};
use evalcurve_fit::calibration::{Calibration, Doubt, Estimate, Model, Reading as WinRate, Situation};
use evalcurve_fit::fit::{FitData, FitOptions, Method, ModelKind, Observation, Phase};
use evalcurve_fit::validate::{
    CrossValidation, DEFAULT_FOLDS, EngineCases, FoldOptions, ScoreOptions, log_loss_difference,
};
use evalcurve_records::record::find::find;
use evalcurve_records::record::packed::Packed;
use evalcurve_records::record::{Format, SkipReason};
use evalcurve_records::sample::alias::matches_glob;
use evalcurve_records::sample::collect::{Problem, kind_words};
use evalcurve_records::sample::{DEFAULT_PACKED_EVERY, EngineSamples, Sample, SampleTable, by_engine};
use evalcurve_tables::{ScoreUnit, is_parquet, looks_like};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use evalcurve_words::text::{number, shown_path, shown_source};
use evalcurve_words::whole_file::{Inputs, WholeFiles};
use serde::Serialize;
use serde_json::{Value, json};

use crate::packed::{NewScore, Rescored, rescore};
use crate::tables::{ScoreCell, rescore_csv, rescore_parquet};

/// Writes training data and tables with their scores on a stated scale. Nothing else in them changes.
#[derive(Debug, Clone)]
pub struct Rescale {
    /// What is read. Columns, the unit of scores and the format apply to the files that are written, too.
    pub reading: Reading,
    /// How the scale of the scores is fitted.
    pub fitting: Fitting,
    /// Centipawns that are worth one logit in the files that are written: 600 for most tools of shogi.
    pub to_scale: f64,
    /// The calibration of the engine that gave all scores which no teacher gave; without one, the results in the data
    /// say their scale.
    pub calibration: Option<(String, Calibration)>,
    /// The scale of all scores, if it is known: nothing is fitted, and the data are read once.
    pub from_scale: Option<f64>,
    /// Engines and their calibrations: a glob of engines in tables, and of names of other files.
    pub teachers: Vec<(String, String, Calibration)>,
    /// The folder that the files are written into, under their names.
    pub out: PathBuf,
    /// Replace files.
    pub force: bool,
}

/// What was done.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Rescaled {
    pub to_scale: f64,
    /// The engines that gave scores.
    pub teachers: Vec<Teacher>,
    /// The files; empty if nothing was written.
    pub files: Vec<RescaledFile>,
    /// Why nothing was written.
    pub refused: Vec<Text>,
}

/// An engine that gave scores, and its scale.
#[derive(Debug, Clone, Serialize)]
pub struct Teacher {
    pub name: String,
    /// The calibration file that says its scale; without one, the data do.
    pub calibration: Option<String>,
    /// The model of its scale.
    pub model: ModelKind,
    /// Samples that were fitted, and their games.
    pub samples: u64,
    /// See `samples`.
    pub games: u64,
    /// Centipawns for one logit by the results in the data; `None` with too few of them.
    pub before: Option<Estimate>,
    /// The scale that was used; the middle one, if it depends on the ply.
    pub scale: Estimate,
    /// Centipawns for one logit in what is written, fitted anew.
    pub after: Option<Estimate>,
    /// From this size on scores are mates.
    pub mate_threshold_cp: u32,
    /// The scale in three parts of the game, if the data have plies.
    pub stages: Vec<Stage>,
    /// By how much a slope that depends on the ply lowers the log loss, out of sample.
    pub gain_by_ply: Option<Estimate>,
    /// The slope, if it depends on the ply; else that of the scale.
    #[serde(skip)]
    by_ply: Option<Phase>,
}

/// The scale in a part of the game.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Stage {
    /// The first ply.
    pub from_ply: u32,
    /// The last ply.
    pub to_ply: u32,
    pub samples: u64,
    /// Centipawns for one logit.
    pub scale: Estimate,
}

/// A file that was written.
#[derive(Debug, Clone, Serialize)]
pub struct RescaledFile {
    /// The file that was read.
    pub file: String,
    /// The file that was written.
    pub written: String,
    pub format: &'static str,
    /// The engine of its scores; `None` for a table.
    pub teacher: Option<String>,
    /// Bytes read.
    pub bytes: u64,
    /// Scores.
    pub positions: u64,
    /// Those that are mates, and stay.
    pub mates: u64,
    /// Those that were clipped to the largest score that is no mate.
    pub clipped: u64,
    /// Records that cannot be read, and stay.
    pub unreadable: u64,
}

impl Teacher {
    /// A score on the new scale.
    fn new_score(&self, score_cp: f64, ply: Option<u32>, mate: bool, to_scale: f64) -> NewScore<f64> {
        let threshold = f64::from(self.mate_threshold_cp);
        if mate || score_cp.abs() >= threshold {
            return NewScore::Mate;
        }
        let constant = 1.0 / self.scale.value;
        let w1 = self.by_ply.map_or(constant, |phase| phase.sigmoid(ply.filter(|ply| *ply > 0)).w1);
        let (new, most) = (score_cp * w1 * to_scale, (threshold - 1.0).max(0.0));
        // what is rounded to the largest score is not clipped
        if new.abs() < most + 0.5 { NewScore::Scaled(new) } else { NewScore::Clipped(most.copysign(new)) }
    }

    /// The same as a whole number.
    fn whole(&self, score_cp: i32, ply: Option<u32>, mate: bool, to_scale: f64) -> NewScore {
        match self.new_score(score_cp.into(), ply, mate, to_scale) {
            NewScore::Scaled(new) => NewScore::Scaled(new.round() as i32),
            NewScore::Clipped(new) => NewScore::Clipped(new as i32),
            NewScore::Mate => NewScore::Mate,
        }
    }
}

/// A file to read.
struct Source {
    path: PathBuf,
    shown: String,
    size: u64,
    target: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Packed(Packed),
    Csv,
    Parquet,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Packed(packed) => packed.as_str(),
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// The name of the engine of training data that nothing names.
const UNNAMED: &str = "data";

/// Bytes of large files of HCPE and PSV that a scale is fitted to, all together, and those in a row.
const FITTED: u64 = 128 << 20;
const STRETCH: u64 = 1 << 20;

/// Most samples that are drawn from training data to fit its scale.
const MOST_DRAWN: u64 = 200_000;

/// The tolerated difference of the scale of a calibration from that of the data, in percent.
const TOLERANCE: f64 = 10.0;

/// A slope by ply whose interval is wider than this factor is not used, as that of one slope.
const WIDE: f64 = 2.0;

/// A score whose logit is all slope.
const FAR_CP: f64 = 1e9;

/// Bytes that say what a file is.
const HEAD: u64 = 1 << 16;

/// Doubts about a calibration that leave its scale unknown.
const REFUSED: [Doubt; 9] = [
    Doubt::SignInverted,
    Doubt::NoCentipawns,
    Doubt::WorseThanConstant,
    Doubt::SlopeMayBeZero,
    Doubt::WideInterval,
    Doubt::SlopeOff,
    Doubt::Miscalibrated,
    Doubt::Misshapen,
    Doubt::OneSided,
];

impl Rescale {
    /// Reads, fits and writes. If the scale of an engine is not known, nothing is written, and the value says why.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read, an option is wrong, or a file cannot be written; then no file is.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Rescaled>, Error> {
        let scales = [Some(self.to_scale), self.from_scale];
        if let Some(scale) = scales.into_iter().flatten().find(|scale| !(1.0..=100_000.0).contains(scale)) {
            return Err(text!("{scale} is not a scale; give the centipawns for one logit, such as 600").into());
        }
        if self.reading.score_unit.iter().any(|(_, unit)| *unit != ScoreUnit::Centipawn) {
            return Err(text!("`score-unit`: only centipawns have a scale to change").into());
        }
        on_threads(self.reading.threads, || {
            let mut found = Outcome::from(Rescaled { to_scale: self.to_scale, ..Rescaled::default() });
            let sources = self.sources(input, &mut found)?;
            let mut of_files: BTreeMap<usize, usize> = BTreeMap::new();
            if let Some(scale) = self.from_scale {
                found.value.teachers.push(self.declared(scale)?);
                self.write(&sources, &of_files, &mut found)?;
                return Ok(found);
            }
            for (group, files) in self.groups(&sources) {
                let first = found.value.teachers.len();
                self.fit(group, &files.iter().map(|&i| &sources[i]).collect::<Vec<_>>(), &mut found, progress)?;
                of_files.extend(files.into_iter().map(|file| (file, first)));
            }
            if found.value.refused.is_empty() {
                self.write(&sources, &of_files, &mut found)?;
            }
            Ok(found)
        })?
    }

    /// The files, each with what it holds and where it goes.
    fn sources(&self, input: &Input, found: &mut Outcome<Rescaled>) -> Result<Vec<Source>, Error> {
        let mut sources: Vec<Source> = Vec::new();
        for source in &input.sources {
            let InputSource::Path(given) = source else {
                return Err(text!("files are rescaled, and nothing that is in memory").into());
            };
            for entry in find(std::slice::from_ref(given))? {
                let Some(path) = entry.path.filter(|_| entry.problem.is_none()) else {
                    let problem = entry.problem.unwrap_or_else(|| "give a file".to_owned());
                    return Err(text!("{}: {problem}", shown_source(&entry.display)).into());
                };
                let name = if given.is_dir() { path.strip_prefix(given).ok() } else { None };
                let name = name.map(Path::to_owned).or_else(|| path.file_name().map(PathBuf::from));
                let Some(kind) = self.kind(&path)? else {
                    let value = text!(
                        "neither training data ({}) nor a table; an archive must be unpacked first",
                        FORMATS.map(Packed::as_str).join(", ")
                    );
                    if !given.is_dir() {
                        return Err(value.about(&Text::same(shown_source(&entry.display))).into());
                    }
                    let kind = evalcurve_records::record::source::Refusal::UnknownFormat.into();
                    let source = entry.display;
                    found.report.problems.push(Problem { source, line: 0, kind, value, is_error: false });
                    continue;
                };
                let target = self.out.join(name.unwrap_or_default());
                if let Some(other) = sources.iter().find(|other| other.target == target) {
                    let [other, from, to] = [&other.path, &path, &target].map(|path| shown_path(path));
                    let text = text!("{other} and {from} would both become {to}; rescale them into two folders");
                    return Err(text.into());
                }
                sources.push(Source { path, shown: entry.display, size: entry.size, target, kind });
            }
        }
        if sources.is_empty() {
            return Err(text!("no file of training data and no table to rescale").into());
        }
        let inputs = Inputs::of(sources.iter().map(|source| source.path.clone()));
        for Source { target, .. } in &sources {
            let to = shown_path(target);
            if let Some(read) = inputs.replaced_by(target) {
                let read = shown_path(read);
                let text = text!("{to}: it would replace {read}, which is read; choose another folder with `out`");
                return Err(text.into());
            }
            if target.symlink_metadata().is_ok() && !self.force {
                return Err(text!("{to}: the file exists; choose another folder with `out`, or `force`").into());
            }
        }
        Ok(sources)
    }

    /// What a file holds; `None` for what is not rescaled.
    fn kind(&self, path: &Path) -> Result<Option<Kind>, Error> {
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        read.map_err(|source| Error::File { what: shown_path(path).into(), source })?;
        let table = if is_parquet(&head) { Kind::Parquet } else { Kind::Csv };
        let packed = |format: &Format| format.packed().map(Kind::Packed);
        Ok(match self.reading.format {
            Some(FileFormat::Table) => Some(table),
            Some(FileFormat::Records(format)) => packed(format),
            None if looks_like(&head, &self.reading.tables()) => Some(table),
            None => Format::detect(&head).and_then(packed),
        })
    }

    /// The files of each teacher, and the tables: `None`, as tables name their engines.
    fn groups(&self, sources: &[Source]) -> BTreeMap<Option<usize>, Vec<usize>> {
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (i, source) in sources.iter().enumerate() {
            let name = source.path.file_name().unwrap_or_default().to_string_lossy();
            let is_of = |glob: &str| matches_glob(glob, &name) || matches_glob(glob, &source.shown);
            let teacher = self.teachers.iter().position(|(glob, ..)| is_of(glob));
            let group = match source.kind {
                Kind::Packed(_) => Some(teacher.unwrap_or(self.teachers.len())),
                Kind::Csv | Kind::Parquet => None,
            };
            groups.entry(group).or_default().push(i);
        }
        groups
    }

    /// The calibration of a teacher, or else the one for all scores.
    fn given(&self, teacher: Option<usize>) -> Option<(&str, &Calibration)> {
        let of = teacher.and_then(|teacher| self.teachers.get(teacher)).map(|(_, file, c)| (file, c));
        let (file, calibration) = of.or(self.calibration.as_ref().map(|(file, c)| (file, c)))?;
        Some((file.as_str(), calibration))
    }

    /// The engine of all scores, of whose scale the user is sure.
    fn declared(&self, scale: f64) -> Result<Teacher, Error> {
        let named = self.reading.sampling.annotator.clone();
        let name = named.unwrap_or_else(|| UNNAMED.to_owned());
        let Threshold::Cp(mate_threshold_cp) = self.fitting.thresholds().of(&name) else {
            return Err(text!(
                "`mate-threshold` auto looks at the data first, and `from-scale` does not; write a number"
            )
            .into());
        };
        Ok(Teacher {
            name,
            calibration: None,
            model: ModelKind::MaximumLikelihood,
            samples: 0,
            games: 0,
            before: None,
            scale: Estimate { value: scale, interval: None },
            after: None,
            mate_threshold_cp,
            stages: Vec::new(),
            gain_by_ply: None,
            by_ply: None,
        })
    }

    /// What the scales of files that belong together are fitted to, and about how many positions that are: evenly
    /// spread stretches of large files whose records have one length, and other files whole.
    fn fitted(files: &[&Source]) -> Result<(Input, u64), Error> {
        let is_even = |file: &&&Source| matches!(file.kind, Kind::Packed(packed) if packed.record_bytes().is_some());
        let even: u64 = files.iter().filter(is_even).map(|file| file.size).sum();
        let (mut input, mut records) = (Input::default(), 0);
        for file in files {
            let record = match file.kind {
                Kind::Packed(packed) => packed.record_bytes().filter(|_| even > FITTED),
                Kind::Csv | Kind::Parquet => None,
            };
            input.sources.push(match record {
                None => {
                    records += file.records();
                    InputSource::Path(file.path.clone())
                }
                Some(record) => {
                    let share = (FITTED as f64 * file.size as f64 / even as f64) as u64;
                    let bytes = stretches(&file.path, file.size, record as u64, share);
                    let bytes = bytes.map_err(|source| Error::File { what: shown_path(&file.path).into(), source })?;
                    records += bytes.len() as u64 / record as u64;
                    InputSource::Bytes(file.shown.clone(), bytes.into())
                }
            });
        }
        Ok((input, records))
    }

    /// Fits the scales of the engines of files that belong together, and of these files after the change.
    fn fit(
        &self,
        group: Option<usize>,
        files: &[&Source],
        found: &mut Outcome<Rescaled>,
        progress: &Progress,
    ) -> Result<(), Error> {
        let mut reading = self.reading.clone();
        let (input, records) = Self::fitted(files)?;
        let calibration = group.and_then(|teacher| self.given(Some(teacher)));
        if group.is_some() {
            let engine = calibration.map(|(_, calibration)| calibration.engine.name.clone());
            reading.sampling.annotator = engine.or(reading.sampling.annotator).or(Some(UNNAMED.to_owned()));
            let every = reading.sampling.window.unwrap_or(DEFAULT_PACKED_EVERY);
            let fewer = u32::try_from(records / MOST_DRAWN).unwrap_or(u32::MAX);
            // a number that the user gave counts
            if every == DEFAULT_PACKED_EVERY && fewer > every {
                reading.sampling.window = Some(fewer);
            }
        }
        let fitting = Fitting { bands: 0, folds: self.fitting.folds.or(Some(DEFAULT_FOLDS)), ..self.fitting.clone() };
        let read = Calibrate { reading: reading.clone(), fitting }.run(&input, progress)?;
        // the places in stretches are not those in the file, whose copy names them
        if input.sources.iter().all(|source| matches!(source, InputSource::Path(_))) {
            found.report.problems.extend(read.report.problems);
        }
        found.notes.extend(read.notes);
        let Calibrated { table, results, options, .. } = read.value;
        let first = found.value.teachers.len();
        let data = Data::new(&table, &options);
        if results.is_empty() {
            found.value.refused.push(text!(
                "{}: no position has a score and a result, so that nothing says the scale",
                files.first().map_or_else(String::new, |file| shown_path(&file.path))
            ));
        }
        for result in &results {
            let about = Text::same(&result.name);
            found.notes.extend(result.warnings.iter().map(|warning| warning.text.about(&about)));
            let of_table = || self.given(self.teachers.iter().position(|(glob, ..)| matches_glob(glob, &result.name)));
            let given = if group.is_some() { calibration } else { of_table() };
            match data.teacher(result, given) {
                Ok(teacher) => found.value.teachers.push(teacher),
                Err(reason) => found.value.refused.push(reason.about(&Text::same(&result.name))),
            }
        }
        let rescaled = |found: &Outcome<Rescaled>, name: &str| {
            found.value.teachers[first..].iter().find(|teacher| teacher.name == name).cloned()
        };
        let after = self.after(&table, &options, |name| rescaled(found, name));
        for teacher in &mut found.value.teachers[first..] {
            teacher.after = after.get(&teacher.name).copied();
        }
        Ok(())
    }

    /// The scale of each engine in the samples with their new scores.
    fn after(
        &self,
        table: &SampleTable,
        options: &CalibrateOptions,
        teacher: impl Fn(&str) -> Option<Teacher>,
    ) -> BTreeMap<String, Estimate> {
        let teachers: Vec<Option<Teacher>> =
            (0..table.names.len()).map(|id| teacher(table.names.get(id as u32))).collect();
        let new = |engine: u32, cp: i32, ply: u32, mate: bool| {
            let teacher = teachers.get(engine as usize).and_then(Option::as_ref);
            match teacher.map(|teacher| teacher.whole(cp, Some(ply), mate, self.to_scale)) {
                Some(NewScore::Scaled(new) | NewScore::Clipped(new)) => new,
                Some(NewScore::Mate) | None => cp,
            }
        };
        let mut table = table.clone();
        for sample in &mut table.samples {
            let Sample { engine, opponent, score_cp, reply_cp, ply, mate, .. } = *sample;
            sample.score_cp = new(engine, score_cp, ply, mate);
            sample.reply_cp = reply_cp.map(|cp| new(opponent, cp, ply + 1, false));
        }
        let options = CalibrateOptions { folds: None, bands: 0, ..options.clone() };
        let results = calibrate(&mut table, &options);
        let scale = |result: EngineResult| Some((result.name.clone(), result.calibration.as_ref()?.constant()?));
        results.into_iter().filter_map(scale).collect()
    }

    /// Writes all files, or none. `of_files` has the first teacher of each file.
    fn write(
        &self,
        sources: &[Source],
        of_files: &BTreeMap<usize, usize>,
        found: &mut Outcome<Rescaled>,
    ) -> Result<(), Error> {
        let mut files = WholeFiles::default();
        let mut written = Vec::new();
        for (i, source) in sources.iter().enumerate() {
            let folder = source.target.parent().unwrap_or(Path::new("."));
            let cannot =
                |source| Error::File { what: format!("{}: cannot create the folder", folder.display()).into(), source };
            fs::create_dir_all(folder).map_err(cannot)?;
            let teachers = &found.value.teachers[of_files.get(&i).copied().unwrap_or(0)..];
            let (counts, teacher) = self.write_one(source, teachers, &mut files)?;
            for (reason, at) in &counts.first_damaged {
                let reason = kind_words(reason.as_str());
                let (line, value) = match source.kind {
                    Kind::Packed(_) => (0, text!("{reason} at byte {at}, which stays as it is")),
                    Kind::Csv | Kind::Parquet => (*at, text!("{reason}; the row stays as it is")),
                };
                let kind = SkipReason::BrokenRecord.into();
                found.report.problems.push(Problem { source: source.shown.clone(), line, kind, value, is_error: true });
            }
            written.push(RescaledFile {
                file: source.shown.clone(),
                written: shown_path(&source.target),
                format: source.kind.as_str(),
                teacher,
                bytes: counts.bytes,
                positions: counts.positions,
                mates: counts.mates,
                clipped: counts.clipped,
                unreadable: counts.damaged,
            });
        }
        files.finish().map_err(Error::said)?;
        found.value.files = written;
        Ok(())
    }

    fn write_one(
        &self,
        source: &Source,
        teachers: &[Teacher],
        files: &mut WholeFiles,
    ) -> Result<(Rescored, Option<String>), Error> {
        let (file, failed) = files.begin(&source.target).map_err(Error::said)?;
        let mut out = Out { file, failed: false };
        let open = || File::open(&source.path);
        let columns = self.reading.tables().columns;
        let of_cell = |cell: ScoreCell<'_>| {
            let annotator = self.reading.sampling.annotator.as_deref();
            let name = if cell.engine.is_empty() { annotator.unwrap_or_default() } else { cell.engine };
            let of_all = teachers.first().filter(|_| self.from_scale.is_some());
            let teacher = of_all.or_else(|| teachers.iter().find(|teacher| teacher.name == name))?;
            Some(teacher.new_score(cell.score_cp, cell.ply, cell.mate, self.to_scale))
        };
        let mut of_file = None;
        let done = match source.kind {
            Kind::Packed(packed) => match teachers.first() {
                None => return Err(text!("{}: no scale", shown_path(&source.path)).into()),
                Some(teacher) => {
                    of_file = Some(teacher.name.clone());
                    open().and_then(|mut file| {
                        rescore(packed, &mut file, &mut out, &|position| {
                            teacher.whole(position.score_cp, position.ply, false, self.to_scale)
                        })
                    })
                }
            },
            Kind::Csv => open().and_then(|file| rescore_csv(&mut BufReader::new(file), &mut out, &columns, &of_cell)),
            Kind::Parquet => {
                let (bytes, counts) = rescore_parquet(&source.path, &columns, &of_cell, self.reading.threads())?;
                out.write_all(&bytes).map(|()| counts)
            }
        };
        match done.and_then(|counts| out.file.sync_all().inspect_err(|_| out.failed = true).map(|()| counts)) {
            Ok(counts) => Ok((counts, of_file)),
            Err(error) if out.failed => Err(Error::said(failed(error))),
            Err(error) => Err(Error::File { what: shown_path(&source.path).into(), source: error }),
        }
    }
}

/// Evenly spread stretches of a file, together about so many bytes; a file that is shorter is whole.
fn stretches(path: &Path, size: u64, record: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let (length, count) = (STRETCH / record * record, (bytes / STRETCH).max(1));
    let mut file = File::open(path)?;
    let mut all = Vec::new();
    if size <= length * count {
        file.read_to_end(&mut all)?;
        return Ok(all);
    }
    for i in 0..count {
        let start = (size - length) * i / count / record * record;
        file.seek(SeekFrom::Start(start))?;
        Read::by_ref(&mut file).take(length).read_to_end(&mut all)?;
    }
    Ok(all)
}

/// A file that is written, and whether that failed.
struct Out {
    file: File,
    failed: bool,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).inspect_err(|_| self.failed = true)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The formats of training data.
const FORMATS: [Packed; 5] = [Packed::Hcpe, Packed::Hcpe3, Packed::Psv, Packed::Plain, Packed::Binpack];

impl Source {
    /// About how many positions it has.
    fn records(&self) -> u64 {
        let bytes = match self.kind {
            Kind::Packed(Packed::Binpack) => 3,
            Kind::Packed(Packed::Hcpe3) => 20,
            Kind::Packed(Packed::Plain) => 110,
            Kind::Packed(packed) => packed.record_bytes().unwrap_or(1) as u64,
            Kind::Csv | Kind::Parquet => return 0,
        };
        self.size / bytes
    }
}

/// Refuses a slope by ply that the results do not show, or that is not known at either end of the games.
fn check_by_ply(calibration: &Calibration, phase: &Phase, gain: Option<Estimate>) -> Result<(), Text> {
    if let Some(gain) = gain.filter(|gain| gain.value <= 0.0) {
        let ends =
            gain.interval.map_or_else(String::new, |[low, high]| format!(" [{}, {}]", number(low, 5), number(high, 5)));
        let by = number(gain.value, 5);
        return Err(text!(
            "its scores cannot be rescaled by ply: on games that were not fitted, a slope by ply lowers the log loss \
             by {by}{ends}, so it forecasts no better than one slope; leave `model` out"
        ));
    }
    for ply in [phase.from_ply, phase.to_ply] {
        let at = Situation { ply: Some(ply), ..Situation::default() };
        // so large a score that the offset does not count
        let error = calibration.logit_error(WinRate::Field, FAR_CP, &at).map(|error| error / FAR_CP);
        let (slope, half) = (phase.sigmoid(Some(ply)).w1, error.map(|error| calibration.quantile() * error));
        if half.is_none_or(|half| slope + half > WIDE * (slope - half)) {
            return Err(text!(
                "its scores cannot be rescaled by ply: at ply {ply} the slope is not known within a factor of {WIDE}; \
                 leave `model` out, or add games"
            ));
        }
    }
    Ok(())
}

/// The samples that scales are fitted to.
struct Data<'a> {
    table: &'a SampleTable,
    options: &'a CalibrateOptions,
    /// The samples of each engine, and as models see them.
    drawn: BTreeMap<&'a str, (Vec<Sample>, EngineCases)>,
}

impl<'a> Data<'a> {
    fn new(table: &'a SampleTable, options: &'a CalibrateOptions) -> Self {
        let cases = cases(table, options.mate_policy, options.clip_cp);
        let drawn = |(engine, cases): (EngineSamples<'a>, _)| (engine.name, (engine.samples, cases));
        Self { table, options, drawn: by_engine(table).into_iter().zip(cases).map(drawn).collect() }
    }

    /// The scale of an engine, or why it is not known.
    fn teacher(&self, result: &EngineResult, given: Option<(&str, &Calibration)>) -> Result<Teacher, Text> {
        let before = result.calibration.as_ref().and_then(Calibration::constant);
        let calibration = match given {
            Some((file, calibration)) => {
                self.check(result, file, calibration)?;
                calibration
            }
            None => result.calibration.as_ref().ok_or_else(|| match &result.error {
                Some(error) => error.clone(),
                None => text!("the chosen model was not fitted; choose another with `model`"),
            })?,
        };
        if let Some(doubt) = calibration.doubts.iter().find(|doubt| REFUSED.contains(doubt)) {
            return Err(text!("its scores cannot be rescaled: the calibration {doubt}"));
        }
        let model = calibration.model.kind;
        let scale = calibration.constant().filter(|scale| scale.value.is_finite() && scale.value > 0.0);
        let scale = scale.ok_or_else(|| text!("no score is worth one logit, so that there is no scale"))?;
        let by_ply = match &calibration.model.model {
            Model::Phase(phase) => Some(*phase),
            Model::Sigmoid(_) | Model::Joint(_) | Model::Lapse(_) => None,
            _ => {
                return Err(text!(
                    "the model {model} has no slope for all scores; take `model` joint, maximum-likelihood or phase"
                ));
            }
        };
        let (stages, gain_by_ply) = self.stages(&result.name);
        if let Some(phase) = by_ply {
            check_by_ply(calibration, &phase, gain_by_ply)?;
        }
        let threshold = calibration.mates.and_then(|mates| mates.threshold_cp).filter(|_| given.is_some());
        Ok(Teacher {
            name: result.name.clone(),
            calibration: given.map(|(file, _)| file.to_owned()),
            model,
            samples: result.fitted,
            games: result.games,
            before,
            scale,
            after: None,
            mate_threshold_cp: threshold.map_or(result.mates.threshold_cp, |cp| cp as u32).max(1),
            stages,
            gain_by_ply,
            by_ply,
        })
    }

    /// Refuses a calibration that the results in the data contradict.
    fn check(&self, result: &EngineResult, file: &str, calibration: &Calibration) -> Result<(), Text> {
        let mut named = calibration.clone();
        named.engine.name.clone_from(&result.name);
        let judged =
            evaluate(&named, &mut self.table.clone(), &ScoreOptions { resamples: 1, ..ScoreOptions::default() });
        let moved = judged.is_ok_and(|judged| judged.within(TOLERANCE) == Verdict::Moved);
        if moved {
            let before = result.calibration.as_ref().and_then(Calibration::constant);
            let of_data = before.map_or_else(Text::default, |before| text!(" ({})", estimate(&before, 0)));
            let of_file = calibration.constant().map_or_else(String::new, |constant| estimate(&constant, 0));
            return Err(text!(
                "the results in the data do not have the scale of {file}, {of_file}{of_data}: the scores are of \
                 another engine or of other settings; take the right file, or none"
            ));
        }
        Ok(())
    }

    /// The scale in three parts of the game, and by how much a slope by ply lowers the log loss out of sample.
    fn stages(&self, engine: &str) -> (Vec<Stage>, Option<Estimate>) {
        let Self { table, options, .. } = self;
        let Some((samples, cases)) = self.drawn.get(engine) else { return Default::default() };
        let seen = |sample: &&Sample| observation(table, sample, options.mate_policy, options.clip_cp).is_some();
        let mut plies: Vec<u32> = samples.iter().filter(seen).map(|sample| sample.ply).collect();
        plies.sort_unstable();
        let (Some(first), Some(last)) = (plies.first().copied(), plies.last().copied()) else {
            return Default::default();
        };
        let cut = |third: usize| plies[third * plies.len() / 3];
        if first == last || cut(1) == cut(2) {
            return Default::default();
        }
        let fit_options = FitOptions { min_samples: options.min_samples, ..FitOptions::default() };
        let stage = |(from_ply, to_ply): (u32, u32)| {
            let within = samples.iter().filter(|sample| (from_ply..=to_ply).contains(&sample.ply));
            let all: Vec<Observation> =
                within.filter_map(|s| observation(table, s, options.mate_policy, options.clip_cp)).collect();
            let fit = FitData::new(&all).fit(Method::MaximumLikelihood, &fit_options).ok()?;
            Some(Stage { from_ply, to_ply, samples: all.len() as u64, scale: fit.constant() })
        };
        let parts = [(first, cut(1).max(1) - 1), (cut(1), cut(2) - 1), (cut(2), last)];
        let stages = parts.into_iter().filter(|(from, to)| from <= to).filter_map(stage).collect();
        let folds = FoldOptions { folds: options.folds.unwrap_or(DEFAULT_FOLDS), seed: options.sampling.seed };
        let mut validation = CrossValidation::new(std::slice::from_ref(cases), folds, options.fit_options(table));
        let mut forecasts = |kind| validation.forecasts(kind).into_iter().next().and_then(Result::ok);
        let (plain, phase) = (forecasts(ModelKind::MaximumLikelihood), forecasts(ModelKind::Phase));
        (stages, plain.zip(phase).and_then(|(plain, phase)| log_loss_difference(&plain, &phase)))
    }
}

impl Rescaled {
    /// The JSON document of an outcome.
    pub fn document(found: &Outcome<Self>) -> Value {
        let mut document = json!(found.value);
        document["format"] = "evalcurve-rescaled".into();
        document["version"] = 1.into();
        document["problems"] = json!(found.report.problems);
        document["notes"] = json!(found.notes);
        rounded(document)
    }
}
