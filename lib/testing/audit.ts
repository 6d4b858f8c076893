import { createPublicClient, http, parseAbiItem, zeroAddress, type Address } from "viem";
import { expect } from "vitest";
import type { Services } from "@/lib/composition";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);

interface Execution {
  readonly userOpHash: string | null;
  readonly costWei: string;
  readonly paidBy: string | null;
}

/** Every operation that an account executed on a chain, as the chain now tells it; asked past all code of ours. */
const executionsOf = async (rpcUrl: string, entryPoint: Address, sender: Address): Promise<Execution[]> => {
  const client = createPublicClient({ transport: http(rpcUrl) });
  const logs = await client.getLogs({
    address: entryPoint,
    event: userOperationEvent,
    args: { sender },
    fromBlock: 0n,
    strict: true,
  });
  return logs.map(({ args: { userOpHash, actualGasCost, paymaster } }) => ({
    userOpHash,
    costWei: actualGasCost.toString(),
    paidBy: paymaster === zeroAddress ? "wallet" : "sponsor",
  }));
};

const inOrder = (executions: readonly Execution[]): Execution[] =>
  [...executions].sort((a, b) => ((a.userOpHash ?? "") < (b.userOpHash ?? "") ? -1 : 1));

/**
 * Holds the record of these accounts to the chains: what each account executed is exactly what its legs signed, each once and at the
 * cost that its leg names, and nothing is left behind: no job, no hold. `rpcUrls` lead to the chains themselves.
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
      const seen = signed
        .filter(({ sourceTxHash }) => sourceTxHash !== null)
        .map(({ userOpHash, gasCostWei, gasPaidBy }) => ({
          userOpHash,
          costWei: gasCostWei?.toFixed(0) ?? "none",
          paidBy: gasPaidBy,
        }));
      expect(inOrder(executed)).toEqual(inOrder(seen));
    }
  }
  const operationIds = [...new Set(legs.map((leg) => leg.operationId))];
  const [jobs, holds] = await Promise.all([
    database.prisma.job.count({ where: { id: { in: operationIds } } }),
    database.prisma.balanceHold.count({ where: { operationId: { in: operationIds }, releasedAt: null } }),
  ]);
  expect({ jobs, holds }).toEqual({ jobs: 0, holds: 0 });
};
