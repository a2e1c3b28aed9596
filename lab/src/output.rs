//! Tables.

use crate::results::{Record, Results};

/// The efficiencies, and what limited them on the largest machine.
pub(crate) fn table(path: &str) -> Result<(), String> {
    let results = Results::read(path)?;
    efficiencies(&results);
    ways(&results);
    contended(&results);
    few(&results);
    ramps(&results);
    Ok(())
}

pub(crate) fn efficiencies(results: &Results) {
    println!("\nEfficiency: ideal time ÷ time\n");
    head("row", &results.cores);
    for row in &results.rows {
        let of = |cores: &String| {
            results
                .efficiency(row, cores)
                .map_or("-".into(), |e| format!("{e:.2}"))
        };
        line(row, results.cores.iter().map(of));
    }
    growth(results);
}

/// In rows that are measured: how much more all cores together compute than one core does. The part
/// above 1 is work that one core need not do (tables that are merged), or comes from a cache that
/// the threads share here.
fn growth(results: &Results) {
    let told = |row: &&String| {
        let name = row.split(' ').next().unwrap_or(row);
        crate::rows::is_measured(name) && results.growth(row, "1").is_some()
    };
    let rows: Vec<&String> = results.rows.iter().filter(told).collect();
    if rows.is_empty() {
        return;
    }
    println!("\nAll computation ÷ the computation of one core\n");
    head("row", &results.cores);
    for row in rows {
        let of = |cores: &String| {
            results
                .growth(row, cores)
                .map_or("-".into(), |g| format!("{g:.2}"))
        };
        line(row, results.cores.iter().map(of));
    }
}

fn head(what: &str, columns: &[String]) {
    line(what, columns.iter().cloned());
    println!("|---|{}", "---|".repeat(columns.len()));
}

fn line(first: &str, cells: impl Iterator<Item = String>) {
    println!("| {first} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

fn largest(results: &Results) -> Option<&String> {
    results.cores.last()
}

/// Where the time went: parts of all cores' time.
fn ways(results: &Results) {
    let Some(cores) = largest(results) else {
        return;
    };
    println!("\nOn {cores} cores, parts of all their time; then counts for each task\n");
    let columns = [
        "work",
        "stall",
        "spin",
        "system",
        "transfers",
        "refused",
        "wakes",
        "call p50, µs",
        "p99, µs",
    ];
    head("row", &columns.map(String::from));
    let size = crate::results::size(cores) as f64;
    for row in &results.rows {
        let Some(record) = results
            .get(row, cores)
            .last()
            .filter(|r| r.counts.len() >= 8)
        else {
            continue;
        };
        let c = &record.counts;
        let part = |n: f64| format!("{:.2}", n / (record.time * size));
        let each = |n: f64| format!("{:.3}", n / record.tasks);
        let micros = |n: f64| {
            if n > 0.0 {
                format!("{:.0}", n / 1000.0)
            } else {
                String::new()
            }
        };
        let cells = [
            part(c[0]),
            part(c[1]),
            part(c[2]),
            part(c[3]),
            each(c[5]),
            each(c[6]),
            each(c[7]),
            micros(record.median),
            micros(record.late),
        ];
        line(row, cells.into_iter());
    }
}

fn contended(results: &Results) {
    let Some(cores) = largest(results) else {
        return;
    };
    println!("\nOn {cores} cores, the lines that threads waited for most\n");
    println!(
        "| row | part of the stall | transfers | refused exchanges | lines | fields |\n|---|---|---|---|---|---|"
    );
    let mut last = "";
    let mut told = Vec::new();
    // The last measurement of each row.
    for (i, (row, at, _)) in results.lines.iter().enumerate() {
        if at != cores {
            continue;
        }
        let begins = i == 0
            || results.lines[i - 1].0 != *row
            || share(&results.lines[i - 1].2) < share(&results.lines[i].2);
        if begins {
            if last == row {
                while told
                    .last()
                    .is_some_and(|&j: &usize| results.lines[j].0 == *row)
                {
                    told.pop();
                }
            }
            last = row;
        }
        told.push(i);
    }
    for i in told {
        let (row, _, rest) = &results.lines[i];
        let cells = rest.split('\t').map(|f| {
            if f.len() > 150 {
                format!("{}…", &f[..150])
            } else {
                f.to_owned()
            }
        });
        line(row, cells);
    }
}

/// In rows that are measured: what was computed while less than a quarter of the cores computed.
fn few(results: &Results) {
    let Some(cores) = largest(results).filter(|_| !results.few.is_empty()) else {
        return;
    };
    println!(
        "\nOn {cores} cores, what was computed while less than a quarter of the cores computed, µs\n"
    );
    println!(
        "| row | all of that time | part of it here | all time here | where |\n|---|---|---|---|---|"
    );
    for (row, at, rest) in &results.few {
        let fields: Vec<&str> = rest.split('\t').collect();
        let [all, few, whole, place] = fields[..] else {
            continue;
        };
        if at == cores {
            let micros = |n: &str| format!("{:.0}", n.parse().unwrap_or(0.0) / 1000.0);
            let cells = [micros(all), micros(few), micros(whole), place.to_owned()];
            line(row, cells.into_iter());
        }
    }
}

fn share(rest: &str) -> f64 {
    rest.split('\t')
        .next()
        .and_then(|f| f.parse().ok())
        .unwrap_or(0.0)
}

fn ramps(results: &Results) {
    let Some(cores) = largest(results) else {
        return;
    };
    println!("\nOn {cores} cores, when the k-th thread began to work, µs\n");
    for row in &results.rows {
        let of = |r: &&(String, String, String)| r.0 == *row && r.1 == *cores;
        if let Some((row, _, ramp)) = results
            .ramps
            .iter()
            .rfind(of)
            .filter(|_| row.contains("cold"))
        {
            println!("{row}: {ramp}");
        }
    }
}

/// Old → new; a row that has become better or worse by 10 % is marked.
pub(crate) fn compare(old: &str, new: &str) -> Result<(), String> {
    let (old, new) = (Results::read(old)?, Results::read(new)?);
    let cores: Vec<String> = new
        .cores
        .iter()
        .filter(|c| old.cores.contains(c))
        .cloned()
        .collect();
    println!("\nEfficiency, old → new (+ or −: by more than a tenth)\n");
    head("row", &cores);
    for row in new.rows.iter().filter(|r| old.rows.contains(r)) {
        let cell = |cores: &String| match (old.efficiency(row, cores), new.efficiency(row, cores)) {
            (Some(a), Some(b)) => {
                let mark = match b / a {
                    x if x > 1.1 => " +",
                    x if x < 0.9 => " −",
                    _ => "",
                };
                format!("{a:.2} → {b:.2}{mark}")
            }
            _ => "-".into(),
        };
        line(row, cores.iter().map(cell));
    }
    Ok(())
}

/// Efficiencies with the costs as given, halved, and doubled.
#[cfg(tine_sched)]
pub(crate) fn beside(given: &Results, half: &Results, double: &Results) {
    println!("\nEfficiency with all costs as given (halved, doubled)\n");
    head("row", &given.cores);
    for row in &given.rows {
        let of = |results: &Results, cores: &str| {
            let efficiency = results.efficiency(row, cores);
            efficiency.map_or("-".into(), |e| format!("{e:.2}"))
        };
        let cell = |cores: &String| {
            let [given, half, double] = [given, half, double].map(|r| of(r, cores));
            format!("{given} ({half}, {double})")
        };
        line(row, given.cores.iter().map(cell));
    }
}

/// Times of the real machine next to the computed times.
pub(crate) fn calibrate(real: &str, computed: &str) -> Result<(), String> {
    let (real, computed) = (Results::read(real)?, Results::read(computed)?);
    println!(
        "\nComputed time ÷ real time (the least of each: what else runs makes times longer); real µs, computed µs\n"
    );
    head("row", &real.cores);
    // Relative to the ideal, where there is one: the work of a row may differ by its seed.
    let part = |r: &Record| r.time / r.ideal.max(1.0);
    let least = |results: &Results, row: &str, cores: &str| {
        let all = results.get(row, cores).iter().cloned();
        all.min_by(|a, b| part(a).total_cmp(&part(b)))
    };
    let mut off = Vec::new();
    for row in real.rows.iter().filter(|r| computed.rows.contains(r)) {
        let cell = |cores: &String| {
            let (Some(r), Some(c)) = (least(&real, row, cores), least(&computed, row, cores))
            else {
                return "-".into();
            };
            let quotient = part(&c) / part(&r);
            let is_off = !(0.85..=1.15).contains(&quotient);
            if is_off {
                off.push(format!("{row} on {cores}: {quotient:.2}"));
            }
            format!(
                "{quotient:.2}{} ({:.0}, {:.0})",
                if is_off { " !" } else { "" },
                r.time / 1000.0,
                c.time / 1000.0
            )
        };
        let cells: Vec<String> = real.cores.iter().map(cell).collect();
        line(row, cells.into_iter());
    }
    println!(
        "\nOff by more than 15 %: {}",
        if off.is_empty() {
            "none".into()
        } else {
            off.join("; ")
        }
    );
    Ok(())
}
