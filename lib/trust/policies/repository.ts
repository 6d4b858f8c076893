/**
 * The rows of policies, and the facts for their decisions: usage of the day, recipients and
 * evaluations.
 */
import type { z } from "zod";
import { getPolicyEvaluation } from "@/lib/contracts/policies";
import { policyRules, type PolicyScope } from "@/lib/contracts/policy-rules";
import type { Database } from "@/lib/platform/db/client";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { inOrder } from "@/lib/platform/db/in-order";
import type { EffectivePolicy, Policy, Recipient, Usage, UsageUnit } from "./facts";
import type { Sealed } from "./seal";

interface PolicyRow extends Omit<Policy, "rules" | "scope"> {
  readonly scope: string;
  readonly rules: unknown;
}

/** @throws ZodError when the stored rules cannot be read; no money moves under unreadable rules */
const parsePolicy = (row: PolicyRow): Policy => ({
  ...row,
  scope: row.scope as PolicyScope,
  rules: policyRules.parse(row.rules),
});

const COLUMNS = `id, project_id AS "projectId", scope, subject_id AS "subjectId", version, rules, created_by AS "createdBy",
  created_at AS "createdAt"`;

const NEWEST = `
  SELECT DISTINCT ON (scope, subject_id) ${COLUMNS} FROM policy
  WHERE project_id = $1 AND (scope = 'project' OR (scope = 'wallet' AND subject_id = ANY($2::text[]))
    OR (scope = 'key' AND (subject_id = ANY($3::text[]) OR subject_id IN (
      SELECT jsonb_array_elements_text(facts -> 'keyIds') FROM policy_evaluation
      WHERE project_id = $1 AND id = $4::text AND jsonb_typeof(facts -> 'keyIds') = 'array'))))
  ORDER BY scope, subject_id, version DESC`;

const ALL_NEWEST = `
  SELECT DISTINCT ON (scope, subject_id) ${COLUMNS} FROM policy WHERE project_id = $1
  ORDER BY scope, subject_id, version DESC`;

const VERSIONS = `
  SELECT ${COLUMNS} FROM policy WHERE project_id = $1 AND scope = $2 AND subject_id = $3 AND ($4::int IS NULL OR version < $4)
  ORDER BY version DESC LIMIT $5`;

const INSERT = `
  INSERT INTO policy (project_id, id, scope, subject_id, version, rules, created_by, created_at)
  VALUES ($1, $2, $3, $4, $5::int, $6::jsonb, $7, $8::timestamptz) ON CONFLICT DO NOTHING`;

/** The wallets and API keys whose policies can apply to a movement. */
export interface PolicySubjects {
  readonly projectId: string;
  readonly walletIds: readonly string[];
  readonly keyIds: readonly string[];
  /**
   * An earlier evaluation whose API keys also count: those that requested the movement, even if a
   * person carries it out.
   */
  readonly evaluationId?: string | null;
}

/** The newest versions of the policies that can apply to movements of these wallets and keys. */
export const readPolicies = async (sql: SqlReader, subjects: PolicySubjects): Promise<Policy[]> => {
  const { projectId, walletIds, keyIds, evaluationId = null } = subjects;
  return (await sql.query<PolicyRow>(NEWEST, [projectId, walletIds, keyIds, evaluationId])).map(
    parsePolicy,
  );
};

/** The newest version of every policy of the project. */
export const readAllPolicies = async (sql: SqlReader, projectId: string): Promise<Policy[]> =>
  (await sql.query<PolicyRow>(ALL_NEWEST, [projectId])).map(parsePolicy);

// A policy whose wallet was unlinked or whose key was revoked no longer applies.
const IN_FORCE = `
  SELECT * FROM (${ALL_NEWEST}) AS newest
  WHERE scope = 'project'
    OR scope = 'wallet' AND EXISTS (
      SELECT 1 FROM wallet WHERE wallet.project_id = $1 AND wallet.id = "subjectId" AND unlinked_at IS NULL)
    OR scope = 'key' AND EXISTS (
      SELECT 1 FROM api_key WHERE api_key.project_id = $1 AND api_key.id = "subjectId" AND revoked_at IS NULL)`;

/**
 * The newest version of every policy that applies now to the project, one of its wallets or one of
 * its API keys.
 */
export const readPoliciesInForce = async (sql: SqlReader, projectId: string): Promise<Policy[]> =>
  (await sql.query<PolicyRow>(IN_FORCE, [projectId])).map(parsePolicy);

/** Versions below `before`, newest first. */
export const readVersions = async (
  sql: SqlReader,
  at: {
    projectId: string;
    scope: PolicyScope;
    subjectId: string;
    before: number | null;
    limit: number;
  },
): Promise<Policy[]> => {
  const { projectId, scope, subjectId, before, limit } = at;
  return (await sql.query<PolicyRow>(VERSIONS, [projectId, scope, subjectId, before, limit])).map(
    parsePolicy,
  );
};

/** Returns false when another change has stored this version already. */
export const insertPolicy = async (sql: Sql, policy: Policy): Promise<boolean> => {
  const { projectId, id, scope, subjectId, version, rules, createdBy, createdAt } = policy;
  const values = [
    projectId,
    id,
    scope,
    subjectId,
    version,
    JSON.stringify(rules),
    createdBy,
    createdAt,
  ];
  return (await sql.change(INSERT, values)) === 1;
};

const SUBJECT = {
  wallet: `SELECT 1 FROM wallet WHERE project_id = $1 AND id = $2 AND unlinked_at IS NULL`,
  key: `SELECT 1 FROM api_key WHERE project_id = $1 AND id = $2 AND revoked_at IS NULL`,
} as const;

const WALLET_ADDRESS = `SELECT address FROM wallet WHERE project_id = $1 AND id = $2 AND unlinked_at IS NULL`;

/** Whether the project has this wallet or API key. */
export const hasSubject = async (
  sql: SqlReader,
  {
    projectId,
    scope,
    subjectId,
  }: { projectId: string; scope: "wallet" | "key"; subjectId: string },
): Promise<boolean> => (await sql.query(SUBJECT[scope], [projectId, subjectId])).length === 1;

const KEY_HOLDERS = `
  SELECT id, created_by AS "createdBy", rotated_by AS "rotatedBy" FROM api_key WHERE project_id = $1 AND revoked_at IS NULL`;

/**
 * The people who received a secret of an API key, by key id: its maker, and those who rotated it.
 */
export const readKeyHolders = async (
  sql: SqlReader,
  projectId: string,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const keys = await sql.query<{ id: string; createdBy: string; rotatedBy: readonly string[] }>(
    KEY_HOLDERS,
    [projectId],
  );
  return new Map(
    keys.map(({ id, createdBy, rotatedBy }) => [id, [...new Set([createdBy, ...rotatedBy])]]),
  );
};

/** The address of a wallet of the project; null when the project has none with this id. */
export const findWalletAddress = async (
  sql: SqlReader,
  projectId: string,
  walletId: string,
): Promise<`0x${string}` | null> => {
  const [found] = await sql.query<{ address: `0x${string}` }>(WALLET_ADDRESS, [
    projectId,
    walletId,
  ]);
  return found?.address ?? null;
};

/** The key of a row of daily usage. */
export interface UsageKey {
  readonly scope: PolicyScope;
  readonly subjectId: string;
  readonly unit: UsageUnit;
}

const keyColumns = (keys: readonly UsageKey[]): unknown[] => [
  keys.map(({ scope }) => scope),
  keys.map(({ subjectId }) => subjectId),
  keys.map(({ unit }) => unit),
];

// Rows are locked in the same order in all transactions, which prevents deadlocks between movements
// of the same wallets and keys.
const LOCK_USAGE = `
  INSERT INTO policy_usage (project_id, day, scope, subject_id, unit, spent)
  SELECT $1, $2::date, scope, subject_id, unit, 0
  FROM (SELECT DISTINCT * FROM unnest($3::text[], $4::text[], $5::text[]) AS key (scope, subject_id, unit)) AS wanted
  ORDER BY scope, subject_id, unit
  ON CONFLICT (project_id, scope, subject_id, day, unit) DO UPDATE SET spent = policy_usage.spent
  RETURNING scope, subject_id AS "subjectId", unit, spent::text AS spent`;

const READ_USAGE = `
  SELECT scope, subject_id AS "subjectId", unit, spent::text AS spent FROM policy_usage
  WHERE project_id = $1 AND day = $2::date
    AND (scope, subject_id, unit) IN (SELECT * FROM unnest($3::text[], $4::text[], $5::text[]))`;

const ADD_USAGE = `
  UPDATE policy_usage AS usage SET spent = usage.spent + added.amount
  FROM unnest($3::text[], $4::text[], $5::text[], $6::numeric[]) AS added (scope, subject_id, unit, amount)
  WHERE usage.project_id = $1 AND usage.day = $2::date AND usage.scope = added.scope
    AND usage.subject_id = added.subject_id AND usage.unit = added.unit`;

/**
 * The amounts that were moved on the day. With `locks` the rows stay locked until the transaction
 * ends, so that caps are exact.
 */
export const readUsage = async (
  sql: SqlReader,
  at: { readonly projectId: string; readonly day: string; readonly locks: boolean },
  keys: readonly UsageKey[],
): Promise<readonly Usage[]> =>
  keys.length === 0
    ? []
    : sql.query<Usage>(at.locks ? LOCK_USAGE : READ_USAGE, [
        at.projectId,
        at.day,
        ...keyColumns(keys),
      ]);

/** Adds amounts to rows that `readUsage` has locked in this transaction. */
export const addUsage = async (
  sql: Sql,
  at: { readonly projectId: string; readonly day: string },
  added: readonly (UsageKey & { readonly amount: string })[],
): Promise<void> => {
  if (added.length === 0) return;
  const amounts = added.map(({ amount }) => amount);
  await sql.change(ADD_USAGE, [at.projectId, at.day, ...keyColumns(added), amounts]);
};

// A contact without chains is approved for every chain.
const READ_RECIPIENTS = `
  SELECT wanted.address, wallet.id IS NOT NULL AS "isOwn",
    CASE WHEN contact.state = 'approved' AND NOT contact.fits THEN 'elsewhere' ELSE contact.state END AS contact,
    least(CASE WHEN contact.fits THEN contact.approved_at END, paid.first_paid_at) AS "knownSince"
  FROM unnest($2::text[]) AS wanted (address)
  LEFT JOIN wallet ON wallet.project_id = $1 AND wallet.address = wanted.address AND wallet.key_id IS NOT NULL
  LEFT JOIN (
    SELECT project_id, address, state, approved_at, cardinality(chain_ids) = 0 OR coalesce($3::int = ANY (chain_ids), false) AS fits
    FROM contact
  ) AS contact ON contact.project_id = $1 AND contact.address = wanted.address
  LEFT JOIN policy_recipient AS paid ON paid.project_id = $1 AND paid.address = lower(wanted.address)`;

/**
 * Reads the project's facts about these addresses as recipients on a chain.
 * @param recipients checksummed addresses, and the chain they are paid on; null when none is known
 */
export const readRecipients = (
  sql: SqlReader,
  projectId: string,
  {
    addresses,
    chainId,
  }: { readonly addresses: readonly string[]; readonly chainId: number | null },
): Promise<readonly Recipient[]> =>
  addresses.length === 0
    ? Promise.resolve([])
    : sql.query<Recipient>(READ_RECIPIENTS, [projectId, addresses, chainId]);

/** An evaluation as it is stored. */
export interface StoredEvaluation {
  readonly id: string;
  readonly projectId: string;
  readonly subjectType: "operation" | "payout" | "request";
  readonly subjectId: string | null;
  readonly digest: Uint8Array;
  /** The code that `sealOf` made. */
  readonly mac: Uint8Array;
  readonly facts: unknown;
  readonly policies: readonly Pick<EffectivePolicy, "id" | "scope" | "subjectId" | "version">[];
  readonly rules: readonly unknown[];
  readonly decision: string;
  readonly code: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

// A refusal may be caught twice when one movement is a part of another, so the second insert does
// nothing.
const INSERT_EVALUATION = `
  INSERT INTO policy_evaluation (project_id, id, subject_type, subject_id, digest, mac, facts, policies, rules, decision, code, created_by,
    created_at)
  VALUES ($1, $2, $3, $4, $5::bytea, $6::bytea, $7::jsonb, $8::jsonb, $9::jsonb, $10, $11, $12, $13::timestamptz)
  ON CONFLICT (project_id, id) DO NOTHING`;

const NOTE_RECIPIENTS = `
  INSERT INTO policy_recipient (project_id, address, first_paid_at)
  SELECT DISTINCT $1, lower(address), $2::timestamptz FROM unnest($3::text[]) AS address ORDER BY 2
  ON CONFLICT DO NOTHING`;

/**
 * Stores an evaluation, and the recipients that receive money for the first time.
 * @param paid the addresses that the movement pays; empty when it was stopped
 */
export const insertEvaluation = async (
  sql: Sql,
  row: StoredEvaluation,
  paid: readonly string[],
): Promise<void> => {
  const evaluation = [
    row.projectId,
    row.id,
    row.subjectType,
    row.subjectId,
    row.digest,
    row.mac,
    JSON.stringify(row.facts),
    JSON.stringify(row.policies),
    JSON.stringify(row.rules),
    row.decision,
    row.code,
    row.createdBy,
    row.createdAt,
  ];
  await inOrder(sql, [
    () => sql.change(INSERT_EVALUATION, evaluation),
    ...(paid.length === 0
      ? []
      : [() => sql.change(NOTE_RECIPIENTS, [row.projectId, row.createdAt, paid])]),
  ]);
};

const decided = getPolicyEvaluation.response.pick({ decision: true, code: true, rules: true });

/** An evaluation in the form that people read. */
export type EvaluationRecord = Pick<
  StoredEvaluation,
  "id" | "subjectId" | "createdBy" | "createdAt"
> & {
  readonly subjectType: string;
} & z.output<typeof decided>;

/** The evaluation with this id in the form that people read; null when the project has none. */
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

const NONE =
  "NOT EXISTS (SELECT 1 FROM policy WHERE project_id = $1) AND NOT EXISTS (SELECT 1 FROM project WHERE id = $1 AND approvals_count > 0)";

/**
 * Whether the project has any policy, or its setting demands votes. The transaction that accepts a
 * movement calls it to detect rules that were stored after the evaluation.
 */
export const hasPolicies = async (sql: SqlReader, projectId: string): Promise<boolean> =>
  (await sql.query(`SELECT 1 WHERE ${NONE}`, [projectId])).length === 0;

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
