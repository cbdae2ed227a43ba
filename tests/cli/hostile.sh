#!/usr/bin/env bash
# Feeds the program models, clusters and runs that no one should write. Each must be refused: exit status 2, the
# mistake with its file, rule and a way out on stderr, nothing on stdout, nothing written with -o, and soon.
# usage: hostile.sh <folder of the program>
set -euo pipefail
program=$(realpath "$1")/trainplan
[[ -x $program ]] || { echo "no program $program" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LC_ALL=C COLUMNS=100 HOME=$scratch
mkdir out
limit_ms=5000 # the aim is 1 s; a machine under load or a sanitizer takes its share
cases=0 failures=0 slowest=0 slowest_name='' status=0 took=0

milliseconds() { local now=${EPOCHREALTIME/[.,]/}; echo $((now / 1000)); }

fail() {
  failures=$((failures + 1))
  echo "FAILED $1: $2" >&2
  head -c 1500 stderr >&2
}

# Runs a command: its status, its time, and the files stdout and stderr.
timed() {
  local from
  from=$(milliseconds)
  status=0
  timeout 60 "$@" >stdout 2>stderr </dev/null || status=$?
  took=$(($(milliseconds) - from))
}

# refused <name> <file> <rule, a regular expression> <command...>
refused() {
  local name=$1 file=$2 rule=$3
  shift 3
  timed "$@" -o out/report
  cases=$((cases + 1))
  ((took <= slowest)) || slowest=$took slowest_name=$name
  ((status == 2)) || fail "$name" "status $status instead of 2"
  [[ ! -s stdout ]] || fail "$name" "something on stdout"
  grep -qF -- "$file" stderr || fail "$name" "stderr does not name $file"
  grep -qE "^error\[($rule)\]" stderr || fail "$name" "no error[$rule]"
  # must and hint, each on a line of its own, below every error
  awk '/^(error|warning)\[/ { if (n && n < 3) bad = 1; n = 1; next } /^    [^ ]/ { n++ }
       END { exit bad || n < 3 }' stderr || fail "$name" "an error without a rule in words and a hint"
  [[ -z $(ls -A out) ]] || { fail "$name" "left $(ls -A out)"; rm -f out/*; }
  ((took <= limit_ms)) || fail "$name" "took $took ms"
}

# feed <kind> <name> <file> <rule>: the file as a model, a cluster or a run, where a run is checked and planned.
feed() {
  local kind=$1 name="$1: $2" file=$3 rule=$4
  case $kind in
    model) refused "$name" "$file" "$rule" "$program" plan "./$file" h100x64 ;;
    cluster) refused "$name" "$file" "$rule" "$program" plan llama8b "./$file" ;;
    run)
      refused "$name (check)" "$file" "$rule" "$program" check "./$file"
      refused "$name (plan)" "$file" "$rule" "$program" plan "./$file"
      ;;
  esac
}

# A legal text of a kind, with one number to be replaced.
text() {
  local number=$2 lines=()
  case $1 in
    model) lines=('"model_type": "llama",' "\"hidden_size\": $number," '"intermediate_size": 14336,'
      '"num_hidden_layers": 32,' '"num_attention_heads": 32,' '"num_key_value_heads": 8,' '"vocab_size": 128256,'
      '"max_position_embeddings": 8192') ;;
    cluster) lines=('"accelerator": "h100-sxm",' "\"nodes\": $number," '"gpus_per_node": 8,'
      '"nic_per_gpu": "400 Gbit/s",' '"pcie": "64 GB/s"') ;;
    run) lines=('"model": "llama8b",' '"cluster": "h100x64",' "\"tp\": $number," '"micro_batch": 1') ;;
  esac
  printf '{\n'
  printf '  %s\n' "${lines[@]}"
  printf '}\n'
}
declare -A good=([model]=4096 [cluster]=8 [run]=8)

for kind in model cluster run; do
  text $kind ${good[$kind]} >good_$kind.json
  legal=$(<good_$kind.json)
  while read -r rule number; do
    text $kind "$number" >bad.json
    feed $kind "number $number" bad.json "$rule"
  done <<'END'
range -1
range 0
integer 7.9
integer "x"
integer|range "1e300"
integer true
integer|range 1e300
integer|scalar|heads-divide-hidden [8]
integer|scalar {"a": 8}
json-number 1e400
json-number -1e400
json-number|integer NaN
json-number|integer -Infinity
json-number|integer 99999999999999999999
range 9223372036854775807
json-syntax 0x10
json-syntax 08
json-syntax True
json-syntax eight
json-syntax 'eight'
json-syntax +8
json-syntax -
END
  feed $kind missing nowhere.json 'not-found|file-missing'
  mkdir -p folder && feed $kind directory folder file-directory
  ln -sfn loop loop && feed $kind 'a loop of links' loop 'not-found|file-.*'
  printf '%s' "${legal%\"*}" >bad.json && feed $kind truncated bad.json 'json-(truncated|syntax)'
  printf '%s' "${legal%\}}" >bad.json && feed $kind 'no end' bad.json json-truncated
  sed '2p' good_$kind.json >bad.json && feed $kind 'a key twice' bad.json json-duplicate-key
  sed '2i\  "nonsense": 1,' good_$kind.json >bad.json
  [[ $kind == model ]] || feed $kind 'an unknown key' bad.json unknown-key
  head -c 200000 /dev/zero | tr '\0' '[' >bad.json && feed $kind '200,000 levels' bad.json json-depth
  for ((i = 0; i < 20000; ++i)); do printf '{"a":'; done >bad.json && feed $kind '20,000 objects' bad.json json-depth
  iconv -f UTF-8 -t UTF-16 good_$kind.json >bad.json && feed $kind UTF-16 bad.json encoding
  iconv -f UTF-8 -t UTF-32BE good_$kind.json >bad.json && feed $kind UTF-32 bad.json encoding
  sed '2i\  "_note": "\xff\xfe",' good_$kind.json >bad.json && feed $kind 'no UTF-8' bad.json encoding
  sed '2i\  "_note": "\\ud800",' good_$kind.json >bad.json && feed $kind 'half a surrogate' bad.json json-syntax
  : >bad.json && feed $kind empty bad.json json-empty
  printf ' \n\n' >bad.json && feed $kind blank bad.json json-empty
  printf '[]' >bad.json && feed $kind 'an array' bad.json json-root
  printf 'null' >bad.json && feed $kind null bad.json json-root
  truncate -s 100M bad.json && feed $kind '100 MB' bad.json file-too-large
  { printf '{"_a": "' && head -c 4100000 /dev/zero | tr '\0' x && printf '", "b": 1e400}'; } >bad.json
  feed $kind 'a long line' bad.json json-number
  { printf '{' && seq -f '"k%.0f": [1, 2],' 100000 && printf '"z": 1}'; } >bad.json
  [[ $kind == model ]] || feed $kind '100,000 keys' bad.json unknown-key
done

# A file of one kind where another is meant.
feed model 'a cluster' good_cluster.json '[a-z-]+'
feed model 'a run' good_run.json '[a-z-]+'
feed cluster 'a model' good_model.json '[a-z-]+'
feed cluster 'a run' good_run.json '[a-z-]+'
feed run 'a model' good_model.json wrong-kind
feed run 'a cluster' good_cluster.json wrong-kind

# Every mistake of a run at once, each at its place and with a legal value.
printf '%s\n' '{' '  "model": "llama70b",' '  "cluster": "h100x1024",' '  "tp": 6,' '  "sequence": "x"' '}' >two.json
feed run 'tp 6 and sequence x' two.json 'tp-divides-gpus'
grep -qF 'error[tp-divides-gpus] ./two.json:4:9 /tp = 6' stderr || fail 'tp 6' 'wrong place'
grep -qF 'error[integer] ./two.json:5:15 /sequence = x' stderr || fail 'sequence x' 'wrong place'
grep -qE '^    try 4, 8( |,)' stderr || grep -qE '^    try .*\b8\b' stderr || fail 'tp 6' 'no legal value'
grep -qF 'try 8192' stderr || fail 'sequence x' 'no legal value'

# Pipelines: files, options, and schedules that cannot be.
printf '%s\n' '{' '  "stages": 4, "micro_batches": 8,' '  "forward": "10 ms", "backward": "20 ms"' '}' >good_pipeline.json
sed '2i\  "stage": 4,' good_pipeline.json >bad.json
refused 'a pipeline with an unknown key' bad.json unknown-key "$program" schedule ./bad.json
while read -r name rule from to; do
  sed "s/$from/$to/" good_pipeline.json >bad.json
  refused "pipeline: $name" bad.json "$rule" "$program" schedule ./bad.json
done <<'END'
no-stages range 4, 0,
stages-1e300 range|integer 4, 1e300,
micro-batches-nan json-number|integer 8, NaN,
forward-without-unit quantity "10.ms" 10
forward-below-zero range 10.ms -10ms
forward-1e300 range|quantity 10.ms 1e300s
a-list-of-lists scalar "10.ms" [[1]]
END
for option in '--stages 1e400' '--micro-batches -1' '--forward ,' '--forward 1e999s' '--layers 5' '--schedule nothing' \
  '--memory-budget 1GB' '--pair 1ns' '--group 99999999999999999999' '--pp 4' '--pin tp=8'; do
  refused "schedule $option" "${option%% *}" '[a-z-]+' "$program" schedule ./good_pipeline.json $option
done
refused 'a schedule that the shape forbids' /micro_batches schedule-allows "$program" schedule ./good_pipeline.json --schedule dualpipe \
  --stages 6
refused 'nothing at all' --stages missing "$program" schedule

# Reports of plans: what is none, and numbers that are none.
"$program" plan llama8b h100x64 --format json -o report.json
while read -r name rule from to; do
  sed "0,/$from/s//$to/" report.json >bad.json
  refused "report: $name" bad.json "$rule" "$program" diff ./bad.json ./report.json
done <<'END'
schema report-schema trainplan.plan trainplan.check
no-ledger report-ledger "ledger":.{ "_ledger":{
item-without-id missing-key "id":."params.query_width" "_id":"params.query_width"
nan json-number query.width",."value":.4096 query-width","value":NaN
text number query.width",."value":.4096 query-width","value":"7"
huge json-number query.width",."value":.4096 query-width","value":1e400
END
for option in '--fail-above memory' '--fail-above nothing=1%' '--fail-above step=nan%' '--fail-above ,' '--pin-b tp=4' '--tp 4'; do
  refused "diff $option" "${option%% *}" '[a-z-]+' "$program" diff ./report.json ./report.json $option
done

for option in '--framework nothing' '--framework deepspeed,deepspeed' '--framework ,' '--sharding zero3' '--tp 6'; do
  refused "compare $option" "${option%% *}" '[a-z-]+' "$program" compare llama8b h100x64 $option
done

# Degrees that no plan can hold, one by one and together.
for pin in tp=65536 pp=65536 vpp=65536 cp=65536 micro_batch=65536 recompute_layers=65536 tp=1048576,pp=1048576 \
  tp=65535,pp=65535,cp=65535 dp=1048577 shard_size=65536,sharding=hsdp sequence=1e400 global_batch=-1; do
  name=${pin%%=*}
  refused "--pin $pin" "--${name//_/-}" '[a-z-]+' "$program" plan llama8b h100x64 --pin "$pin"
done

# A device without an end, and a file that is refused leaves what is there.
ln -s /dev/zero endless.json && feed model 'a device without an end' endless.json file-too-large
echo before >kept
timed "$program" check ./two.json -o kept
[[ $status == 2 && $(<kept) == before ]] || fail 'a file that is there' "status $status, now: $(head -c 100 kept)"

# unwritten <name> <file> <command...>: a good question whose answer cannot be written.
unwritten() {
  local name=$1 file=$2
  shift 2
  status=0
  "$@" 2>stderr </dev/null || status=$?
  cases=$((cases + 1))
  ((status == 2)) || fail "$name" "status $status instead of 2"
  grep -qF "cannot write $file" stderr || fail "$name" "stderr does not name $file"
}
to_full() { "$@" >/dev/full; }
to_nobody() { "$@" >&-; }
to_closed_pipe() {
  exec 7> >(exec true)
  wait $!
  "$@" >&7
}
for words in 'plan llama8b h100x64' 'check good_run.json' 'check good_run.json --format json' \
  'explain llama8b h100x64 memory.state' 'diff report.json good_run.json' \
  'compare llama8b h100x64 --framework deepspeed' 'list models' 'calc' '--help'; do
  unwritten "$words: a full disk" 'standard output' to_full "$program" $words
  unwritten "$words: no output" 'standard output' to_nobody "$program" $words
  unwritten "$words: a closed pipe" 'standard output' to_closed_pipe "$program" $words
  [[ $words != --help ]] || continue
  unwritten "$words: -o full" /dev/full "$program" $words -o /dev/full
  unwritten "$words: -o into no folder" nowhere/report "$program" $words -o nowhere/report
done

drawn='schedule --stages 4 --micro-batches 8 --forward 10ms --backward 20ms --schedule gpipe'
for option in --svg --trace; do
  unwritten "$option full" /dev/full "$program" $drawn $option /dev/full
  unwritten "$option into no folder" nowhere/picture "$program" $drawn $option nowhere/picture
  unwritten "$option into a folder" out "$program" $drawn $option out
done
unwritten '--timeline: a full disk' 'standard output' to_full "$program" $drawn --timeline
unwritten '--timeline: -o full' /dev/full "$program" $drawn --timeline -o /dev/full

echo "$cases cases, $failures failed; the slowest took $slowest ms: $slowest_name"
((failures == 0))
