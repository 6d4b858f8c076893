import { encodeFunctionData, erc20Abi, type Address } from "viem";
import { expect, test } from "vitest";
import { createChainRegistry, type ChainRegistry } from "@/lib/chain/registry";
import { systemClock } from "@/lib/core/clock";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { createScreeningService } from "@/lib/trust/screening/service";
import { sendFromOutside } from "@/lib/dev/testing/deposits";
import { testAccount } from "@/lib/dev/testing/factories";
import { scanChain } from "./scan";
import { CHAIN, depositScans, type RpcCall } from "@/lib/dev/testing/deposit-scans";

const {
  chain,
  database,
  prisma,
  configured,
  registry,
  usdc,
  source,
  serviceWith,
  newWallet,
  rowsOf,
  settle,
} = await depositScans();

test("a turn ends with the block after which it would store too many deposits", async () => {
  const wallet = await newWallet();
  const sender = testAccount();
  for (let sent = 0; sent < 5; sent += 1)
    await sendFromOutside(registry, sender, {
      token: usdc,
      to: wallet.address,
      amountBase: 1n,
    });
  const screening = createScreeningService({ sources: [source], clock: systemClock });
  const prices = { priceUsd: () => Promise.resolve([]) };
  const deps = {
    database,
    registry,
    screening,
    prices,
    clock: systemClock,
    tokenOf: () => usdc,
    rowsMax: 2,
  };
  const counts: number[] = [];
  for (let isMore = true; isMore; counts.push((await rowsOf(wallet.id)).length))
    isMore = await scanChain(deps, CHAIN);
  expect(counts.at(-1)).toBe(5);
  const added = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(Math.max(...added)).toBeLessThanOrEqual(2);
});

test("a node that refuses the range is asked for smaller ones, and every deposit is found", async () => {
  const wallets = await Promise.all([newWallet(), newWallet()]);
  for (const { address } of wallets) {
    await sendFromOutside(registry, testAccount(), {
      token: usdc,
      to: address,
      amountBase: 3n,
    });
    await chain.mine(20);
  }
  let refused = 0;
  const strict: ChainRegistry = createChainRegistry(configured, {
    fetchFn: async (input, init) => {
      const asked = JSON.parse(typeof init?.body === "string" ? init.body : "[]") as
        | RpcCall
        | RpcCall[];
      const answers = [asked].flat().map(async (call): Promise<object> => {
        const body = JSON.stringify(call);
        const [, from = "0x0", to = "0x0"] =
          /"fromBlock":"(0x\w+)","toBlock":"(0x\w+)"/.exec(body) ?? [];
        if (Number(to) - Number(from) < 5)
          return (await fetch(input, { ...init, body })).json() as Promise<object>;
        refused += 1;
        const error = { code: -32005, message: "query exceeds max block range" };
        return { jsonrpc: "2.0", id: call.id, error };
      });
      const all = await Promise.all(answers);
      return Response.json(Array.isArray(asked) ? all : all[0]);
    },
  });
  await serviceWith({ registry: strict }).follow(CHAIN);
  expect(refused).toBeGreaterThan(0);
  for (const { id } of wallets) expect(await rowsOf(id)).toHaveLength(1);
});

test("with more wallets than a node looks for, all transfers are read, and the deposits of ours are found alone", async () => {
  const wallet = await newWallet();
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: wallet.address,
    amountBase: 3n,
  });
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: testAccount().address,
    amountBase: 4n,
  });
  const before = await prisma.deposit.count();
  await serviceWith({ recipientsMax: 0 }).follow(CHAIN);
  expect(await rowsOf(wallet.id)).toHaveLength(1);
  expect(await prisma.deposit.count()).toBe(before + 1);
});

test("hundreds of small deposits in one block are stored and credited in batches", async () => {
  const wallet = await newWallet();
  const sender = testAccount();
  await createFaucet({ registry }).give(sender.address, registry.native(CHAIN), 10n ** 18n);
  await createFaucet({ registry }).give(sender.address, usdc, 1_000n);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [wallet.address, 1n],
  });
  const nonce = await chain.client.getTransactionCount({ address: sender.address });
  await chain.client.setAutomine(false);
  try {
    for (let sent = 0; sent < 600; sent += 1) {
      const serializedTransaction = await sender.signTransaction({
        ...{
          chainId: CHAIN,
          nonce: nonce + sent,
          to: usdc.address as Address,
          data,
          gas: 100_000n,
        },
        ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n },
      });
      await chain.client.sendRawTransaction({ serializedTransaction });
    }
    await chain.mine(1);
  } finally {
    await chain.client.setAutomine(true);
  }
  await settle();
  const states = await prisma.deposit.groupBy({
    by: ["state"],
    where: { walletId: wallet.id },
    _count: true,
  });
  expect(states).toMatchObject([{ state: "credited", _count: 600 }]);
});
