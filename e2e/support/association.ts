import type { Address } from "viem";
import { createAssociationChain } from "@/lib/dev/devnet/association/chain";
import { planDeployments } from "@/lib/dev/devnet/contracts";

const CHAIN = 31337;

/**
 * Makes the association set of chain 31337 decline every deposit that this account makes from now
 * on into privacy pools. The rule is stored on the chain and cannot be removed.
 */
export const declineDepositsOf = (depositor: Address): Promise<void> =>
  createAssociationChain({
    rpcUrl: process.env[`E2E_RPC_URL_${String(CHAIN)}`] ?? "",
    privacy: planDeployments().contracts.privacy,
    delayMs: 0,
  }).decline(depositor);
