#!/usr/bin/env bash
# Builds the program for one target and packs it with completions, manual pages and licences:
#   packaging/archive.sh TARGET   ->  dist/caz-VERSION-TARGET.tar.gz and .sha256
# CAZ_PROGRAM=FILE packs a program that is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?name the target, e.g. x86_64-unknown-linux-musl}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
ending=; case $target in *windows*) ending=.exe ;; esac

program=${CAZ_PROGRAM:-}
if [ -z "$program" ]; then
    cargo build --release --locked --target "$target"
    program=target/$target/release/caz$ending
fi

name=caz-$version-$target
folder=dist/$name
rm -rf "$folder" && mkdir -p "$folder/completions" "$folder/man"
cp "$program" "$folder/caz$ending"
cp README.md CHANGELOG.md LICENSE "$folder/"
python3 packaging/licences.py > "$folder/THIRD-PARTY-LICENCES.txt"
# A program for another processor cannot be asked; the release then has no completions.
if "$program" --version >/dev/null 2>&1; then
    for shell in bash zsh fish powershell; do
        "$program" completions "$shell" > "$folder/completions/caz.$shell"
    done
    "$program" man > "$folder/man/caz.1"
fi
# The same bytes for the same files: sorted, without owner and time.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C dist -cf - "$name" 2>/dev/null \
    | gzip -n > "dist/$name.tar.gz" || { tar -C dist -czf "dist/$name.tar.gz" "$name"; }
(cd dist && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
echo "dist/$name.tar.gz"
