//! Brings the requests in a log together with the users that made them, and adds
//! up what each country asked for. Most requests are of one user, a robot.
//!
//!     cargo run --release -p tine-cluster --example join_logs

use serde::{Deserialize, Serialize};
use tine_cluster::prelude::*;

#[derive(Clone, Serialize, Deserialize)]
struct Request {
    user: u32,
    bytes: u64,
}

#[derive(Clone, Serialize, Deserialize)]
struct User {
    id: u32,
    country: String,
}

const USERS: usize = 5000;
const REQUESTS: usize = 100_000;
const COUNTRIES: [&str; 5] = ["Chile", "Ghana", "India", "Japan", "Malta"];

fn request(i: usize) -> Request {
    let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24;
    // Some users have gone since, and are in no table.
    let user = if i.is_multiple_of(3) {
        mixed % (USERS as u64 + 500)
    } else {
        7
    };
    Request {
        user: user as u32,
        bytes: 100 + mixed % 1000,
    }
}

fn user(id: usize) -> User {
    User {
        id: id as u32,
        country: COUNTRIES[id % COUNTRIES.len()].to_owned(),
    }
}

fn main() -> ExitCode {
    tine_cluster::run(|c| {
        let requests = c.generate(REQUESTS, request);
        let users = c.generate(USERS, user);
        let known = || {
            requests
                .par_iter()
                .cloned()
                .join_by(users.par_iter().cloned(), |r| r.user, |u| u.id)
        };
        let traffic = known().inner().into_par_iter().fold_by(
            |(_, user)| user.country.clone(),
            || 0,
            |bytes, (request, _)| *bytes += request.bytes,
            |bytes, more| *bytes += more,
        );
        let strangers = known().anti().len();

        let gone = (0..REQUESTS)
            .filter(|i| request(*i).user as usize >= USERS)
            .count();
        assert_eq!(strangers, gone);
        for (country, name) in COUNTRIES.iter().enumerate() {
            let all = (0..REQUESTS)
                .map(request)
                .filter(|r| (r.user as usize) < USERS);
            let expected: u64 = all
                .filter(|r| r.user as usize % 5 == country)
                .map(|r| r.bytes)
                .sum();
            assert_eq!(traffic.get(*name), Some(expected));
        }
        if let Some(traffic) = traffic.into_vec().sort().gather() {
            for (country, bytes) in traffic {
                println!("{bytes:>12} {country}");
            }
            println!("{strangers} requests of users who have gone");
        }
        Ok(())
    })
}
