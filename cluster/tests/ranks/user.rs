//! A shop's program, as a user writes it who has not read the code: files, groups, a join, a sort, a
//! checkpoint, the pool of each rank and a token, on ranks that are threads. It gives what loops give; and if a
//! rank panics, fails or leaves, at any step, the job ends and every value is dropped.

use crate::files::Dir;
use crate::kit::numbers;
use crate::watch::{ThreadRanks, run_threads};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use tine_cluster::{Cluster, Error};
use tine_pool::{StopToken, with_token};

/// A text that counts how many of its kind are alive.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
struct Name(String);

static ALIVE: AtomicI64 = AtomicI64::new(0);
/// How many more names are made from texts or packed into messages before one panics.
static FUSE: AtomicI64 = AtomicI64::new(i64::MAX);

impl From<String> for Name {
    fn from(text: String) -> Self {
        assert!(FUSE.fetch_sub(1, SeqCst) != 0, "on purpose");
        ALIVE.fetch_add(1, SeqCst);
        Name(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        assert!(FUSE.fetch_sub(1, SeqCst) != 0, "on purpose");
        name.0.clone()
    }
}

impl Clone for Name {
    fn clone(&self) -> Self {
        Name::from(self.0.clone())
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which user bought what, if the user is known, and for how much.
type Sale = (Name, Vec<Option<Name>>, u64);

fn sale(line: &str) -> Option<Sale> {
    let mut words = line.split(' ');
    let (user, cents) = (words.next()?, words.next()?.parse().ok()?);
    let known = |word: &str| (word != "?").then(|| Name::from(word.to_owned()));
    Some((user.to_owned().into(), words.map(known).collect(), cents))
}

/// What goes wrong, and at which step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mishap {
    Nothing,
    /// The n-th step, counted over all ranks, panics.
    Panic(usize),
    /// The n-th name that is made or packed panics.
    Packing(usize),
    /// This rank returns an error before this stage, or leaves there without an error.
    Error(usize, usize),
    Leave(usize, usize),
}

struct Day {
    mishap: Mishap,
    steps: AtomicUsize,
}

impl Day {
    fn step(&self) {
        let step = self.steps.fetch_add(1, SeqCst);
        assert!(self.mishap != Mishap::Panic(step), "on purpose");
    }

    /// Whether this rank goes on into the stage.
    fn stage(&self, c: &Cluster, stage: usize) -> Result<bool, Error> {
        match self.mishap {
            Mishap::Error(rank, at) if (rank, at) == (c.rank(), stage) => {
                Err(Error::new("out of stock"))
            }
            Mishap::Leave(rank, at) => Ok((rank, at) != (c.rank(), stage)),
            _ => Ok(true),
        }
    }
}

const STAGES: usize = 6;

/// The answers of a day.
type Answers = (Vec<(Name, u64, Name)>, Vec<(Name, usize)>, u64);

fn program(c: &Cluster, dir: &Dir, day: &Day) -> Result<Option<Answers>, Error> {
    macro_rules! stage {
        ($n:expr) => {
            if !day.stage(c, $n)? {
                return Ok(None);
            }
        };
    }
    let file = |name: &str| dir.0.join(name);
    stage!(0);
    let lines = c.read_lines(&file("sales-*.txt").display().to_string())?;
    let sales = lines.into_par_iter().filter_map(|line| {
        day.step();
        sale(&line)
    });
    let sales = sales.collect();
    stage!(1);
    let spent = sales.par_iter().fold_by(
        |sale| sale.0.clone(),
        || 0_u64,
        |sum, sale| {
            day.step();
            *sum += sale.2;
        },
        |a, b| *a += b,
    );
    let cities = c.read_lines(&file("cities.txt").display().to_string())?;
    let cities = cities.into_par_iter().filter_map(|line| {
        let (user, city) = line.split_once(' ')?;
        Some((Name::from(user.to_owned()), Name::from(city.to_owned())))
    });
    stage!(2);
    let joined = spent
        .into_par_iter()
        .join_by(cities, |user| user.0.clone(), |city| city.0.clone())
        .inner();
    let rows = joined.into_par_iter().map(|((user, cents), (_, city))| {
        day.step();
        (city, cents, user)
    });
    stage!(3);
    let rows = rows.collect().sort_by(|a, b| {
        day.step();
        (&a.0, b.1, &a.2).cmp(&(&b.0, a.1, &b.2))
    });
    rows.checkpoint(file("rows"))?;
    stage!(4);
    // What each rank does with its own pool, and a token that no other rank knows.
    let token = StopToken::new();
    let sum = with_token(&token, || {
        let (a, b) = rows.local().split_at(rows.local().len() / 2);
        let sum = |half: &[(Name, u64, Name)]| half.iter().map(|row| row.1).sum::<u64>();
        tine_pool::join(|| sum(a), || sum(b))
    });
    let (a, b) = sum.map_err(Error::new)?;
    let total: u64 = c.from_local(vec![a + b]).into_par_iter().sum();
    stage!(5);
    let text = rows
        .par_iter()
        .map(|(city, cents, user)| format!("{city} {cents} {user}"));
    text.collect().write_parts(file("out"))?;
    let often = sales.par_iter().top_k_by_count(3, |sale| {
        day.step();
        sale.1.iter().flatten().next().cloned()
    });
    let often = often.into_iter().filter_map(|(what, n)| Some((what?, n)));
    Ok(Some((rows.all_gather(), often.collect(), total)))
}

/// The same by loops.
fn by_hand(sales: &str, cities: &str) -> Answers {
    let sales: Vec<Sale> = sales.lines().filter_map(sale).collect();
    let mut spent: BTreeMap<&Name, u64> = BTreeMap::new();
    let mut often: BTreeMap<Option<Name>, usize> = BTreeMap::new();
    for (user, what, cents) in &sales {
        *spent.entry(user).or_default() += cents;
        *often
            .entry(what.iter().flatten().next().cloned())
            .or_default() += 1;
    }
    let mut rows = Vec::new();
    for line in cities.lines() {
        let Some((user, city)) = line.split_once(' ') else {
            continue;
        };
        let user = Name::from(user.to_owned());
        if let Some(&cents) = spent.get(&user) {
            rows.push((Name::from(city.to_owned()), cents, user));
        }
    }
    rows.sort_by(|a, b| (&a.0, b.1, &a.2).cmp(&(&b.0, a.1, &b.2)));
    let total = rows.iter().map(|row| row.1).sum();
    let mut often: Vec<_> = often.into_iter().collect();
    often.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    often.truncate(3);
    let often = often.into_iter().filter_map(|(what, n)| Some((what?, n)));
    (rows, often.collect(), total)
}

/// Sales in three files, one of which is empty, and a city for some users.
fn books(dir: &Dir, count: usize) -> (String, String) {
    let random = numbers(11, count);
    let line = |(at, n): (usize, &u64)| match n % 11 {
        0 => "no sale at all\n".to_owned(),
        1 => format!("user{} {}\n", n % 17, n % 1000),
        _ => format!("user{} {} ? thing{} ?\n", n % 17, n % 1000, at % 5 % 3),
    };
    let lines: Vec<String> = random.iter().enumerate().map(line).collect();
    let (first, rest) = lines.split_at(count / 3);
    fs::write(dir.0.join("sales-1.txt"), first.concat()).unwrap();
    fs::write(dir.0.join("sales-2.txt"), "").unwrap();
    fs::write(dir.0.join("sales-3.txt"), rest.concat()).unwrap();
    let cities: String = (0..12)
        .map(|n| format!("user{n} city{}\n", n % 4))
        .collect();
    fs::write(dir.0.join("cities.txt"), &cities).unwrap();
    (lines.concat(), cities)
}

/// A day on N ranks: the answers of the ranks, or how the day ended.
fn day(
    ranks: usize,
    dir: &Dir,
    mishap: Mishap,
) -> (Result<(), Error>, Vec<Answers>, (usize, usize)) {
    let day = Day {
        mishap,
        steps: AtomicUsize::new(0),
    };
    let answers = std::sync::Mutex::new(Vec::new());
    FUSE.store(
        match mishap {
            Mishap::Packing(n) => n as i64,
            _ => i64::MAX,
        },
        SeqCst,
    );
    let ran = ThreadRanks::new(ranks).round(1024).run(|c| {
        let answer = program(c, dir, &day)?;
        answers.lock().unwrap().extend(answer);
        Ok(())
    });
    let packs = i64::MAX.wrapping_sub(FUSE.swap(i64::MAX, SeqCst));
    let steps = (day.steps.into_inner(), packs as usize);
    (ran, answers.into_inner().unwrap(), steps)
}

/// A single test, since all share the count of living values.
#[test]
fn a_shop_has_good_days_and_bad_ones() {
    for count in [0, 2, 300] {
        let dir = Dir::new();
        let (sales, cities) = books(&dir, count);
        let expected = by_hand(&sales, &cities);
        let before = ALIVE.load(SeqCst);
        for ranks in 1..=8 {
            let (ran, answers, steps) = day(ranks, &dir, Mishap::Nothing);
            ran.unwrap_or_else(|e| panic!("{count} sales on {ranks}: {e}"));
            assert_eq!(answers.len(), ranks);
            for answer in &answers {
                assert_eq!(answer, &expected, "{count} sales on {ranks}");
            }
            drop(answers);
            // Each rank's part of the text, one after the other.
            let parts = (0..ranks).map(|rank| dir.0.join(format!("out/part-{rank:05}")));
            let text: String = parts
                .map(|part| fs::read_to_string(part).unwrap())
                .collect();
            let lines = expected.0.iter().map(|(a, b, c)| format!("{a} {b} {c}\n"));
            assert_eq!(text, lines.collect::<String>(), "{count} sales on {ranks}");
            fs::remove_dir_all(dir.0.join("out")).unwrap();
            run_threads(9 - ranks, |c| {
                let rows = c.restore::<(Name, u64, Name)>(dir.0.join("rows"))?;
                assert_eq!(rows.all_gather(), expected.0);
                Ok(())
            })
            .unwrap();
            assert_eq!(ALIVE.load(SeqCst), before, "{count} sales on {ranks}");

            bad_days(&dir, ranks, steps);
            assert_eq!(ALIVE.load(SeqCst), before, "bad days of {count} on {ranks}");
        }
    }
}

fn bad_days(dir: &Dir, ranks: usize, (steps, packs): (usize, usize)) {
    let last = ranks - 1;
    let mut mishaps = Vec::new();
    // Steps in the middle of every stage.
    mishaps.extend(
        (1..8)
            .map(|n| Mishap::Panic(steps * n / 8))
            .filter(|_| steps > 8),
    );
    // Names are made in closures, packed and unpacked on their way, and cloned in answers.
    mishaps.extend(
        (1..12)
            .map(|n| Mishap::Packing(packs * n / 12))
            .filter(|_| packs > 100),
    );
    for stage in 0..STAGES {
        mishaps.push(Mishap::Error(last / 2, stage));
        mishaps.push(Mishap::Leave(last, stage));
    }
    for mishap in mishaps {
        let (ran, answers, _) = day(ranks, dir, mishap);
        drop(answers);
        match mishap {
            Mishap::Panic(_) | Mishap::Packing(_) => {
                let said = ran.expect_err("it blew").to_string();
                assert!(said.ends_with("panicked: on purpose"), "{mishap:?}: {said}");
            }
            Mishap::Error(rank, _) => {
                let said = ran.expect_err("it failed").to_string();
                let name = match ranks {
                    1 => "the only rank".to_owned(),
                    _ => format!("rank {rank} of {ranks}"),
                };
                assert_eq!(said, format!("{name} failed: out of stock"), "{mishap:?}");
            }
            // Alone, it may leave when it likes.
            Mishap::Leave(..) if ranks == 1 => ran.unwrap(),
            Mishap::Leave(..) => {
                let said = ran.expect_err("one has left").to_string();
                assert!(said.contains("the ranks have parted"), "{mishap:?}: {said}");
            }
            Mishap::Nothing => ran.unwrap(),
        }
        for name in ["rows", "out"] {
            let _ = fs::remove_dir_all(dir.0.join(name));
        }
    }
}
