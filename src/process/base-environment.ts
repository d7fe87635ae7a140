// The environment that every command gets, besides what its step declares.

/** Variables of the host that every command sees; and every LC_ variable. */
export const BASE_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR', 'TERM'] as const;

/** The part of the host's environment that commands see. Nothing else passes unless a step declares it. */
export function baseEnvironment(host: { [name: string]: string | undefined }): { [name: string]: string } {
  const env: { [name: string]: string } = Object.create(null) as { [name: string]: string };
  for (const name of BASE_VARIABLES) {
    const value = host[name];
    if (value !== undefined) env[name] = value;
  }
  // Names first: reading a variable of the live process costs far more than seeing its name.
  for (const name of Object.keys(host)) {
    const value = name.startsWith('LC_') ? host[name] : undefined;
    if (value !== undefined) env[name] = value;
  }
  return env;
}
