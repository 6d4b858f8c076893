import type { Queryable } from "@/lib/db/client";
import type { EvmAddress } from "@/lib/ports/routing";
import { parseWallet, type Wallet } from "./wallet";

// ---------------------------------------------------------------- messages that wait for a signature (EIP-4361)

const PURPOSE = "link";

/** A link belongs to one person, one project and one address. */
export interface LinkSubject {
  readonly userId: string;
  readonly projectId: string;
  /** Checksummed. */
  readonly address: EvmAddress;
}

export interface LinkRequest {
  readonly nonce: string;
  /** The text that the wallet signs. */
  readonly message: string;
  readonly expiresAt: Date;
  /** When it was used, or replaced by a newer one. */
  readonly usedAt: Date | null;
}

/** Closes the open requests of the same subject, and stores the new one. */
export const replaceLinkRequest = async (
  db: Queryable,
  subject: LinkSubject,
  { now, ...request }: Omit<LinkRequest, "usedAt"> & { readonly now: Date },
): Promise<void> => {
  const where = { ...subject, purpose: PURPOSE, usedAt: null };
  await db.siweNonce.updateMany({ where, data: { usedAt: now } });
  await db.siweNonce.create({ data: { ...request, ...subject, purpose: PURPOSE } });
};

/** At most `limit`: the open one first, then the newest. */
export const listLinkRequests = async (db: Queryable, subject: LinkSubject, limit: number): Promise<LinkRequest[]> => {
  const rows = await db.siweNonce.findMany({
    where: { ...subject, purpose: PURPOSE },
    orderBy: [{ usedAt: { sort: "desc", nulls: "first" } }, { expiresAt: "desc" }],
    take: limit,
  });
  return rows.map(({ nonce, message, expiresAt, usedAt }) => ({ nonce, message: message ?? "", expiresAt, usedAt }));
};

/** Marks the request as used. Of any number of concurrent callers one gets true. */
export const consumeLinkRequest = async (db: Queryable, nonce: string, now: Date): Promise<boolean> => {
  const where = { nonce, purpose: PURPOSE, usedAt: null, expiresAt: { gt: now } };
  const { count } = await db.siweNonce.updateMany({ where, data: { usedAt: now } });
  return count === 1;
};

// ---------------------------------------------------------------- holders of addresses, over all projects

/** Claims the address for the person unless another one holds it, and locks it until the transaction ends. @returns the holder */
export const claimAddress = async (
  db: Queryable,
  { address, userId, at }: { address: EvmAddress; userId: string; at: Date },
): Promise<{ userId: string; linkedAt: Date }> => {
  const [row] = await db.$queryRaw<{ user_id: string; linked_at: Date }[]>`
    INSERT INTO wallet_link (address, user_id, linked_at) VALUES (${address}, ${userId}, ${at})
    ON CONFLICT (address) DO UPDATE SET address = EXCLUDED.address
    RETURNING user_id, linked_at`;
  if (!row) throw new Error("An upsert returned no row.");
  return { userId: row.user_id, linkedAt: row.linked_at };
};

export const findHolder = async (db: Queryable, address: EvmAddress): Promise<string | null> => {
  const row = await db.walletLink.findUnique({ where: { address } });
  return row?.userId ?? null;
};

/** Locks the address against other links and unlinks until the transaction ends. */
export const lockAddress = async (db: Queryable, address: EvmAddress): Promise<void> => {
  await db.$executeRaw`SELECT 1 FROM wallet_link WHERE address = ${address} FOR UPDATE`;
};

/** Whether the service signs for the address in any project, or the address is a smart account of this project already. */
export const isWalletAlready = async (
  db: Queryable,
  { address, projectId }: Pick<LinkSubject, "address" | "projectId">,
): Promise<boolean> => {
  const where = { address, OR: [{ keyId: { not: null } }, { projectId, kind: { not: "linked" } }] };
  return (await db.wallet.findFirst({ where, select: { id: true } })) !== null;
};

// ---------------------------------------------------------------- wallets of projects

interface NewLink extends LinkSubject {
  readonly id: string;
  readonly contractChainId: number | null;
  readonly createdAt: Date;
}

/** Creates or links again the linked wallet of the project. @returns null when the address is another kind of wallet in the project */
export const upsertLinkedWallet = async (db: Queryable, link: NewLink): Promise<Wallet | null> => {
  const { id, projectId, address, userId, contractChainId, createdAt } = link;
  await db.$executeRaw`
    INSERT INTO wallet (id, project_id, kind, address, user_id, contract_chain_id, created_at)
    VALUES (${id}, ${projectId}, 'linked', ${address}, ${userId}, ${contractChainId}, ${createdAt})
    ON CONFLICT (project_id, address) DO UPDATE
    SET user_id = EXCLUDED.user_id, contract_chain_id = EXCLUDED.contract_chain_id, unlinked_at = NULL
    WHERE wallet.kind = 'linked'`;
  const row = await db.wallet.findUniqueOrThrow({ where: { projectId_address: { projectId, address } } });
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
  const links = await db.walletLink.findMany({ where: { address: { in: rows.map(({ address }) => address) } } });
  const linkedAt = new Map(links.map((link) => [link.address, link.linkedAt]));
  return rows.map((row) => ({ ...parseWallet(row), linkedAt: linkedAt.get(row.address) ?? row.createdAt }));
};

export const findLinkedWallet = async (db: Queryable, subject: LinkSubject): Promise<Wallet | null> => {
  const row = await db.wallet.findFirst({ where: { ...subject, kind: "linked", unlinkedAt: null } });
  return row === null ? null : parseWallet(row);
};

/** The id of an operation that still needs the wallet as a source; null when there is none. */
export const findOpenOperationOf = async (db: Queryable, walletId: string): Promise<string | null> => {
  const [leg] = await db.$queryRaw<{ operationId: string }[]>`
    SELECT l.operation_id AS "operationId" FROM operation_leg l
    JOIN operation o ON o.project_id = l.project_id AND o.id = l.operation_id
    WHERE l.wallet_id = ${walletId} AND o.status IN ('pending', 'processing') LIMIT 1`;
  return leg?.operationId ?? null;
};

/** Unlinks the wallet in its project, and frees the address when the person has linked it in no other project. */
export const unlinkWallet = async (db: Queryable, wallet: { id: string } & LinkSubject, now: Date): Promise<void> => {
  const { id, userId, address } = wallet;
  await db.wallet.update({ where: { id }, data: { unlinkedAt: now } });
  const others = await db.wallet.count({ where: { address, userId, kind: "linked", unlinkedAt: null } });
  if (others === 0) await db.walletLink.deleteMany({ where: { address, userId } });
};
