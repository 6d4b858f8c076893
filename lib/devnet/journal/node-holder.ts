import { setTimeout as sleep } from "node:timers/promises";
import type { RestoredNode } from "./restore";

/** Before each start after an end: none at first, the last for as long as it takes. */
const PAUSES_MS = [0, 250, 500, 1_000, 2_000, 5_000] as const;
/** After a node ran this long, the pauses begin with the shortest again. */
const STEADY_AFTER_MS = 30_000;

export interface NodeHolder {
  /** Null while there is none. */
  current(): RestoredNode | null;
  /** Resolves with the node as soon as there is one; null when there is none in time. */
  whenUp(timeoutMs: number): Promise<RestoredNode | null>;
  /** Ends the node. */
  drop(): Promise<void>;
  /** Ends what is left of the node before, waits, and starts another. @throws whatever `restore` throws */
  replace(restore: () => Promise<RestoredNode>): Promise<RestoredNode>;
  /** No pauses from now on. */
  hurry(): void;
  stop(): Promise<void>;
}

/** The node of one chain, of which there is another one each time when it ended. `onEnd` is called when it ends by itself. */
export const createNodeHolder = (onEnd: () => void): NodeHolder => {
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
        sleep(timeoutMs, null, { signal: timer.signal, ref: false }).then(done, () => undefined);
      });
      timer.abort();
      return node;
    },
    replace: async (restore) => {
      await drop();
      if (since > 0 && performance.now() - since > STEADY_AFTER_MS) failures = 0;
      if (since > 0 || failures > 0) {
        const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)];
        await sleep(pause, null, { signal: stopper.signal }).catch(() => null);
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
