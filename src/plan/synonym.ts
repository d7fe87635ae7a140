// Words that other tools use for what a key or a value here does, or for what Planwright does not have; only for hints.

/** Where a key stands, as far as it matters for what was meant. */
export type KeyPlace = 'plan' | 'step' | 'retry' | 'http' | 'call' | 'param' | 'other';

const NEEDS_AFTER = 'a step of its own: needs: [this step], after: failure';
const NO_CONTAINERS = 'Planwright runs no containers; do it in a command: run: [docker, run, …]';
const NO_LOOPS = 'a step cannot be repeated over a list; write one step for each item, or loop in the script';
const RETRY = 'write retry: { max_attempts: 3 }, the tries in all';
const TIMEOUT = 'write timeout with a unit: timeout: 5m';
const HTTP = 'write http: { url: …, method: … }';
const DESCRIPTION = 'the key of the step is its name; for people there is "description"';
const KIND = 'the kind of a step is a key: run, http, call, check, set or wait';
const NO_SCHEDULE = 'Planwright has no schedule; start "plan run" from cron or a timer';

// By word, folded; a value in quotes (`=needs`) is the key that is meant, anything else says what to do.
const SYNONYMS: { [place in KeyPlace]?: ReadonlyMap<string, string> } = {
  step: table({
    '=needs': 'depends_on depends dependencies dependency requires require run_after upstream wait_for deps',
    '=if': 'when condition only_if run_if precondition preconditions',
    '=run': 'script command cmd commands exec execute shell_command bash sh scripts',
    '=env': 'environment variables vars env_vars',
    '=cwd': 'working_directory working_dir workdir work_dir dir directory path',
    '=continue_on_error': 'allow_failure allow_failures ignore_errors ignore_error ignore_failure soft_fail',
    '=wait': 'sleep pause',
    '=check': 'assert assertion expect verify',
    '=http': 'http_request request',
    '=call': 'function call_function',
    '=set': 'set_vars set_variables let',
    '=stdin': 'input standard_input',
    '=description': 'desc comment help',
    '=after': 'trigger_rule',
    [RETRY]: 'retries retry_count max_retries retry_limit retry_policy retry_strategy max_attempts attempts max_tries',
    'write retry: { delay: 5s }': 'retry_delay retry_interval delay backoff interval_sec',
    [TIMEOUT]: 'timeout_sec timeout_secs timeout_seconds timeout_minutes timeout_in_minutes timeout_ms max_time execution_timeout active_deadline_seconds',
    'write continue_on_error: true': 'continue_on continue_on_failure',
    [NEEDS_AFTER]: 'handler_on handlers on_failure on_error on_success on_exit catch rescue else then ensure hooks callbacks on_failure_callback',
    [DESCRIPTION]: 'name label title display_name',
    'the key of the step is its id': 'id step_id task_id key',
    [NO_CONTAINERS]: 'image container container_image volumes volume ports entrypoint services docker pod',
    'Planwright has no ready-made actions; write what it does as run, http or call': 'uses action_ref template template_ref include import extends',
    'data goes to a command by "env", to a function by call: { function, args }': 'with params parameters inputs',
    'write run: [command, argument, …], or call: { function: …, args: … }': 'args arguments argv',
    [NO_LOOPS]: 'matrix foreach for_each with_items with_param loop strategy parallel iterate items repeat',
    [NO_SCHEDULE]: 'schedule cron on triggers start_date',
    'this version has no step that asks a person; end the session there with a check, or wait with "wait"': 'approve approval manual suspend confirm',
    'this version has no such kind; use run, http or call': 'agent llm external plan workflow sub_workflow subplan signal prompt',
    'list the name under "secrets" of the plan, and read it: env: { NAME: "${{ secrets.NAME }}" }': 'secrets secret',
    'write after: any (the needs have just ended), or put the step under "finally" of the plan': 'always always_run run_always',
    'turn the condition around: if: !(…), in quotes': 'unless except skip_if',
    'steps have no steps in them; give each its own id under "steps", and order them by "needs"': 'steps tasks jobs children block sequence',
    'that is a key of the plan: move it there': 'finally concurrency on_exit budget checkpoint_interval scheduling max_parallel',
    'standard error goes to the log of the step (plan logs); what a step gives goes to $PLAN_OUTPUT or stdout': 'stderr output_file register save_as artifacts',
    [KIND]: 'type kind action executor operator task module runs_on run_on agent_pool',
    'write run, and choose the program with "shell": shell: [python3, -c]': 'python node ruby perl powershell pwsh inline code',
    [HTTP]: 'url uri get post put delete method headers body fetch curl webhook rest',
    'every step runs as the user who runs plan': 'user run_as become sudo',
  }),
  plan: table({
    '=steps': 'jobs tasks nodes stages stage step workflow pipeline dag',
    '=plan': 'version planwright',
    '=params': 'inputs parameters param arguments args',
    '=env': 'environment variables vars env_vars',
    '=name': 'title id display_name',
    '=concurrency': 'max_parallel parallelism parallel max_concurrency max_active_steps max_active_runs',
    '=finally': 'always ensure cleanup post handler_on handlers on_exit on_failure_callback teardown after_all',
    '=secrets': 'secret',
    '=timeout': 'max_time execution_timeout',
    '=description': 'desc comment help',
    '=outputs': 'output result results',
    '=defaults': 'default default_args default_task_args',
    '=on_failure': 'on_error fail_fast',
    'that is a key of steps; for all steps write it under "defaults": retry, timeout, attempt_timeout, kill_grace, shell, cwd': 'retry retries shell cwd attempt_timeout kill_grace working_directory',
    'that is a key of steps: put it below a step under "steps"': 'run http call check set wait needs if after stdin stdout continue_on_error',
    [NO_SCHEDULE]: 'on schedule cron triggers trigger schedule_interval start_date',
    'Planwright has no labels; say it in "description"': 'labels tags metadata owner group',
    'one file holds one plan; anchors for own use stand below a key that begins with "x-"': 'include imports import extends templates anchors definitions',
  }),
  retry: table({
    '=max_attempts': 'attempts max limit count retries max_retries times tries max_tries limit_count',
    '=delay': 'interval interval_sec wait initial_delay initial_interval base_delay min_delay delay_seconds pause duration',
    '=max_delay': 'max_interval max_interval_sec cap max_duration max_wait maximum_delay',
    '=backoff': 'strategy policy type factor multiplier backoff_rate exponential mode',
    '=retry_on': 'on when only_on exit_code exit_codes on_errors retry_policy',
    '=give_up_on': 'except ignore not_on abort_on fatal non_retryable',
  }),
  http: table({
    '=body': 'data payload content form text',
    '=expect_status': 'status status_code expected_status success_codes valid_status ok_status',
    '=query': 'params parameters query_params search qs',
    '=headers': 'header',
    '=url': 'uri endpoint address href link',
    '=method': 'verb type',
    '=follow_redirects': 'redirect redirects allow_redirects',
    'that is a key of the step: write it beside "http"': 'timeout retry outputs retries attempt_timeout timeout_sec',
    'write a header: headers: { Authorization: "Bearer ${{ secrets.TOKEN }}" }': 'auth authorization token bearer basic_auth user password',
  }),
  call: table({
    '=function': 'function_name name fn func module path method',
    '=args': 'arguments params parameters with input inputs data payload',
  }),
  param: table({
    '=enum': 'options choices values allowed allowed_values',
    '=default': 'value default_value',
    '=description': 'desc help title label prompt',
    '=min': 'minimum min_length min_items',
    '=max': 'maximum max_length max_items',
    '=pattern': 'regex regexp match format validation',
    'a param without "default" is required': 'required optional nullable',
    'a secret is no param: list its name under "secrets" of the plan': 'secret sensitive mask',
  }),
};

// The same for values; of several meanings the one that is allowed is taken.
const VALUES = table({
  string: 'str text char varchar',
  text: 'string str raw plain utf8 true',
  integer: 'int long int64 whole',
  number: 'float double decimal real num numeric',
  boolean: 'bool flag',
  array: 'list tuple sequence set vec',
  object: 'dict map mapping json struct hash record dictionary',
  lines: 'list array',
  any: 'always all done finished ended completed_or_failed all_done either both',
  success: 'succeeded completed ok successful on_success all_success complete',
  failure: 'failed error fail errored on_failure one_failed all_failed',
  constant: 'fixed linear static none',
  exponential: 'exp expo exponential_backoff jitter',
  stop: 'abort fail halt exit fail_fast end',
  continue: 'ignore proceed skip go_on resume',
  layered: 'layer sequential levels serial',
  eager: 'parallel dag immediate asap',
  per_step: 'step each_step always',
  per_layer: 'layer each_layer',
});

function table(words: { [meaning: string]: string }): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [meaning, list] of Object.entries(words)) {
    for (const word of list.split(' ')) found.set(word, found.has(word) ? `${found.get(word) as string} ${meaning}` : meaning);
  }
  return found;
}

// `dependsOn`, `depends-on` and `DEPENDS_ON` are one word.
const folded = (word: string) => word.replace(/([a-z])([A-Z])/g, '$1_$2').replaceAll('-', '_').toLowerCase();

/** What a key means that other tools have at this place: the key here, or what to do instead. */
export function synonymOf(word: string, place: KeyPlace): { key?: string; hint?: string } | undefined {
  const meaning = SYNONYMS[place]?.get(folded(word));
  if (meaning === undefined) return undefined;
  return meaning.startsWith('=') ? { key: meaning.slice(1) } : { hint: meaning };
}

/** The allowed value that a word means elsewhere. */
export function valueSynonym(word: string, allowed: readonly string[]): string | undefined {
  return VALUES.get(folded(word))?.split(' ').find((meaning) => allowed.includes(meaning));
}

/** The kind of mapping that has these keys. */
export function placeOf(keys: ReadonlySet<string> | ReadonlyMap<string, unknown>): KeyPlace {
  if (keys.has('needs')) return 'step';
  if (keys.has('steps')) return 'plan';
  if (keys.has('max_attempts')) return 'retry';
  if (keys.has('url')) return 'http';
  if (keys.has('args')) return 'call';
  return keys.has('enum') ? 'param' : 'other';
}
