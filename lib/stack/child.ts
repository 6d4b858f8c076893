import { spawn, type ChildProcess } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endWithThisProcess } from "@/lib/platform/os/end-with-this-process";
import { groupCpuMs } from "@/lib/platform/os/group-cpu";
import { endProcess } from "@/lib/platform/os/process.mjs";

export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * The child's output is written to this file; null shows it on the terminal. The log of the
   * previous run is kept as `<file>.old`.
   */
  readonly logFile: string | null;
  /**
   * Resolves when the child serves; rejects or never settles when it does not. When absent, the
   * child must send the message `{type: "ready"}`.
   */
  readonly probe?: (signal: AbortSignal) => Promise<void>;
  /**
   * Maximum time without progress during a start. There is no progress while the child writes no
   * log and its processes use less than a second of CPU time. The total time of a start has no
   * limit, because a busy machine may need long.
   */
  readonly quietMaxMs: number;
  /** Called again and again during a start that takes long. */
  readonly onSlow?: (passedMs: number) => void;
  /**
   * Ends the child and its own children when the supervisor dies, for programs that do not notice
   * this themselves.
   */
  readonly endWithSupervisor?: boolean;
  /**
   * Pauses before the attempts to start the child again. Every later attempt uses the last pause.
   */
  readonly restartDelaysMs?: readonly [number, ...number[]];
  /** Called when the child ended by itself and is being started again. */
  readonly onRestart?: (reason: string) => void;
  readonly onReadyAgain?: () => void;
}

export interface SupervisedChild {
  readonly pid: () => number | undefined;
  stop(): Promise<void>;
}

const RESTART_DELAYS_MS: readonly [number, ...number[]] = [
  500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000,
];
/**
 * Time after which a running child counts as steady. The pauses before its next restarts then
 * begin with the shortest again.
 */
const STEADY_AFTER_MS = 60_000;
const LOG_TAIL_LINES = 15;
/** Interval at which a start is checked for progress. */
const WATCH_MS = 1_000;
/** Interval at which a slow start is reported with `onSlow`. */
const SLOW_MS = 20_000;
/** CPU time that counts as progress of a start. An idle process uses less in a minute. */
const MOVED_CPU_MS = 1_000;
const STOP_STEPS = [
  // The wait is longer than the server's own time limit for a stop, so that only a hanging server
  // is killed.
  { signal: "SIGTERM", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 3_000 },
] as const;

const tail = (file: string | null): string => {
  if (file === null) return "";
  try {
    return `\nThe end of ${file}:\n${readFileSync(file, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n")}`;
  } catch {
    return "";
  }
};

const isReady = (message: unknown): boolean =>
  message === "ready" ||
  (typeof message === "object" &&
    message !== null &&
    "type" in message &&
    message.type === "ready");

const launch = (options: ChildOptions): ChildProcess => {
  let log: number | "inherit" = "inherit";
  if (options.logFile !== null) {
    mkdirSync(dirname(options.logFile), { recursive: true });
    log = openSync(options.logFile, "a", 0o600);
  }
  // A separate process group: Ctrl-C reaches only the supervisor, which then ends the parts in
  // order.
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.environment as NodeJS.ProcessEnv,
    stdio: ["ignore", log, log, "ipc"],
    detached: true,
  });
  if (typeof log === "number") closeSync(log);
  if (options.endWithSupervisor && child.pid !== undefined)
    child.once("exit", endWithThisProcess(child.pid, "group"));
  return child;
};

const describeEnd = (code: number | null, signal: string | null): string =>
  signal === null ? `ended with code ${String(code)}` : `was ended by ${signal}`;

/** Resolves with the reason when the process ends or cannot be started. */
const ended = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(describeEnd(code, signal)));
  });

const sizeOf = (file: string | null): number =>
  file === null ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);

/** Resolves with the reason for ending a start that made no progress for `quietMaxMs`. */
const untilQuiet = async (
  { pid = 0 }: ChildProcess,
  { logFile, quietMaxMs, onSlow }: ChildOptions,
  signal: AbortSignal,
): Promise<string> => {
  const began = performance.now();
  let saidAt = began;
  let moved = { at: began, cpuMs: groupCpuMs(pid) ?? 0, size: sizeOf(logFile) };
  for (;;) {
    await sleep(Math.min(WATCH_MS, quietMaxMs), null, { signal, ref: false });
    const now = performance.now();
    const [cpuMs, size] = [groupCpuMs(pid) ?? 0, sizeOf(logFile)];
    if (size !== moved.size || cpuMs - moved.cpuMs >= MOVED_CPU_MS)
      moved = { at: now, cpuMs, size };
    if (now - moved.at >= quietMaxMs)
      return `gave no sign of life for ${String(Math.round(quietMaxMs / 1000))} s`;
    if (now - saidAt < SLOW_MS) continue;
    saidAt = now;
    onSlow?.(now - began);
  }
};

const untilReady = async (
  child: ChildProcess,
  end: Promise<string>,
  options: ChildOptions,
): Promise<void> => {
  const giveUp = new AbortController();
  const ready =
    options.probe?.(giveUp.signal) ??
    new Promise<void>((resolve) => {
      child.on("message", (message) => {
        if (isReady(message)) resolve();
      });
    });
  const outcome = await Promise.race([
    ready.then(() => null),
    end,
    untilQuiet(child, options, giveUp.signal),
  ]);
  giveUp.abort();
  if (outcome !== null) throw new Error(`${options.name} ${outcome}.${tail(options.logFile)}`);
};

const endGroup = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await endProcess(child.pid, STOP_STEPS);
};

/**
 * Starts a child, waits until it is ready, and restarts it with growing pauses whenever it ends by
 * itself.
 * @throws Error with the end of its log when it does not become ready the first time
 */
export const superviseChild = async (options: ChildOptions): Promise<SupervisedChild> => {
  if (options.logFile !== null && existsSync(options.logFile))
    renameSync(options.logFile, `${options.logFile}.old`);
  const stopper = new AbortController();
  const isStopping = (): boolean => stopper.signal.aborted;
  let failures = 0;
  const start = (): { child: ChildProcess; end: Promise<string>; since: number } => {
    const child = launch(options);
    return { child, end: ended(child), since: Date.now() };
  };
  let current = start();
  try {
    await untilReady(current.child, current.end, options);
  } catch (error) {
    await endGroup(current.child);
    throw error;
  }

  const keepAlive = async (): Promise<void> => {
    for (;;) {
      const reason = await current.end;
      if (isStopping()) return;
      if (Date.now() - current.since > STEADY_AFTER_MS) failures = 0;
      const delays = options.restartDelaysMs ?? RESTART_DELAYS_MS;
      const delay = delays[Math.min(failures, delays.length - 1)];
      failures += 1;
      options.onRestart?.(reason);
      await sleep(delay, null, { signal: stopper.signal }).catch(() => null);
      if (isStopping()) return;
      current = start();
      await untilReady(current.child, current.end, options).then(options.onReadyAgain, () =>
        endGroup(current.child),
      );
    }
  };
  void keepAlive();
  return {
    pid: () => current.child.pid,
    stop: async () => {
      stopper.abort();
      await endGroup(current.child);
    },
  };
};
