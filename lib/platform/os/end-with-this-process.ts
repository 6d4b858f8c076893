import { spawn } from "node:child_process";
import { Socket } from "node:net";

const SCRIPTS = {
  /** The process group gets SIGTERM, and SIGKILL after five seconds. */
  group: 'read _; kill -s TERM -- "-$0"; sleep 5; kill -s KILL -- "-$0"',
  /** One process gets SIGKILL immediately. */
  process: 'read _; kill -9 "$0" 2>/dev/null',
} as const;

/**
 * Ends another process when this one ends, for any reason. A shell reads a pipe from this process.
 * The pipe ends when this process ends, and the shell then sends the signals. Neither the shell
 * nor the pipe keeps this process running.
 * @param what `group`: SIGTERM for the process group of `pid`, SIGKILL after 5 s. `process`:
 * SIGKILL only for `pid`
 * @returns a function that ends the shell; call it when the other process has ended, because ids
 * are reused
 */
export const endWithThisProcess = (pid: number, what: keyof typeof SCRIPTS): (() => void) => {
  const shell = spawn("/bin/sh", ["-c", SCRIPTS[what], String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  shell.on("error", () => undefined);
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return () => void shell.kill("SIGKILL");
};
