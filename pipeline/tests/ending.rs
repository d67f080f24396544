//! A process that is asked to end leaves nothing, whatever its threads are at. In a process of its own: it ends all jobs.

use dropcast_pipeline::files::work_folder::WorkFolder;
use dropcast_pipeline::files::write_files;
use dropcast_pipeline::leave_nothing;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn no_thread_makes_the_work_folder_again_while_the_process_ends() {
    let room = tempfile::tempdir().expect("a folder");
    let work = WorkFolder::beside(&room.path().join("out")).expect("nobody works there");
    let path = work.path().to_owned();
    assert!(path.exists());
    let (sender, written) = mpsc::channel();
    leave_nothing(|| {
        let path = path.clone();
        std::thread::spawn(move || {
            let files = [("result".to_owned(), "late".to_owned())];
            sender.send(write_files(&path, &files).is_ok()).expect("the test waits");
        });
        // It would take far less.
        let waited = written.recv_timeout(Duration::from_millis(300));
        assert_eq!(waited, Err(mpsc::RecvTimeoutError::Timeout));
        let left = std::fs::read_dir(room.path()).expect("it is there").count();
        assert_eq!(left, 0, "neither the work folder nor its lock");
    });
    // A process would be gone by now.
    assert_eq!(written.recv(), Ok(true));
}
