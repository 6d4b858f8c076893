import { createHash } from "node:crypto";
import { canonicalJson } from "@/lib/core/canonical-json";
import { DomainError } from "@/lib/core/errors";
import type { Database } from "./client";

/**
 * A caller's Idempotency-Key and the SHA-256 of its request. A module stores both with the rows
 * that the request creates, in the same transaction, so that a repetition finds the rows even when
 * the answer was lost.
 */
export interface IdempotentRequest {
  readonly key: string;
  readonly digest: Uint8Array<ArrayBuffer>;
}

/** @returns null when the caller sent no key */
export const idempotentRequest = (key: string | null, input: object): IdempotentRequest | null =>
  key === null
    ? null
    : { key, digest: new Uint8Array(createHash("sha256").update(canonicalJson(input)).digest()) };

/** The columns of a row in which its request is stored. */
export const idempotencyColumns = (request: IdempotentRequest | null) => ({
  idempotencyKey: request?.key ?? null,
  requestDigest: request?.digest ?? null,
});

/**
 * @throws DomainError `idempotency_mismatch` when another request with the same key created the row
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
  /** When the claim of an unknown instance may be taken over. */
  readonly lockedUntil: Date;
  readonly expiresAt: Date;
  /**
   * The process that works on the request. Only `createLiveClaims` takes over its claim, at any
   * time.
   */
  readonly instanceId?: string;
}

interface Found {
  readonly status: "in_flight" | "done";
  readonly digest: Uint8Array;
  readonly response: unknown;
  readonly instanceId: string | null;
}

export interface IdempotencyKeyStore {
  claim(claim: Claim): Promise<Found | null>;
  complete(
    completion: Entry & { holder: string; response: Readonly<Record<string, unknown>> },
  ): Promise<void>;
  release(release: Entry & { holder: string }): Promise<void>;
}

// A claim is not flushed to disk before the request runs. If PostgreSQL crashes at that moment, a
// repeated request may run beside or after the first one, so requests that move money also store
// their key with their own rows. Answers are flushed, and a claim precedes its answer in the log.
// While a request is in flight, `response` names the holder, so that a holder whose lease has
// expired cannot overwrite its successor.
const CLAIM = `
  INSERT INTO idempotency_key
    (project_id, actor, route, key, digest, status, response, created_at, locked_until, expires_at, instance_id)
  SELECT $1, $2, $3, $4, $5::bytea, 'in_flight', jsonb_build_object('holder', $6::text), $7::timestamptz, $8::timestamptz,
    $9::timestamptz, $10
  FROM set_config('synchronous_commit', 'off', true)
  ON CONFLICT (project_id, actor, route, key) DO UPDATE SET
    digest = EXCLUDED.digest, status = EXCLUDED.status, response = EXCLUDED.response,
    created_at = EXCLUDED.created_at, locked_until = EXCLUDED.locked_until, expires_at = EXCLUDED.expires_at,
    instance_id = EXCLUDED.instance_id
  WHERE idempotency_key.expires_at <= $7
     OR (idempotency_key.status = 'in_flight' AND idempotency_key.instance_id IS NULL AND idempotency_key.locked_until <= $7
         AND idempotency_key.digest = EXCLUDED.digest)
  RETURNING 1`;

const ENTRY = "project_id = $1 AND actor = $2 AND route = $3 AND key = $4";
const HELD = `${ENTRY} AND status = 'in_flight' AND response->>'holder' = $5`;
const COMPLETE = `UPDATE idempotency_key SET status = 'done', response = $6 WHERE ${HELD}`;
export const valuesOf = ({ projectId, actor, route, key }: Entry): string[] => [
  projectId,
  actor,
  route,
  key,
];

/** A released entry can vanish between the two statements of `claim`. */
const CLAIM_ATTEMPTS_MAX = 5;
const HOUR_MS = 3_600_000;

/**
 * Idempotency keys in the table `idempotency_key`. Each call is one statement.
 * @param options.keepHours replaces the `expiresAt` of the claims
 */
export const createIdempotencyKeyStore = (
  { pool }: Pick<Database, "pool">,
  { keepHours }: { readonly keepHours?: number } = {},
): IdempotencyKeyStore => ({
  claim: async ({ digest, holder, now, lockedUntil, expiresAt, instanceId, ...entry }) => {
    for (let attempt = 1; attempt <= CLAIM_ATTEMPTS_MAX; attempt += 1) {
      const until =
        keepHours === undefined ? expiresAt : new Date(now.getTime() + keepHours * HOUR_MS);
      const values = [
        ...valuesOf(entry),
        Buffer.from(digest),
        holder,
        now,
        lockedUntil,
        until,
        instanceId ?? null,
      ];
      const claimed = await pool.query({ name: "idempotency_claim", text: CLAIM, values });
      if (claimed.rowCount === 1) return null;
      const { rows } = await pool.query<Found>(
        `SELECT status, digest, response, instance_id AS "instanceId" FROM idempotency_key WHERE ${ENTRY}`,
        valuesOf(entry),
      );
      if (rows[0]) return rows[0];
    }
    return { status: "in_flight", digest, response: null, instanceId: null };
  },
  complete: async ({ holder, response, ...entry }) => {
    const values = [...valuesOf(entry), holder, response];
    await pool.query({ name: "idempotency_complete", text: COMPLETE, values });
  },
  release: async ({ holder, ...entry }) => {
    await pool.query(`DELETE FROM idempotency_key WHERE ${HELD}`, [...valuesOf(entry), holder]);
  },
});
