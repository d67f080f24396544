//! Objects of S3, Google Cloud Storage and Azure Blob Storage, through the crate `object_store` (`docs/objects.md`).
//!
//! A program that calls [`install`] reads and writes objects wherever it takes files. Credentials, regions and endpoints
//! are those of the environment (`AWS_ACCESS_KEY_ID` and so on).

use dropcast_data::ObjectStores;
use object_store::buffered::BufWriter;
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_util::io::{StreamReader, SyncIoBridge};
use url::Url;

/// What is sent at once, at least: the least that S3 takes for a part.
const LEAST_PART_BYTES: u64 = 5 << 20;
/// S3 takes 10,000 parts.
const MOST_PARTS: u64 = 9_000;
/// The longest that a store may take to list a further object.
const MOST_WAIT: Duration = Duration::from_secs(300);
/// Parts under way at once.
const PARTS_AT_ONCE: usize = 4;

/// Lets this program use objects: once, before it opens any.
pub fn install() {
    dropcast_data::install_object_stores(&CloudStores);
}

/// The stores whose URLs `object_store` knows.
struct CloudStores;

impl ObjectStores for CloudStores {
    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, String> {
        get(path, GetOptions::default())
    }

    fn open_range(&self, path: &Path, range: Range<u64>) -> Result<Box<dyn Read + Send>, String> {
        get(path, GetOptions { range: Some(range.into()), ..GetOptions::default() })
    }

    fn size(&self, path: &Path) -> Result<u64, String> {
        let (runtime, store, key) = find(path)?;
        runtime.block_on(store.head(&key)).map(|found| found.size).map_err(one_line)
    }

    fn put(&self, path: &Path, file: &mut File) -> Result<(), String> {
        let (runtime, store, key) = find_object(path)?;
        let length = file.metadata().map_err(one_line)?.len();
        let part_bytes = LEAST_PART_BYTES.max(length / MOST_PARTS);
        // One part more than this begins an upload in parts.
        let mut writer = BufWriter::with_capacity(store.into(), key, part_bytes as usize + 1)
            .with_max_concurrency(PARTS_AT_ONCE);
        runtime.block_on(async {
            loop {
                let mut part = Vec::new();
                let read = file.take(part_bytes).read_to_end(&mut part).map_err(one_line);
                let sent = match read {
                    Ok(0) => return writer.shutdown().await.map_err(one_line),
                    Ok(_) => writer.put(part.into()).await.map_err(one_line),
                    Err(problem) => Err(problem),
                };
                if sent.is_err() {
                    // The cause matters more than parts that stay until the store forgets them.
                    let _ = writer.abort().await;
                    return sent;
                }
            }
        })
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        let (runtime, store, prefix) = find(folder)?;
        let text = folder.to_string_lossy();
        let base = text.strip_suffix('/').unwrap_or(&text);
        runtime.block_on(async {
            let mut listed = store.list(Some(&prefix));
            let mut found = BTreeSet::new();
            while let Some(object) =
                timeout(MOST_WAIT, listed.next()).await.map_err(|_| endless(&text))?
            {
                let key = object.map_err(one_line)?.location;
                let parts = key.prefix_match(&prefix).into_iter().flatten();
                let below: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
                if !found.insert(PathBuf::from(format!("{base}/{}", below.join("/")))) {
                    return Err(endless(&text));
                }
            }
            Ok(found.into_iter().collect())
        })
    }

    fn remove(&self, path: &Path) -> Result<(), String> {
        let (runtime, store, key) = find(path)?;
        match runtime.block_on(store.delete(&key)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(problem) => Err(one_line(problem)),
        }
    }
}

/// A store that lists the same object twice, or nothing for long, may do so for ever.
fn endless(folder: &str) -> String {
    format!(
        "the store's list of {folder} does not end; name its objects one by one, or ask who runs the store"
    )
}

fn get(path: &Path, options: GetOptions) -> Result<Box<dyn Read + Send>, String> {
    let (runtime, store, key) = find_object(path)?;
    let found = runtime.block_on(store.get_opts(&key, options)).map_err(one_line)?;
    let stream = StreamReader::new(found.into_stream());
    Ok(Box::new(SyncIoBridge::new_with_handle(stream, runtime.handle().clone())))
}

/// What [`find`] finds, where the URL names an object: not a bucket alone.
fn find_object(path: &Path) -> Result<StoreAndKey, String> {
    match find(path)? {
        (_, _, key) if key.as_ref().is_empty() => {
            Err("it names no object of the bucket".to_owned())
        }
        found => Ok(found),
    }
}

type StoreAndKey = (&'static Runtime, Box<dyn ObjectStore>, Key);

/// The store that a URL names, set up by the environment, and the name of the object in it.
fn find(path: &Path) -> Result<StoreAndKey, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    // Two threads: a reader that waits must not keep others waiting.
    let start = || {
        // Fails where the program has chosen another, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).enable_all().build().map_err(one_line)
    };
    let runtime = RUNTIME.get_or_init(start).as_ref().map_err(Clone::clone)?;
    let url = Url::parse(path.to_str().unwrap_or_default()).map_err(one_line)?;
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let (store, key) = object_store::parse_url_opts(&url, environment).map_err(one_line)?;
    Ok((runtime, store, key))
}

/// A problem in one line: what the store says of it, or what caused it.
fn one_line(problem: impl std::error::Error) -> String {
    let mut text = problem.to_string();
    let mut cause = problem.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    // Stores answer in XML.
    match (element(&text, "Code"), element(&text, "Message")) {
        (Some(code), Some(message)) => format!("{} ({code})", message.trim_end_matches('.')),
        _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The text of the first element of this name.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, from) = xml.split_once(&format!("<{name}>"))?;
    Some(from.split_once(&format!("</{name}>"))?.0)
}
