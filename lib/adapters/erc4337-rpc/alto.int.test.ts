import { pino } from "pino";
import { encodeFunctionData, erc20Abi, type Address, type Hex } from "viem";
import { afterAll, expect, test, vi } from "vitest";
import { markedPaymasterAbi } from "@/lib/chain/erc4337/marked-paymaster";
import { systemClock } from "@/lib/core/clock";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import { bundlerContract } from "@/lib/chain/ports/bundler.contract";
import { startAlto } from "@/lib/dev/testing/alto";
import { startOperationChain } from "@/lib/dev/testing/bundler-harness";
import { testDatabase } from "@/lib/dev/testing/database";
import { createRpcBundler } from "./rpc-bundler";

const CHAIN_ID = 41_339;
const HOUR_MS = 3_600_000;
const { database } = await testDatabase();
const chain = await startOperationChain(CHAIN_ID);
const alto = await startAlto(chain.anvil, chain.entryPoint);
afterAll(async () => {
  await alto.stop();
  await chain.anvil.stop();
});

const { registry, signer, executor: executorAddress } = chain;
const transactions = createChainTransactionsService({
  database,
  registry,
  signer,
  clock: systemClock,
  log: pino({ level: "silent" }),
});
const newInstance = () =>
  createRpcBundler({
    registry,
    urls: new Map([[CHAIN_ID, alto.url]]),
    marker: { transactions, executorAddress },
  });
const bundler = newInstance();
const harness = chain.harness(bundler);

bundlerContract("ERC-4337 JSON-RPC (alto)", () => Promise.resolve(harness));

let recipients = 1n << 121n;

const prepared = async () => {
  const owner = await harness.newOwner();
  const account = await harness.accounts.addressOf(owner.address);
  await harness.giveToken(account, 10n);
  const to: Address = `0x${(recipients += 1n).toString(16).padStart(40, "0")}`;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, 1n] });
  const draft = await harness.accounts.draft({
    chainId: CHAIN_ID,
    ownerAddress: owner.address,
    calls: [{ to: chain.token, data, value: 0n }],
    nonceKey: 1n,
    fees: await bundler.fees(CHAIN_ID),
  });
  const gas = await bundler.estimateGas(CHAIN_ID, draft);
  const validUntil = new Date((await harness.chainTime()).getTime() + HOUR_MS);
  return {
    owner,
    to,
    prepared: harness.accounts.prepare({ chainId: CHAIN_ID, draft, gas, validUntil }),
  };
};

const transactionsOfExecutor = (): Promise<number> =>
  chain.anvil.client.getTransactionCount({ address: executorAddress });
const markedUntil = (userOpHash: Hex): Promise<number> =>
  chain.anvil.client.readContract({
    address: chain.paymaster,
    abi: markedPaymasterAbi,
    functionName: "markedUntil",
    args: [userOpHash],
  });

test("a sponsored operation is marked once, however often and by however many instances it is submitted", async () => {
  const all = [await prepared(), await prepared(), await prepared()];
  const operations = await Promise.all(
    all.map(({ owner, prepared }) => harness.accounts.sign(owner.scope, prepared)),
  );
  const before = await transactionsOfExecutor();
  const instances = [bundler, newInstance()];
  await Promise.all(
    instances.flatMap((instance) =>
      operations.map((operation) => instance.submit(CHAIN_ID, operation)),
    ),
  );
  await vi.waitFor(
    async () =>
      expect(await Promise.all(all.map(({ to }) => harness.tokenBalance(to)))).toEqual([
        1n,
        1n,
        1n,
      ]),
    { timeout: 20_000, interval: 50 },
  );
  // Simulates a crash after which the service no longer knows that it sent this operation.
  const [operation] = operations;
  if (operation !== undefined) await newInstance().submit(CHAIN_ID, operation);
  // Each instance may have marked all operations, and marks of the same moment share a transaction.
  expect(await transactionsOfExecutor()).toBeLessThanOrEqual(
    before + instances.length * all.length,
  );
  const marks = await database.prisma.bundleOperation.findMany({
    where: { chainId: CHAIN_ID },
  });
  expect(marks.length).toBeGreaterThanOrEqual(all.length);
  expect(marks.map(({ attempts }) => attempts)).toEqual(marks.map(() => 1));
  // Each mark was used up.
  expect(
    await Promise.all(all.map(({ prepared }) => markedUntil(prepared.userOpHash))),
  ).toEqual([0, 0, 0]);
});

test("a sponsored operation is not marked when EntryPoint would refuse it", async () => {
  const { prepared: one } = await prepared();
  const stranger = await harness.newOwner();
  const before = await transactionsOfExecutor();
  const forged = await harness.accounts.sign(stranger.scope, one);
  await expect(bundler.submit(CHAIN_ID, forged)).rejects.toMatchObject({
    code: "simulation_failed",
  });
  expect(await transactionsOfExecutor()).toBe(before);
  expect(await markedUntil(one.userOpHash)).toBe(0);
});
