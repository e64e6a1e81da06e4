#!/usr/bin/env bash
# scripts/cold.sh FOLDER: times the README's commands where nothing is installed or built: in a Debian 12 that mmdebstrap
# makes in FOLDER, on a clone of this tree's HEAD. Needs root, mmdebstrap and some 10 GB; FOLDER must not exist.
# Prints the minutes of scripts/run.sh and scripts/test.sh, and then what scripts/build_times.py says.
set -euo pipefail
folder=${1:?usage: scripts/cold.sh FOLDER}
[ ! -e "$folder" ] || { echo "cold: $folder exists" >&2; exit 2; }
tree=$(cd "$(dirname "$0")/.." && pwd)

mmdebstrap --quiet --variant=apt --include=ca-certificates,git bookworm "$folder"
cp /etc/resolv.conf "$folder/etc/"
for mounted in proc sys dev; do mount --rbind "/$mounted" "$folder/$mounted"; done
trap 'for mounted in proc sys dev; do umount -R -l "$folder/$mounted"; done' EXIT
git clone -q "$tree" "$folder/srv/rnicsim"

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv chroot "$folder" sh -c "cd /srv/rnicsim && $1"; }
timed() {
  local begin=$SECONDS status=0
  inside "$1" > "$folder/srv/last.log" 2>&1 || status=$?
  printf '%-34s exit %d  %3d min %02d s\n' "$1" "$status" $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60))
  [ "$status" -eq 0 ] || tail -30 "$folder/srv/last.log"
}
timed scripts/run.sh
timed scripts/test.sh
inside "python3 -B scripts/build_times.py"
