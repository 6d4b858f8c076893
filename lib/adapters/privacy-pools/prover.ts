import { spawn, type ChildProcess } from "node:child_process";
import { setPriority } from "node:os";
import { z } from "zod";
import { entryArguments } from "@/lib/platform/os/entry";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import { proverMessage, toMessage, type Groth16Proof } from "./proof-job";

/**
 * The trees do not contain the note, or differ from the prover's trees. The caller must read the
 * chain again.
 */
export class StaleTreeError extends Error {}

export interface TreeLeaves {
  /** Identifies the tree. A reorganisation gives the tree a new key. */
  readonly key: string;
  readonly leaves: readonly bigint[];
}

interface NoteInput {
  readonly value: bigint;
  readonly label: bigint;
  readonly nullifier: bigint;
  readonly secret: bigint;
}

export type ProofInput =
  | (NoteInput & {
      readonly circuit: "withdraw";
      readonly withdrawn: bigint;
      readonly context: bigint;
      readonly newNullifier: bigint;
      readonly newSecret: bigint;
      readonly commitment: bigint;
      readonly state: TreeLeaves;
      readonly association: TreeLeaves & { readonly root: bigint };
    })
  | (NoteInput & { readonly circuit: "commitment" });

export interface Prover {
  /**
   * Waits in the queue, then makes the proof. Aborting kills the process that works on it.
   * @throws StaleTreeError, the signal's reason, Error
   */
  prove(input: ProofInput, signal: AbortSignal, onStart?: () => void): Promise<Groth16Proof>;
  /** Average duration of the latest spend proofs, in milliseconds. */
  expectedMs(): number;
  /** Number of circuit files that the proving process has read since its start. */
  artifactsRead(): number;
  stop(): void;
}

export interface ProverOptions {
  readonly entry?: readonly string[];
  /** After this idle time, the process ends to release its memory. */
  readonly idleMs?: number;
  /** Niceness of the proving process, so that requests have priority. */
  readonly niceness?: number;
}

const IDLE_MS = 120_000;
/**
 * Niceness of the proving process. With 5, proofs still get about a third of the CPU of a busy
 * service. With 10, a proof could take minutes.
 */
const NICENESS = 5;
const FIRST_EXPECTED_MS = 8_000;

const exitMessage = z.number().nullable();

const addedLeaves = ({ key, leaves }: TreeLeaves, sent: ReadonlyMap<string, number>) => {
  const known = Math.min(sent.get(key) ?? 0, leaves.length);
  return { key, known, added: leaves.slice(known) };
};

const messageOf = (input: ProofInput, sent: ReadonlyMap<string, number>): unknown =>
  toMessage(
    input.circuit === "commitment"
      ? input
      : {
          ...input,
          state: addedLeaves(input.state, sent),
          association: {
            ...addedLeaves(input.association, sent),
            root: input.association.root,
          },
        },
  );

interface Answer {
  readonly proof: Groth16Proof;
  readonly artifactsRead: number;
}

/**
 * Sends a message to the process and waits for its proof.
 * @param stop ends the process, because after a failure it is unknown which leaves the process has
 * @throws StaleTreeError; the signal's reason
 */
const requestProof = (
  worker: ChildProcess,
  message: unknown,
  { signal, stop }: { readonly signal: AbortSignal; readonly stop: () => void },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      worker.off("message", onMessage);
      worker.off("exit", onExit);
      worker.off("error", onExit);
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const fail = (error: Error): void => {
      stop();
      finish(() => reject(error));
    };
    const onMessage = (raw: unknown): void => {
      const said = proverMessage.parse(raw);
      if ("ready" in said) return;
      if ("proof" in said) finish(() => resolve(said));
      else
        fail(
          said.code === "not_in_tree"
            ? new StaleTreeError(said.failure)
            : new Error(said.failure),
        );
    };
    const onExit = (code: unknown): void => {
      const exit = exitMessage.safeParse(code);
      fail(
        new Error(
          `The proving process ended (${exit.success ? String(exit.data) : "not started"}).`,
        ),
      );
    };
    const onAbort = (): void => fail(signal.reason as Error);
    worker.on("message", onMessage);
    worker.once("exit", onExit);
    worker.once("error", onExit);
    signal.addEventListener("abort", onAbort, { once: true });
    worker.send(message as object, (error) => {
      if (error !== null) onExit(null);
    });
  });

/** Makes proofs one at a time in a separate process, which starts with the first proof. */
export const createProver = ({
  entry = entryArguments(import.meta.url, "./prover-process"),
  idleMs = IDLE_MS,
  niceness = NICENESS,
}: ProverOptions = {}): Prover => {
  let child: ChildProcess | null = null;
  let sent = new Map<string, number>();
  let idle: ReturnType<typeof setTimeout> | undefined;
  const proofs = createKeyedQueue();
  let expected = FIRST_EXPECTED_MS;
  let artifactsRead = 0;

  const end = (): void => {
    child?.kill("SIGKILL");
    child = null;
    sent = new Map();
  };

  const start = (): ChildProcess => {
    if (child !== null && child.exitCode === null && child.signalCode === null) return child;
    sent = new Map();
    child = spawn(process.execPath, [...entry], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    if (child.pid !== undefined) setPriority(child.pid, niceness);
    child.unref();
    child.channel?.unref();
    return child;
  };

  const ask = async (input: ProofInput, signal: AbortSignal): Promise<Groth16Proof> => {
    const worker = start();
    const answer = await requestProof(worker, messageOf(input, sent), { signal, stop: end });
    ({ artifactsRead } = answer);
    if (input.circuit === "withdraw")
      for (const { key, leaves } of [input.state, input.association])
        sent.set(key, leaves.length);
    return answer.proof;
  };

  return {
    prove: (input, signal, onStart) => {
      const turn = async (): Promise<Groth16Proof> => {
        signal.throwIfAborted();
        clearTimeout(idle);
        onStart?.();
        signal.throwIfAborted();
        const begun = performance.now();
        try {
          const proof = await ask(input, signal);
          // The proof of a public exit is not counted, because it takes only a tenth of the time.
          if (input.circuit === "withdraw")
            expected = (expected + performance.now() - begun) / 2;
          return proof;
        } finally {
          idle = setTimeout(end, idleMs);
          idle.unref();
        }
      };
      return proofs.run("proof", turn);
    },
    expectedMs: () => Math.round(expected),
    artifactsRead: () => artifactsRead,
    stop: () => {
      clearTimeout(idle);
      end();
    },
  };
};
