import type { PoolBalance } from "../parts";

/** A pool with 100 USDC to spend, as the API shows it. */
export const POOL: PoolBalance = {
  privacyWalletId: "pw_1",
  chainId: 31337,
  token: { symbol: "USDC", address: "0x1", chainId: 31337, decimals: 6, assetId: "usdc" },
  spendable: "100",
  pendingApproval: "0",
  inProof: "0",
  declined: "0",
  anonymitySet: 3,
  minimum: "10",
  shieldFeeBps: 50,
  relayFeeBps: 100,
  canProcess: true,
};
