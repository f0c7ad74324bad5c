//! Two caches that inform each other about their contents. Each cache first sends a compressed
//! filter of its items, and then one difference per minute. Each cache queries its copy of the
//! other cache's filter before it fetches an item from a distant server. The connection is over
//! loopback.
//!
//! `cargo run --release -p truebloom --example caches` prints the bytes per minute and the number
//! of wrong answers. It fails if the number of wrong answers is not as predicted.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use truebloom::truebloom_math::binomial;
use truebloom::{BloomFilter, wire};

type Failed = Box<dyn Error + Send + Sync>;

const MINUTES: u64 = 20;
/// The number of new items in each cache per minute.
const NEW: u64 = 1_000;
/// The number of queries per minute for items that the other cache does not hold.
const QUESTIONS: u64 = 10_000;

fn main() -> Result<(), Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let there = thread::spawn(move || listener.accept().map_err(Failed::from).and_then(|(stream, _)| Cache::new("there").run(stream)));
    let here = Cache::new("here").run(TcpStream::connect(address)?)?;
    let there = there.join().map_err(|_| "the other cache has failed")??;
    for told in [&here, &there] {
        println!("{told}");
    }
    Ok(())
}

/// The part of a cache that concerns its filter.
struct Cache {
    name: &'static str,
}

impl Cache {
    fn new(name: &'static str) -> Cache {
        Cache { name }
    }

    fn url(of: &str, number: u64) -> String {
        format!("https://{of}.example/{number}")
    }

    fn run(self, mut stream: TcpStream) -> Result<String, Failed> {
        let other = if self.name == "here" { "there" } else { "here" };
        let mut mine = BloomFilter::new(MINUTES * NEW, 0.01)?;
        let mut sent = mine.to_bytes()?;
        write_message(&mut stream, &wire::compress(&sent)?)?;
        let mut theirs = wire::expand(&read_message(&mut stream)?)?;
        let (mut differences, mut wholes, mut wrong, mut expected) = (0, 0, 0, 0.0);
        for minute in 0..MINUTES {
            mine.extend((minute * NEW..(minute + 1) * NEW).map(|number| Cache::url(self.name, number)));
            let now = mine.to_bytes()?;
            let news = wire::difference(&sent, &now)?;
            (differences, wholes) = (differences + news.len(), wholes + wire::compress(&now)?.len());
            write_message(&mut stream, &news)?;
            sent = now;
            // A difference applies only to the state that the other cache sent before; any other
            // state is an error.
            theirs = wire::apply(&theirs, &read_message(&mut stream)?)?;
            let copy = BloomFilter::view(&theirs)?.verify_bytes()?;
            assert!(
                (0..(minute + 1) * NEW).all(|number| copy.contains(&Cache::url(other, number))),
                "nothing that the other holds is missed"
            );
            let strangers = (minute * QUESTIONS..(minute + 1) * QUESTIONS).map(|number| Cache::url("elsewhere", number));
            wrong += copy.contains_all(strangers).count_ones() as u64;
            expected += copy.fpr().value;
        }
        let questions = MINUTES * QUESTIONS;
        let rate = expected / MINUTES as f64;
        // The rate is different in each minute. The sum of binomial variables with different rates
        // has a smaller variance than one binomial variable with the mean rate. So the test fails
        // in at most one of a million correct runs.
        assert!(
            binomial::two_sided(wrong, questions, rate) > 1e-6,
            "{wrong} wrong answers, where the law says {:.0}",
            rate * questions as f64
        );
        Ok(format!(
            "{}: {} bytes a minute as differences, {} as whole filters, compressed, {} as they are; {wrong} wrong answers of {questions}, {:.0} by the law",
            self.name,
            differences as u64 / MINUTES,
            wholes as u64 / MINUTES,
            sent.len(),
            rate * questions as f64,
        ))
    }
}

/// Sends the length of a message, and then the message.
fn write_message(stream: &mut TcpStream, message: &[u8]) -> Result<(), Failed> {
    stream.write_all(&u32::try_from(message.len())?.to_le_bytes())?;
    Ok(stream.write_all(message)?)
}

/// Receives a message of up to 16 MiB; a larger length is an error.
fn read_message(stream: &mut TcpStream) -> Result<Vec<u8>, Failed> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > 16 << 20 {
        return Err("a message is too long".into());
    }
    let mut message = vec![0; length as usize];
    stream.read_exact(&mut message)?;
    Ok(message)
}
