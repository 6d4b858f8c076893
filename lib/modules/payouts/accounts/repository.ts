import { setImmediate as nextTurn } from "node:timers/promises";
import { bindDeps } from "@/lib/core/bind-deps";
import { handledLater } from "@/lib/core/handled-later";
import type { Database } from "@/lib/db/client";
import { keptSqlOn, sqlOf, sqlOn, type PipelinedSql, type Sql, type SqlReader } from "@/lib/db/sql";
import { changeAndJudge, type JudgedPart, type StatementPart } from "@/lib/db/together";
import { violatedUnique } from "@/lib/db/unique-violation";
import { auditEntryParts, recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { announceOutbox } from "@/lib/modules/events/service";
import { announceJob, insertJob, jobPart } from "@/lib/modules/jobs/service";
import { conditionParts, type Passed } from "@/lib/modules/policies/service";
import { cancelVotes } from "../ask-votes";
import { createdEventPart, recordPayoutEvents } from "../project-event-repository";
import { findDuplicates, KEYS_OF_ALL_LOCKS, lockRowKeys, newKeysPart } from "../duplicate-repository";
import type { RowKeys } from "../duplicate-rows";
import type { KeyFilters } from "../key-filters";
import type { AccountsPayout } from "../payout";
import { NotAdmittedError, UsedAlreadyError } from "../errors";
import { unlessUsed, type PayoutKey } from "../repository";
import { readItems, rowsPart, type ItemsQuery } from "./row-repository";
import type { PayoutItemRow } from "./rows";

const INSERT_PAYOUT = `
  INSERT INTO payout (id, project_id, kind, mode, status, sub_status, source_account_id, currency, reference, total_base,
    items_total, digest, idempotency_key, retry_of, created_by, created_at, updated_at, expires_at, evaluation_id)
  VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $9::numeric, $10::int, $11::bytea, $12, $13, $14, $15::timestamptz, $15::timestamptz,
    $16::timestamptz, $17)`;

const QUEUE = "payout";

const FINISH_ATOMIC = `
  UPDATE payout SET status = $4, sub_status = 'full', failure = $5::jsonb, updated_at = $3,
    items_completed = CASE WHEN $4 = 'completed' THEN items_total ELSE 0 END,
    items_failed = CASE WHEN $4 = 'completed' THEN 0 ELSE items_total END,
    paid_base = CASE WHEN $4 = 'completed' THEN total_base ELSE 0 END
  WHERE project_id = $1 AND id = $2 AND status = 'processing'`;

/** Ends an atomic payout inside the ledger's transaction, together with its postings. */
export const finishAtomic = async (
  sql: Sql,
  end: { projectId: string; payoutId: string; completed: boolean; failure: object | null; now: Date },
): Promise<void> => {
  const status = end.completed ? "completed" : "failed";
  const failure = end.failure === null ? null : JSON.stringify(end.failure);
  if ((await sql.change(FINISH_ATOMIC, [end.projectId, end.payoutId, end.now, status, failure])) === 0) return;
  await recordPayoutEvents(sql, {
    projectId: end.projectId,
    payoutIds: [end.payoutId],
    type: `payout.${status}`,
    at: end.now,
  });
};

// The partial index `payout_open_by_source` covers this query.
const OPEN_TOTALS = `
  SELECT source_account_id AS id, sum(total_base - paid_base - failed_base)::text AS total FROM payout
  WHERE project_id = $1 AND source_account_id IS NOT NULL AND ($2::text IS NULL OR source_account_id = $2)
    AND status IN ('pending', 'processing') AND (kind = 'global_accounts' OR sub_status = 'awaiting_approval')
  GROUP BY source_account_id`;

/**
 * The amounts that payouts which await approval, are queued or are being paid will still take from one account, or from each account
 * of the project, in ledger units. A withdrawal takes it when it is approved. Accounts without such payouts are missing. Read an account's balance afterwards: a payout
 * that ends in between then counts twice instead of not at all.
 */
export const openPayoutTotals = async (
  reader: SqlReader,
  projectId: string,
  accountId: string | null,
): Promise<ReadonlyMap<string, bigint>> => {
  const rows = await reader.query<{ id: string; total: string }>(OPEN_TOTALS, [projectId, accountId]);
  return new Map(rows.map(({ id, total }) => [id, BigInt(total)]));
};

const payoutPart = (payout: AccountsPayout): StatementPart => ({
  text: INSERT_PAYOUT,
  values: [
    payout.id,
    payout.projectId,
    payout.kind,
    payout.mode,
    payout.subStatus,
    payout.sourceAccountId,
    payout.currency,
    payout.reference,
    payout.totalBase.toString(),
    payout.itemsTotal,
    payout.digest,
    payout.idempotencyKey,
    payout.retryOf,
    payout.createdBy,
    payout.createdAt.toISOString(),
    payout.expiresAt?.toISOString() ?? null,
    payout.evaluationId,
  ],
});

/** Lets a payout run without an approval. */
interface Admission {
  /** Counts its worth as spent; the judgement throws `NotAdmittedError` where that is more than the caller may spend. */
  readonly spend: () => readonly JudgedPart[];
  /** Evaluates the policies. Null: they demand a code. */
  readonly evaluate: (sql: Sql, digest: AccountsPayout["digest"]) => Promise<Passed | null>;
}

/** Made of the rows. */
interface Derived {
  readonly digest: AccountsPayout["digest"];
  readonly keysPart: StatementPart;
}

/** A new payout, and how it is stored. */
interface NewPayout {
  readonly payout: Omit<AccountsPayout, "digest">;
  /** The rows of the request, each encoded by `encodeRow`. */
  readonly rows: readonly string[];
  /** Makes the rows' keys, by which repeated payments are found. Called while the database works: it takes 1.5 ms for a thousand rows. */
  readonly keysOf: () => RowKeys;
  /** Makes the digest that an approval covers. Called while the database works: it takes 0.4 ms for a thousand rows. */
  readonly digestOf: () => AccountsPayout["digest"];
  /** Called when no duplicate was found. Throws where the account has too little. */
  readonly requireFunds: () => void;
  /** Makes the audit entry of the stored payout, which is written in the same transaction. */
  readonly audit: (stored: AccountsPayout) => AuditEntry;
}

/** How a payout awaits approval. */
interface Awaiting {
  readonly expiresAt: Date;
  /** Asks for votes on the stored payout where the project demands them. */
  readonly ask: (sql: Sql, stored: AccountsPayout) => Promise<void>;
}

/**
 * Stores all of a payout but its rows in one statement.
 * @param parts further parts of that statement: the evaluation of the policies and its condition
 * @throws UsedAlreadyError
 */
const insertPayout = async (
  sql: Sql,
  stored: AccountsPayout,
  { keysPart, audit }: Pick<Derived, "keysPart"> & Pick<NewPayout, "audit">,
  parts: readonly StatementPart[],
): Promise<void> => {
  const isQueued = stored.subStatus === "queued";
  const own = [
    payoutPart(stored),
    keysPart,
    ...(isQueued ? [jobPart({ id: stored.id, queue: QUEUE, runAt: stored.createdAt })] : []),
    ...auditEntryParts(audit(stored)),
    createdEventPart(stored),
  ];
  try {
    await changeAndJudge(sql, [...parts, ...own]);
  } catch (error) {
    // All ids are new, so it is the payout's Idempotency-Key, or the payout that it retries.
    if (violatedUnique(error) !== null) throw new UsedAlreadyError();
    throw error;
  }
  if (isQueued) announceJob(sql, QUEUE);
  announceOutbox(sql);
};

const insertBy = (
  { database, keyFilters }: AccountPayoutsRepositoryDeps,
  input: NewPayout,
  spend: Admission["spend"],
  store: (sql: PipelinedSql, derived: Derived) => Promise<AccountsPayout>,
): Promise<AccountsPayout | null> =>
  unlessUsed(
    database.rawTransaction(async (sql) => {
      const { payout, rows } = input;
      const early = rows.length < KEYS_OF_ALL_LOCKS ? input.keysOf() : null;
      const part = rowsPart(payout, rows);
      const spending = spend();
      const { projectId } = payout;
      const [storing, reading] = sql.together(() => [
        handledLater(
          Promise.all([
            sql.change(part.text, part.values),
            lockRowKeys(sql, projectId, early?.keys ?? null),
            // A statement of its own: it may wait for another payment, and a later statement must see a policy that was stored meanwhile.
            changeAndJudge(sql, spending),
          ]),
        ),
        handledLater(keyFilters.read(sql, payout, rows.length)),
      ]);
      // The event loop gets a turn, so that the statements are sent before the keys keep the processor busy.
      await nextTurn();
      const keys = early ?? input.keysOf();
      const derived = { digest: input.digestOf(), keysPart: newKeysPart(payout, keys) };
      await storing;
      await findDuplicates(sql, projectId, keys, await reading);
      input.requireFunds();
      return store(sql, derived);
    }, keptSqlOn),
  );

const insertQueued = (
  deps: AccountPayoutsRepositoryDeps,
  input: NewPayout,
  { spend, evaluate }: Admission,
): Promise<AccountsPayout | null> =>
  insertBy(deps, input, spend, async (sql, { digest, keysPart }) => {
    const passed = await evaluate(sql, digest);
    if (passed === null) throw new NotAdmittedError();
    const { evaluationId, condition, parts } = passed;
    const stored: AccountsPayout = { ...input.payout, digest, evaluationId, subStatus: "queued", expiresAt: null };
    await insertPayout(sql, stored, { keysPart, audit: input.audit }, [...conditionParts(condition), ...parts]);
    return stored;
  });

const insertAwaiting = (
  deps: AccountPayoutsRepositoryDeps,
  input: NewPayout,
  { expiresAt, ask }: Awaiting,
): Promise<AccountsPayout | null> =>
  insertBy(
    deps,
    input,
    () => [],
    async (sql, { digest, keysPart }) => {
      const stored: AccountsPayout = { ...input.payout, digest, subStatus: "awaiting_approval", expiresAt };
      await insertPayout(sql, stored, { keysPart, audit: input.audit }, []);
      await ask(sql, stored);
      return stored;
    },
  );

interface AccountPayoutsRepositoryDeps {
  readonly database: Database;
  readonly keyFilters: Pick<KeyFilters, "read">;
}

/** Payouts between accounts of the ledger. */
export const createAccountPayoutsRepository = (deps: AccountPayoutsRepositoryDeps) => {
  const { database } = deps;
  return {
    /**
     * Stores a payout that runs at once: with its rows and its job. Null when another payout used the Idempotency-Key, or already retries the
     * same payout.
     * @throws NotAdmittedError when its caller needs a code after all; PoliciesChangedError; DomainError `duplicate_payout`
     */
    insertQueued: bindDeps(deps, insertQueued),

    /**
     * Stores a payout that awaits a one-time code or votes. Null when another payout used the Idempotency-Key, or already retries the same payout.
     * @throws DomainError `duplicate_payout`
     */
    insertAwaiting: bindDeps(deps, insertAwaiting),

    /** Awaiting approval → queued. False when the payout no longer awaits approval. */
    approve: (
      { projectId, id }: PayoutKey,
      audit: AuditEntry,
      enforce: (sql: Sql) => Promise<string>,
    ): Promise<boolean> =>
      database.transaction(async (tx) => {
        const now = audit.at;
        const { count } = await tx.payout.updateMany({
          where: { projectId, id, status: "pending", subStatus: "awaiting_approval", expiresAt: { gt: now } },
          data: { subStatus: "queued", expiresAt: null, updatedAt: now },
        });
        if (count === 0) return false;
        await tx.payout.updateMany({ where: { projectId, id }, data: { evaluationId: await enforce(sqlOf(tx)) } });
        await insertJob(tx, { id, queue: "payout", runAt: now });
        await recordAudit(tx, audit);
        await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [id], type: "payout.approved", at: now });
        return true;
      }),

    /** Pending → cancelled. False when the payout is no longer pending. */
    cancel: ({ projectId, id }: PayoutKey, audit: AuditEntry, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { count } = await tx.payout.updateMany({
          where: { projectId, id, status: "pending" },
          data: { status: "cancelled", expiresAt: null, updatedAt: now },
        });
        if (count === 0) return false;
        await recordAudit(tx, audit);
        await cancelVotes(sqlOf(tx), audit, id);
        await recordPayoutEvents(sqlOf(tx), { projectId, payoutIds: [id], type: "payout.cancelled", at: now });
        return true;
      }),

    /** A page of the payout's rows, in their order. */
    items: (query: ItemsQuery): Promise<PayoutItemRow[]> => readItems(sqlOn(database.pool), query),
  };
};

export type AccountPayoutsRepository = ReturnType<typeof createAccountPayoutsRepository>;
