import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  importPKCS8,
  type CryptoKey,
} from "jose";
import { z } from "zod";
import type { Clock } from "@/lib/core/clock";
import { createFreshCache } from "@/lib/core/fresh-cache";
import type { Database } from "@/lib/db/client";
import { createSealer, type Sealer } from "@/lib/modules/secrets/service";
import { insertFirstTokenKey, listTokenKeys, type TokenKeyRow } from "./token-key-repository";

export const TOKEN_ALGORITHM = "ES256";

const publicJwk = z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string() });
type PublicJwk = z.output<typeof publicJwk>;

export interface Jwk extends PublicJwk {
  readonly kid: string;
  readonly alg: string;
  readonly use: "sig";
}

interface LoadedKeys {
  readonly signing: { readonly kid: string; readonly key: CryptoKey };
  readonly verifying: ReadonlyMap<string, CryptoKey>;
  readonly jwks: readonly Jwk[];
}

export interface TokenKeys {
  /** The newest key. */
  signing(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** null for a `kid` that is not in the database. */
  verifying(kid: string): Promise<CryptoKey | null>;
  /** RFC 7517, newest first. */
  jwks(): Promise<readonly Jwk[]>;
}

export interface TokenKeysDeps {
  readonly database: Database;
  readonly keyEncryptionKey: Uint8Array;
  readonly clock: Clock;
}

const KEYS_MAX = 10;
const REFRESH_AFTER_MS = 30_000;
const EXPIRE_AFTER_MS = 60_000;
/** A `kid` that is not known is looked for in the database this often at most, however many such tokens come. */
const UNKNOWN_KID_MS = 1000;
const ALL = "all";

/**
 * The keys of access tokens: one row each, the private part encrypted. The first one is made when it is needed. A second one, added
 * by an operator, signs from then on; tokens of the older ones stay good until they expire.
 */
export const createTokenKeys = (deps: TokenKeysDeps): TokenKeys => {
  const sealer = createSealer(deps.keyEncryptionKey);
  const load = async (): Promise<LoadedKeys> => {
    const rows = await listTokenKeys(deps.database.prisma, KEYS_MAX);
    if (rows.length > 0) return open(rows, sealer);
    await insertFirstTokenKey(deps.database, await makeKey(sealer, deps.clock));
    return open(await listTokenKeys(deps.database.prisma, KEYS_MAX), sealer);
  };
  const cache = createFreshCache({ load, refreshAfterMs: REFRESH_AFTER_MS, expireAfterMs: EXPIRE_AFTER_MS });
  let lookedAgainMs = -Infinity;

  const verifying = async (kid: string): Promise<CryptoKey | null> => {
    const key = (await cache.get(ALL)).verifying.get(kid);
    if (key || performance.now() - lookedAgainMs < UNKNOWN_KID_MS) return key ?? null;
    lookedAgainMs = performance.now();
    cache.invalidate(ALL);
    return (await cache.get(ALL)).verifying.get(kid) ?? null;
  };
  return {
    signing: async () => (await cache.get(ALL)).signing,
    verifying,
    jwks: async () => (await cache.get(ALL)).jwks,
  };
};

const contextOf = (kid: string): string => `token-key ${kid}`;

const makeKey = async (sealer: Sealer, clock: Clock) => {
  const pair = await generateKeyPair(TOKEN_ALGORITHM, { extractable: true });
  const jwk = publicJwk.parse(await exportJWK(pair.publicKey));
  const kid = await calculateJwkThumbprint(jwk);
  const privateEncrypted = sealer.seal(Buffer.from(await exportPKCS8(pair.privateKey)), contextOf(kid));
  return { kid, publicJwk: jwk, privateEncrypted, createdAt: clock.now() };
};

const open = async (rows: readonly TokenKeyRow[], sealer: Sealer): Promise<LoadedKeys> => {
  const [newest] = rows;
  if (!newest) throw new Error("The database has no key for access tokens, although one was just made.");
  const keys = await Promise.all(
    rows.map(async ({ kid, publicJwk: json }) => {
      const jwk: Jwk = { ...publicJwk.parse(json), kid, alg: TOKEN_ALGORITHM, use: "sig" };
      const key = await importJWK({ ...jwk }, TOKEN_ALGORITHM);
      if (key instanceof Uint8Array) throw new Error(`Token key ${kid} is not a public key.`);
      return { jwk, key };
    }),
  );
  return {
    signing: { kid: newest.kid, key: await openPrivate(newest, sealer) },
    verifying: new Map(keys.map(({ jwk, key }) => [jwk.kid, key])),
    jwks: keys.map(({ jwk }) => jwk),
  };
};

const openPrivate = async ({ kid, privateEncrypted }: TokenKeyRow, sealer: Sealer): Promise<CryptoKey> => {
  let pkcs8: string;
  try {
    pkcs8 = sealer.open(privateEncrypted, contextOf(kid)).toString();
  } catch {
    throw new Error(`The token key ${kid} cannot be decrypted: KEY_ENCRYPTION_KEY is not the one it was stored under.`);
  }
  return importPKCS8(pkcs8, TOKEN_ALGORITHM);
};
