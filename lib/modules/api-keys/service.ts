import { LRUCache } from "lru-cache";
import type { ApiKeyActor, UserActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { createFreshCache } from "@/lib/core/fresh-cache";
import { isId } from "@/lib/core/ids";
import { RefusedKeyError, type KeyName } from "@/lib/core/refused-key";
import type { Tx } from "@/lib/db/client";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import { recordEvents } from "@/lib/modules/events/service";
import type { Secrets } from "@/lib/modules/encryption/service";
import { announceEnded } from "@/lib/modules/streams/service";
import type { ApiKey, StoredApiKey } from "./api-key";
import { networkMatcher } from "@/lib/core/network-matcher";
import { createKeyChanges, mayManage, type ApiKeyChange, type KeyChangesDeps, type NewApiKey } from "./key-changes";
import { createKeyRotation, type RotateApiKey } from "./key-rotation";
import {
  findByLookup,
  hasApiKey,
  listApiKeys,
  listUsableKeysOf,
  rehashApiKey,
  revokeApiKey,
  touchApiKey,
} from "./repository";
import { HASH_PURPOSE, parseApiKeySecret } from "./secret";

export type { ApiKey } from "./api-key";

export interface ApiKeysDeps extends KeyChangesDeps {
  /** For the age of cached keys; the default never goes back. */
  readonly monotonicMs?: () => number;
}

export interface ApiKeysService {
  /**
   * A key with a name alone needs codes for every payment. Further rights need an approval. Every owner gets a mail.
   * @throws DomainError `forbidden` unless owner or admin; `invalid_request` when it would be expired already or its cap is above the
   *   project's; `approval_required` and what else `requireApproval` throws
   */
  create(actor: UserActor, input: NewApiKey): Promise<{ key: ApiKey; secret: string }>;
  /**
   * Changes the scopes, limits or networks of a key; every instance heeds it within a second. A change that lets the key do more needs an approval.
   * @throws DomainError as `create`, `not_found`, `invalid_state` when it was revoked or changed meanwhile
   */
  update(actor: UserActor, id: string, input: ApiKeyChange): Promise<ApiKey>;
  /**
   * Gives the key a new secret; the present one ends after `overlapSeconds`. Every owner gets a mail.
   * @throws DomainError as `update`
   */
  rotate(actor: UserActor, id: string, input: RotateApiKey): Promise<{ key: ApiKey; secret: string }>;
  /** @throws DomainError `forbidden` unless owner or admin */
  checkMayManage(actor: UserActor): void;
  /** Keys of the actor's project, newest first (1,000 at most). */
  list(actor: UserActor): Promise<ApiKey[]>;
  /** Whether the project has a key with this id, a revoked one included. */
  has(projectId: string, id: string): Promise<boolean>;
  /** Revoking again answers as the first time. @throws DomainError `forbidden`, `not_found` */
  revoke(actor: UserActor, id: string): Promise<{ id: string; revokedAt: Date }>;
  /** Revokes all keys of the actor's project that the person made, or has a good secret of by a rotation, in the caller's transaction. */
  revokeKeysOf(tx: Tx, actor: UserActor, userId: string): Promise<void>;
  /**
   * Who a secret stands for. Waits for nothing while the key was read less than a second ago.
   * @param from IP address of the caller; null where it is not known
   * @throws DomainError `unauthorized`, `api_key_expired`, `api_key_revoked`, `forbidden` from outside of the key's networks
   */
  verify(secret: string, from?: string | null): Promise<ApiKeyActor>;
}

const KEYS_MAX = 1000;
const TOUCH_SECONDS = 60;
const TOUCHED_MAX = 10_000;
const SECRETS_REMEMBERED_MAX = 1000;
const NETWORK_LISTS_MAX = 1000;

/**
 * The service of API keys. Each instance caches keys for less than a second; only hashes of their secrets are stored, and the hash of
 * a key in use is renewed under the current application secret.
 */
export const createApiKeysService = (deps: ApiKeysDeps): ApiKeysService => {
  const { database, secrets, clock } = deps;
  const keys = createFreshCache<StoredApiKey | null>({
    load: (lookup) => findByLookup(database.prisma, lookup),
    // Unknown keys take no place: a flood of them must not push known ones out.
    keep: (key) => key !== null,
    ...(deps.monotonicMs ? { monotonicMs: deps.monotonicMs } : {}),
  });
  const touch = createTouch(deps);
  const rehash = createRehash(deps);
  const read = createSecretReader(secrets);
  const changing = createKeyChanges(deps);

  const isWithin = createNetworkCheck();
  const rotate = createKeyRotation(deps);

  const admit = (key: StoredApiKey | null, hashes: readonly Buffer[], from: string | null): ApiKeyActor => {
    if (key === null || !hashes.some((hash) => secrets.equals(key.secretHash, hash))) throw unknownKey();
    const now = clock.now();
    const named = { keyId: key.id, projectId: key.projectId };
    if (key.revokedAt !== null)
      throw new RefusedKeyError("api_key_revoked", "This API key was revoked. Use another one.", named);
    if (key.expiresAt !== null && key.expiresAt <= now)
      throw new RefusedKeyError("api_key_expired", "This API key has expired. Make a new one.", named);
    if (key.replacedAt !== null && key.replacedAt <= now) throw replacedSecret(key.replacedAt, named);
    if (!isWithin(key.networks, from)) throw wrongNetwork(from, named);
    touch(key.id, now, from);
    const [current] = hashes;
    if (current !== undefined && key.replacedAt === null && key.appSecretId !== secrets.id) rehash(key, current, now);
    const { id: keyId, projectId, createdBy, rotatedBy, scopes, policy } = key;
    const expiresAt = earlier(key.expiresAt, key.replacedAt);
    return { type: "apiKey", keyId, projectId, createdBy, rotatedBy, scopes, policy, expiresAt };
  };

  const revokeOne = async (tx: Tx, actor: UserActor, id: string) => {
    const { projectId } = actor;
    const at = clock.now();
    const done = await revokeApiKey(tx, { projectId, id, at });
    const entry = { ...doneBy(actor), subject: id, at };
    if (!done?.changed) return done;
    await recordAudit(tx, { ...entry, action: "api_key.revoked" });
    await recordEvents(tx, [{ projectId, type: "api_key.revoked", objectId: id, data: { keyId: id }, at }]);
    announceEnded(tx, id);
    return done;
  };

  const revoke = async (actor: UserActor, id: string): Promise<{ id: string; revokedAt: Date }> => {
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
    revokeKeysOf: async (tx, actor, userId) => {
      const ids = await listUsableKeysOf(tx, { projectId: actor.projectId, userId, now: clock.now() });
      for (const id of ids) await revokeOne(tx, actor, id);
    },
    has: (projectId, id) => hasApiKey(database.prisma, projectId, id),
    list: (actor) => listApiKeys(database.prisma, actor.projectId, KEYS_MAX),
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

interface PresentedSecret {
  readonly lookup: string;
  /** Under each application secret that counts, the current one first. */
  readonly hashes: readonly Buffer[];
  /** Called for a secret that was right, so that a flood of wrong ones pushes none of those out. */
  remember(): void;
}

/** The public part and the keyed hashes of a secret. They never change, so those of keys in use are kept in memory. */
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

/** One message for a wrong form and for an unknown key: a guess learns nothing. */
const unknownKey = (): DomainError =>
  new DomainError("unauthorized", "This API key is not known here. Check that it was copied whole.");

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

const earlier = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b < a) ? b : a);

/** Whether an address lies in one of a key's networks; an empty list allows any. Lists are read once. */
const createNetworkCheck = (): ((networks: readonly string[], address: string | null) => boolean) => {
  const matchers = new LRUCache<string, (address: string) => boolean>({ max: NETWORK_LISTS_MAX });
  return (networks, address) => {
    if (networks.length === 0) return true;
    if (address === null) return false;
    const text = networks.join(" ");
    const matches = matchers.get(text) ?? networkMatcher(networks);
    matchers.set(text, matches);
    return matches(address);
  };
};

/** True at most once a minute for each key. */
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
 * Stores the hash under the current application secret, so that the previous one can be removed once every key was used. Instances
 * that still have the secrets the other way round take it back, hence once a minute at most; no request waits for it.
 */
const createRehash = ({ database, secrets }: ApiKeysDeps): ((key: StoredApiKey, to: Buffer, at: Date) => void) => {
  const isDue = onceAMinute();
  return ({ id, secretHash: from }, to, at) => {
    if (!isDue(id, at)) return;
    rehashApiKey(database.prisma, { id, from, to, appSecretId: secrets.id }).catch(() => undefined);
  };
};

/** Writes when and from where the key was used, once a minute at most, and never makes a request wait for it. */
const createTouch = ({ database }: ApiKeysDeps): ((id: string, at: Date, from: string | null) => void) => {
  const isDue = onceAMinute();
  return (id, at, from) => {
    if (!isDue(id, at)) return;
    const unlessSince = addSeconds(at, -TOUCH_SECONDS);
    // The time of last use is lost when the database is unavailable. The next minute writes it again, and the request reports the outage itself.
    touchApiKey(database.prisma, { id, at, from, unlessSince }).catch(() => undefined);
  };
};
