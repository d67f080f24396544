//! Files that are something else.

/// What a file is that holds nothing we read, and what to do, by its first bytes.
pub fn other_kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let decompress = "decompress it";
    let unpack = "unpack it, and name a file in it";
    let utf_8 = "write it in UTF-8";
    let convert = "convert it: editcap -F pcapng";
    let known: [(&[u8], _, _); 10] = [
        (b"version https://git-lfs", "is a pointer of Git LFS, not the file", "run git lfs pull"),
        (b"BZh", "holds bzip2", decompress),
        (b"\xfd7zXZ\0", "holds xz", decompress),
        (b"PK\x03\x04", "holds a ZIP archive", unpack),
        (b"7z\xbc\xaf\x27\x1c", "holds a 7z archive", unpack),
        (b"\xff\xfe", "is text in UTF-16", utf_8),
        (b"\xfe\xff", "is text in UTF-16", utf_8),
        (b"snoop\0\0\0", "is a capture of snoop", convert),
        (b"GMBU", "is a capture of Network Monitor", convert),
        (b"RTSS", "is a capture of Network Monitor", convert),
    ];
    let text = head.trim_ascii_start();
    let begins =
        |tag: &&[u8]| text.len() >= tag.len() && text[..tag.len()].eq_ignore_ascii_case(tag);
    if [&b"<!doctype html"[..], b"<html"].iter().any(begins) {
        return Some(("is a page in HTML", "if it was downloaded, get the file itself"));
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some(("holds a tar archive", unpack));
    }
    let (_, problem, hint) = known.into_iter().find(|(magic, ..)| head.starts_with(magic))?;
    Some((problem, hint))
}
