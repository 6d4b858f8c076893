import { setTimeout as sleep } from "node:timers/promises";
import type { RestoredNode } from "./restore";

/** Pauses before the restarts of a node that keeps ending; the last one repeats. */
const PAUSES_MS: readonly number[] = [0, 250, 500, 1_000, 2_000, 5_000];
/** A node that ran this long before it died is restarted after the shortest pause. */
const STEADY_AFTER_MS = 30_000;

export interface NodeHolder {
  /** Null while no node runs. */
  current(): RestoredNode | null;
  /** Resolves with the node as soon as one runs; null when none runs within the time. */
  whenUp(timeoutMs: number): Promise<RestoredNode | null>;
  /** Ends the node. */
  drop(): Promise<void>;
  /** Ends the previous node, pauses, and starts another one. @throws the error of `restore` */
  replace(restore: () => Promise<RestoredNode>): Promise<RestoredNode>;
  /** Ends the current pause, and skips all later ones. */
  hurry(): void;
  stop(): Promise<void>;
}

interface HolderOptions {
  /** Default: `PAUSES_MS`. */
  readonly pausesMs?: readonly number[];
  /** Resolves after the time, or as soon as the signal aborts. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const abortablePause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await sleep(ms, null, { signal }).catch(() => null);
};

/**
 * Holds the node of one chain and replaces it whenever it ended. `onEnd` is called when a node ends
 * by itself.
 */
export const createNodeHolder = (
  onEnd: () => void,
  { pausesMs = PAUSES_MS, pause = abortablePause }: HolderOptions = {},
): NodeHolder => {
  const stopper = new AbortController();
  const waiting = new Set<() => void>();
  let node: RestoredNode | null = null;
  let last: RestoredNode | null = null;
  let failures = 0;
  let since = 0;

  const drop = async (): Promise<void> => {
    node = null;
    last?.node.close();
    await last?.anvil.stop();
    last = null;
  };

  return {
    current: () => node,
    drop,
    whenUp: async (timeoutMs) => {
      if (node !== null) return node;
      const timer = new AbortController();
      await new Promise<void>((resolve) => {
        const done = (): void => {
          waiting.delete(done);
          resolve();
        };
        waiting.add(done);
        sleep(timeoutMs, null, { signal: timer.signal, ref: false }).then(
          done,
          () => undefined,
        );
      });
      timer.abort();
      return node;
    },
    replace: async (restore) => {
      await drop();
      if (since > 0 && performance.now() - since > STEADY_AFTER_MS) failures = 0;
      if (since > 0 || failures > 0) {
        await pause(pausesMs[Math.min(failures, pausesMs.length - 1)] ?? 0, stopper.signal);
        failures += 1;
      }
      since = 0;
      try {
        last = await restore();
      } catch (error) {
        failures = Math.max(failures, 1);
        throw error;
      }
      const own = last;
      void own.anvil.exited.then(() => {
        if (node !== own) return;
        node = null;
        onEnd();
      });
      since = performance.now();
      node = own;
      for (const done of [...waiting]) done();
      return own;
    },
    hurry: () => stopper.abort(),
    stop: async () => {
      await drop();
      for (const done of [...waiting]) done();
    },
  };
};
