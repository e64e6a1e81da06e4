#!/usr/bin/env bash
# scripts/cold.sh FOLDER [SUITE]: times the README's commands where nothing is installed or built: in the Debian SUITE
# (bookworm, unless told) that mmdebstrap makes in FOLDER, on a clone of this tree's HEAD. Needs root, mmdebstrap and some
# 10 GB; FOLDER must not exist. What this machine trusts (a proxy's certificate, say) is trusted there.
# Prints the minutes of scripts/run.sh and scripts/test.sh, by step, and then what scripts/build_times.py says.
set -euo pipefail
folder=${1:?usage: scripts/cold.sh FOLDER [SUITE]}
suite=${2:-bookworm}
[ ! -e "$folder" ] || { echo "cold: $folder exists" >&2; exit 2; }
tree=$(cd "$(dirname "$0")/.." && pwd)

mmdebstrap --quiet --variant=apt --include=ca-certificates,git "$suite" "$folder"
cp /etc/resolv.conf "$folder/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$folder/srv/trusted.crt"
for mounted in proc sys dev; do mount --rbind "/$mounted" "$folder/$mounted"; done
trap 'for mounted in proc sys dev; do umount -R -l "$folder/$mounted"; done' EXIT
git clone -q "$tree" "$folder/srv/rnicsim"

inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv SSL_CERT_FILE=/srv/trusted.crt NODE_EXTRA_CA_CERTS=/srv/trusted.crt \
    chroot "$folder" sh -c "cd /srv/rnicsim && $1"
}
timed() {
  local status=0 clock user system
  TIMEFORMAT='%R %U %S'
  { time inside "$1" > "$folder/srv/last.log" 2>&1; } 2> "$folder/srv/last.time" || status=$?
  read -r clock user system < "$folder/srv/last.time"
  awk -v command="$1" -v status=$status -v clock="$clock" -v user="$user" -v system_time="$system" 'BEGIN {
    processor = user + system_time
    printf "%-34s exit %d  %3d:%02d min, %3d:%02d of processor time\n", command, status, clock / 60, clock % 60, processor / 60, processor % 60 }'
  [ "$status" -eq 0 ] || tail -30 "$folder/srv/last.log"
  sed -n '/^== minutes/,$p' "$folder/srv/last.log"
}
timed scripts/run.sh
timed scripts/test.sh
inside "python3 -B scripts/build_times.py"
