import type { Clock } from "@/lib/core/clock";
import { createBatcher } from "@/lib/core/batch";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { currentTraceparent, inSpan } from "@/lib/core/tracing";
import type { Tx } from "@/lib/db/client";
import { openAccount, setAccountStatus, type NewAccount } from "./accounts";
import {
  BATCH_ROWS_MAX,
  isUsableKey,
  systemAccountId,
  type BatchCommand,
  type EndHoldCommand,
  type FundCommand,
  type HoldCommand,
  type LedgerCommand,
  type PostHoldCommand,
  type ReverseCommand,
  type TransferCommand,
} from "./commands";
import { holdIdOf } from "./decide";
import { toDomainError } from "./errors";
import { postBatch, postIn, untilKnown } from "./post";
import { createLedgerReads } from "./reads";
import type { LedgerRepository } from "./repository";
import type { Sql } from "@/lib/db/sql";
import { bare } from "./sql";
import type { AccountStatus, Outcome, Posted } from "./snapshot";

export interface LedgerDeps {
  readonly repository: LedgerRepository;
  readonly clock: Clock;
  /** Batches under way at once. Default 1: while it commits, the next gathers. */
  readonly lanes?: number;
  /** How long to try to reach a database that is away. Default 30 s. */
  readonly patienceMs?: number;
  /** Told of each batch that was committed or given up: how many commands it had, and how long it took. */
  readonly onBatch?: (commands: number, seconds: number) => void;
}

/**
 * Amounts of every currency have this many decimals here, whatever the token has on a chain: what is stored does not change its
 * worth when a chain is added on which the same token is finer.
 */
export const LEDGER_DECIMALS = 18;

export { systemAccountId } from "./commands";
export type { AccountRecord, UnfitRecipient } from "./account-reads";
export type { EntryRecord, Statement } from "./entry-reads";
export type { Outcome, Posted } from "./snapshot";
export { toDomainError } from "./errors";

type Without<C extends LedgerCommand> = Omit<C, "kind">;

/** Commands that are to be posted in one transaction with rows of the caller's own. */
export interface Together {
  /**
   * Runs first: takes the caller's own locks and says what is to be posted. Make no network call here or below: locks are held.
   * It may run again after a lost connection.
   */
  prepare(sql: Sql): Promise<readonly LedgerCommand[]>;
  /**
   * Runs last, with the outcomes in order. What it throws undoes everything. It is not called where every key was used before:
   * its rows were committed with the answers then.
   */
  also(sql: Sql, outcomes: readonly Outcome[]): Promise<void>;
}

interface Item {
  readonly command: LedgerCommand;
  /** When it came, on the process's own clock. */
  readonly since: number;
  /** W3C `traceparent` of the span that submitted it; null without tracing. */
  readonly traceparent: string | null;
}

const BATCH_WEIGHT_MAX = 512;
const WAITING_MAX = 20_000;
const WAIT_MAX_MS = 30_000;
const EXPIRE_PAGE = 512;
const EXPIRE_PAGES_MAX = 100;
const SYSTEM = "ledger";

const busy = (): DomainError =>
  new DomainError("service_unavailable", "The ledger has more to do than it can. Nothing was posted; try again.", {
    retryAfterSeconds: 1,
  });

const weightOf = (command: LedgerCommand): number => (command.kind === "batch" ? command.rows.length : 1);

/** @throws DomainError for a command that could not even be kept as refused */
const check = (command: LedgerCommand): void => {
  if (!isUsableKey(command.key))
    throw invalidRequest([{ path: "key", message: "The key must have 1 to 255 characters and no NUL." }]);
  if (command.kind !== "batch") return;
  if (command.rows.length === 0) throw invalidRequest([{ path: "transfers", message: "There is no row." }]);
  if (command.rows.length > BATCH_ROWS_MAX)
    throw new DomainError("batch_too_large", `A batch has at most ${String(BATCH_ROWS_MAX)} rows. Nothing was posted.`);
};

/** @throws DomainError where the command was refused */
const accepted = (outcome: Outcome): Posted => {
  if (!outcome.posted) throw toDomainError(outcome.rejection);
  return outcome;
};

/** A batch serves many callers, so it is a trace of its own with a link to the span of each. */
const measuredBatch = async <T>(
  { onBatch }: LedgerDeps,
  items: readonly Item[],
  post: () => Promise<T>,
): Promise<T> => {
  const begun = performance.now();
  const links = items.flatMap(({ traceparent }) => (traceparent === null ? [] : [traceparent]));
  try {
    return await inSpan("ledger batch", { parent: null, links, fields: { "causeway.commands": items.length } }, post);
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
      // While the database is away the queue stands; nobody is left waiting for ever.
      const late = items.map(({ since }) => performance.now() - since > WAIT_MAX_MS);
      const inTime = items.flatMap(({ command }, index) => (late[index] === true ? [] : [command]));
      const results = (
        inTime.length === 0 ? [] : await measuredBatch(deps, items, () => postBatch(deps, inTime))
      ).values();
      const tooLate = busy();
      return items.map((_, index) => (late[index] === true ? tooLate : (results.next().value ?? tooLate)));
    },
  });

  // An async function, so that what `check` throws is a rejection like every other.
  const decideOne = async (command: LedgerCommand): Promise<Outcome> => {
    check(command);
    return batcher.submit({ command, since: performance.now(), traceparent: currentTraceparent() });
  };

  const together = ({ prepare, also }: Together): Promise<readonly Outcome[]> =>
    untilKnown(
      () =>
        repository.inTransaction(async (tx) => {
          const commands = await tx.asApp(prepare);
          commands.forEach(check);
          const outcomes = await postIn(tx, commands, clock);
          if (!outcomes.every(({ replayed }) => replayed)) await tx.asApp((sql) => also(sql, outcomes));
          return outcomes;
        }),
      patienceMs,
    );

  return { decideOne, together, idle: batcher.idle };
};

/**
 * The double-entry ledger: append-only, one decision for each key, batched. Amounts in base units; ids with their prefix. Methods
 * throw the DomainError of a refusal, `post` and `together` give it as an outcome.
 */
export const createLedgerService = (deps: LedgerDeps) => {
  const { repository, clock } = deps;
  const reads = createLedgerReads(repository);
  const { decideOne, together, idle } = createPosting(deps);
  const post = async (command: LedgerCommand): Promise<Posted> => accepted(await decideOne(command));

  /** @returns how many holds it ended */
  const expireHolds = async (now: Date): Promise<number> => {
    let ended = 0;
    for (let page = 0; page < EXPIRE_PAGES_MAX; page += 1) {
      const holds = await reads.expiredHolds(now, EXPIRE_PAGE);
      const outcomes = await Promise.all(
        // The time is part of the key: a sweep that comes too early, by a clock that is wrong, must not end all later ones.
        holds.map(({ holdId, projectId }) =>
          decideOne({ kind: "expire", projectId, holdId, key: `${holdId}:${String(now.getTime())}`, by: SYSTEM }),
        ),
      );
      ended += outcomes.filter(({ posted, replayed }) => posted && !replayed).length;
      if (holds.length < EXPIRE_PAGE || outcomes.every(({ posted }) => !posted)) break;
    }
    return ended;
  };

  return {
    ...reads,

    /** @returns the id of the account; the same key opens one. @throws DomainError `idempotency_mismatch` */
    openAccount: async (account: NewAccount): Promise<string> => {
      if (!isUsableKey(account.key)) throw invalidRequest([{ path: "key", message: "The key must be 1–255 long." }]);
      return openAccount(repository, clock, account);
    },

    /** @throws DomainError `not_found` */
    setStatus: async (account: { projectId: string; accountId: string; status: AccountStatus }): Promise<void> => {
      await reads.account(account.projectId, account.accountId);
      await setAccountStatus(repository, account);
    },

    transfer: (command: Without<TransferCommand>): Promise<Posted> => post({ ...command, kind: "transfer" }),

    /** All rows or none. Bad rows are named by index in the error's details. */
    transferBatch: (command: Without<BatchCommand>): Promise<Posted> => post({ ...command, kind: "batch" }),

    /** Treasury → account. */
    fund: (command: Without<FundCommand>): Promise<Posted> => post({ ...command, kind: "fund" }),

    hold: async (command: Without<HoldCommand>): Promise<Posted & { holdId: string }> => {
      const posted = await post({ ...command, kind: "hold" });
      return { ...posted, holdId: holdIdOf(posted.transactionId) };
    },

    /** The whole hold, or a part, whose rest becomes available again. */
    postHold: (command: Without<PostHoldCommand>): Promise<Posted> => post({ ...command, kind: "post" }),

    voidHold: (command: Without<EndHoldCommand>): Promise<Posted> => post({ ...command, kind: "void" }),

    expireHolds,

    /**
     * Once for each transaction; a reversal is not reversed. `also` writes rows of the caller's own in the same transaction, where the
     * reversal was posted by this call.
     */
    reverse: async (command: Without<ReverseCommand>, also?: (sql: Sql) => Promise<void>): Promise<Posted> => {
      if (also === undefined) return post({ ...command, kind: "reverse" });
      const [outcome] = await together({
        prepare: () => Promise.resolve([{ ...command, kind: "reverse" }]),
        also: (sql, [decided]) => (decided?.posted === true ? also(sql) : Promise.resolve()),
      });
      if (outcome === undefined) throw new Error("The ledger did not answer.");
      return accepted(outcome);
    },

    /** One command by itself; a refusal is an outcome. Many at once are gathered into batches. */
    post: decideOne,

    /** Several commands, each decided for itself, and rows of the caller's own, in one transaction. */
    together,

    /**
     * What is owed to accounts of a currency, inside a transaction of the caller's, which keeps fundings of it waiting until it
     * ends. Take locks of funds on chain first, then this one, as `together` does.
     */
    liabilitiesUnderLock: async (tx: Tx, projectId: string, currency: string): Promise<bigint> => {
      const id = bare(systemAccountId(projectId, currency, "treasury_reserve"));
      const rows = await tx.$queryRaw<{ owed: string }[]>`
        SELECT (-balance)::text AS owed FROM ledger_account WHERE id = ${id}::uuid FOR SHARE`;
      return BigInt(rows[0]?.owed ?? 0);
    },

    /** Waits for what is under way, then closes the ledger's connections. */
    close: async (): Promise<void> => {
      await idle();
      await repository.close();
    },
  };
};

export type LedgerService = ReturnType<typeof createLedgerService>;
