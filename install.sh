#!/bin/sh
# Installs dropcast from a release, without root:
#     sh install.sh [--from DIR|URL] [--prefix DIR]
#   --from     a release: a folder, or the URL of one (with curl or wget); the folder of this script unless given
#   --prefix   where bin/ and share/ are; ~/.local unless given
# The archive's SHA-256 must be the one in SHA256SUMS. A failure before the last step leaves what was installed as it was.
set -eu

die() {
    echo "install.sh: $*" >&2
    exit 1
}

main() {
    from='' prefix=${HOME:+$HOME/.local}
    while [ $# -gt 0 ]; do
        case $1 in
        --from | --prefix)
            [ $# -ge 2 ] || die "$1 needs a value"
            if [ "$1" = --from ]; then from=$2; else prefix=$2; fi
            shift 2
            ;;
        -h | --help)
            echo 'sh install.sh [--from DIR|URL] [--prefix DIR]    installs a release of dropcast, into ~/.local unless given'
            exit 0
            ;;
        *) die "unknown option $1, expected --from or --prefix" ;;
        esac
    done
    [ -n "$prefix" ] || die 'HOME is not set; name a folder with --prefix'
    if [ -z "$from" ]; then
        from=$(dirname "$0")
        [ -f "$from/SHA256SUMS" ] || die 'no release lies beside this script; name its folder or URL with --from'
    fi

    case $(uname -s)/$(uname -m) in
    Linux/x86_64) target=x86_64-unknown-linux-musl ;;
    Linux/aarch64) target=aarch64-unknown-linux-musl ;;
    Darwin/arm64) target=aarch64-apple-darwin ;;
    *) die "there is no program for $(uname -s) on $(uname -m); with Rust and a C compiler, cargo install --path cli builds one" ;;
    esac

    mkdir -p "$prefix"
    prefix=$(cd "$prefix" && pwd)
    # On the disk of the prefix, so that files appear there whole.
    work=$(mktemp -d "$prefix/.dropcast.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM

    fetch SHA256SUMS
    archive=$(sed -n "s/^[0-9a-f]\{64\} [ *]\(dropcast-[0-9A-Za-z.+-]*-$target\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
    case $archive in
    '') die "$from/SHA256SUMS names no archive for $target" ;;
    *'
'*) die "$from/SHA256SUMS names more than one archive for $target" ;;
    esac
    fetch "$archive"
    expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$archive\$/\1/p" "$work/SHA256SUMS")
    found=$(sum "$work/$archive")
    [ "$found" = "$expected" ] || die "$from/$archive has the SHA-256 $found, and SHA256SUMS says $expected; fetch it again"

    gzip -dc "$work/$archive" | tar -xf - -C "$work"
    files=$work/${archive%.tar.gz}
    "$files/dropcast" --version >/dev/null || die "$archive does not run here"

    put "$files/dropcast" bin
    for page in "$files"/man/*.1; do put "$page" share/man/man1; done
    mv "$files/completions/dropcast.bash" "$files/completions/dropcast"
    put "$files/completions/dropcast" share/bash-completion/completions
    put "$files/completions/_dropcast" share/zsh/site-functions
    put "$files/completions/dropcast.fish" share/fish/vendor_completions.d
    for text in README.md CHANGELOG.md LICENSE THIRD-PARTY-LICENSES; do put "$files/$text" share/doc/dropcast; done

    echo "installed $("$prefix/bin/dropcast" --version): $prefix/bin/dropcast"
    echo "man pages, completions and licences: $prefix/share"
    case :${PATH:-}: in
    *":$prefix/bin:"*) echo 'try: dropcast run' ;;
    *) echo "$prefix/bin is not on your PATH; try: $prefix/bin/dropcast run" ;;
    esac
}

# Copies a file of the release into the work folder.
fetch() {
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null; then
            curl -fsSL -o "$work/$1" "${from%/}/$1" || die "${from%/}/$1 cannot be fetched"
        elif command -v wget >/dev/null; then
            wget -q -O "$work/$1" "${from%/}/$1" || die "${from%/}/$1 cannot be fetched"
        else
            die 'neither curl nor wget is here; fetch the release yourself and name its folder with --from'
        fi
        ;;
    *) cp "$from/$1" "$work/$1" || die "$from is no release: it has no $1" ;;
    esac
}

sum() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        die 'neither sha256sum nor shasum is here; the archive cannot be checked'
    fi
}

put() {
    mkdir -p "$prefix/$2"
    mv -f "$1" "$prefix/$2/"
}

# The whole script is read before anything happens.
main "$@"
