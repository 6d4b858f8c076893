import { createPublicClient, http, parseAbiItem, zeroAddress, type Address } from "viem";
import { expect, vi } from "vitest";
import type { Services } from "@/lib/composition";

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);

const JOBS_ENDED = { timeout: 30_000, interval: 100 };

interface Execution {
  readonly userOpHash: string | null;
  readonly costWei: string;
  readonly paidBy: string | null;
}

/** Every operation that an account executed on a chain, read from the chain without the service. */
const executionsOf = async (
  rpcUrl: string,
  entryPoint: Address,
  sender: Address,
): Promise<Execution[]> => {
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
 * Compares the records of these accounts with the chains: each account executed exactly the
 * operations that its legs signed, each once and at the recorded cost, and no job or hold remains.
 * `rpcUrls` lead to the chains directly. Fails when there is no leg.
 */
export const expectNothingTwiceOrForgotten = async (
  { database, registry }: Services,
  rpcUrls: Readonly<Record<string, string>>,
  accounts: readonly Address[],
): Promise<void> => {
  const legs = await database.prisma.operationLeg.findMany({
    where: { walletAddress: { in: [...accounts] } },
  });
  // Without accounts or legs the comparison below would be empty and prove nothing.
  expect(accounts.length).toBeGreaterThan(0);
  expect(legs.length).toBeGreaterThan(0);
  for (const account of accounts) {
    for (const chain of registry.list()) {
      const executed = await executionsOf(
        rpcUrls[String(chain.id)] ?? "",
        chain.contracts.entryPoint,
        account,
      );
      // A leg that expired or failed before it was sent is on no chain.
      const signed = legs.filter(
        (leg) => leg.walletAddress === account && leg.sourceChainId === chain.id,
      );
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
  expect(
    await database.prisma.balanceHold.count({
      where: { operationId: { in: operationIds }, releasedAt: null },
    }),
  ).toBe(0);
  // The worker deletes the job shortly after it stored the operation's end.
  await vi.waitFor(async () => {
    expect(await database.prisma.job.count({ where: { id: { in: operationIds } } })).toBe(0);
  }, JOBS_ENDED);
};
