import { oneOf } from "@/lib/platform/db/list-filters";
import type { Database, Queryable } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { table, text, time } from "@/lib/platform/db/table";
import type { EvmAddress } from "@/lib/core/evm";
import { parseWallet, type StoredWallet, type Wallet } from "./wallet";
import type { EncryptedRows } from "@/lib/platform/encryption/service";
import { managedKeyContext } from "@/lib/platform/ports/encryption";

/**
 * Condition for wallets that were not unlinked. Unlinked wallets stay in the table, because records
 * name them.
 */
const LINKED = { unlinkedAt: null };

const parseOrNull = (row: StoredWallet | null): Wallet | null =>
  row === null ? null : parseWallet(row);

/**
 * Stores the wallet unless the project has one with this address.
 * @returns the stored wallet, and whether it is new
 */
export const insertWallet = async (
  db: Queryable,
  wallet: Omit<Wallet, "userId" | "contractChainId">,
): Promise<{ wallet: Wallet; created: boolean }> => {
  const { count } = await db.wallet.createMany({ data: [wallet], skipDuplicates: true });
  const { projectId, address } = wallet;
  const row = await db.wallet.findUniqueOrThrow({
    where: { projectId_address: { projectId, address } },
  });
  return { wallet: parseWallet(row), created: count === 1 };
};

export const findTreasury = async (db: Queryable, projectId: string): Promise<Wallet | null> =>
  parseOrNull(
    await db.wallet.findFirst({
      where: { projectId, kind: "treasury" },
      orderBy: { createdAt: "asc" },
    }),
  );

export const findWalletByAddress = async (
  db: Queryable,
  projectId: string,
  address: string,
): Promise<Wallet | null> =>
  parseOrNull(
    await db.wallet.findUnique({
      where: { projectId_address: { projectId, address }, ...LINKED },
    }),
  );

export const findWalletById = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<Wallet | null> =>
  parseOrNull(await db.wallet.findFirst({ where: { projectId, id, ...LINKED } }));

interface WalletPage {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly address?: string | undefined;
  readonly kind?: readonly Wallet["kind"][] | undefined;
}

/**
 * At most `limit` wallets of the project, oldest first. Empty when `after` is an id that the
 * project does not have.
 */
export const listWallets = async (
  db: Queryable,
  projectId: string,
  { limit, after, address, kind }: WalletPage,
): Promise<Wallet[]> => {
  const last =
    after === undefined
      ? undefined
      : await db.wallet.findFirst({ where: { projectId, id: after } });
  if (last === null) return [];
  const beyond = last && {
    OR: [
      { createdAt: { gt: last.createdAt } },
      { createdAt: last.createdAt, id: { gt: last.id } },
    ],
  };
  const rows = await db.wallet.findMany({
    where: {
      projectId,
      ...LINKED,
      ...(address === undefined ? {} : { address }),
      ...oneOf("kind", kind),
      ...beyond,
    },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: limit,
  });
  return rows.map(parseWallet);
};

/**
 * Ids and addresses of all wallets of the project, in the order of the ids. The rows are small, so
 * one query can read 100,000 wallets.
 */
export const walletAddresses = async (
  db: Queryable,
  projectId: string,
): Promise<{ readonly id: string; readonly address: EvmAddress }[]> => {
  const rows = await db.wallet.findMany({
    where: { projectId, ...LINKED },
    select: { id: true, address: true },
    orderBy: { id: "asc" },
  });
  return rows.map(({ id, address }) => ({ id, address: address as EvmAddress }));
};

export const labelWallet = async (
  db: Queryable,
  { projectId, id, label }: { projectId: string; id: string; label: string | null },
): Promise<Wallet | null> => {
  await db.wallet.updateMany({ where: { projectId, id, ...LINKED }, data: { label } });
  return findWalletById(db, projectId, id);
};

/**
 * Turns an unlinked wallet into a smart account.
 * @returns false when the wallet is of another kind, or is linked
 */
export const convertUnlinkedWallet = async (
  db: Queryable,
  wallet: { id: string; ownerAddress: EvmAddress; keyId: string | null; label: string | null },
): Promise<boolean> => {
  const { id, ...account } = wallet;
  const where = { id, kind: "linked", unlinkedAt: { not: null } };
  const data = {
    ...account,
    kind: "smart_account",
    userId: null,
    contractChainId: null,
    unlinkedAt: null,
  };
  const { count } = await db.wallet.updateMany({ where, data });
  return count === 1;
};

const PURPOSE = "link";

export interface LinkSubject {
  readonly userId: string;
  readonly projectId: string;
  /** Checksummed. */
  readonly address: EvmAddress;
}

export interface LinkRequest {
  readonly nonce: string;
  readonly message: string;
  readonly expiresAt: Date;
  /** When the request to link a wallet was used, or was replaced by a newer one. */
  readonly usedAt: Date | null;
}

/** Closes the open requests of the subject, and stores the new one. */
export const replaceLinkRequest = async (
  db: Queryable,
  subject: LinkSubject,
  { now, ...request }: Omit<LinkRequest, "usedAt"> & { readonly now: Date },
): Promise<void> => {
  const where = { ...subject, purpose: PURPOSE, usedAt: null };
  await db.siweNonce.updateMany({ where, data: { usedAt: now } });
  await db.siweNonce.create({ data: { ...request, ...subject, purpose: PURPOSE } });
};

/** At most `limit` requests of the subject: the open one first, then the newest. */
export const listLinkRequests = async (
  db: Queryable,
  subject: LinkSubject,
  limit: number,
): Promise<LinkRequest[]> => {
  const rows = await db.siweNonce.findMany({
    where: { ...subject, purpose: PURPOSE },
    orderBy: [{ usedAt: { sort: "desc", nulls: "first" } }, { expiresAt: "desc" }],
    take: limit,
  });
  return rows.map(({ nonce, message, expiresAt, usedAt }) => ({
    nonce,
    message: message ?? "",
    expiresAt,
    usedAt,
  }));
};

/** Marks the request as used. Of several concurrent callers only one gets true. */
export const consumeLinkRequest = async (
  db: Queryable,
  nonce: string,
  now: Date,
): Promise<boolean> => {
  const where = { nonce, purpose: PURPOSE, usedAt: null, expiresAt: { gt: now } };
  const { count } = await db.siweNonce.updateMany({ where, data: { usedAt: now } });
  return count === 1;
};

const holders = table({ userId: text, linkedAt: time });

/**
 * Claims the address for the person unless somebody else holds it, and locks it until the
 * transaction ends.
 * @returns the holder
 */
export const claimAddress = async (
  db: Queryable,
  { address, userId, at }: { address: EvmAddress; userId: string; at: Date },
): Promise<{ userId: string; linkedAt: Date }> => {
  const holder = await holders.first(
    sqlOf(db),
    sql`
      INSERT INTO wallet_link (address, user_id, linked_at)
      VALUES (${address}, ${userId}, ${at}::timestamptz)
      ON CONFLICT (address) DO UPDATE SET address = EXCLUDED.address
      RETURNING ${holders.columns()}`,
  );
  if (holder === null) throw new Error("An upsert returned no row.");
  return holder;
};

export const findHolder = async (
  db: Queryable,
  address: EvmAddress,
): Promise<string | null> => {
  const row = await db.walletLink.findUnique({ where: { address } });
  return row?.userId ?? null;
};

/** Locks the address against other links and unlinks until the transaction ends. */
export const lockAddress = async (db: Queryable, address: EvmAddress): Promise<void> => {
  await sqlOf(db).change(sql`SELECT 1 FROM wallet_link WHERE address = ${address} FOR UPDATE`);
};

/**
 * Whether the service signs for the address in any project, or the address is a smart account of
 * this project already.
 */
export const isWalletAlready = async (
  db: Queryable,
  { address, projectId }: Pick<LinkSubject, "address" | "projectId">,
): Promise<boolean> => {
  const where = {
    address,
    OR: [{ keyId: { not: null } }, { projectId, kind: { not: "linked" } }],
  };
  return (await db.wallet.findFirst({ where, select: { id: true } })) !== null;
};

interface NewLink extends LinkSubject {
  readonly id: string;
  readonly contractChainId: number | null;
  readonly createdAt: Date;
}

/**
 * Links the wallet to the project. Creates its row, or links an unlinked row again.
 * @returns null when the address is another kind of wallet in the project
 */
export const upsertLinkedWallet = async (
  db: Queryable,
  link: NewLink,
): Promise<Wallet | null> => {
  const { id, projectId, address, userId, contractChainId, createdAt } = link;
  await sqlOf(db).change(sql`
    INSERT INTO wallet (id, project_id, kind, address, user_id, contract_chain_id, created_at)
    VALUES (
      ${id},
      ${projectId},
      'linked',
      ${address},
      ${userId},
      ${contractChainId}::int,
      ${createdAt}::timestamptz
    )
    ON CONFLICT (project_id, address) DO UPDATE SET
      user_id = EXCLUDED.user_id,
      contract_chain_id = EXCLUDED.contract_chain_id,
      unlinked_at = NULL
    WHERE wallet.kind = 'linked'`);
  const row = await db.wallet.findUniqueOrThrow({
    where: { projectId_address: { projectId, address } },
  });
  return row.kind === "linked" ? parseWallet(row) : null;
};

export interface LinkedWallet extends Wallet {
  readonly linkedAt: Date;
}

/** The wallets that the person linked to the project, oldest first; at most `limit`. */
export const listLinkedWallets = async (
  db: Queryable,
  { projectId, userId, limit }: { projectId: string; userId: string; limit: number },
): Promise<LinkedWallet[]> => {
  const rows = await db.wallet.findMany({
    where: { projectId, userId, kind: "linked", unlinkedAt: null },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: limit,
  });
  const links = await db.walletLink.findMany({
    where: { address: { in: rows.map(({ address }) => address) } },
  });
  const linkedAt = new Map(links.map((link) => [link.address, link.linkedAt]));
  return rows.map((row) => ({
    ...parseWallet(row),
    linkedAt: linkedAt.get(row.address) ?? row.createdAt,
  }));
};

export const findLinkedWallet = async (
  db: Queryable,
  subject: LinkSubject,
): Promise<Wallet | null> => {
  const row = await db.wallet.findFirst({
    where: { ...subject, kind: "linked", unlinkedAt: null },
  });
  return row === null ? null : parseWallet(row);
};

const openLegs = table({ operationId: text });

/** The id of an operation that still needs the wallet as a source; null when there is none. */
export const findOpenOperationOf = async (
  db: Queryable,
  walletId: string,
): Promise<string | null> => {
  const leg = await openLegs.first(
    sqlOf(db),
    sql`
      SELECT ${openLegs.columns("l")}
      FROM operation_leg l
      JOIN operation o ON o.project_id = l.project_id AND o.id = l.operation_id
      WHERE l.wallet_id = ${walletId} AND o.status IN ('pending', 'processing')
      LIMIT 1`,
  );
  return leg?.operationId ?? null;
};

/**
 * Unlinks the wallet in its project, and frees the address when the person has linked it in no
 * other project.
 */
export const unlinkWallet = async (
  db: Queryable,
  wallet: { id: string } & LinkSubject,
  now: Date,
): Promise<void> => {
  const { id, userId, address } = wallet;
  await db.wallet.update({ where: { id }, data: { unlinkedAt: now } });
  const others = await db.wallet.count({
    where: { address, userId, kind: "linked", unlinkedAt: null },
  });
  if (others === 0) await db.walletLink.deleteMany({ where: { address, userId } });
};

interface ManagedKey {
  readonly id: string;
  readonly projectId: string | null;
  readonly address: string;
  readonly ciphertext: Uint8Array;
  readonly wrappedDataKey: Uint8Array;
  readonly kekId: string;
}

interface ManagedKeyRepository {
  /**
   * Stores the key unless its id is taken, and returns the stored key with that id. A key is never
   * replaced.
   */
  insert(key: ManagedKey, createdAt: Date): Promise<ManagedKey>;
  find(id: string): Promise<ManagedKey | null>;
}

export const findProjectKeyId = async (
  { prisma }: Pick<Database, "prisma">,
  { projectId, address }: { projectId: string; address: string },
): Promise<string | null> => {
  const key = await prisma.managedKey.findUnique({
    where: { address, projectId },
    select: { id: true },
  });
  return key?.id ?? null;
};

/**
 * The store of the local signer (table `managed_key`). It contains only ciphertexts, and never sees
 * the key-encryption key.
 */
export const createManagedKeyRepository = ({ prisma }: Database): ManagedKeyRepository => ({
  insert: async (key, createdAt) => {
    const data = {
      ...key,
      ciphertext: Uint8Array.from(key.ciphertext),
      wrappedDataKey: Uint8Array.from(key.wrappedDataKey),
      createdAt,
    };
    await prisma.managedKey.createMany({ data: [data], skipDuplicates: true });
    return prisma.managedKey.findUniqueOrThrow({ where: { id: key.id } });
  },
  find: (id) => prisma.managedKey.findUnique({ where: { id } }),
});

const usedKeys = table({ kekId: text });

/**
 * The rows that a rotation of key-encryption keys re-encrypts. Only a wallet's data key is
 * encrypted under a key-encryption key.
 */
export const encryptedManagedKeys = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
  name: "wallet keys",
  count: async () => {
    const groups = await prisma.managedKey.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    // Jumps from one distinct id to the next in the index, so it needs few look-ups for any number
    // of rows.
    const rows = await usedKeys.all(
      sqlOf(prisma),
      sql`
        WITH RECURSIVE used AS (
          SELECT min(kek_id) AS kek_id FROM managed_key
          UNION ALL
          SELECT (SELECT min(kek_id) FROM managed_key WHERE kek_id > used.kek_id)
          FROM used
          WHERE used.kek_id IS NOT NULL
        )
        SELECT ${usedKeys.columns("used")} FROM used WHERE used.kek_id IS NOT NULL`,
    );
    return rows.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const rows = await prisma.managedKey.findMany({
      where: { kekId, id: { gt: afterId } },
      orderBy: { id: "asc" },
      take: limit,
      select: { id: true, projectId: true, wrappedDataKey: true },
    });
    return rows.map(({ id, projectId, wrappedDataKey: bytes }) => ({
      id,
      context: managedKeyContext({ projectId, keyId: id }),
      sealed: { kekId, bytes },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.managedKey.updateMany({
      where: { id, kekId: sealed.kekId, wrappedDataKey: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, wrappedDataKey: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
