import { createPublicClient, encodeFunctionData, http, type Address } from "viem";
import { markedPaymasterAbi } from "@/lib/chain/erc4337/marked-paymaster";
import { devAddress } from "./accounts";
import { planDeployments } from "./contracts";
import { createUnlockedSender } from "./sender";

/**
 * Allows an account to mark operations for the local chain's paymaster, which the deployer owns.
 * Does nothing when the account is allowed already.
 */
export const allowMarker = async (rpcUrl: string, marker: Address): Promise<void> => {
  const { paymaster } = planDeployments().contracts;
  const client = createPublicClient({ transport: http(rpcUrl) });
  const isMarker = await client.readContract({
    address: paymaster,
    abi: markedPaymasterAbi,
    functionName: "isMarker",
    args: [marker],
  });
  if (isMarker) return;
  const data = encodeFunctionData({
    abi: markedPaymasterAbi,
    functionName: "setMarker",
    args: [marker, true],
  });
  await createUnlockedSender(client, devAddress("deployer")).send({ to: paymaster, data });
};
