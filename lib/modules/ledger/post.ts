import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { outageOf } from "@/lib/core/outage";
import { eachByItself } from "@/lib/db/batches";
import { digestOf, keyHashOf, scopeOf, type LedgerCommand } from "./commands";
import { decide } from "./decide";
import { readSnapshot } from "./read-snapshot";
import { ConflictError, ConnectionLostError, KeyTakenError } from "./errors";
import type { LedgerRepository } from "./repository";
import type { Sql } from "@/lib/db/sql";
import type { Outcome } from "./snapshot";
import { writeEffects, type Written } from "./write-effects";

interface PostDeps {
  readonly repository: LedgerRepository;
  readonly clock: Clock;
  /** Milliseconds for which an unavailable database is retried. Default 30 s. */
  readonly patienceMs?: number;
}

// After a conflict the other transaction has committed, so a retry sees its rows. Many conflicts in a row indicate another fault.
const CONFLICT_ATTEMPTS_MAX = 5;
const PATIENCE_MS = 30_000;
const RECONNECT_FIRST_MS = 50;
const RECONNECT_MAX_MS = 1_000;

/** Decides commands of one project in order, inside the caller's transaction, and writes the results. @throws KeyTakenError */
export const postIn = async (sql: Sql, commands: readonly LedgerCommand[], clock: Clock): Promise<Outcome[]> => {
  const [first] = commands;
  if (first === undefined) return [];
  const { projectId } = first;
  if (commands.some((command) => command.projectId !== projectId))
    throw new Error("A transaction of the ledger posts for one project.");
  const keyHashes = commands.map((command) => keyHashOf(command.projectId, scopeOf(command), command.key));
  const snapshot = await readSnapshot(sql, projectId, commands, keyHashes);
  // Read after the locks are held, so that a batch that waited for them gets the current time.
  const now = clock.now();
  const written: Written[] = [];
  const outcomes = commands.map((command, index) => {
    const keyHash = keyHashes[index] ?? "";
    const context = { now, keyHash, transactionId: newId("ledgerTransaction"), digest: digestOf(command) };
    const { outcome, effects } = decide(snapshot, command, context);
    if (effects) written.push({ command, keyHash, effects });
    return outcome;
  });
  await writeEffects(sql, projectId, written);
  return outcomes;
};

const unavailable = (cause: unknown): DomainError =>
  new DomainError(
    "service_unavailable",
    "The ledger's database does not answer, so it is not known whether this was posted. Repeat it with the same key: it is posted once at most.",
    { cause, retryAfterSeconds: 1 },
  );

/**
 * Runs a transaction until its outcome is known. After a lost connection it is unknown whether the commit succeeded, so the transaction
 * is repeated. The repetition takes the same locks, and so waits for a commit that is still running, and then looks up the keys: for
 * committed commands it returns the stored answers, and it posts only the others.
 * @throws DomainError `service_unavailable` when the database stays unavailable
 */
export const untilKnown = async <T>(attempt: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> => {
  const deadline = performance.now() + patienceMs;
  let waitMs = RECONNECT_FIRST_MS;
  let conflicts = 0;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof ConflictError || error instanceof KeyTakenError) {
        conflicts += 1;
        if (conflicts >= CONFLICT_ATTEMPTS_MAX) throw unavailable(error);
      } else if (!(error instanceof ConnectionLostError)) {
        // The server answered, for example with a full disk: nothing was posted, and an immediate retry would add to the load.
        throw outageOf(error) === "database" ? unavailable(error) : error;
      }
      if (error instanceof ConnectionLostError && performance.now() > deadline) throw unavailable(error);
      // A random pause, so that several instances do not reconnect at the same moment.
      await sleep(waitMs * (0.5 + Math.random() / 2));
      waitMs = Math.min(waitMs * 2, RECONNECT_MAX_MS);
    }
  }
};

/**
 * Posts a batch of one project in one transaction; each command is accepted or refused separately. When PostgreSQL rejects a statement because of one
 * command (for example text that is not valid JSON), halving the batch finds that command, and only it fails.
 */
const postProject = async (deps: PostDeps, commands: readonly LedgerCommand[]): Promise<(Outcome | Error)[]> => {
  const { repository, clock, patienceMs } = deps;
  try {
    const attempt = () => repository.inTransaction((tx) => postIn(tx, commands, clock));
    const outcomes = await untilKnown(attempt, patienceMs);
    return [...outcomes];
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown : new Error("The ledger could not post.", { cause: thrown });
    const unknown = reason instanceof DomainError && reason.code === "service_unavailable";
    if (commands.length === 1 || unknown) return commands.map(() => reason);
    const half = Math.ceil(commands.length / 2);
    const first = await postProject(deps, commands.slice(0, half));
    return [...first, ...(await postProject(deps, commands.slice(half)))];
  }
};

/** Posts the commands of each project in a transaction of its own, so that one node of a cluster can do it. @returns the outcomes in the order of the commands */
export const postBatch = (deps: PostDeps, commands: readonly LedgerCommand[]): Promise<readonly (Outcome | Error)[]> =>
  eachByItself(
    ({ projectId }: LedgerCommand) => projectId,
    (own) => postProject(deps, own),
  )(commands);
