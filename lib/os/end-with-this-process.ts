import { spawn } from "node:child_process";
import { Socket } from "node:net";

const SCRIPTS = {
  /** The process group gets five seconds to stop. */
  group: 'read _; kill -s TERM -- "-$0"; sleep 5; kill -s KILL -- "-$0"',
  /** One process, at once. */
  process: 'read _; kill -9 "$0" 2>/dev/null',
} as const;

/**
 * Ends another process when this one ends, however it ends: a shell waits for the end of its input, a pipe from this process, and
 * then sends the signals. It keeps this process from nothing: neither the shell nor the pipe holds the event loop.
 * @param what `group`: SIGTERM for the process group of `pid`, SIGKILL after 5 s. `process`: SIGKILL for `pid` alone
 * @returns a function that ends the shell; call it when the other process has ended, because ids are reused
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
