import type pg from "pg";
import type { Database } from "./client";
import { type Entry, type IdempotencyKeyStore, isEntry } from "./idempotency-keys";
import type { Instances } from "./instances";
import { sqlOn } from "./sql";
import { sql } from "./statement";

interface LiveClaimsDeps {
  readonly database: Pick<Database, "pool">;
  readonly store: IdempotencyKeyStore;
  readonly instances: Pick<Instances, "id" | "start" | "isGone" | "onBeat">;
}

type Claim = Parameters<IdempotencyKeyStore["claim"]>[0];
type Found = NonNullable<Awaited<ReturnType<IdempotencyKeyStore["claim"]>>>;

const entryOf = ({ projectId, actor, route, key }: Entry): Entry => ({
  projectId,
  actor,
  route,
  key,
});
const nameOf = ({ projectId, actor, route, key }: Entry): string =>
  [projectId, actor, route, key].join("\0");

/**
 * Maximum number of attempts at a claim. A caller that loses a race reads again and finds the
 * winner's claim or answer.
 */
const ATTEMPTS_MAX = 5;
/**
 * Maximum number of answers kept in memory while the database is unavailable. Beyond that, answers
 * are dropped and their keys freed.
 */
const ANSWERS_MAX = 10_000;

/**
 * Gives the key that the holder `from` has claimed to the holder of `claim`.
 * @returns false when `from` no longer has the key
 */
const takeOver = async (
  pool: pg.Pool,
  instanceId: string,
  claim: Claim,
  from: string | null,
): Promise<boolean> => {
  const taken = await sqlOn(pool).change(sql`
    UPDATE idempotency_key SET
      response = jsonb_build_object('holder', ${claim.holder}::text),
      instance_id = ${instanceId},
      created_at = ${claim.now}::timestamptz,
      locked_until = ${claim.lockedUntil}::timestamptz,
      expires_at = ${claim.expiresAt}::timestamptz
    WHERE ${isEntry(claim)}
      AND digest = ${Buffer.from(claim.digest)}::bytea
      AND status = 'in_flight'
      AND response->>'holder' IS NOT DISTINCT FROM ${from}::text`);
  return taken === 1;
};

const holderOf = ({ response }: Found): string | null => {
  const holder =
    typeof response === "object" && response !== null && "holder" in response
      ? response.holder
      : null;
  return typeof holder === "string" ? holder : null;
};

/**
 * Claims that last as long as somebody works on them. A claim is taken over when its process is
 * gone, or when it belongs to this process but no request here works on it. A slow request of a
 * living process keeps its claim for any time. When the database is unavailable at the end of a
 * request, the result is stored as soon as the database is available again.
 */
export const createLiveClaims = ({
  database,
  store,
  instances,
}: LiveClaimsDeps): IdempotencyKeyStore => {
  /** For each entry on which a request of this process works, the claim of that request. */
  const inFlight = new Map<string, Claim>();
  /**
   * For each holder, the function that stores the result of its finished request. The entry is
   * removed once the result is stored.
   */
  const unstored = new Map<string, () => Promise<void>>();

  const storeEnd = async (holder: string): Promise<void> => {
    await unstored.get(holder)?.();
    unstored.delete(holder);
  };

  const storeAll = async (): Promise<void> => {
    // A failure means that the database is unavailable again. The next beat continues.
    for (const holder of [...unstored.keys()]) await storeEnd(holder);
  };
  let storing: Promise<void> | null = null;
  instances.onBeat(({ afterOutage }) => {
    // Claims are not flushed to disk, so a crash of the database server may have lost them. After
    // an outage they are therefore stored again.
    if (afterOutage)
      for (const claim of inFlight.values())
        store.claim({ ...claim, instanceId: instances.id }).catch(() => undefined);
    if (unstored.size > 0)
      storing ??= storeAll()
        .catch(() => undefined)
        .finally(() => {
          storing = null;
        });
  });

  const leave = (entry: Entry & { holder: string }): void => {
    const name = nameOf(entry);
    if (inFlight.get(name)?.holder === entry.holder) inFlight.delete(name);
  };

  const end = async (
    entry: Entry & { holder: string },
    how: () => Promise<void>,
  ): Promise<void> => {
    unstored.set(entry.holder, how);
    leave(entry);
    await storeEnd(entry.holder);
  };

  const isAbandoned = async (found: Found): Promise<boolean> => {
    if (found.instanceId === null) return false;
    if (found.instanceId !== instances.id) return instances.isGone(found.instanceId);
    // The claim is of this process, but no request here works on it, because `claim` checks
    // `inFlight` before it queries the database.
    return true;
  };

  const attempt = async (claim: Claim): Promise<Found | null> => {
    for (let turn = 1; ; turn += 1) {
      const found = await store.claim({ ...claim, instanceId: instances.id });
      if (found?.status !== "in_flight" || !Buffer.from(found.digest).equals(claim.digest))
        return found;
      const holder = holderOf(found);
      if (holder !== null && unstored.has(holder)) await storeEnd(holder);
      else if (!(await isAbandoned(found))) return found;
      else if (await takeOver(database.pool, instances.id, claim, holder)) return null;
      if (turn >= ATTEMPTS_MAX) return found;
    }
  };

  return {
    claim: async (claim) => {
      const name = nameOf(claim);
      const { holder } = claim;
      const known = inFlight.get(name);
      if (known !== undefined)
        return {
          status: "in_flight",
          digest: known.digest,
          response: null,
          instanceId: instances.id,
        };
      // Nothing is awaited between the check of `inFlight` and this line, so no other request can
      // claim the key in between.
      inFlight.set(name, claim);
      try {
        await instances.start();
        const found = await attempt(claim);
        if (found !== null) leave(claim);
        return found;
      } catch (error) {
        // The claim may have been stored although the answer was lost.
        const entry = { ...entryOf(claim), holder };
        end(entry, () => store.release(entry)).catch(() => undefined);
        throw error;
      }
    },
    complete: (completion) => {
      const entry = { ...entryOf(completion), holder: completion.holder };
      const keep = unstored.size < ANSWERS_MAX;
      return end(completion, () => (keep ? store.complete(completion) : store.release(entry)));
    },
    release: (release) => end(release, () => store.release(release)),
  };
};
