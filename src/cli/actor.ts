// Who types: stored with a cancel or a retry.
import { hostname, userInfo } from 'node:os';

/** `user@host` */
export function actorOf(env: NodeJS.ProcessEnv): string {
  return `${userName(env)}@${hostname()}`;
}

function userName(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry, as in many containers.
    return env['USER'] ?? env['LOGNAME'] ?? `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
