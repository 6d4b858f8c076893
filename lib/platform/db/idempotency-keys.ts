import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "@/lib/core/canonical-json";
import { DomainError } from "@/lib/core/errors";
import type { Database } from "./client";
import { keptSqlOn, type Sql, sqlOn, type SqlReader } from "./sql";
import { sql, type Statement } from "./statement";
import { type Column, json, nullable, oneOf, type RowOf, table, text } from "./table";

/**
 * A caller's Idempotency-Key and the SHA-256 of its request. A module stores both with the rows
 * that the request creates, in the same transaction, so that a repetition finds the rows even when
 * the answer was lost.
 */
export interface IdempotentRequest {
  readonly key: string;
  readonly digest: Uint8Array<ArrayBuffer>;
}

/**
 * The key and the digest to store with the rows that a request creates.
 * @returns null when the caller sent no key
 */
export const idempotentRequest = (
  key: string | null,
  input: object,
): IdempotentRequest | null =>
  key === null
    ? null
    : {
        key,
        digest: new Uint8Array(createHash("sha256").update(canonicalJson(input)).digest()),
      };

export const idempotencyColumns = (request: IdempotentRequest | null) => ({
  idempotencyKey: request?.key ?? null,
  requestDigest: request?.digest ?? null,
});

/**
 * Checks that the request that created the row is the same as this one.
 * @throws DomainError `idempotency_mismatch` when another request with the same key created the
 * row
 */
export const requireSameRequest = (
  row: { readonly requestDigest: Uint8Array | null },
  { digest }: IdempotentRequest,
): void => {
  if (Buffer.from(row.requestDigest ?? []).equals(digest)) return;
  throw new DomainError(
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request. Nothing was done for this one. Use a new key for a new request.",
  );
};

export interface Entry {
  readonly projectId: string;
  readonly actor: string;
  readonly route: string;
  readonly key: string;
}

interface Claim extends Entry {
  readonly digest: Uint8Array;
  readonly holder: string;
  readonly now: Date;
  /** The time from which a claim without an `instanceId` may be taken over. */
  readonly lockedUntil: Date;
  readonly expiresAt: Date;
  /**
   * The process that works on the request. `createLiveClaims` takes over the claim when this
   * process has ended. `createIdempotencyKeyStore` takes it over only after `expiresAt`.
   */
  readonly instanceId?: string;
}

const bytes: Column<Uint8Array> = {
  type: "bytea",
  select: (name) => name,
  read: (stored) => stored as Uint8Array,
  write: (value) => value,
};

/** Table `idempotency_key`: the request that has the key, and its answer. */
const storedKeys = table({
  status: oneOf(z.enum(["in_flight", "done"])),
  digest: bytes,
  /** The answer; while the request is in flight, the holder of the claim. */
  response: json(z.unknown()),
  instanceId: nullable(text),
});

type Found = RowOf<typeof storedKeys>;

export interface IdempotencyKeyStore {
  claim(claim: Claim): Promise<Found | null>;
  complete(
    completion: Entry & { holder: string; response: Readonly<Record<string, unknown>> },
  ): Promise<void>;
  release(release: Entry & { holder: string }): Promise<void>;
}

export const isEntry = ({ projectId, actor, route, key }: Entry): Statement =>
  sql`project_id = ${projectId} AND actor = ${actor} AND route = ${route} AND key = ${key}`;

/**
 * Tries to claim the key: inserts its row, or replaces an expired or abandoned claim. Returns
 * whether it succeeded. A claim is not flushed to disk before the request runs. If PostgreSQL
 * crashes at that moment, a repeated request may run beside or after the first one, so requests
 * that move money also store their key with their own rows. An answer is flushed to disk, and its
 * claim with it, because the claim is earlier in the write-ahead log. While a request is in flight,
 * `response` names the holder, so that a holder whose lease has expired cannot overwrite its
 * successor.
 */
const insertClaim = async (db: Sql, claim: Claim): Promise<boolean> => {
  const claimed = await db.change(sql`
    INSERT INTO idempotency_key (
      project_id, actor, route, key, digest, status, response,
      created_at, locked_until, expires_at, instance_id
    )
    SELECT
      ${claim.projectId}::text,
      ${claim.actor}::text,
      ${claim.route}::text,
      ${claim.key}::text,
      ${Buffer.from(claim.digest)}::bytea,
      'in_flight',
      jsonb_build_object('holder', ${claim.holder}::text),
      ${claim.now}::timestamptz,
      ${claim.lockedUntil}::timestamptz,
      ${claim.expiresAt}::timestamptz,
      ${claim.instanceId ?? null}::text
    FROM set_config('synchronous_commit', 'off', true)
    ON CONFLICT (project_id, actor, route, key) DO UPDATE SET
      digest = EXCLUDED.digest,
      status = EXCLUDED.status,
      response = EXCLUDED.response,
      created_at = EXCLUDED.created_at,
      locked_until = EXCLUDED.locked_until,
      expires_at = EXCLUDED.expires_at,
      instance_id = EXCLUDED.instance_id
    WHERE idempotency_key.expires_at <= ${claim.now}::timestamptz
      OR (
        idempotency_key.status = 'in_flight'
        AND idempotency_key.instance_id IS NULL
        AND idempotency_key.locked_until <= ${claim.now}::timestamptz
        AND idempotency_key.digest = EXCLUDED.digest
      )`);
  return claimed === 1;
};

const findKey = (db: SqlReader, entry: Entry): Promise<Found | null> =>
  storedKeys.first(
    db,
    sql`SELECT ${storedKeys.columns()} FROM idempotency_key WHERE ${isEntry(entry)}`,
  );

const isHeldBy = (entry: Entry, holder: string): Statement =>
  sql`${isEntry(entry)} AND status = 'in_flight' AND response->>'holder' = ${holder}`;

/**
 * Maximum number of attempts at one claim. An attempt fails when an entry is released between the
 * two statements of `claim`.
 */
const CLAIM_ATTEMPTS_MAX = 5;
const HOUR_MS = 3_600_000;

/**
 * Stores idempotency keys in the table `idempotency_key`. Each statement is a transaction by
 * itself.
 * @param options.keepHours replaces the `expiresAt` of the claims
 */
export const createIdempotencyKeyStore = (
  { pool }: Pick<Database, "pool">,
  { keepHours }: { readonly keepHours?: number } = {},
): IdempotencyKeyStore => {
  const kept = keptSqlOn(pool);
  const db = sqlOn(pool);

  return {
    claim: async (claim) => {
      const { digest, now } = claim;
      const expiresAt =
        keepHours === undefined
          ? claim.expiresAt
          : new Date(now.getTime() + keepHours * HOUR_MS);
      for (let attempt = 1; attempt <= CLAIM_ATTEMPTS_MAX; attempt += 1) {
        if (await insertClaim(kept, { ...claim, expiresAt })) return null;
        const found = await findKey(db, claim);
        if (found !== null) return found;
      }
      return { status: "in_flight", digest, response: null, instanceId: null };
    },
    complete: async ({ holder, response, ...entry }) => {
      await kept.change(sql`
        UPDATE idempotency_key SET status = 'done', response = ${JSON.stringify(response)}::jsonb
        WHERE ${isHeldBy(entry, holder)}`);
    },
    release: async ({ holder, ...entry }) => {
      await db.change(sql`DELETE FROM idempotency_key WHERE ${isHeldBy(entry, holder)}`);
    },
  };
};
