import type { ApiKeyActor, ApiKeyPolicy, UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { createFreshCache } from "@/lib/core/fresh-cache";
import { isId, newId } from "@/lib/core/ids";
import { SCOPES, type Scope } from "@/lib/contracts/contract";
import type { Database } from "@/lib/db/client";
import { recordAudit } from "@/lib/modules/audit/service";
import type { Secrets } from "@/lib/modules/secrets/service";
import {
  findByLookup,
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  touchApiKey,
  type ApiKey,
  type StoredApiKey,
} from "./repository";
import { newApiKeySecret, parseApiKeySecret } from "./secret";

export type { ApiKey } from "./repository";

export interface ApiKeysDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** `test` where every configured chain is a test network: the key says so in its prefix. */
  readonly kind: "test" | "live";
  /** For the age of cached keys; the default never goes back. */
  readonly monotonicMs?: () => number;
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes?: readonly Scope[] | undefined;
  /** RFC 3339. */
  readonly expiresAt?: string | undefined;
  /** Default `required`. An exempt key needs a daily cap, and only an exempt key has one; the contract holds callers to it. */
  readonly otp?: ApiKeyPolicy["otp"] | undefined;
  /** US dollars, a decimal string of at most 6 fraction digits. */
  readonly dailyCapUsd?: string | undefined;
  /** Checksummed. */
  readonly recipients?: readonly string[] | undefined;
}

export interface ApiKeysService {
  /** @throws DomainError `forbidden` unless owner or admin; `invalid_request` when it would be expired already */
  create(actor: UserActor, input: NewApiKey): Promise<{ key: ApiKey; secret: string }>;
  /** Keys of the actor's project, newest first (1,000 at most). */
  list(actor: UserActor): Promise<ApiKey[]>;
  /** Revoking again answers as the first time. @throws DomainError `forbidden`, `not_found` */
  revoke(actor: UserActor, id: string): Promise<{ id: string; revokedAt: Date }>;
  /**
   * Who a secret stands for. Waits for nothing while the key was read less than a second ago.
   * @throws DomainError `unauthorized`, `api_key_expired`, `api_key_revoked`
   */
  verify(secret: string): Promise<ApiKeyActor>;
}

const KEYS_MAX = 1000;
const TOUCH_SECONDS = 60;
const TOUCHED_MAX = 10_000;
const SECRETS_REMEMBERED_MAX = 1000;
const HASH_PURPOSE = "api-key";
const DEFAULT_SCOPES = SCOPES.filter((scope) => scope !== "keys:manage");

export const createApiKeysService = (deps: ApiKeysDeps): ApiKeysService => {
  const { database, secrets, clock } = deps;
  const keys = createFreshCache<StoredApiKey | null>({
    load: (lookup) => findByLookup(database.prisma, lookup),
    // Unknown keys take no place: a flood of them must not push known ones out.
    keep: (key) => key !== null,
    ...(deps.monotonicMs ? { monotonicMs: deps.monotonicMs } : {}),
  });
  const touch = createTouch(deps);
  const read = createSecretReader(secrets);

  const admit = (key: StoredApiKey | null, hash: Buffer): ApiKeyActor => {
    if (key === null || !secrets.equals(key.secretHash, hash)) throw unknownKey();
    const now = clock.now();
    if (key.revokedAt !== null) throw new DomainError("api_key_revoked", "This API key was revoked. Use another one.");
    if (key.expiresAt !== null && key.expiresAt <= now)
      throw new DomainError("api_key_expired", "This API key has expired. Make a new one.");
    touch(key.id, now);
    const { id: keyId, projectId, createdBy, scopes, policy } = key;
    return { type: "apiKey", keyId, projectId, createdBy, scopes, policy };
  };

  const create = async (actor: UserActor, input: NewApiKey): Promise<{ key: ApiKey; secret: string }> => {
    mayManage(actor);
    const createdAt = clock.now();
    const expiresAt = input.expiresAt === undefined ? null : new Date(input.expiresAt);
    if (expiresAt !== null && expiresAt <= createdAt)
      throw invalidRequest([{ path: "expiresAt", message: "expiresAt must lie in the future." }]);
    const { secret, ...shown } = newApiKeySecret(deps.kind);
    const scopes = [...new Set(input.scopes ?? DEFAULT_SCOPES)];
    const policy = policyOf(input);
    const { projectId, userId: createdBy } = actor;
    const key = await database.transaction(async (tx) => {
      const secretHash = secrets.hash(HASH_PURPOSE, secret);
      const fields = {
        id: newId("apiKey"),
        projectId,
        createdBy,
        name: input.name,
        scopes,
        policy,
        createdAt,
        expiresAt,
      };
      const made = await insertApiKey(tx, { ...fields, ...shown, secretHash });
      const entry = { projectId, actor: createdBy, subject: made.id, at: createdAt };
      await recordAudit(tx, { ...entry, action: "api_key.created", data: { name: made.name, scopes, ...policy } });
      return made;
    });
    return { key, secret };
  };

  const revoke = async (actor: UserActor, id: string): Promise<{ id: string; revokedAt: Date }> => {
    mayManage(actor);
    if (!isId("apiKey", id)) throw notFound();
    const { projectId, userId } = actor;
    const at = clock.now();
    const revoked = await database.transaction(async (tx) => {
      const done = await revokeApiKey(tx, { projectId, id, at });
      const entry = { projectId, actor: userId, subject: id, at };
      if (done?.changed) await recordAudit(tx, { ...entry, action: "api_key.revoked" });
      return done;
    });
    if (!revoked) throw notFound();
    keys.invalidate(revoked.lookup);
    return { id, revokedAt: revoked.revokedAt };
  };

  return {
    create,
    revoke,
    list: (actor) => listApiKeys(database.prisma, actor.projectId, KEYS_MAX),
    verify: async (secret) => {
      const presented = read(secret);
      if (!presented) throw unknownKey();
      const key = await keys.get(presented.lookup);
      const actor = admit(key, presented.hash);
      presented.remember();
      return actor;
    },
  };
};

const policyOf = ({ otp = "required", dailyCapUsd, recipients = [] }: NewApiKey): ApiKeyPolicy => {
  if ((otp === "exempt") !== (dailyCapUsd !== undefined)) {
    const message = "An exempt key needs a daily cap, and only an exempt key has one.";
    throw invalidRequest([{ path: "dailyCapUsd", message }]);
  }
  return { otp, dailyCapUsd: dailyCapUsd ?? null, recipients: [...new Set(recipients)] };
};

interface PresentedSecret {
  readonly lookup: string;
  readonly hash: Buffer;
  /** Called for a secret that was right, so that a flood of wrong ones pushes none of those out. */
  remember(): void;
}

/** The public part and the keyed hash of a secret. They never change, so those of keys in use are kept in memory. */
const createSecretReader = (secrets: Secrets): ((secret: string) => PresentedSecret | null) => {
  const known = new Map<string, PresentedSecret>();
  return (secret) => {
    const found = known.get(secret);
    if (found) return found;
    const parsed = parseApiKeySecret(secret);
    if (!parsed) return null;
    const presented: PresentedSecret = {
      lookup: parsed.lookup,
      hash: secrets.hash(HASH_PURPOSE, secret),
      remember: () => {
        if (known.has(secret)) return;
        if (known.size >= SECRETS_REMEMBERED_MAX) known.clear();
        known.set(secret, presented);
      },
    };
    return presented;
  };
};

/** One message for a wrong form and for an unknown key: a guess learns nothing. */
const unknownKey = (): DomainError =>
  new DomainError("unauthorized", "This API key is not known here. Check that it was copied whole.");

const mayManage = (actor: UserActor): void => {
  if (actor.role !== "owner" && actor.role !== "admin")
    throw new DomainError("forbidden", "Only owners and admins of the project may make or revoke API keys.");
};

/** Writes `lastUsedAt` once a minute at most, and never makes a request wait for it. */
const createTouch = ({ database }: ApiKeysDeps): ((id: string, at: Date) => void) => {
  const touchedMs = new Map<string, number>();
  return (id, at) => {
    const last = touchedMs.get(id);
    if (last !== undefined && at.getTime() - last < TOUCH_SECONDS * 1000) return;
    if (touchedMs.size >= TOUCHED_MAX) touchedMs.clear();
    touchedMs.set(id, at.getTime());
    const unlessSince = addSeconds(at, -TOUCH_SECONDS);
    // Lost when the database is away: the next minute writes again, and the request has its own trouble to tell.
    touchApiKey(database.prisma, { id, at, unlessSince }).catch(() => undefined);
  };
};
