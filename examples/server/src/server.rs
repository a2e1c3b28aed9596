//! The server. One task of tokio for each connection, which computes nothing itself.

use crate::work;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tine::{Bounded, StopToken, ThreadPool, ThreadPoolBuilder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A run of this many steps takes less than a millisecond.
pub const SHORT: u32 = 5_000;

/// The library that computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Tine,
    /// The same, with a separate pool of one thread for requests that are known to be short.
    TineTwoPools,
    /// Written by hand: `rayon::spawn`, and a channel for the answer. Nothing stops a computation.
    Rayon,
}

/// What all connections share.
pub struct Shared {
    pub engine: Engine,
    /// A bound on the requests that wait or are computed.
    jobs: Bounded,
    /// For requests that are known to be short.
    quick: Option<ThreadPool>,
    /// Stopped when the server ends.
    all: StopToken,
    /// For each computation whose client hung up: how long it went on after that.
    pub stopped_after: Mutex<Vec<Duration>>,
}

/// A request.
struct Ask {
    steps: u32,
    within: Duration,
}

/// Notes when a computation ends whose client has hung up before.
struct Witness {
    shared: Arc<Shared>,
    hung_up: Arc<OnceLock<Instant>>,
}

impl Drop for Witness {
    fn drop(&mut self) {
        if let Some(at) = self.hung_up.get() {
            self.shared.stopped_after.lock().unwrap().push(at.elapsed());
        }
    }
}

/// Starts the server on a free port; it ends with the runtime.
pub async fn start(engine: Engine, limit: usize) -> io::Result<(SocketAddr, Arc<Shared>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let one = ThreadPoolBuilder::new().num_threads(1);
    let quick = (engine == Engine::TineTwoPools).then(|| one.build().map_err(io::Error::other));
    let shared = Arc::new(Shared {
        engine,
        quick: quick.transpose()?,
        jobs: Bounded::new(limit),
        all: StopToken::new(),
        stopped_after: Mutex::default(),
    });
    let server = Arc::clone(&shared);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let shared = Arc::clone(&server);
            tokio::spawn(async move {
                // If the client is gone, that is not an error of the server.
                let _ = serve(stream, shared).await;
            });
        }
    });
    Ok((address, shared))
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    let Some(ask) = read(&mut stream).await? else {
        return write(&mut stream, "400 Bad Request", "").await;
    };
    if shared.engine == Engine::Rayon {
        let (send, receive) = oneshot::channel();
        rayon::spawn(move || {
            // The receiver may be gone.
            let _ = send.send(work::by_rayon(ask.steps));
        });
        let answer = receive.await.expect("rayon runs what it was given");
        return write(&mut stream, "200 OK", &answer.to_string()).await;
    }
    let hung_up = Arc::new(OnceLock::new());
    let witness = Witness {
        shared: Arc::clone(&shared),
        hung_up: Arc::clone(&hung_up),
    };
    let token = shared.all.with_timeout(ask.within);
    let compute = move || {
        let _witness = witness;
        work::by_tine(ask.steps)
    };
    let job = match &shared.quick {
        Some(pool) if ask.steps <= SHORT => Ok(pool.spawn_async_with(&token, compute)),
        _ => shared.jobs.try_spawn_async(&token, compute),
    };
    let Ok(job) = job else {
        return write(&mut stream, "503 Service Unavailable", "busy").await;
    };
    let gone = async {
        let _ = stream.read(&mut [0; 1]).await;
        let _ = hung_up.set(Instant::now());
    };
    // The future that is not ready first is dropped here. If the client has closed its end, that is
    // `job`, and dropping it stops the computation.
    let answer = tokio::select! {
        answer = job => answer,
        () = gone => return Ok(()),
    };
    match answer {
        Ok(Ok(answer)) => write(&mut stream, "200 OK", &answer.to_string()).await,
        Ok(Err(_stopped)) => write(&mut stream, "504 Gateway Timeout", "late").await,
        Err(_panic) => write(&mut stream, "500 Internal Server Error", "").await,
    }
}

/// Reads the head of a request, of at most the given number of bytes.
async fn read(stream: &mut TcpStream) -> io::Result<Option<Ask>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > 4096 || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    let query = head
        .strip_prefix("GET /mix?")
        .and_then(|rest| rest.split(' ').next());
    let value = |name: &str| {
        let mut pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name)?.1.parse().ok()
    };
    let ask = value("n")
        .zip(value("ms"))
        .map(|(steps, millis): (u32, u32)| Ask {
            steps,
            within: Duration::from_millis(millis.into()),
        });
    Ok(ask)
}

async fn write(stream: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}
