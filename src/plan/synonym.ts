// Words that other tools use for what a key here does; only for hints.

const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    depends_on: 'needs',
    dependson: 'needs',
    depends: 'needs',
    dependencies: 'needs',
    requires: 'needs',
    when: 'if',
    condition: 'if',
    script: 'run',
    command: 'run',
    cmd: 'run',
    shell_command: 'run',
    exec: 'run',
    environment: 'env',
    variables: 'env',
    vars: 'env',
    inputs: 'params',
    parameters: 'params',
    arguments: 'args',
    working_directory: 'cwd',
    workdir: 'cwd',
    dir: 'cwd',
    attempts: 'max_attempts',
    max: 'max_attempts',
    max_parallel: 'concurrency',
    parallelism: 'concurrency',
    jobs: 'steps',
    tasks: 'steps',
    nodes: 'steps',
    always: 'finally',
    version: 'plan',
    allow_failure: 'continue_on_error',
    ignore_errors: 'continue_on_error',
    data: 'body',
    status: 'expect_status',
    function_name: 'function',
    sleep: 'wait',
    request: 'http',
    assert: 'check',
  }),
);

/** The key that means what `word` means elsewhere. */
export function synonymOf(word: string): string | undefined {
  return SYNONYMS.get(word.replaceAll('-', '_').toLowerCase()) ?? SYNONYMS.get(word.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase());
}
