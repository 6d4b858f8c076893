import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isPortFree } from "@/lib/platform/os/ports";
import { endWithThisProcess } from "@/lib/platform/os/end-with-this-process";
import { endProcess } from "@/lib/platform/os/process.mjs";
import { anvilBinary } from "./anvil-binary";
import { rpc } from "./json-rpc";

/**
 * Time in which anvil must answer after its start, long enough to load a large state on a busy
 * machine. The start fails sooner when anvil exits.
 */
const START_TIMEOUT_MS = 120_000;
const START_POLL_MS = 15;
const PROBE_TIMEOUT_MS = 2_000;
const END_STEPS = [
  { signal: "SIGTERM", waitMs: 3_000 },
  { signal: "SIGKILL", waitMs: 3_000 },
] as const;
const LOG_TAIL = 1_000;

export interface AnvilOptions {
  readonly chainId: number;
  /** 0 for any free port. */
  readonly port: number;
  /** Initial state, unzipped output of `anvil_dumpState`. */
  readonly stateFile?: string;
  /**
   * Number of blocks that keep their transactions. Each transaction contains the trace of all its
   * calls. By default all blocks keep theirs.
   */
  readonly blocksKept?: number;
  /**
   * File for anvil's output, truncated at each start. With a pipe instead, the end of this process
   * would break the pipe and end anvil too.
   */
  readonly logFile: string;
}

export interface AnvilProcess {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

// Fails for a port in use, because a foreign chain that answers on it could be mistaken for ours.
const claimPort = async (wanted: number): Promise<number> => {
  if (wanted === 0) return freePort();
  if (await isPortFree(wanted, "127.0.0.1")) return wanted;
  throw new Error(`Port ${String(wanted)} is not free.`);
};

/**
 * Number of states that anvil keeps, each a copy of the whole state after one block. With
 * `--block-time 1` anvil keeps 1,500 states whatever `--prune-history` says, which is 400 MB per
 * chain after 25 idle minutes. So anvil never makes a block by itself, only for each `evm_mine`.
 * The number is not 0, because anvil would then refuse calls at `latest` during which a block is
 * made.
 */
const STATES_KEPT = "32";

const flags = (chainId: number, port: number): string[] => [
  ...["--host", "127.0.0.1", "--port", String(port), "--chain-id", String(chainId)],
  ...["--gas-limit", "60000000", "--prune-history", STATES_KEPT, "--silent"],
  ...["--no-mining", "--timestamp", LONG_AGO],
];

/**
 * Start time of anvil's clock. Without this option anvil refuses blocks older than its own start,
 * such as blocks that are replayed from a journal.
 */
const LONG_AGO = "1577836800";

/**
 * Starts one anvil, which ends with this process, however this process ends. The anvil runs in its
 * own process group, so that a Ctrl-C in the terminal reaches only this process, which then stops
 * anvil in order.
 * @throws Error with anvil's output when it does not answer in time, for instance because its port
 * is taken
 */
export const startAnvil = async (options: AnvilOptions): Promise<AnvilProcess> => {
  const name = `The local chain ${String(options.chainId)}`;
  const port = await claimPort(options.port).catch((cause: unknown) => {
    throw new Error(
      `${name} cannot use port ${String(options.port)}: something else listens there.`,
      { cause },
    );
  });
  const log = openSync(options.logFile, "w");
  const load = options.stateFile ? ["--load-state", options.stateFile] : [];
  const keeper = options.blocksKept
    ? ["--transaction-block-keeper", String(options.blocksKept)]
    : [];
  const child = spawn(anvilBinary(), [...flags(options.chainId, port), ...keeper, ...load], {
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  child.unref();
  let running = true;
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      running = false;
      resolve();
    };
    child.once("exit", end);
    child.once("error", end);
  });
  const { pid } = child;
  if (pid === undefined)
    throw new Error(`${name} cannot be started: ${anvilBinary()} does not run.`);
  const releaseGuard = endWithThisProcess(pid, "process");
  const rpcUrl = `http://127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    await endProcess(pid, END_STEPS);
    releaseGuard();
  };
  try {
    await waitUntilUp({ ...options, url: rpcUrl, isRunning: () => running });
  } catch (cause) {
    await stop();
    const words = readFileSync(options.logFile, "utf8").slice(-LOG_TAIL).trim();
    throw new Error(`${name} did not start on port ${String(port)}. ${words}`.trim(), {
      cause,
    });
  }
  return { chainId: options.chainId, rpcUrl, port, pid, exited, stop };
};

interface StartingChain extends Pick<AnvilOptions, "chainId"> {
  readonly url: string;
  readonly isRunning: () => boolean;
}

const waitUntilUp = async (chain: StartingChain): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (chain.isRunning()) {
    try {
      const id = await rpc(chain.url, "eth_chainId", [], PROBE_TIMEOUT_MS);
      if (Number(id) !== chain.chainId) throw new Error("Another chain answers there.");
      return;
    } catch (cause) {
      if (Date.now() > deadline) throw new Error("It does not answer.", { cause });
      await sleep(START_POLL_MS);
    }
  }
  throw new Error("It ended at once.");
};
