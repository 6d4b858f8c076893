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
  readonly createdAt: Date;
}

const toWallet = (row: WalletRow): Wallet => ({
  id: row.id,
  projectId: row.projectId,
  kind: row.kind as WalletKind,
  address: row.address as EvmAddress,
  ownerAddress: row.ownerAddress as EvmAddress | null,
  keyId: row.keyId,
  label: row.label,
  createdAt: row.createdAt,
});

const toWalletOrNull = (row: WalletRow | null): Wallet | null => (row === null ? null : toWallet(row));

/** Stores the wallet unless the project has one of that address; answers with the one that it has now, and whether it is new. */
export const insertWallet = async (db: Queryable, wallet: Wallet): Promise<{ wallet: Wallet; created: boolean }> => {
  const { count } = await db.wallet.createMany({ data: [wallet], skipDuplicates: true });
  const { projectId, address } = wallet;
  const row = await db.wallet.findUniqueOrThrow({ where: { projectId_address: { projectId, address } } });
  return { wallet: toWallet(row), created: count === 1 };
};

export const findTreasury = async (db: Queryable, projectId: string): Promise<Wallet | null> =>
  toWalletOrNull(await db.wallet.findFirst({ where: { projectId, kind: "treasury" }, orderBy: { createdAt: "asc" } }));

export const findWalletByAddress = async (db: Queryable, projectId: string, address: string): Promise<Wallet | null> =>
  toWalletOrNull(await db.wallet.findUnique({ where: { projectId_address: { projectId, address } } }));

export const findWalletById = async (db: Queryable, projectId: string, id: string): Promise<Wallet | null> =>
  toWalletOrNull(await db.wallet.findFirst({ where: { projectId, id } }));

/** At most `limit`, oldest first. */
export const listWallets = async (db: Queryable, projectId: string, limit: number): Promise<Wallet[]> => {
  const rows = await db.wallet.findMany({
    where: { projectId },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: limit,
  });
  return rows.map(toWallet);
};
