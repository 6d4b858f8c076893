import { createPublicClient, http, parseAbiItem, type Address, type Hex } from "viem";
import { expect } from "vitest";
import type { Services } from "@/lib/composition";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);

/** Every operation that an account executed on a chain, as the chain now tells it; asked past all code of ours. */
const executionsOf = async (rpcUrl: string, entryPoint: Address, sender: Address): Promise<Hex[]> => {
  const client = createPublicClient({ transport: http(rpcUrl) });
  const logs = await client.getLogs({
    address: entryPoint,
    event: userOperationEvent,
    args: { sender },
    fromBlock: 0n,
    strict: true,
  });
  return logs.map(({ args }) => args.userOpHash);
};

/**
 * Holds the record of these accounts to the chains: what each account executed is exactly what its legs signed, each once, and
 * nothing is left behind: no job, no hold. `rpcUrls` lead to the chains themselves.
 */
export const expectNothingTwiceOrForgotten = async (
  { database, registry }: Services,
  rpcUrls: Readonly<Record<string, string>>,
  accounts: readonly Address[],
): Promise<void> => {
  const legs = await database.prisma.operationLeg.findMany({ where: { walletAddress: { in: [...accounts] } } });
  for (const account of accounts) {
    for (const chain of registry.list()) {
      const executed = await executionsOf(rpcUrls[String(chain.id)] ?? "", chain.contracts.entryPoint, account);
      // A leg that failed before it was sent, or whose time was over, is on no chain.
      const signed = legs.filter((leg) => leg.walletAddress === account && leg.sourceChainId === chain.id);
      const seen = signed.flatMap((leg) => (leg.sourceTxHash === null ? [] : [leg.userOpHash]));
      expect([...executed].sort()).toEqual([...seen].sort());
    }
  }
  const operationIds = [...new Set(legs.map((leg) => leg.operationId))];
  const [jobs, holds] = await Promise.all([
    database.prisma.job.count({ where: { id: { in: operationIds } } }),
    database.prisma.balanceHold.count({ where: { operationId: { in: operationIds }, releasedAt: null } }),
  ]);
  expect({ jobs, holds }).toEqual({ jobs: 0, holds: 0 });
};
