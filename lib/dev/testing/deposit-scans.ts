import { createChainRegistry } from "@/lib/chain/registry";
import { systemClock } from "@/lib/core/clock";
import { createTicker } from "@/lib/core/ticker";
import { newId } from "@/lib/core/ids";
import { createDepositsService, type DepositsDeps } from "@/lib/money/deposits/service";
import { createScreeningService } from "@/lib/trust/screening/service";
import { createFakeScreening } from "@/lib/trust/ports/fakes/screening";
import type { Address, Hex } from "viem";
import { testDatabase } from "./database";
import { testConfig } from "./devnet";
import { testAccount } from "./factories";
import { ownDevnet } from "./own-devnet";

export const CHAIN = 31337;
export const CONFIRMATIONS = 4;

export interface RpcCall {
  readonly id: number;
  readonly method: string;
}

/** A separate chain whose blocks the test mines, and the service that searches it for deposits. */
export const depositScans = async () => {
  const devnet = await ownDevnet();
  const chain = devnet.chains.find(({ chainId }) => chainId === CHAIN);
  if (chain === undefined) throw new Error("The devnet has no chain 31337.");
  const { database } = await testDatabase();
  const { prisma } = database;
  const { chains } = testConfig({
    databaseUrl: "postgresql://unused@127.0.0.1:9/unused",
    rpcUrls: devnet.rpcUrls,
  });
  /** Chains without dust limits, so that these tests can send any amount. */
  const configured = chains.map((each) => ({
    ...each,
    confirmations: CONFIRMATIONS,
    tokens: each.tokens.map((token) => ({ ...token, dustFloor: "0" })),
  }));
  const registry = createChainRegistry(configured);
  const usdc = registry.resolveToken(CHAIN, "USDC");
  const source = createFakeScreening();

  const serviceWith = (over: Partial<DepositsDeps> = {}) =>
    createDepositsService({
      ...{ database, registry, clock: systemClock, ticker: createTicker() },
      screening: createScreeningService({ sources: [source], clock: systemClock }),
      prices: { priceUsd: (tokens) => Promise.resolve(tokens.map(() => "1")) },
      listener: { on: () => () => undefined },
      approvals: { requireApproval: () => Promise.reject(new Error("Nobody asks.")) },
      ...over,
    });
  const deposits = serviceWith();

  const newWallet = async (): Promise<{ id: string; address: Address }> => {
    const [id, projectId] = [newId("wallet"), newId("project")];
    const { address } = testAccount();
    const createdAt = new Date();
    await prisma.project.create({ data: { id: projectId, name: "Test", createdAt } });
    await prisma.wallet.create({
      data: { id, projectId, kind: "treasury", address, keyId: id, createdAt },
    });
    return { id, address };
  };

  const rowsOf = (walletId: string) =>
    prisma.deposit.findMany({ where: { walletId }, orderBy: { id: "asc" } });
  const operationsOf = async (walletId: string) =>
    prisma.operation.findMany({
      where: { id: { in: (await rowsOf(walletId)).map(({ id }) => id) } },
    });
  const heldOf = async (address: string) =>
    (await prisma.balanceHold.findMany({ where: { walletAddress: address } })).map((hold) =>
      hold.amountBase.toString(),
    );

  /** Reads the raw bytes of a transaction, so that a test can include it in another block. */
  const rawOf = (hash: Hex): Promise<Hex> =>
    chain.client.request({
      method: "eth_getRawTransactionByHash" as never,
      params: [hash] as never,
    });

  /** Mines enough blocks to make everything final, then searches them for deposits. */
  const settle = async (): Promise<void> => {
    await chain.mine(CONFIRMATIONS + 1);
    await deposits.follow(CHAIN);
  };

  await chain.hold();
  await chain.mine(CONFIRMATIONS + 2);
  await deposits.follow(CHAIN);
  return {
    chain,
    database,
    prisma,
    chains,
    configured,
    registry,
    usdc,
    source,
    deposits,
    serviceWith,
    newWallet,
    rowsOf,
    operationsOf,
    heldOf,
    rawOf,
    settle,
  };
};
