/**
 * The rows of policies, and the facts for their decisions: usage of the day, recipients and
 * evaluations.
 */
import type { z } from "zod";
import { getPolicyEvaluation } from "@/lib/contracts/policies";
import type { PolicyScope } from "@/lib/contracts/policy-rules";
import type { EvmAddress } from "@/lib/core/evm";
import type { Database } from "@/lib/platform/db/client";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { inOrder } from "@/lib/platform/db/in-order";
import { join, sql, type Statement } from "@/lib/platform/db/statement";
import { address, table } from "@/lib/platform/db/table";
import type { EffectivePolicy } from "./facts";
import {
  keyHolders,
  policies,
  type Policy,
  type Recipient,
  recipients,
  type Usage,
  usages,
} from "./rows";
import type { Sealed } from "./seal";

export interface PolicySubjects {
  readonly projectId: string;
  readonly walletIds: readonly string[];
  readonly keyIds: readonly string[];
  /**
   * An earlier evaluation of the movement. The policies of the API keys that this evaluation names
   * apply too, even if a person carries the movement out, because the keys requested it.
   */
  readonly evaluationId?: string | null;
}

/**
 * The newest versions of the policies that can apply to movements of the wallets and keys in
 * `subjects`.
 * @throws ZodError when stored rules cannot be read
 */
export const readPolicies = (db: SqlReader, subjects: PolicySubjects): Promise<Policy[]> => {
  const { projectId, walletIds, keyIds, evaluationId = null } = subjects;
  return policies.all(
    db,
    sql`
      SELECT DISTINCT ON (p.scope, p.subject_id) ${policies.columns("p")}
      FROM policy p
      WHERE p.project_id = ${projectId}
        AND (
          p.scope = 'project'
          OR (p.scope = 'wallet' AND p.subject_id = ANY(${walletIds}::text[]))
          OR (p.scope = 'key' AND (
            p.subject_id = ANY(${keyIds}::text[])
            OR p.subject_id IN (
              SELECT jsonb_array_elements_text(e.facts -> 'keyIds')
              FROM policy_evaluation e
              WHERE e.project_id = ${projectId}
                AND e.id = ${evaluationId}::text
                AND jsonb_typeof(e.facts -> 'keyIds') = 'array'
            )
          ))
        )
      ORDER BY p.scope, p.subject_id, p.version DESC`,
  );
};

const newestOf = (projectId: string): Statement => sql`
  SELECT DISTINCT ON (p.scope, p.subject_id) ${policies.columns("p")}
  FROM policy p
  WHERE p.project_id = ${projectId}
  ORDER BY p.scope, p.subject_id, p.version DESC`;

export const readAllPolicies = (db: SqlReader, projectId: string): Promise<Policy[]> =>
  policies.all(db, newestOf(projectId));

/**
 * The newest version of every policy that applies now to the project, one of its wallets or one of
 * its API keys. A policy whose wallet was unlinked or whose key was revoked no longer applies.
 */
export const readPoliciesInForce = (db: SqlReader, projectId: string): Promise<Policy[]> =>
  policies.all(
    db,
    sql`
      SELECT * FROM (${newestOf(projectId)}) AS newest
      WHERE scope = 'project'
        OR scope = 'wallet' AND EXISTS (
          SELECT 1 FROM wallet
          WHERE wallet.project_id = ${projectId}
            AND wallet.id = "subjectId"
            AND unlinked_at IS NULL
        )
        OR scope = 'key' AND EXISTS (
          SELECT 1 FROM api_key
          WHERE api_key.project_id = ${projectId}
            AND api_key.id = "subjectId"
            AND revoked_at IS NULL
        )`,
  );

/** At most `limit` versions of one policy, newest first. With `before`, only versions below it. */
export const readVersions = (
  db: SqlReader,
  at: {
    projectId: string;
    scope: PolicyScope;
    subjectId: string;
    before: number | null;
    limit: number;
  },
): Promise<Policy[]> => {
  const conditions = [
    sql`p.project_id = ${at.projectId}`,
    sql`p.scope = ${at.scope}`,
    sql`p.subject_id = ${at.subjectId}`,
    ...(at.before === null ? [] : [sql`p.version < ${at.before}::int`]),
  ];
  return policies.all(
    db,
    sql`
      SELECT ${policies.columns("p")}
      FROM policy p
      WHERE ${join(conditions, " AND ")}
      ORDER BY p.version DESC
      LIMIT ${at.limit}`,
  );
};

/** Returns false when another change has stored this version already. */
export const insertPolicy = async (db: Sql, policy: Policy): Promise<boolean> => {
  const inserted = await db.change(sql`
    INSERT INTO policy (${policies.names})
    SELECT ${policies.names} FROM ${policies.list([policy])} AS added
    ON CONFLICT DO NOTHING`);
  return inserted === 1;
};

const subjectBy = {
  wallet: (projectId: string, id: string) => sql`
    SELECT 1 FROM wallet WHERE project_id = ${projectId} AND id = ${id} AND unlinked_at IS NULL`,
  key: (projectId: string, id: string) => sql`
    SELECT 1 FROM api_key WHERE project_id = ${projectId} AND id = ${id} AND revoked_at IS NULL`,
};

export const hasSubject = async (
  db: SqlReader,
  {
    projectId,
    scope,
    subjectId,
  }: { projectId: string; scope: "wallet" | "key"; subjectId: string },
): Promise<boolean> => (await db.query(subjectBy[scope](projectId, subjectId))).length === 1;

/**
 * For each API key that is not revoked, the people who received a secret of it: its maker, and
 * those who rotated it.
 */
export const readKeyHolders = async (
  db: SqlReader,
  projectId: string,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const keys = await keyHolders.all(
    db,
    sql`
      SELECT ${keyHolders.columns("k")} FROM api_key k
      WHERE k.project_id = ${projectId} AND k.revoked_at IS NULL`,
  );
  return new Map(
    keys.map(({ id, createdBy, rotatedBy }) => [id, [...new Set([createdBy, ...rotatedBy])]]),
  );
};

const walletAddresses = table({ address });

export const findWalletAddress = async (
  db: SqlReader,
  projectId: string,
  walletId: string,
): Promise<EvmAddress | null> => {
  const found = await walletAddresses.first(
    db,
    sql`
      SELECT address FROM wallet
      WHERE project_id = ${projectId} AND id = ${walletId} AND unlinked_at IS NULL`,
  );
  return found?.address ?? null;
};

export type UsageKey = Pick<Usage, "scope" | "subjectId" | "unit">;

interface UsageDay {
  readonly projectId: string;
  /** UTC day, such as `2026-01-31`. */
  readonly day: string;
}

const columnsOf = (keys: readonly UsageKey[]): Statement => sql`
  ${keys.map(({ scope }) => scope)}::text[],
  ${keys.map(({ subjectId }) => subjectId)}::text[],
  ${keys.map(({ unit }) => unit)}::text[]`;

/**
 * Locks the usage rows of `keys` until the transaction ends, and stores rows that are missing. Rows
 * are locked in the same order in all transactions, which prevents deadlocks between movements of
 * the same wallets and keys.
 */
const lockUsage = ({ projectId, day }: UsageDay, keys: readonly UsageKey[]): Statement => sql`
  INSERT INTO policy_usage (project_id, day, scope, subject_id, unit, spent)
  SELECT ${projectId}, ${day}::date, scope, subject_id, unit, 0
  FROM (
    SELECT DISTINCT * FROM unnest(${columnsOf(keys)}) AS key (scope, subject_id, unit)
  ) AS wanted
  ORDER BY scope, subject_id, unit
  ON CONFLICT (project_id, scope, subject_id, day, unit)
  DO UPDATE SET spent = policy_usage.spent
  RETURNING ${usages.columns()}`;

const findUsage = ({ projectId, day }: UsageDay, keys: readonly UsageKey[]): Statement => sql`
  SELECT ${usages.columns("u")} FROM policy_usage u
  WHERE u.project_id = ${projectId}
    AND u.day = ${day}::date
    AND (u.scope, u.subject_id, u.unit) IN (SELECT * FROM unnest(${columnsOf(keys)}))`;

/**
 * The amounts that were moved on the day. With `locks` the rows stay locked until the transaction
 * ends, so that caps are exact.
 */
export const readUsage = async (
  db: SqlReader,
  at: UsageDay & { readonly locks: boolean },
  keys: readonly UsageKey[],
): Promise<readonly Usage[]> => {
  if (keys.length === 0) return [];
  return usages.all(db, at.locks ? lockUsage(at, keys) : findUsage(at, keys));
};

/** Adds amounts to rows that `readUsage` has locked in this transaction. */
export const addUsage = async (
  db: Sql,
  { projectId, day }: UsageDay,
  added: readonly (UsageKey & { readonly amount: string })[],
): Promise<void> => {
  if (added.length === 0) return;
  await db.change(sql`
    UPDATE policy_usage AS usage SET spent = usage.spent + added.amount
    FROM unnest(${columnsOf(added)}, ${added.map(({ amount }) => amount)}::numeric[])
      AS added (scope, subject_id, unit, amount)
    WHERE usage.project_id = ${projectId}
      AND usage.day = ${day}::date
      AND usage.scope = added.scope
      AND usage.subject_id = added.subject_id
      AND usage.unit = added.unit`);
};

/**
 * Reads the project's facts about addresses as recipients on a chain. A contact without chains is
 * approved for every chain.
 * @param at checksummed addresses, and the chain on which they are paid; null when none is known
 */
export const readRecipients = async (
  db: SqlReader,
  projectId: string,
  at: { readonly addresses: readonly string[]; readonly chainId: number | null },
): Promise<readonly Recipient[]> => {
  if (at.addresses.length === 0) return [];
  return recipients.all(
    db,
    sql`
      SELECT wanted.address, wallet.id IS NOT NULL AS "isOwn",
        CASE
          WHEN contact.state = 'approved' AND NOT contact.fits THEN 'elsewhere'
          ELSE contact.state
        END AS contact,
        least(
          CASE WHEN contact.fits THEN contact.approved_at END,
          paid.first_paid_at
        ) AS "knownSince"
      FROM unnest(${at.addresses}::text[]) AS wanted (address)
      LEFT JOIN wallet
        ON wallet.project_id = ${projectId}
        AND wallet.address = wanted.address
        AND wallet.key_id IS NOT NULL
      LEFT JOIN (
        SELECT project_id, address, state, approved_at,
          cardinality(chain_ids) = 0
            OR coalesce(${at.chainId}::int = ANY (chain_ids), false) AS fits
        FROM contact
      ) AS contact
        ON contact.project_id = ${projectId} AND contact.address = wanted.address
      LEFT JOIN policy_recipient AS paid
        ON paid.project_id = ${projectId} AND paid.address = lower(wanted.address)`,
  );
};

export interface StoredEvaluation {
  readonly id: string;
  readonly projectId: string;
  readonly subjectType: "operation" | "payout" | "request";
  readonly subjectId: string | null;
  readonly digest: Uint8Array;
  /** The MAC that `sealOf` made. */
  readonly mac: Uint8Array;
  readonly facts: unknown;
  readonly policies: readonly Pick<EffectivePolicy, "id" | "scope" | "subjectId" | "version">[];
  readonly rules: readonly unknown[];
  readonly decision: string;
  readonly code: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/**
 * Stores an evaluation, and the recipients that receive money for the first time. Stores nothing
 * when the evaluation is stored already. This happens when one movement is a part of another,
 * because the error of the inner movement is then handled twice.
 * @param paid the addresses that the movement pays; empty when it was stopped
 */
export const insertEvaluation = async (
  db: Sql,
  row: StoredEvaluation,
  paid: readonly string[],
): Promise<void> => {
  // Uses VALUES, because the table is distributed, and rows of a SELECT would pass through the
  // coordinator.
  const evaluation = sql`
    INSERT INTO policy_evaluation (
      project_id, id, subject_type, subject_id, digest, mac, facts, policies, rules,
      decision, code, created_by, created_at
    )
    VALUES (
      ${row.projectId},
      ${row.id},
      ${row.subjectType},
      ${row.subjectId},
      ${row.digest}::bytea,
      ${row.mac}::bytea,
      ${JSON.stringify(row.facts)}::jsonb,
      ${JSON.stringify(row.policies)}::jsonb,
      ${JSON.stringify(row.rules)}::jsonb,
      ${row.decision},
      ${row.code},
      ${row.createdBy},
      ${row.createdAt}::timestamptz
    )
    ON CONFLICT (project_id, id) DO NOTHING`;
  const firstPaid = sql`
    INSERT INTO policy_recipient (project_id, address, first_paid_at)
    SELECT DISTINCT ${row.projectId}, lower(address), ${row.createdAt}::timestamptz
    FROM unnest(${paid}::text[]) AS address
    ORDER BY 2
    ON CONFLICT DO NOTHING`;
  await inOrder(db, [
    () => db.change(evaluation),
    ...(paid.length === 0 ? [] : [() => db.change(firstPaid)]),
  ]);
};

const decided = getPolicyEvaluation.response.pick({ decision: true, code: true, rules: true });

/** The stored result of an evaluation, without its digest, MAC, facts and policies. */
export type EvaluationRecord = Pick<
  StoredEvaluation,
  "id" | "subjectId" | "createdBy" | "createdAt"
> & {
  readonly subjectType: string;
} & z.output<typeof decided>;

/** The stored result of the evaluation with this id; null when the project has none. */
export const readEvaluation = async (
  { prisma }: Pick<Database, "prisma">,
  { projectId, id }: { projectId: string; id: string },
): Promise<EvaluationRecord | null> => {
  const found = await prisma.policyEvaluation.findUnique({
    where: { projectId_id: { projectId, id } },
    omit: { digest: true, mac: true, facts: true, policies: true },
  });
  return found === null ? null : { ...found, ...decided.parse(found) };
};

/**
 * Whether the project has any policy, or its setting demands votes. The transaction that accepts a
 * movement calls it to detect rules that were stored after the evaluation.
 */
export const hasPolicies = async (db: SqlReader, projectId: string): Promise<boolean> => {
  const unruled = await db.query(sql`
    SELECT 1
    WHERE NOT EXISTS (SELECT 1 FROM policy WHERE project_id = ${projectId})
      AND NOT EXISTS (SELECT 1 FROM project WHERE id = ${projectId} AND approvals_count > 0)`);
  return unruled.length === 0;
};

/** The fields of the evaluation on which the signer relies; null when there is none. */
export const findEvaluation = async (
  { prisma }: Pick<Database, "prisma">,
  { projectId, id }: { projectId: string; id: string },
): Promise<(Sealed & { readonly mac: Uint8Array }) | null> =>
  prisma.policyEvaluation.findUnique({
    where: { projectId_id: { projectId, id } },
    select: {
      projectId: true,
      id: true,
      subjectType: true,
      subjectId: true,
      digest: true,
      mac: true,
      decision: true,
    },
  });
