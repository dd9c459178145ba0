#!/usr/bin/env bash
# `make demo`: a copy of the sample vault, synced and asked three questions. Nothing outside .demo/ is touched.
set -euo pipefail
cd "$(dirname "$0")/.."

vaultmem="${VAULTMEM:-.venv/bin/vaultmem}"
demo=.demo

# The demo shall look the same on every machine: no user config, no environment but its own.
while IFS='=' read -r name _; do
  case "$name" in VAULTMEM_* | MARCH_MEMORY_*) unset "$name" ;; esac
done < <(env)
export VAULTMEM_CONFIG="$PWD/$demo/config.toml"
export MARCH_MEMORY_ROOT="$PWD/$demo/vault/March Memories"
export VAULTMEM_STATE_DIR="$PWD/$demo/state"

mkdir -p "$demo"
: >"$VAULTMEM_CONFIG"
if ! diff -rq sample_vault "$demo/vault" >/dev/null 2>&1; then
  rm -rf "$demo/vault"
  cp -R sample_vault "$demo/vault"
fi

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 && -z "${NO_COLOR:-}" ]] || say() { printf '\n%s\n' "$*"; }

ask() {
  say "$1"
  printf '$ vaultmem recall "%s"\n' "$2"
  local hints
  hints="$("$vaultmem" recall "$2")"
  printf '%s\n' "${hints:-(no hint: nothing in the vault is worth a line here)}"
}

say "1. Sync: the notes are the truth, the caches follow"
printf '$ vaultmem sync\n'
"$vaultmem" sync

say "2. What the caches hold"
printf '$ vaultmem status\n'
"$vaultmem" status

ask "3. A Chinese prompt" "缓存命中率突然掉了，系统提示词里的东西应该按什么顺序放？"
ask "4. An English prompt; the notes that answer it are Chinese" \
  "why do our payment webhooks credit some customers twice?"
ask "5. An off-topic prompt: silence" "Which board game would you bring to a rainy weekend with friends?"

say "6. What doctor found (the sample vault holds one bad note for every diagnostics code)"
printf '$ vaultmem doctor\n'
code=0
"$vaultmem" doctor || code=$?
# 1 says that notes need attention, which is what the sample vault is for; anything above is a failure.
((code <= 1)) || exit "$code"

say "Look around yourself"
cat <<EOF
  export MARCH_MEMORY_ROOT="$MARCH_MEMORY_ROOT"
  export VAULTMEM_STATE_DIR="$VAULTMEM_STATE_DIR"
  $vaultmem recall "your own prompt" --explain
  $vaultmem notes --all
  $vaultmem --help
EOF
