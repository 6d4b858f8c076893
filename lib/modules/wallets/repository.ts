import type { Queryable } from "@/lib/db/client";
import type { Wallet as WalletRow } from "@/lib/db/generated/client";
import type { EvmAddress } from "@/lib/ports/routing";

export type WalletKind = "treasury" | "smart_account" | "linked";

export interface Wallet {
  readonly id: string;
  readonly projectId: string;
  readonly kind: WalletKind;
  /** Checksummed. */
  readonly address: EvmAddress;
  /** Who signs for a smart account. */
  readonly ownerAddress: EvmAddress | null;
  /** The managed key that signs, where the service does. */
  readonly keyId: string | null;
  readonly label: string | null;
  /** Who linked it. */
  readonly userId: string | null;
  /** The chain whose contract signs for a linked wallet (ERC-1271, ERC-6492); null for a plain account. */
  readonly contractChainId: number | null;
  readonly createdAt: Date;
}

/** Unlinked wallets stay for the records that name them; nothing here finds them. */
const LINKED = { unlinkedAt: null };

export const toWallet = (row: WalletRow): Wallet => ({
  id: row.id,
  projectId: row.projectId,
  kind: row.kind as WalletKind,
  address: row.address as EvmAddress,
  ownerAddress: row.ownerAddress as EvmAddress | null,
  keyId: row.keyId,
  label: row.label,
  userId: row.userId,
  contractChainId: row.contractChainId,
  createdAt: row.createdAt,
});

const toWalletOrNull = (row: WalletRow | null): Wallet | null => (row === null ? null : toWallet(row));

/** Stores the wallet unless the project has one of that address; answers with the one that it has now, and whether it is new. */
export const insertWallet = async (
  db: Queryable,
  wallet: Omit<Wallet, "userId" | "contractChainId">,
): Promise<{ wallet: Wallet; created: boolean }> => {
  const { count } = await db.wallet.createMany({ data: [wallet], skipDuplicates: true });
  const { projectId, address } = wallet;
  const row = await db.wallet.findUniqueOrThrow({ where: { projectId_address: { projectId, address } } });
  return { wallet: toWallet(row), created: count === 1 };
};

export const findTreasury = async (db: Queryable, projectId: string): Promise<Wallet | null> =>
  toWalletOrNull(await db.wallet.findFirst({ where: { projectId, kind: "treasury" }, orderBy: { createdAt: "asc" } }));

export const findWalletByAddress = async (db: Queryable, projectId: string, address: string): Promise<Wallet | null> =>
  toWalletOrNull(await db.wallet.findUnique({ where: { projectId_address: { projectId, address }, ...LINKED } }));

export const findWalletById = async (db: Queryable, projectId: string, id: string): Promise<Wallet | null> =>
  toWalletOrNull(await db.wallet.findFirst({ where: { projectId, id, ...LINKED } }));

/** At most `limit`, oldest first. */
export const listWallets = async (db: Queryable, projectId: string, limit: number): Promise<Wallet[]> => {
  const rows = await db.wallet.findMany({
    where: { projectId, ...LINKED },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: limit,
  });
  return rows.map(toWallet);
};

/** null where the project has no such wallet. */
export const labelWallet = async (
  db: Queryable,
  { projectId, id, label }: { projectId: string; id: string; label: string | null },
): Promise<Wallet | null> => {
  await db.wallet.updateMany({ where: { projectId, id, ...LINKED }, data: { label } });
  return findWalletById(db, projectId, id);
};

/** Makes a smart account of a wallet that was linked as a contract and is no more. False where it is not such a one. */
export const convertUnlinkedWallet = async (
  db: Queryable,
  wallet: { id: string; ownerAddress: EvmAddress; keyId: string | null; label: string | null },
): Promise<boolean> => {
  const { id, ...account } = wallet;
  const where = { id, kind: "linked", unlinkedAt: { not: null } };
  const data = { ...account, kind: "smart_account", userId: null, contractChainId: null, unlinkedAt: null };
  const { count } = await db.wallet.updateMany({ where, data });
  return count === 1;
};
