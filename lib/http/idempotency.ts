import { createHash } from "node:crypto";
import { v4 as uuidv4 } from "uuid";
import { z } from "zod";
import { type Actor, actorName } from "@/lib/core/actor";
import { canonicalJson } from "@/lib/core/canonical-json";
import type { Clock } from "@/lib/core/clock";
import { addSeconds } from "@/lib/core/clock";
import type { Contract } from "@/lib/contracts/contract";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { type AppSecrets, openText, sealText } from "@/lib/platform/encryption/aes-gcm";
import { JSON_TYPE, type Answer } from "./reply";

/** An idempotency key is unique per caller and route. */
export interface IdempotencyEntry {
  readonly projectId: string;
  /** The person or API key. */
  readonly actor: string;
  /** Method and path, ids included. */
  readonly route: string;
  readonly key: string;
}

/** Stores the keys in use and their answers: one row per key, changed by compare-and-set. */
export interface IdempotencyStore {
  /**
   * Sets the entry to `in_flight` for `holder` if it is new, expired, or left by a dead process
   * with the same digest.
   * @returns null when claimed, otherwise the existing entry
   */
  claim(
    entry: IdempotencyEntry & {
      digest: Uint8Array;
      holder: string;
      now: Date;
      lockedUntil: Date;
      expiresAt: Date;
    },
  ): Promise<{ status: "in_flight" | "done"; digest: Uint8Array; response: unknown } | null>;
  /** Stores the answer, if `holder` still has the claim. */
  complete(
    entry: IdempotencyEntry & { holder: string; response: Readonly<Record<string, unknown>> },
  ): Promise<void>;
  /** Deletes the entry, if `holder` still has the claim. */
  release(entry: IdempotencyEntry & { holder: string }): Promise<void>;
}

const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;
const LEASE_SECONDS = 60;
const KEEP_SECONDS = 24 * 60 * 60;

/**
 * Whether an operation stores its answer under an Idempotency-Key. Public operations have no caller
 * for whom to store it.
 */
export const isIdempotent = ({ method, auth, readsOnly, keepsNoAnswer }: Contract): boolean =>
  method === "POST" && auth !== "public" && readsOnly !== true && keepsNoAnswer !== true;

/**
 * Reads the Idempotency-Key of a request; null when the caller sent none.
 * @throws DomainError `invalid_request` when the header is present and not 1–255 printable ASCII
 * characters
 */
export const readIdempotencyKey = (header: string | null): string | null => {
  if (header === null) return null;
  if (KEY_PATTERN.test(header)) return header;
  const message = "Idempotency-Key must be 1 to 255 printable ASCII characters.";
  throw invalidRequest([{ path: "Idempotency-Key", message }]);
};

// A stored answer may contain a secret that is shown only once (an API key), so it is stored
// encrypted. The encryption key is derived from APP_SECRET and from the caller's Idempotency-Key,
// which is stored in the same row. So the encryption protects against a leaked table, but not
// against a leaked APP_SECRET.
const sealParts = ({ projectId, actor, route, key }: IdempotencyEntry): readonly string[] => [
  "idempotency",
  projectId,
  actor,
  route,
  key,
];

const stored = z.object({ status: z.int(), sealed: z.string() });

const seal = (
  appSecrets: AppSecrets,
  entry: IdempotencyEntry,
  answer: Answer,
): z.output<typeof stored> => ({
  status: answer.status,
  sealed: sealText(appSecrets, sealParts(entry), answer.body),
});

const unseal = (appSecrets: AppSecrets, entry: IdempotencyEntry, response: unknown): Answer => {
  const { status, sealed } = stored.parse(response);
  const body = openText(appSecrets, sealParts(entry), sealed);
  if (body === null)
    throw new Error(
      "A stored answer cannot be decrypted: APP_SECRET is not the one it was stored under.",
    );
  return {
    status,
    body,
    headers: { "content-type": JSON_TYPE, "idempotent-replayed": "true" },
  };
};

/**
 * Whether an answer is stored and repeated. Only successful answers are. A request that failed
 * changed nothing, and the reason for its error may no longer apply, so a repetition with the same
 * key runs again. When a request failed after its commit, the module finds the record by the
 * idempotency key that it stored with its own rows.
 */
const isStored = ({ status }: Pick<Answer, "status">): boolean => status < 300;

export interface IdempotentCall {
  readonly store: IdempotencyStore;
  readonly clock: Clock;
  readonly appSecrets: AppSecrets;
  readonly contract: Contract;
  readonly actor: Actor;
  readonly key: string;
  readonly path: string;
  readonly search: string;
  /** The body, which is valid JSON; null when the contract has none. */
  readonly rawBody: Uint8Array | null;
  /**
   * Checks the caller's current permissions beyond the checks of every route. Throws when the
   * caller may no longer see the stored answer.
   */
  readonly beforeReplay: () => Promise<void> | void;
  readonly onError: (error: unknown) => void;
}

/**
 * The body in a canonical form, in which equal JSON values have equal texts, whatever their
 * formatting.
 */
const bodyText = (rawBody: Uint8Array | null): string =>
  rawBody === null ? "" : canonicalJson(JSON.parse(new TextDecoder().decode(rawBody)));

const describe = (call: IdempotentCall): IdempotencyEntry & { digest: Uint8Array } => {
  const { contract, actor } = call;
  return {
    projectId: actor.projectId,
    actor: actorName(actor),
    route: `${contract.method} ${call.path}`,
    key: call.key,
    digest: createHash("sha256")
      .update(call.search)
      .update("\0")
      .update(bodyText(call.rawBody))
      .digest(),
  };
};

const settle = async (
  call: IdempotentCall,
  entry: IdempotencyEntry,
  holder: string,
  answer: Answer | null,
) => {
  try {
    if (answer !== null && isStored(answer)) {
      const response = { ...seal(call.appSecrets, entry, answer) };
      await call.store.complete({ ...entry, holder, response });
    } else await call.store.release({ ...entry, holder });
  } catch (error) {
    // The work is done, so the caller gets its answer. The store retries in the background.
    call.onError(error);
  }
};

/**
 * Runs `work` once per (project, caller, route, key) within 24 h. When several requests arrive at
 * the same time, one runs and the others get 409. Later requests get the stored answer with
 * `Idempotent-Replayed: true`, after `beforeReplay` allowed it. `isStored` decides which answers
 * are stored. When other processes miss the heartbeats of a process, they free its keys
 * (lib/platform/db/live-claims.ts). A process that was only frozen may continue next to its
 * successor, so a handler that moves money must be safe to run twice.
 * @param work never throws; a Response (a stream) is passed through and not stored
 * @throws DomainError `idempotency_in_progress`, `idempotency_mismatch`, and the errors of
 * `beforeReplay`
 */
export const runIdempotent = async (
  call: IdempotentCall,
  work: () => Promise<Answer | Response>,
): Promise<Answer | Response> => {
  const { digest, ...entry } = describe(call);
  const holder = uuidv4();
  const now = call.clock.now();
  const expiresAt = addSeconds(now, KEEP_SECONDS);
  const lockedUntil = addSeconds(now, LEASE_SECONDS);
  const found = await call.store.claim({
    ...entry,
    digest,
    holder,
    now,
    lockedUntil,
    expiresAt,
  });
  if (found !== null) {
    if (!Buffer.from(found.digest).equals(digest))
      throw new DomainError(
        "idempotency_mismatch",
        "This Idempotency-Key was used with another body. Use a new key for a new request.",
      );
    if (found.status === "in_flight")
      throw new DomainError(
        "idempotency_in_progress",
        "The first request with this Idempotency-Key is still running. Send it again in a moment to get its answer.",
        { retryAfterSeconds: 1 },
      );
    await call.beforeReplay();
    return unseal(call.appSecrets, entry, found.response);
  }
  let result: Answer | Response | null = null;
  try {
    result = await work();
    return result;
  } finally {
    await settle(
      call,
      entry,
      holder,
      result === null || result instanceof Response ? null : result,
    );
  }
};
