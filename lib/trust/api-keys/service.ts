import { LRUCache } from "lru-cache";
import type { ApiKeyActor, UserActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError, type KeyName, notFound, RefusedKeyError } from "@/lib/core/errors";
import { createFreshCache } from "@/lib/core/fresh-cache";
import { isId } from "@/lib/core/ids";
import {
  pageOf,
  readPlace,
  writePlace,
  type ListPage,
  type ListQuery,
} from "@/lib/core/list-place";
import type { Database, Queryable, Tx } from "@/lib/platform/db/client";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import { recordEvents } from "@/lib/news/events/service";
import type { Secrets } from "@/lib/platform/encryption/service";
import { announceEnded } from "@/lib/news/feed/service";
import { type ApiKey, HASH_PURPOSE, parseApiKeySecret, type StoredApiKey } from "./rules";
import { networkMatcher } from "@/lib/core/network-matcher";
import {
  type ApiKeyChange,
  createKeyChanges,
  createKeyRotation,
  type KeyChangesDeps,
  mayManage,
  type NewApiKey,
  type RotateApiKey,
} from "./key-changes";
import {
  findByLookup,
  hasApiKey,
  listApiKeys,
  listKeyIdsOf,
  listUsableKeysOf,
  rehashApiKey,
  revokeApiKey,
  touchApiKey,
  type NamedKey,
} from "./repository";

export type { ApiKey } from "./rules";
export type { NamedKey } from "./repository";

export interface ApiKeysDeps extends KeyChangesDeps {
  /** Clock that measures the age of cached keys. The default clock never goes back. */
  readonly monotonicMs?: () => number;
}

export interface ApiKeysService {
  /**
   * Creates a key. A key that is created with only a name needs codes for every payment; further
   * rights need an approval. Every owner gets a mail.
   * @throws DomainError `forbidden` unless owner or admin; `invalid_request` when the key's expiry
   * is past or its cap is above the project's cap; `approval_required` and the other errors of
   * `requireApproval`
   */
  create(actor: UserActor, input: NewApiKey): Promise<{ key: ApiKey; secret: string }>;
  /**
   * Changes the scopes, limits or networks of a key. Every instance applies the change within a
   * second. A change that allows the key more needs an approval.
   * @throws the DomainErrors of `create`, and `not_found`, `invalid_state` when the key was
   * revoked, or was changed in the meantime
   */
  update(actor: UserActor, id: string, input: ApiKeyChange): Promise<ApiKey>;
  /**
   * Gives the key a new secret; the present one ends after `overlapSeconds`. Needs an approval, and
   * every owner gets a mail.
   * @throws the DomainErrors of `update`
   */
  rotate(
    actor: UserActor,
    id: string,
    input: RotateApiKey,
  ): Promise<{ key: ApiKey; secret: string }>;
  /**
   * Checks that the person's role may manage API keys.
   * @throws DomainError `forbidden` unless owner or admin
   */
  checkMayManage(actor: UserActor): void;
  /** Keys of the actor's project, newest first. */
  list(actor: UserActor, query: ListQuery): Promise<ListPage<ApiKey>>;
  /** Whether the project has a key with this id, even a revoked one. */
  has(projectId: string, id: string): Promise<boolean>;
  /**
   * Revokes the key. Revoking it again returns the same answer. @throws DomainError `forbidden`,
   * `not_found`
   */
  revoke(actor: UserActor, id: string): Promise<{ id: string; revokedAt: Date }>;
  /**
   * Revokes all keys of the actor's project that the person created, or whose valid secret the
   * person received by a rotation, in the caller's transaction.
   */
  revokeKeysOf(tx: Tx, actor: UserActor, userId: string): Promise<void>;
  /**
   * The keys of the project that `revokeKeysOf` would revoke, the oldest first.
   * @returns `usable`: these keys; `ids`: their ids, and the ids of keys that the person created
   * and that were revoked before, because records of actions name all of them as makers
   */
  keysOf(
    db: Queryable,
    projectId: string,
    userId: string,
  ): Promise<{ readonly usable: readonly NamedKey[]; readonly ids: readonly string[] }>;
  /**
   * The caller to whom a secret belongs. Does not query the database when the key was read less
   * than a second ago.
   * @param from IP address of the caller; null when unknown
   * @throws DomainError `unauthorized`, `api_key_expired`, `api_key_revoked`, `api_key_suspended`,
   * `forbidden` from outside of the key's networks
   */
  verify(secret: string, from?: string | null): Promise<ApiKeyActor>;
}

const TOUCH_SECONDS = 60;
const TOUCHED_MAX = 10_000;
const SECRETS_REMEMBERED_MAX = 1000;
const NETWORK_LISTS_MAX = 1000;

/**
 * The service of API keys. Each instance caches keys for less than a second. Only hashes of the
 * secrets are stored. The hash of a key in use is renewed under the current application secret.
 */
export const createApiKeysService = (deps: ApiKeysDeps): ApiKeysService => {
  const { database, secrets, clock } = deps;
  const keys = createFreshCache<StoredApiKey | null>({
    load: (lookup) => findByLookup(database.prisma, lookup),
    // Unknown keys are not cached, so that a flood of them cannot push known keys out of the
    // cache.
    keep: (key) => key !== null,
    ...(deps.monotonicMs ? { monotonicMs: deps.monotonicMs } : {}),
  });
  const touch = createTouch(deps);
  const rehash = createRehash(deps);
  const read = createSecretReader(secrets);
  const changing = createKeyChanges(deps);

  const isWithin = createNetworkCheck();
  const rotate = createKeyRotation(deps);

  const admit = (
    key: StoredApiKey | null,
    hashes: readonly Buffer[],
    from: string | null,
  ): ApiKeyActor => {
    if (key === null || !hashes.some((hash) => secrets.equals(key.secretHash, hash)))
      throw unknownKey();
    const now = clock.now();
    const named = { keyId: key.id, projectId: key.projectId };
    if (key.revokedAt !== null)
      throw new RefusedKeyError(
        "api_key_revoked",
        "This API key was revoked. Use another one.",
        named,
      );
    if (key.expiresAt !== null && key.expiresAt <= now)
      throw new RefusedKeyError(
        "api_key_expired",
        "This API key has expired. Make a new one.",
        named,
      );
    if (key.suspendedAt !== null)
      throw new RefusedKeyError("api_key_suspended", SUSPENDED, named);
    if (key.replacedAt !== null && key.replacedAt <= now)
      throw replacedSecret(key.replacedAt, named);
    if (!isWithin(key.networks, from)) throw wrongNetwork(from, named);
    touch(key.id, now, from);
    const [current] = hashes;
    if (current !== undefined && key.replacedAt === null && key.appSecretId !== secrets.id)
      rehash(key, current, now);
    const { id: keyId, projectId, createdBy, rotatedBy, madeBySession, scopes, policy } = key;
    const expiresAt = earlier(key.expiresAt, key.replacedAt);
    return {
      type: "apiKey",
      keyId,
      projectId,
      createdBy,
      rotatedBy,
      madeBySession,
      scopes,
      policy,
      expiresAt,
    };
  };

  const revokeOne = async (tx: Tx, actor: UserActor, id: string) => {
    const { projectId } = actor;
    const at = clock.now();
    const done = await revokeApiKey(tx, { projectId, id, at });
    const entry = { ...doneBy(actor), subject: id, at };
    if (!done?.changed) return done;
    await recordAudit(tx, { ...entry, action: "api_key.revoked" });
    await recordEvents(tx, [
      { projectId, type: "api_key.revoked", objectId: id, data: { keyId: id }, at },
    ]);
    announceEnded(tx, id);
    return done;
  };

  const revoke = async (
    actor: UserActor,
    id: string,
  ): Promise<{ id: string; revokedAt: Date }> => {
    mayManage(actor);
    if (!isId("apiKey", id)) throw notFound();
    const revoked = await database.transaction((tx) => revokeOne(tx, actor, id));
    if (!revoked) throw notFound();
    keys.invalidate(revoked.lookup);
    return { id, revokedAt: revoked.revokedAt };
  };

  return {
    checkMayManage: mayManage,
    create: changing.create,
    update: async (actor, id, input) => {
      const { key, lookup } = await changing.update(actor, id, input);
      keys.invalidate(lookup);
      return key;
    },
    rotate: async (actor, id, input) => {
      const { replacedLookup, ...made } = await rotate(actor, id, input);
      keys.invalidate(replacedLookup);
      return made;
    },
    revoke,
    ...createKeysOfPerson(deps, revokeOne),
    has: (projectId, id) => hasApiKey(database.prisma, projectId, id),
    list: ({ projectId }, query) => listPage(database, projectId, query),
    verify: async (secret, from = null) => {
      const presented = read(secret);
      if (!presented) throw unknownKey();
      const key = await keys.get(presented.lookup);
      const actor = admit(key, presented.hashes, from);
      presented.remember();
      return actor;
    },
  };
};

const listPage = async (
  { prisma }: Pick<Database, "prisma">,
  projectId: string,
  { limit, cursor }: ListQuery,
): Promise<ListPage<ApiKey>> => {
  const after = cursor === undefined ? null : readPlace(cursor);
  const rows = await listApiKeys(prisma, projectId, { limit: limit + 1, after });
  return pageOf(rows, limit, ({ id, createdAt }) =>
    writePlace({ id, key: createdAt.toISOString() }),
  );
};

type RevokeOne = (tx: Tx, actor: UserActor, id: string) => Promise<unknown>;

const createKeysOfPerson = (
  { clock }: ApiKeysDeps,
  revokeOne: RevokeOne,
): Pick<ApiKeysService, "revokeKeysOf" | "keysOf"> => ({
  revokeKeysOf: async (tx, actor, userId) => {
    const usable = await listUsableKeysOf(tx, {
      projectId: actor.projectId,
      userId,
      now: clock.now(),
    });
    for (const { id } of usable) await revokeOne(tx, actor, id);
  },
  keysOf: async (db, projectId, userId) => {
    const usable = await listUsableKeysOf(db, { projectId, userId, now: clock.now() });
    const made = await listKeyIdsOf(db, { projectId, userId });
    return { usable, ids: [...new Set([...made, ...usable.map(({ id }) => id)])] };
  },
});

interface PresentedSecret {
  readonly lookup: string;
  /** Hashes under each accepted application secret, the current one first. */
  readonly hashes: readonly Buffer[];
  /**
   * Caches the secret. Call it only after the secret proved correct, so that a flood of wrong
   * secrets cannot push correct ones out of the cache.
   */
  remember(): void;
}

/**
 * Returns a function that computes the public part and the keyed hashes of a secret. The result
 * for a secret never changes, so the results for keys in use are cached.
 */
const createSecretReader = (secrets: Secrets): ((secret: string) => PresentedSecret | null) => {
  const known = new LRUCache<string, PresentedSecret>({ max: SECRETS_REMEMBERED_MAX });
  return (secret) => {
    const found = known.get(secret);
    if (found) return found;
    const parsed = parseApiKeySecret(secret);
    if (!parsed) return null;
    const presented: PresentedSecret = {
      lookup: parsed.lookup,
      hashes: secrets.hashes(HASH_PURPOSE, secret),
      remember: () => {
        known.set(secret, presented);
      },
    };
    return presented;
  };
};

const SUSPENDED =
  "This API key is suspended: it was made without a code or a signature, and the session that made it was ended. A person who may manage keys restores it by a proof on the page API keys, or by POST /me/sessions/made/restore.";

/** The same message for a wrong form and for an unknown key, so that a guess reveals nothing. */
const unknownKey = (): DomainError =>
  new DomainError(
    "unauthorized",
    "This API key is not known here. Check that it was copied whole.",
  );

const replacedSecret = (at: Date, key: KeyName): DomainError =>
  new RefusedKeyError(
    "api_key_expired",
    `This API key was rotated, and this secret ended at ${at.toISOString()}. Use the new secret.`,
    key,
  );

const wrongNetwork = (from: string | null, key: KeyName): DomainError =>
  new RefusedKeyError(
    "forbidden",
    from === null
      ? "This API key may be used from some networks alone, and the caller's address is not known."
      : `This API key may not be used from ${from}. An owner or admin can add the network to its list.`,
    key,
  );

const earlier = (a: Date | null, b: Date | null): Date | null =>
  a === null || (b !== null && b < a) ? b : a;

/**
 * Whether an address is in one of a key's networks; an empty list allows any. Parsed lists are
 * cached.
 */
const createNetworkCheck = (): ((
  networks: readonly string[],
  address: string | null,
) => boolean) => {
  const matchers = new LRUCache<string, (address: string) => boolean>({
    max: NETWORK_LISTS_MAX,
  });
  return (networks, address) => {
    if (networks.length === 0) return true;
    if (address === null) return false;
    const text = networks.join(" ");
    const matches = matchers.get(text) ?? networkMatcher(networks);
    matchers.set(text, matches);
    return matches(address);
  };
};

const onceAMinute = (): ((id: string, at: Date) => boolean) => {
  const seenMs = new LRUCache<string, number>({ max: TOUCHED_MAX });
  return (id, at) => {
    const last = seenMs.get(id);
    if (last !== undefined && at.getTime() - last < TOUCH_SECONDS * 1000) return false;
    seenMs.set(id, at.getTime());
    return true;
  };
};

/**
 * Stores the hash under the current application secret, so that the previous application secret
 * can be removed once every key was used. Instances that have the two secrets in reverse order
 * undo each other's changes, so a key is rehashed at most once a minute. No request waits for it.
 */
const createRehash = ({
  database,
  secrets,
}: ApiKeysDeps): ((key: StoredApiKey, to: Buffer, at: Date) => void) => {
  const isDue = onceAMinute();
  return ({ id, secretHash: from }, to, at) => {
    if (!isDue(id, at)) return;
    rehashApiKey(database.prisma, { id, from, to, appSecretId: secrets.id }).catch(
      () => undefined,
    );
  };
};

/** Stores when and from where the key was used, at most once a minute. No request waits for it. */
const createTouch = ({
  database,
}: ApiKeysDeps): ((id: string, at: Date, from: string | null) => void) => {
  const isDue = onceAMinute();
  return (id, at, from) => {
    if (!isDue(id, at)) return;
    const unlessSince = addSeconds(at, -TOUCH_SECONDS);
    // While the database is unavailable, the time of last use is not stored. A use after the next
    // minute stores it again, and the request itself reports the outage.
    touchApiKey(database.prisma, { id, at, from, unlessSince }).catch(() => undefined);
  };
};
