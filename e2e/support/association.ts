import type { Address } from "viem";
import { createAssociationChain } from "@/lib/devnet/association/chain";
import { planDeployments } from "@/lib/devnet/contracts";

const CHAIN = 31337;

/** From now on the stack's association set declines what the account deposits into privacy pools; the chain keeps that. */
export const declineDepositsOf = (depositor: Address): Promise<void> =>
  createAssociationChain({
    rpcUrl: process.env[`E2E_RPC_URL_${String(CHAIN)}`] ?? "",
    privacy: planDeployments().contracts.privacy,
    delayMs: 0,
  }).decline(depositor);
