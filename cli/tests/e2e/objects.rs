//! Objects of a store in place of files: a server that speaks S3 on this machine (moto).

use crate::room::Room;

#[cfg(not(feature = "object-store"))]
#[test]
fn without_object_stores_it_says_how_to_build_it() {
    let room = Room::new();
    room.write("leaf.toml", LEAF);
    for typed in [
        "inspect s3://bucket/trace.parquet",
        "report --data s3://bucket/trace.parquet",
        "collect --events s3://bucket/in/ --switch leaf.toml -o out",
    ] {
        let said = room.dropcast(typed);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        assert!(said.stderr.contains("build it with --features object-store"), "{said}");
    }
}

#[cfg(not(feature = "object-store"))]
const LEAF: &str =
    "ports = 2\nline_rate_bps = 10_000_000_000\nbuffer_bytes = 60_000\nbase_rtt_ns = 32_000\n";

#[cfg(feature = "object-store")]
mod with_a_server {
    use super::Room;
    use crate::room::{skipped, without_progress};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, Command, Output, Stdio};
    use std::time::{Duration, Instant};

    /// A server with an empty bucket; ends with the test.
    struct Store {
        server: Child,
        address: String,
    }

    impl Drop for Store {
        fn drop(&mut self) {
            let _ = self.server.kill();
            let _ = self.server.wait();
        }
    }

    impl Store {
        /// None if the server is not installed, which is a failure in CI.
        fn start() -> Option<Store> {
            let installed = Command::new("python3").args(["-c", "import moto.server"]).output();
            if !installed.is_ok_and(|output| output.status.success()) {
                assert!(
                    std::env::var_os("CI").is_none(),
                    "CI needs moto: pip install 'moto[server]'"
                );
                skipped("moto is not installed");
                return None;
            }
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let address = format!("127.0.0.1:{port}");
            let server = Command::new("python3")
                .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let store = Store { server, address };
            let began = Instant::now();
            while TcpStream::connect(&store.address).is_err() {
                assert!(began.elapsed() < Duration::from_secs(60), "the server does not answer");
                std::thread::sleep(Duration::from_millis(50));
            }
            store.ask("PUT /bucket");
            Some(store)
        }

        /// The bytes of an answer.
        fn ask(&self, what: &str) -> Vec<u8> {
            let mut connection = TcpStream::connect(&self.address).unwrap();
            // Who asks is sent, and not checked.
            let head = "Host: localhost\r\nContent-Length: 0\r\nConnection: close\r\nAuthorization: \
                        AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, \
                        SignedHeaders=host, Signature=none";
            write!(connection, "{what} HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            connection.read_to_end(&mut answer).unwrap();
            assert!(answer.starts_with(b"HTTP/1.1 200"), "{what}: {}", answer.escape_ascii());
            let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
            answer.split_off(end + 4)
        }

        fn get(&self, name: &str) -> Vec<u8> {
            self.ask(&format!("GET /bucket/{name}"))
        }

        fn dropcast(&self, room: &Room, typed: &str) -> Output {
            dropcast_with(&self.address, room, typed)
        }

        fn good(&self, room: &Room, typed: &str) -> String {
            let output = self.dropcast(room, typed);
            let stderr = without_progress(&String::from_utf8(output.stderr).unwrap());
            let only_notes = stderr.lines().all(|line| line.starts_with("note: "));
            assert!(output.status.success() && only_notes, "{typed}: {stderr}");
            String::from_utf8(output.stdout).unwrap()
        }
    }

    /// Runs `dropcast` with the store at this address.
    fn dropcast_with(address: &str, room: &Room, typed: &str) -> Output {
        let mut command = room.command(typed.split_whitespace());
        command.envs([
            ("AWS_ENDPOINT", format!("http://{address}").as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "us-east-1"),
        ]);
        command.output().unwrap()
    }

    /// A store that gives every page of its list the same place to go on.
    #[test]
    fn a_list_without_an_end_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let _ = connection.read(&mut [0; 4096]);
                let page = "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>in/a.csv</Key>\
                            <LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>1</Size></Contents>\
                            <NextContinuationToken>again</NextContinuationToken></ListBucketResult>";
                let head = format!("Content-Length: {}\r\nConnection: close", page.len());
                let _ = write!(connection, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n{page}");
            }
        });
        let room = Room::with_a_run();
        let typed = "collect --events s3://bucket/in/ --switch runs/small/switch.toml -o out";
        let output = dropcast_with(&address, &room, typed);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("the store's list of s3://bucket/in/ does not end"), "{said}");
    }

    #[test]
    fn objects_take_the_place_of_files() {
        let Some(store) = Store::start() else { return };
        let room = Room::new();
        let good = |typed: &str| store.good(&room, typed);
        std::fs::create_dir_all(room.path("in/run=1")).unwrap();
        good("simulate --seed 7 --duration-ms 60 -o in/run=1/events.parquet");
        good("simulate --seed 7 --duration-ms 60 -o s3://bucket/in/run=1/events.parquet");
        assert!(store.get("in/run=1/events.parquet") == room.read("in/run=1/events.parquet"));
        good("inspect s3://bucket/in/run=1/events.parquet --check");

        good("collect --events in/run=1/events.parquet -o trace.parquet");
        good("collect --events s3://bucket/in/run=1/events.parquet -o s3://bucket/trace.parquet");
        assert!(store.get("trace.parquet") == room.read("trace.parquet"));
        assert!(room.read("trace.parquet").len() > 5 << 20, "larger than a part of an upload");
        good("train --data trace.parquet -o model.json");
        good("train --data s3://bucket/trace.parquet -o s3://bucket/model.json");
        assert!(store.get("model.json") == room.read("model.json"));
        let report = |from: &str| {
            good(&format!(
                "report --model {from}model.json --data {from}trace.parquet --format json"
            ))
        };
        assert_eq!(report(""), report("s3://bucket/"));

        // The manifest holds the hashes of all traces.
        good("collect --events in -o out");
        let said = good("collect --events s3://bucket/in/ -o s3://bucket/out/");
        assert!(said.contains("1 folders labelled now, 0 before"), "{said}");
        assert!(store.get("out/manifest.json") == room.read("out/manifest.json"));
        let said = good("collect --events s3://bucket/in/ -o s3://bucket/out/");
        assert!(said.contains("0 folders labelled now, 1 before"), "{said}");

        let output = store.dropcast(&room, "inspect s3://bucket/absent.parquet");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("s3://bucket/absent.parquet: cannot be opened"), "{said}");
    }
}
