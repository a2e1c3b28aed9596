//! A server that hands its computations to tine, under load from the same process. It talks to itself over
//! the loopback only, and ends after some seconds. See the README next to it.

mod server;
mod work;

use server::{Engine, SHORT, start};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tine::StopToken;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// A computation of about this many steps takes a tenth of a second and more.
const LONG: u32 = 4_000_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> io::Result<()> {
    right_answers().await?;
    late_answers().await?;
    too_many().await?;
    hang_ups().await?;
    for engine in [Engine::Tine, Engine::TineTwoPools, Engine::Rayon] {
        saturated(engine).await?;
    }
    println!("all answers were right");
    Ok(())
}

/// Asks, and returns the status and the body.
async fn ask(address: SocketAddr, steps: u32, millis: u32) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /mix?n={steps}&ms={millis} HTTP/1.1\r\nHost: here\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    Ok((status.unwrap_or(0), body.to_owned()))
}

/// Checks the answer to a request for this many steps.
async fn check(address: SocketAddr, steps: u32, right: u64) -> io::Result<Duration> {
    let start = Instant::now();
    let (status, body) = ask(address, steps, 60_000).await?;
    assert_eq!((status, body), (200, right.to_string()), "{steps} steps");
    Ok(start.elapsed())
}

async fn right_answers() -> io::Result<()> {
    let (address, _) = start(Engine::Tine, 1000).await?;
    let clients: Vec<_> = (0..8_u32)
        .map(|client| {
            tokio::spawn(async move {
                for n in 0..50 {
                    let steps = client * 1000 + n * 37;
                    check(address, steps, work::in_sequence(steps)).await?;
                }
                io::Result::Ok(())
            })
        })
        .collect();
    for client in clients {
        client.await.expect("a client panicked")?;
    }
    println!("400 requests: answered");
    Ok(())
}

async fn late_answers() -> io::Result<()> {
    let (address, _) = start(Engine::Tine, 1000).await?;
    let start = Instant::now();
    for _ in 0..10 {
        let (status, _) = ask(address, u32::MAX, 20).await?;
        assert_eq!(status, 504, "that takes minutes");
    }
    let each = start.elapsed() / 10;
    println!("10 requests with 20 ms each that take minutes: 504 after {each:.1?}");
    Ok(())
}

async fn too_many() -> io::Result<()> {
    let (address, _) = start(Engine::Tine, 8).await?;
    let clients: Vec<_> = (0..64)
        .map(|_| tokio::spawn(ask(address, LONG, 60_000)))
        .collect();
    let right = work::in_sequence(LONG).to_string();
    let (mut done, mut busy) = (0, 0);
    for client in clients {
        match client.await.expect("a client panicked")? {
            (200, body) => {
                assert_eq!(body, right);
                done += 1;
            }
            (503, _) => busy += 1,
            (status, _) => panic!("{status}"),
        }
    }
    assert!(done >= 8 && busy > 0 && done + busy == 64);
    println!("64 long requests at once, 8 places: {done} done, {busy} told that it is busy");
    Ok(())
}

async fn hang_ups() -> io::Result<()> {
    const CLIENTS: usize = 100;
    let (address, shared) = start(Engine::Tine, 1000).await?;
    for _ in 0..CLIENTS {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET /mix?n={}&ms=60000 HTTP/1.1\r\n\r\n", u32::MAX);
        stream.write_all(request.as_bytes()).await?;
        sleep(Duration::from_millis(5)).await;
        drop(stream);
    }
    let patience = Instant::now();
    while shared.stopped_after.lock().unwrap().len() < CLIENTS {
        assert!(
            patience.elapsed() < Duration::from_secs(30),
            "a computation goes on"
        );
        sleep(Duration::from_millis(1)).await;
    }
    let mut after = std::mem::take(&mut *shared.stopped_after.lock().unwrap());
    println!(
        "{CLIENTS} clients hang up; their computations end after {}",
        spread(&mut after)
    );
    Ok(())
}

/// Small requests while long ones keep every thread of the pool busy.
async fn saturated(engine: Engine) -> io::Result<()> {
    let (address, _) = start(engine, 1000).await?;
    let over = StopToken::new();
    let right = work::in_sequence(LONG);
    let busy: Vec<_> = (0..3)
        .map(|_| {
            let over = over.clone();
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        done = check(address, LONG, right) => done.map(drop)?,
                        () = over.stopped() => return io::Result::Ok(()),
                    }
                }
            })
        })
        .collect();
    let right = work::in_sequence(SHORT);
    let clients: Vec<_> = (0..2)
        .map(|_| {
            tokio::spawn(async move {
                let mut took = Vec::new();
                let start = Instant::now();
                while took.len() < 500 && start.elapsed() < Duration::from_secs(8) {
                    took.push(check(address, SHORT, right).await?);
                }
                io::Result::Ok(took)
            })
        })
        .collect();
    let mut took = Vec::new();
    for client in clients {
        took.append(&mut client.await.expect("a client panicked")?);
    }
    over.stop();
    for client in busy {
        client.await.expect("a client panicked")?;
    }
    let count = took.len();
    println!(
        "{engine:?}, saturated, {count} short requests take {}",
        spread(&mut took)
    );
    // The computations that rayon still has go on; they must not disturb what comes next.
    sleep(Duration::from_secs(1)).await;
    Ok(())
}

fn spread(times: &mut [Duration]) -> String {
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    format!(
        "{:.2?} (median), {:.2?} (p99), {:.2?} (most)",
        at(50),
        at(99),
        at(100)
    )
}
