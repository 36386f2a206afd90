#!/bin/sh
# Stores each event as a file in a folder, and acknowledges it. Run it from cron, or in a loop.
#
#     examples/consumer.sh FOLDER
set -eu
folder=$1
mkdir -p "$folder"
highwater events read --consumer folder --limit 20 | while IFS= read -r event; do
    id=${event#'{"id":"'} # the first field of every event
    id=${id%%'"'*}
    printf '%s\n' "$event" >"$folder/$id.json" # an event that comes twice is the same file
    highwater events ack --consumer folder "$id"
done
