import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { outageOf } from "@/lib/core/outage";
import { eachByItself } from "@/lib/platform/db/batches";
import {
  digestOf,
  keyHashOf,
  type LedgerCommand,
  scopeOf,
  type SettleCommand,
  systemAccountId,
  type SystemKind,
  type WithdrawCommand,
} from "./commands";
import { decide } from "./decide";
import { readSnapshot } from "./read-snapshot";
import { ConflictError, ConnectionLostError, KeyTakenError, toDomainError } from "./errors";
import type { LedgerRepository } from "./repository";
import type { Sql } from "@/lib/platform/db/sql";
import type { AccountStatus, Outcome, Posted } from "./snapshot";
import { writeEffects, type Written } from "./write-effects";
import { hash } from "node:crypto";
import { bare } from "./sql";

interface PostDeps {
  readonly repository: LedgerRepository;
  readonly clock: Clock;
  /** Milliseconds for which an unavailable database is retried. Default 30 s. */
  readonly patienceMs?: number;
}

// A transaction is given up after this number of conflicts. After a conflict, the other transaction
// has committed, so a retry sees its rows. Repeated conflicts therefore indicate another fault.
const CONFLICT_ATTEMPTS_MAX = 5;
const PATIENCE_MS = 30_000;
const RECONNECT_FIRST_MS = 50;
const RECONNECT_MAX_MS = 1_000;

/**
 * Decides commands of one project in order, and writes the results, in the caller's transaction.
 * @throws KeyTakenError
 */
export const postIn = async (
  sql: Sql,
  commands: readonly LedgerCommand[],
  clock: Clock,
): Promise<Outcome[]> => {
  const [first] = commands;
  if (first === undefined) return [];
  const { projectId } = first;
  if (commands.some((command) => command.projectId !== projectId))
    throw new Error("A transaction of the ledger posts for one project.");
  const keyHashes = commands.map((command) =>
    keyHashOf(command.projectId, scopeOf(command), command.key),
  );
  const snapshot = await readSnapshot(sql, projectId, commands, keyHashes);
  // Read while the locks are held, so that a batch that waited for them gets the current time.
  const now = clock.now();
  const written: Written[] = [];
  const outcomes = commands.map((command, index) => {
    const keyHash = keyHashes[index] ?? "";
    const context = {
      now,
      keyHash,
      transactionId: newId("ledgerTransaction"),
      digest: digestOf(command),
    };
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
 * Runs a transaction until its outcome is known. After a lost connection, it is unknown whether the
 * commit succeeded, so the transaction is repeated. The repetition needs the same locks, so it
 * waits for a commit that is still running. After that it looks up the idempotency keys, returns
 * the stored answers of committed commands, and posts only the others.
 * @throws DomainError `service_unavailable` when the database stays unavailable
 */
export const untilKnown = async <T>(
  attempt: () => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> => {
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
        // The server answered with an error, such as a full disk. Nothing was posted, and an
        // immediate retry would increase the load.
        throw outageOf(error) === "database" ? unavailable(error) : error;
      }
      if (error instanceof ConnectionLostError && performance.now() > deadline)
        throw unavailable(error);
      // Random, so that several instances do not reconnect at the same time.
      await sleep(waitMs * (0.5 + Math.random() / 2));
      waitMs = Math.min(waitMs * 2, RECONNECT_MAX_MS);
    }
  }
};

/**
 * Posts a batch of one project in one transaction. Each command is accepted or refused separately.
 * If PostgreSQL rejects a statement because of one command (for example text that is not valid
 * JSON), the batch is halved until only that command fails.
 */
const postProject = async (
  deps: PostDeps,
  commands: readonly LedgerCommand[],
): Promise<(Outcome | Error)[]> => {
  const { repository, clock, patienceMs } = deps;
  try {
    const attempt = () => repository.inTransaction((tx) => postIn(tx, commands, clock));
    const outcomes = await untilKnown(attempt, patienceMs);
    return [...outcomes];
  } catch (thrown) {
    const reason =
      thrown instanceof Error
        ? thrown
        : new Error("The ledger could not post.", { cause: thrown });
    const unknown = reason instanceof DomainError && reason.code === "service_unavailable";
    if (commands.length === 1 || unknown) return commands.map(() => reason);
    const half = Math.ceil(commands.length / 2);
    const first = await postProject(deps, commands.slice(0, half));
    return [...first, ...(await postProject(deps, commands.slice(half)))];
  }
};

/**
 * Posts the commands of each project in a separate transaction, so that one node of a cluster can
 * execute it.
 * @returns the outcomes in the order of the commands
 */
export const postBatch = (
  deps: PostDeps,
  commands: readonly LedgerCommand[],
): Promise<readonly (Outcome | Error)[]> =>
  eachByItself(
    ({ projectId }: LedgerCommand) => projectId,
    (own) => postProject(deps, own),
  )(commands);

export interface NewAccount {
  readonly projectId: string;
  /** Id of the asset. */
  readonly currency: string;
  readonly name?: string;
  /** Idempotency key. The caller can open one account with each key. */
  readonly key: string;
  readonly by: string;
}

const SCOPE = "open";

const INSERT_KEY = `
  INSERT INTO ledger_transaction (id, project_id, kind, scope, idempotency_key, key_hash, request_digest, created_by, created_at)
  VALUES ($1, $2, 'open', $8, $3, $4, decode($5, 'hex'), $6, $7)
  ON CONFLICT DO NOTHING`;

const READ_KEY =
  "SELECT id, encode(request_digest, 'hex') AS digest FROM ledger_transaction WHERE project_id = $1 AND key_hash = $2";

const INSERT_ACCOUNT = `
  INSERT INTO ledger_account (id, project_id, currency, kind, name, status, minimum, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, 'active', $6, $7, $7)
  ON CONFLICT DO NOTHING`;

// Posting entries locks the same row, so no money comes into an account while it is being closed.
const SET_STATUS = `
  UPDATE ledger_account SET status = $3, status_reason = $4, version = version + 1
  WHERE id = $1 AND project_id = $2 AND kind = 'customer' AND status <> $3 AND status <> 'closed'
    AND ($3 <> 'closed' OR balance = 0)
  RETURNING name, status, status_reason AS reason`;

const RENAME = `
  UPDATE ledger_account SET name = $3, version = version + 1
  WHERE id = $1 AND project_id = $2 AND kind = 'customer' AND name IS DISTINCT FROM $3
  RETURNING name, status, status_reason AS reason`;

const ensureSystemAccount = async (
  sql: Sql,
  {
    projectId,
    currency,
    kind,
    now,
  }: { projectId: string; currency: string; kind: SystemKind; now: Date },
): Promise<void> => {
  // The minimum of 0 for the transit account ensures that no more is paid or returned than was
  // withdrawn.
  const minimum = kind === "withdrawal_transit" ? 0 : null;
  const id = bare(systemAccountId(projectId, currency, kind));
  await sql.change(INSERT_ACCOUNT, [id, projectId, currency, kind, null, minimum, now]);
};

const openIn = async (sql: Sql, account: NewAccount, now: Date): Promise<string> => {
  const { projectId, currency, name = null, key, by } = account;
  // The account's id equals the id of the transaction that opens it, so that a replay knows it
  // without another query.
  const id = bare(newId("ledgerTransaction"));
  // Includes the caller, so that two callers may use the same idempotency key.
  const scope = `${SCOPE}:${by}`;
  const keyHash = keyHashOf(projectId, scope, key);
  const digest = hash("sha256", JSON.stringify([SCOPE, currency, name]));
  if (
    (await sql.change(INSERT_KEY, [id, projectId, key, keyHash, digest, by, now, scope])) === 0
  ) {
    const [known] = await sql.query<{ id: string; digest: string }>(READ_KEY, [
      projectId,
      keyHash,
    ]);
    if (known?.digest === digest) return `ga_${known.id}`;
    throw new DomainError(
      "idempotency_mismatch",
      "The key was used for another account. None was opened.",
    );
  }
  for (const kind of ["treasury_reserve", "withdrawal_transit"] as const)
    await ensureSystemAccount(sql, { projectId, currency, kind, now });
  await sql.change(INSERT_ACCOUNT, [id, projectId, currency, "customer", name, 0, now]);
  return `ga_${id}`;
};

/**
 * Opens a customer's account, and the currency's system accounts unless they exist.
 * @returns the id of the customer's account
 */
export const openAccount = (
  repository: LedgerRepository,
  clock: Clock,
  account: NewAccount,
): Promise<string> =>
  untilKnown(() => repository.inTransaction((tx) => openIn(tx, account, clock.now())));

export interface AccountChange {
  readonly projectId: string;
  readonly accountId: string;
  readonly to:
    | { readonly status: AccountStatus; readonly reason?: string | null }
    | { readonly name: string | null };
}

interface AccountState {
  readonly name: string | null;
  readonly status: AccountStatus;
  readonly reason: string | null;
}

/**
 * Changes the status or the name of an account. Nothing is posted to or from an account that is not
 * active.
 * @param also writes rows of the caller in the same transaction; runs only when the account
 * changed, with its new state
 * @returns false when the account already has that status or name, is closed, or cannot be closed
 * because it is not empty
 */
export const changeAccount = (
  repository: LedgerRepository,
  { projectId, accountId, to }: AccountChange,
  also?: (sql: Sql, state: AccountState) => Promise<void>,
): Promise<boolean> =>
  untilKnown(() =>
    repository.inTransaction(async (tx) => {
      const key = [bare(accountId), projectId];
      const [state] =
        "name" in to
          ? await tx.query<AccountState>(RENAME, [...key, to.name])
          : await tx.query<AccountState>(SET_STATUS, [...key, to.status, to.reason ?? null]);
      if (state === undefined) return false;
      if (also !== undefined) await tx.asApp((sql) => also(sql, state));
      return true;
    }),
  );

/**
 * Posts a withdrawal, or the settlement of a part of it, in the caller's transaction, so that the
 * account and the treasury's hold change together. The accounts are locked last, so the caller
 * must lock balances on chain before. A rejected command stores nothing.
 * @throws DomainError `not_found`, `invalid_state`, `insufficient_balance`, …
 */
export const postWithin = async (
  sql: Sql,
  command: WithdrawCommand | SettleCommand,
  now: Date,
): Promise<Posted> => {
  const { projectId, currency } = command;
  if (command.kind === "withdraw")
    await ensureSystemAccount(sql, { projectId, currency, kind: "withdrawal_transit", now });
  const [outcome] = await postIn(sql, [command], { now: () => now });
  if (outcome === undefined) throw new Error("The ledger did not answer.");
  if (!outcome.posted) throw toDomainError(outcome.rejection);
  return outcome;
};
