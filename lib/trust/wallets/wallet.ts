import { z } from "zod";
import type { EvmAddress } from "@/lib/core/evm";
import { storedAddress } from "@/lib/platform/db/codecs";

const walletKind = z.enum(["treasury", "smart_account", "linked"]);

export type WalletKind = z.output<typeof walletKind>;

export interface Wallet {
  readonly id: string;
  readonly projectId: string;
  readonly kind: WalletKind;
  /** Checksummed. */
  readonly address: EvmAddress;
  readonly ownerAddress: EvmAddress | null;
  /** The managed key that signs; null when the service holds no key of the wallet. */
  readonly keyId: string | null;
  readonly label: string | null;
  readonly userId: string | null;
  /**
   * The chain whose contract signs for a linked wallet (ERC-1271, ERC-6492); null for a plain
   * account.
   */
  readonly contractChainId: number | null;
  readonly createdAt: Date;
}

/** A row of the table `wallet`. Its columns are parsed only in this file. */
export interface StoredWallet extends Omit<Wallet, "kind" | "address" | "ownerAddress"> {
  readonly kind: string;
  readonly address: string;
  readonly ownerAddress: string | null;
}

/** @throws ZodError when a column does not have the expected shape */
export const parseWallet = (row: StoredWallet): Wallet => ({
  id: row.id,
  projectId: row.projectId,
  kind: walletKind.parse(row.kind),
  address: storedAddress.parse(row.address),
  ownerAddress: storedAddress.nullable().parse(row.ownerAddress),
  keyId: row.keyId,
  label: row.label,
  userId: row.userId,
  contractChainId: row.contractChainId,
  createdAt: row.createdAt,
});
