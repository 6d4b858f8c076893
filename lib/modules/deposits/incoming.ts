/** Transfers into wallets of projects, and the deposits that they are stored as. */
import { withMinters, type TokenTransfer } from "@/lib/chains/transfer-logs";
import type { ChainRegistry } from "@/lib/chains/registry";
import { newId } from "@/lib/core/ids";
import type { SqlReader } from "@/lib/db/sql";
import type { Deposit } from "./deposit";
import { walletsAt, type DepositWallet } from "./match-repository";

export interface Incoming {
  readonly transfer: TokenTransfer;
  readonly wallet: DepositWallet;
}

/** Identifies the log of a deposit. */
export const logKey = (at: {
  readonly projectId: string;
  readonly txHash: string | null;
  readonly logIndex: number | null;
}): string => `${at.projectId}:${String(at.txHash)}:${String(at.logIndex)}`;

export const keyOf = ({ transfer, wallet }: Incoming): string => logKey({ ...transfer, projectId: wallet.projectId });

export const tokenKey = ({ transfer }: Incoming): string => transfer.token.address.toLowerCase();

/**
 * Whether the stored deposit is this transfer. After a reorganisation the same place in the same transaction may have another transfer.
 */
export const isSame = (deposit: Deposit, incoming: Incoming): boolean =>
  deposit.walletAddress === incoming.wallet.address &&
  deposit.token === tokenKey(incoming) &&
  deposit.amountBase === incoming.transfer.amountBase &&
  deposit.sender === incoming.transfer.from;

/** The transfers into wallets of projects, in their order. */
export const intoWallets = async (sql: SqlReader, transfers: readonly TokenTransfer[]): Promise<Incoming[]> => {
  const wallets = await walletsAt(sql, [...new Set(transfers.map(({ to }) => to as string))]);
  const byAddress = new Map<string, DepositWallet[]>();
  for (const wallet of wallets) byAddress.set(wallet.address, [...(byAddress.get(wallet.address) ?? []), wallet]);
  return transfers.flatMap((transfer) =>
    (byAddress.get(transfer.to) ?? []).map((wallet): Incoming => ({ transfer, wallet })),
  );
};

/** Fills in the sender of minted tokens: the address that sent the transaction. @throws DomainError `chain_unavailable` */
export const withSenders = async (
  registry: ChainRegistry,
  chainId: number,
  incoming: readonly Incoming[],
): Promise<Incoming[]> => {
  const transfers = await withMinters(
    registry,
    chainId,
    incoming.map(({ transfer }) => transfer),
  );
  return incoming.map((each, index) => ({ ...each, transfer: transfers[index] ?? each.transfer }));
};

/** The columns that the log and its wallet give. A deposit that comes back keeps its id. */
export const rowOf = (
  incoming: Incoming,
  { known, detectedAt }: { readonly known: Deposit | undefined; readonly detectedAt: Date },
) => {
  const { transfer, wallet } = incoming;
  return {
    ...{ projectId: wallet.projectId, id: known?.id ?? newId("operation"), chainId: transfer.token.chainId },
    ...{ txHash: transfer.txHash, logIndex: transfer.logIndex, blockNumber: transfer.blockNumber },
    ...{ walletId: wallet.id, walletAddress: wallet.address, token: tokenKey(incoming) },
    ...{ sender: transfer.from, amountBase: transfer.amountBase, detectedAt },
  };
};
