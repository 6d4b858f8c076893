import type { Clock } from "@/lib/core/clock";
import { createBatcher } from "@/lib/core/batch";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { outsideRequestTime, requireTimeToCommit } from "@/lib/core/request-time";
import { currentTraceparent, inSpan } from "@/lib/core/tracing";
import {
  type AccountChange,
  changeAccount,
  type NewAccount,
  openAccount,
  postBatch,
  postIn,
  untilKnown,
} from "./post";
import {
  BATCH_ROWS_MAX,
  isUsableKey,
  type BatchCommand,
  type FundCommand,
  type LedgerCommand,
  type ReverseCommand,
  type TransferCommand,
} from "./commands";
import { toDomainError } from "./errors";
import { createLedgerReads, lockLiabilities } from "./reads";
import type { LedgerRepository } from "./repository";
import type { Sql } from "@/lib/platform/db/sql";
import type { Outcome, Posted } from "./snapshot";

export interface LedgerDeps {
  readonly repository: LedgerRepository;
  readonly clock: Clock;
  /**
   * Maximum number of batches that run at the same time. Default 1, so that the next batch
   * collects commands while one commits.
   */
  readonly lanes?: number;
  /** Milliseconds for which an unavailable database is retried. Default 30 s. */
  readonly patienceMs?: number;
  /**
   * Called after each batch, committed or failed, with its number of commands and its duration in
   * seconds.
   */
  readonly onBatch?: (commands: number, seconds: number) => void;
}

/**
 * Decimals of ledger amounts, equal for every currency. They do not depend on a token's decimals,
 * so stored amounts keep their worth when a chain is added on which the token has more decimals.
 */
export const LEDGER_DECIMALS = 18;

export { systemAccountId } from "./commands";
export { postWithin } from "./post";
export type { AccountRecord } from "./entry-reads";
export type { EntryRecord, Statement } from "./entry-reads";
export { fundingRows } from "./reads";
export type { FundingFilter, FundingQuery, FundingRecord } from "./reads";
export type { Outcome, Posted, Rejection } from "./snapshot";
export { toDomainError } from "./errors";
export type { UnfitRecipient } from "./reads";

type Without<C extends LedgerCommand> = Omit<C, "kind">;

export interface Together {
  /**
   * Runs first. Takes the caller's locks and returns the commands to post. `prepare` and `also`
   * must not make network calls, because locks are held. `prepare` may run again after a lost
   * connection.
   */
  prepare(sql: Sql): Promise<readonly LedgerCommand[]>;
  /**
   * Runs last, with the outcomes in the order of the commands. An error from `also` rolls back
   * everything. Not called when every key was used before, because the first call has committed
   * the rows.
   */
  also(sql: Sql, outcomes: readonly Outcome[]): Promise<void>;
}

interface Item {
  readonly command: LedgerCommand;
  /** When the command was submitted, in milliseconds of the process's monotonic clock. */
  readonly since: number;
  /** W3C `traceparent` of the span that submitted the command; null without tracing. */
  readonly traceparent: string | null;
}

const BATCH_WEIGHT_MAX = 512;
const WAITING_MAX = 20_000;
const WAIT_MAX_MS = 30_000;

const busy = (): DomainError =>
  new DomainError(
    "service_unavailable",
    "The ledger has more to do than it can. Nothing was posted; try again.",
    {
      retryAfterSeconds: 1,
    },
  );

const weightOf = (command: LedgerCommand): number =>
  command.kind === "batch" ? command.rows.length : 1;

/**
 * Throws for a malformed command, before anything is stored.
 * @throws DomainError `invalid_request`, `batch_too_large`
 */
const check = (command: LedgerCommand): void => {
  if (!isUsableKey(command.key))
    throw invalidRequest([
      { path: "key", message: "The key must have 1 to 255 characters and no NUL." },
    ]);
  if (command.kind !== "batch") return;
  if (command.rows.length === 0)
    throw invalidRequest([{ path: "transfers", message: "There is no row." }]);
  if (command.rows.length > BATCH_ROWS_MAX)
    throw new DomainError(
      "batch_too_large",
      `A batch has at most ${String(BATCH_ROWS_MAX)} rows. Nothing was posted.`,
    );
};

/** The posted transaction of the outcome. @throws DomainError when the command was refused */
const accepted = (outcome: Outcome): Posted => {
  if (!outcome.posted) throw toDomainError(outcome.rejection);
  return outcome;
};

/**
 * Runs a batch in a separate trace with links to the callers' spans, because a batch serves many
 * callers.
 */
const measuredBatch = async <T>(
  { onBatch }: LedgerDeps,
  items: readonly Item[],
  post: () => Promise<T>,
): Promise<T> => {
  const begun = performance.now();
  const links = items.flatMap(({ traceparent }) => (traceparent === null ? [] : [traceparent]));
  try {
    return await inSpan(
      "ledger batch",
      { parent: null, links, fields: { "causeway.commands": items.length } },
      post,
    );
  } finally {
    onBatch?.(items.length, (performance.now() - begun) / 1000);
  }
};

const createPosting = (deps: LedgerDeps) => {
  const { repository, clock, lanes = 1, patienceMs } = deps;
  const batcher = createBatcher<Item, Outcome>({
    batchWeightMax: BATCH_WEIGHT_MAX,
    lanes,
    waitingMax: WAITING_MAX,
    full: busy,
    weightOf: ({ command }) => weightOf(command),
    run: async (items) => {
      // The queue does not advance while the database is unavailable, so commands that have waited
      // too long fail.
      const late = items.map(({ since }) => performance.now() - since > WAIT_MAX_MS);
      const inTime = items.flatMap(({ command }, index) =>
        late[index] === true ? [] : [command],
      );
      const results = (
        inTime.length === 0
          ? []
          : await outsideRequestTime(() =>
              measuredBatch(deps, items, () => postBatch(deps, inTime)),
            )
      ).values();
      const tooLate = busy();
      return items.map((_, index) =>
        late[index] === true ? tooLate : (results.next().value ?? tooLate),
      );
    },
  });

  // Async, so that an error of `check` becomes a rejection.
  const decideOne = async (command: LedgerCommand): Promise<Outcome> => {
    check(command);
    // The batch serves several requests, so each checks its own time before it joins the batch.
    requireTimeToCommit();
    return batcher.submit({
      command,
      since: performance.now(),
      traceparent: currentTraceparent(),
    });
  };

  const together = ({ prepare, also }: Together): Promise<readonly Outcome[]> =>
    untilKnown(
      () =>
        repository.inTransaction(async (tx) => {
          const commands = await tx.asApp(prepare);
          commands.forEach(check);
          const outcomes = await postIn(tx, commands, clock);
          if (!outcomes.every(({ replayed }) => replayed))
            await tx.asApp((sql) => also(sql, outcomes));
          return outcomes;
        }),
      patienceMs,
    );

  return { decideOne, together, idle: batcher.idle };
};

/**
 * The double-entry ledger. It is append-only, decides each idempotency key once, and posts
 * commands in batches. Amounts are in ledger units (18 decimals), and ids have their prefix. A
 * rejected command throws a DomainError, except in `post` and `together`, which return the
 * rejection as an outcome.
 * @throws DomainError `service_unavailable` when the database stays unavailable
 */
export const createLedgerService = (deps: LedgerDeps) => {
  const { repository, clock } = deps;
  const reads = createLedgerReads(repository);
  const { decideOne, together, idle } = createPosting(deps);
  const post = async (command: LedgerCommand): Promise<Posted> =>
    accepted(await decideOne(command));

  return {
    ...reads,

    /**
     * Opens an account. A repeated call with the same key returns the account of the first call.
     * @returns the id of the account
     * @throws DomainError `idempotency_mismatch`
     */
    openAccount: async (account: NewAccount): Promise<string> => {
      if (!isUsableKey(account.key))
        throw invalidRequest([{ path: "key", message: "The key must be 1–255 long." }]);
      return openAccount(repository, clock, account);
    },

    /**
     * Changes an account's name or status (see `changeAccount`).
     * @throws DomainError `not_found`
     */
    changeAccount: async (
      change: AccountChange,
      also?: Parameters<typeof changeAccount>[2],
    ): Promise<boolean> => {
      await reads.account(change.projectId, change.accountId);
      return changeAccount(repository, change, also);
    },

    /**
     * Moves an amount from one account to another of the same currency.
     * @throws DomainError `insufficient_balance`, `not_found`, `idempotency_mismatch`, …
     */
    transfer: (command: Without<TransferCommand>): Promise<Posted> =>
      post({ ...command, kind: "transfer" }),

    /** Posts all rows or none. The details of the error name the invalid rows by index. */
    transferBatch: (command: Without<BatchCommand>): Promise<Posted> =>
      post({ ...command, kind: "batch" }),

    /** Credits an account from the treasury. */
    fund: (command: Without<FundCommand>): Promise<Posted> =>
      post({ ...command, kind: "fund" }),

    /**
     * Reverses a transaction once. A reversal cannot be reversed. `also` writes rows of the caller
     * in the same database transaction, and runs only when this call posted the reversal. With
     * `also`, a rejection is not stored, so a later call with the same key is decided again.
     */
    reverse: async (
      command: Without<ReverseCommand>,
      also?: (sql: Sql) => Promise<void>,
    ): Promise<Posted> => {
      if (also === undefined) return post({ ...command, kind: "reverse" });
      const [outcome] = await together({
        prepare: () => Promise.resolve([{ ...command, kind: "reverse" }]),
        also: async (sql, [decided]) => {
          if (decided === undefined) return;
          accepted(decided);
          await also(sql);
        },
      });
      if (outcome === undefined) throw new Error("The ledger did not answer.");
      return accepted(outcome);
    },

    /** Posts one command. The outcome may be a rejection. Concurrent commands share a batch. */
    post: decideOne,

    /**
     * Posts several commands, each accepted or refused separately, and rows of the caller, in one
     * database transaction.
     */
    together,

    /**
     * Reads the sum of all customer accounts of each currency, in ledger units, in the caller's
     * transaction. Fundings in one of `currencies` wait until that transaction ends. To prevent
     * deadlocks, balances on chain must be locked in an earlier statement, as `together` does.
     * @returns the sums in the order of `currencies`
     */
    lockLiabilities,

    /** Waits for running batches, then closes the ledger's connections. */
    close: async (): Promise<void> => {
      await idle();
      await repository.close();
    },
  };
};

export type LedgerService = ReturnType<typeof createLedgerService>;
