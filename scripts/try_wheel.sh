#!/usr/bin/env bash
# `make wheel`'s last part: the wheel in dist/ in an empty environment and an empty home, as a stranger would have it.
set -euo pipefail
cd "$(dirname "$0")/.."

wheel="$(ls dist/march_vaultmem-*.whl)"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
"${PYTHON:-python3}" -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt "$wheel"

# Copied and left: from here on nothing of the checkout is in reach.
cp -R sample_vault "$place/Vault"
cd "$place"
while IFS='=' read -r name _; do
  case "$name" in VAULTMEM_* | MARCH_MEMORY_* | XDG_* | PYTHONPATH) unset "$name" ;; esac
done < <(env)
export HOME="$place" MARCH_MEMORY_ROOT="$place/Vault/March Memories"

venv/bin/vaultmem --version
venv/bin/vaultmem sync
hints="$(venv/bin/vaultmem recall "why do our payment webhooks credit some customers twice?")"
grep idempotency_key_webhooks <<<"$hints"
echo "$wheel works in an empty environment"
