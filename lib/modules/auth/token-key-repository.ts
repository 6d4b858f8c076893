import type { Database, Queryable } from "@/lib/db/client";
import type { Prisma } from "@/lib/db/generated/client";

export interface TokenKeyRow {
  readonly kid: string;
  readonly publicJwk: unknown;
  /** Encrypted under the key-encryption key. */
  readonly privateEncrypted: Uint8Array;
  readonly createdAt: Date;
}

export interface NewTokenKey extends TokenKeyRow {
  readonly publicJwk: Readonly<Record<string, string>>;
}

/** Held while the first key is made; any number that nobody else uses. */
const LOCK = 0x43_57_54_4b;

/** Newest first. */
export const listTokenKeys = (db: Queryable, limit: number): Promise<TokenKeyRow[]> =>
  db.tokenKey.findMany({ orderBy: [{ createdAt: "desc" }, { kid: "asc" }], take: limit });

/** Stores the key unless there is one already: of many instances that start at once, one makes the key. */
export const insertFirstTokenKey = async (database: Database, key: NewTokenKey): Promise<void> => {
  await database.transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`;
    if ((await tx.tokenKey.count()) > 0) return;
    const publicJwk: Prisma.InputJsonObject = { ...key.publicJwk };
    await tx.tokenKey.create({ data: { ...key, publicJwk, privateEncrypted: Uint8Array.from(key.privateEncrypted) } });
  });
};
