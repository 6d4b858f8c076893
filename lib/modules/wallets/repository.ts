import type { Queryable } from "@/lib/db/client";
import type { EvmAddress } from "@/lib/ports/routing";
import { parseWallet, type StoredWallet, type Wallet } from "./wallet";

/** Unlinked wallets stay in the table for the records that name them. No query here returns them. */
const LINKED = { unlinkedAt: null };

const parseOrNull = (row: StoredWallet | null): Wallet | null => (row === null ? null : parseWallet(row));

/** Stores the wallet unless the project has one with this address. @returns the stored wallet, and whether it is new */
export const insertWallet = async (
  db: Queryable,
  wallet: Omit<Wallet, "userId" | "contractChainId">,
): Promise<{ wallet: Wallet; created: boolean }> => {
  const { count } = await db.wallet.createMany({ data: [wallet], skipDuplicates: true });
  const { projectId, address } = wallet;
  const row = await db.wallet.findUniqueOrThrow({ where: { projectId_address: { projectId, address } } });
  return { wallet: parseWallet(row), created: count === 1 };
};

export const findTreasury = async (db: Queryable, projectId: string): Promise<Wallet | null> =>
  parseOrNull(await db.wallet.findFirst({ where: { projectId, kind: "treasury" }, orderBy: { createdAt: "asc" } }));

export const findWalletByAddress = async (db: Queryable, projectId: string, address: string): Promise<Wallet | null> =>
  parseOrNull(await db.wallet.findUnique({ where: { projectId_address: { projectId, address }, ...LINKED } }));

export const findWalletById = async (db: Queryable, projectId: string, id: string): Promise<Wallet | null> =>
  parseOrNull(await db.wallet.findFirst({ where: { projectId, id, ...LINKED } }));

interface WalletPage {
  readonly limit: number;
  /** The wallet after which the page begins. */
  readonly after?: string | undefined;
  readonly address?: string | undefined;
}

/** At most `limit`, oldest first. None after an id that the project does not have. */
export const listWallets = async (
  db: Queryable,
  projectId: string,
  { limit, after, address }: WalletPage,
): Promise<Wallet[]> => {
  const last = after === undefined ? undefined : await db.wallet.findFirst({ where: { projectId, id: after } });
  if (last === null) return [];
  const beyond = last && {
    OR: [{ createdAt: { gt: last.createdAt } }, { createdAt: last.createdAt, id: { gt: last.id } }],
  };
  const rows = await db.wallet.findMany({
    where: { projectId, ...LINKED, ...(address === undefined ? {} : { address }), ...beyond },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: limit,
  });
  return rows.map(parseWallet);
};

/** Ids and addresses of all wallets, by id. They are some bytes each, so a project's 100,000 are read at once. */
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

/** @returns null when the project has no such wallet */
export const labelWallet = async (
  db: Queryable,
  { projectId, id, label }: { projectId: string; id: string; label: string | null },
): Promise<Wallet | null> => {
  await db.wallet.updateMany({ where: { projectId, id, ...LINKED }, data: { label } });
  return findWalletById(db, projectId, id);
};

/** Turns an unlinked contract wallet into a smart account. @returns false when the wallet is not an unlinked one */
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
