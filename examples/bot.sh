#!/bin/sh
# Any legal command, with curl and no rules: examples/bot.sh http://host GAME [INVITATION]
set -eu
game=$1/v1/games/$2
body='{"name": "shell"'${3:+", \"invitation\": \"$3\""}'}'
ask() { curl -sS -H 'Content-Type: application/json' "$@"; }
pick() { python3 -c "import json, random, sys; found = json.load(sys.stdin); print($1)"; }
token=$(ask -d "$body" "$game/join" | pick 'found["token"]')
own() { ask -H "Authorization: Bearer $token" "$@"; }
until [ "$(own "$game/state" | pick 'found["status"]')" = over ]; do
  commands='found["commands"]'
  command=$(own "$game/legal" | pick "json.dumps(random.choice($commands)['command']) if $commands else ''")
  if [ "$command" ]; then own -d "$command" "$game/commands" > /dev/null; else sleep 0.1; fi
done
own "$game/state" | pick 'found["result"]'
