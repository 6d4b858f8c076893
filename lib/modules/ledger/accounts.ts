import { hash } from "node:crypto";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { keyHashOf, systemAccountId, type SystemKind } from "./commands";
import { untilKnown } from "./post";
import type { LedgerRepository } from "./repository";
import type { Sql } from "@/lib/db/sql";
import { bare } from "./sql";
import type { AccountStatus } from "./snapshot";

export interface NewAccount {
  readonly projectId: string;
  /** The asset's id. */
  readonly currency: string;
  readonly name?: string;
  /** Idempotency key: a caller opens one account with it. */
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

// The row's lock makes this and the posting of entries wait for each other, so no money comes into an account while it is closed.
const SET_STATUS = `
  UPDATE ledger_account SET status = $3, status_reason = $4, version = version + 1
  WHERE id = $1 AND project_id = $2 AND kind = 'customer' AND status <> $3 AND status <> 'closed'
    AND ($3 <> 'closed' OR balance = 0)
  RETURNING name, status, status_reason AS reason`;

const RENAME = `
  UPDATE ledger_account SET name = $3, version = version + 1
  WHERE id = $1 AND project_id = $2 AND kind = 'customer' AND name IS DISTINCT FROM $3
  RETURNING name, status, status_reason AS reason`;

/** Opens a system account of the currency if it does not exist. */
export const ensureSystemAccount = async (
  sql: Sql,
  { projectId, currency, kind, now }: { projectId: string; currency: string; kind: SystemKind; now: Date },
): Promise<void> => {
  // No more than what was withdrawn is ever paid or returned.
  const minimum = kind === "withdrawal_transit" ? 0 : null;
  const id = bare(systemAccountId(projectId, currency, kind));
  await sql.change(INSERT_ACCOUNT, [id, projectId, currency, kind, null, minimum, now]);
};

const openIn = async (sql: Sql, account: NewAccount, now: Date): Promise<string> => {
  const { projectId, currency, name = null, key, by } = account;
  // The account's id is the id of the transaction that opens it, so a replay knows the id without another query.
  const id = bare(newId("ledgerTransaction"));
  // An idempotency key belongs to one caller.
  const scope = `${SCOPE}:${by}`;
  const keyHash = keyHashOf(projectId, scope, key);
  const digest = hash("sha256", JSON.stringify([SCOPE, currency, name]));
  if ((await sql.change(INSERT_KEY, [id, projectId, key, keyHash, digest, by, now, scope])) === 0) {
    const [known] = await sql.query<{ id: string; digest: string }>(READ_KEY, [projectId, keyHash]);
    if (known?.digest === digest) return `ga_${known.id}`;
    throw new DomainError("idempotency_mismatch", "The key was used for another account. None was opened.");
  }
  for (const kind of ["treasury_reserve", "withdrawal_transit"] as const)
    await ensureSystemAccount(sql, { projectId, currency, kind, now });
  await sql.change(INSERT_ACCOUNT, [id, projectId, currency, "customer", name, 0, now]);
  return `ga_${id}`;
};

/** Opens a customer's account, and the currency's system accounts if they do not exist. @returns the id of the customer's account */
export const openAccount = (repository: LedgerRepository, clock: Clock, account: NewAccount): Promise<string> =>
  untilKnown(() => repository.inTransaction((tx) => openIn(tx, account, clock.now())));

export interface AccountChange {
  readonly projectId: string;
  readonly accountId: string;
  readonly to: { readonly status: AccountStatus; readonly reason?: string | null } | { readonly name: string | null };
}

/** The fields of an account that people may change. */
interface AccountState {
  readonly name: string | null;
  readonly status: AccountStatus;
  /** Why the account has this status; null when no reason was given. */
  readonly reason: string | null;
}

/**
 * Changes the status or the name of an account. Nothing is posted to or from an account that is not active.
 * @param also writes rows of the caller in the same transaction; it runs only when the account changed, and gets what it is now
 * @returns false when the account has that status or name already, is closed, or is to be closed and is not empty
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
