import * as apiKeys from "./api-keys";
import * as auth from "./auth";
import * as balances from "./balances";
import * as chains from "./chains";
import type { Contract } from "./contract";
import * as dev from "./dev";
import * as operations from "./operations";
import * as swap from "./swap";
import * as system from "./system";
import * as wallets from "./wallets";

/** Every route of the service; the OpenAPI document is made from this list, and a test holds it to the route files. */
export const contracts: readonly Contract[] = [
  auth.createNonce,
  auth.createToken,
  auth.refreshToken,
  auth.logout,
  auth.getJwks,
  auth.whoAmI,
  auth.getMe,
  auth.updateMe,
  auth.verifyEmail,
  apiKeys.createApiKey,
  apiKeys.listApiKeys,
  apiKeys.revokeApiKey,
  wallets.listWallets,
  chains.listChains,
  chains.listTokens,
  swap.createQuote,
  swap.requestOtp,
  swap.prepareSwap,
  swap.executeSwap,
  operations.listOperations,
  operations.getOperation,
  operations.streamOperationEvents,
  balances.getUnifiedBalances,
  dev.useFaucet,
  dev.readInbox,
  system.getHealth,
  system.getReadiness,
  system.getOpenApi,
];
