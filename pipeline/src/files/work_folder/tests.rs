use super::*;
use std::fs;

/// An old result, and things of the user's.
fn target(room: &Path) -> PathBuf {
    let target = room.join("out");
    fs::create_dir_all(target.join("mine/deep")).unwrap();
    fs::write(target.join("mine/deep/notes"), "mine").unwrap();
    fs::write(target.join("result"), "old").unwrap();
    fs::write(target.join("result-2"), "old").unwrap();
    target
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.starts_with("result") || name == "tables"
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[cfg(target_os = "linux")]
#[test]
fn folders_and_symlinks_of_the_users_are_carried_over() {
    let room = tempfile::tempdir().unwrap();
    let target = target(room.path());
    std::os::unix::fs::symlink("nowhere", target.join("link")).unwrap();
    let led = room.path().join("led");
    std::os::unix::fs::symlink("out", &led).unwrap();
    let work = WorkFolder::beside(&led).unwrap();
    fs::write(work.path().join("result"), "new").unwrap();
    assert!(work.replace(&is_ours).is_ok());
    drop(work);
    assert_eq!(fs::read(target.join("result")).unwrap(), b"new");
    assert_eq!(fs::read(target.join("mine/deep/notes")).unwrap(), b"mine");
    assert!(target.join("link").is_symlink() && led.is_symlink());
    assert_eq!(names(&target), ["link", "mine", "result"]);
    assert_eq!(names(room.path()), ["led", "out"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_replaced_at_once_stays() {
    let room = tempfile::tempdir().unwrap();
    let target = target(room.path());
    std::os::unix::fs::symlink("mine/deep/notes", target.join("tables")).unwrap();
    fs::write(target.join("notes.txt"), "mine").unwrap();
    let work = WorkFolder::beside(&target).unwrap();
    fs::write(work.path().join("result"), "new").unwrap();
    work.replace(&is_ours).unwrap_err();
    assert_eq!(names(work.path()), ["result"]);
    assert_eq!(fs::read(target.join("result")).unwrap(), b"old");
    assert_eq!(fs::read(target.join("mine/deep/notes")).unwrap(), b"mine");
}

#[test]
fn a_killed_job_loses_nothing_of_the_users() {
    let room = tempfile::tempdir().unwrap();
    let target = target(room.path());
    let partial = room.path().join(".out.partial");
    fs::create_dir_all(partial.join("tables")).unwrap();
    fs::write(room.path().join(".out.lock"), "[\"mine\"]").unwrap();
    fs::rename(target.join("mine"), partial.join("mine")).unwrap();
    let work = WorkFolder::beside(&target).unwrap();
    assert!(names(work.path()).is_empty());
    assert_eq!(fs::read(target.join("mine/deep/notes")).unwrap(), b"mine");
    assert!(!target.join("tables").exists());
    drop(work);
    assert_eq!(names(room.path()), ["out"]);
    // Another folder of its name has taken its place.
    fs::create_dir_all(partial.join("mine/other")).unwrap();
    fs::write(room.path().join(".out.lock"), "[\"mine\"]").unwrap();
    for _ in 0..2 {
        let error = WorkFolder::beside(&target).err().unwrap().to_string();
        assert!(error.contains(".out.partial/mine: cannot be moved back to "), "{error}");
        assert!(partial.join("mine/other").exists());
    }
}

#[test]
fn a_folder_that_no_job_left_is_not_touched() {
    let room = tempfile::tempdir().unwrap();
    let target = target(room.path());
    fs::create_dir(room.path().join(".out.partial")).unwrap();
    fs::write(room.path().join(".out.partial/thesis"), "mine").unwrap();
    for _ in 0..2 {
        let error = WorkFolder::beside(&target).err().unwrap().to_string();
        assert!(error.contains(".out.partial: is where this job would work, "), "{error}");
    }
    assert_eq!(fs::read(room.path().join(".out.partial/thesis")).unwrap(), b"mine");
    assert_eq!(names(room.path()), [".out.partial", "out"]);
}

#[test]
fn a_job_that_fails_leaves_no_folders() {
    let room = tempfile::tempdir().unwrap();
    for is_exchanged in [true, false] {
        let work = work(&room.path().join("a/b/out"), is_exchanged);
        fs::write(work.path().join("result"), "new").unwrap();
        assert_eq!(names(room.path()).len(), 1);
        drop(work);
        assert!(names(room.path()).is_empty());
    }
}

/// In both ways: folders change places, or files are moved.
fn work(target: &Path, is_exchanged: bool) -> WorkFolder {
    match is_exchanged {
        true => WorkFolder::beside(target).unwrap(),
        false => WorkFolder::inside(target, "some").unwrap(),
    }
}

#[test]
fn a_result_replaces_all_of_an_earlier_one() {
    for is_exchanged in [true, false] {
        let room = tempfile::tempdir().unwrap();
        let target = target(room.path());
        fs::create_dir(target.join("tables")).unwrap();
        fs::write(target.join("tables/stale"), "old").unwrap();
        let work = work(&target, is_exchanged);
        fs::write(work.path().join("result"), "new").unwrap();
        fs::create_dir(work.path().join("tables")).unwrap();
        fs::write(work.path().join("tables/fresh"), "new").unwrap();
        work.finish(is_ours).unwrap();
        drop(work);
        assert_eq!(names(&target), ["mine", "result", "tables"]);
        assert_eq!(names(&target.join("tables")), ["fresh"]);
        assert_eq!(fs::read(target.join("result")).unwrap(), b"new");
        assert_eq!(names(room.path()), ["out"]);
    }
}

#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    for is_exchanged in [true, false] {
        let room = tempfile::tempdir().unwrap();
        let target = target(room.path());
        fs::create_dir(target.join("tables")).unwrap();
        for name in ["result", "tables/table"] {
            fs::write(target.join(name), "old").unwrap();
            fs::set_permissions(target.join(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let work = work(&target, is_exchanged);
        fs::create_dir(work.path().join("tables")).unwrap();
        for name in ["result", "tables/table"] {
            fs::write(work.path().join(name), "new").unwrap();
        }
        work.finish(is_ours).unwrap();
        for name in ["result", "tables/table"] {
            let mode = fs::metadata(target.join(name)).unwrap().permissions().mode();
            assert_eq!(
                (mode & 0o777, fs::read(target.join(name)).unwrap()),
                (0o600, b"new".into())
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn what_fails_half_way_is_undone() {
    let room = tempfile::tempdir().unwrap();
    let target = target(room.path());
    fs::write(room.path().join("far"), "old").unwrap();
    std::os::unix::fs::symlink("../far", target.join("linked")).unwrap();
    let before = names(&target);
    let work = WorkFolder::inside(&target, "some").unwrap();
    for name in ["result", "linked", "mine"] {
        fs::write(work.path().join(name), "new").unwrap();
    }
    let error = work.finish(is_ours).unwrap_err().to_string();
    assert!(error.contains("out/mine: is a folder, and not of an earlier result; "), "{error}");
    drop(work);
    assert_eq!(names(&target), before);
    assert_eq!(fs::read(target.join("result")).unwrap(), b"old");
    assert_eq!(fs::read(room.path().join("far")).unwrap(), b"old");
    assert!(target.join("linked").is_symlink());
}
