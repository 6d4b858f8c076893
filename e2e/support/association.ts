import type { Address } from "viem";
import { createAssociationChain } from "@/lib/dev/devnet/association/chain";
import { planDeployments } from "@/lib/dev/devnet/contracts";

const CHAIN = 31337;

/**
 * Makes the chain's association set decline all later deposits of this account into privacy pools.
 * The chain keeps this state.
 */
export const declineDepositsOf = (depositor: Address): Promise<void> =>
  createAssociationChain({
    rpcUrl: process.env[`E2E_RPC_URL_${String(CHAIN)}`] ?? "",
    privacy: planDeployments().contracts.privacy,
    delayMs: 0,
  }).decline(depositor);
