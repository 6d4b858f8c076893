import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  getPrivateBalances,
  getPrivateTransfer,
  listPrivacyWallets,
  listPrivateExits,
} from "@/lib/contracts/privacy";
import type { quotePrivateSwap } from "@/lib/contracts/privacy-swap";

export type PrivateBalances = ResponseOf<typeof getPrivateBalances>;
/** The balance of one private wallet in one pool. */
export type PoolBalance = PrivateBalances["data"][number];
export type PrivacyWallet = ResponseOf<typeof listPrivacyWallets>["data"][number];
export type PrivateTransfer = ResponseOf<typeof getPrivateTransfer>;
export type PrivateExit = ResponseOf<typeof listPrivateExits>["data"][number];
export type PrivateQuote = ResponseOf<typeof quotePrivateSwap>;

/** Names a pool in addresses of pages and in selects. */
export const poolKey = ({ chainId, token }: Pick<PoolBalance, "chainId" | "token">): string =>
  `${String(chainId)}-${token.address}`;
