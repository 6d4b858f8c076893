import { beforeAll, describe, expect, test } from "vitest";
import {
  codeOf,
  createBundlerSteps,
  withoutFactory,
  type BundlerHarness,
  type BundlerSteps,
  type Wish,
} from "./bundler-steps";
import type { UserOperation } from "./bundler";
import type { Call } from "@/lib/core/evm";

export type { BundlerHarness } from "./bundler-steps";

const AT_ONCE = 20;
const PARALLEL = 10;
const BATCH = 50;

/**
 * The chain and its helpers. They exist only while the tests run, not when the tests are declared.
 */
interface Started {
  readonly chain: BundlerHarness;
  readonly steps: BundlerSteps;
}

const testExecution = (started: () => Started): void => {
  test("an account's first operation deploys it, and the next one needs no deployment", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, prepare, submit, received } = steps;
    const wallet = await newWallet(100n);
    const [first, second] = [newRecipient(), newRecipient()];
    const deploying = await prepare({ wallet, calls: [transfer(first, 10n)], key: 1n });
    expect(deploying.operation.factory).toBeDefined();
    const operation = await chain.accounts.sign(wallet.scope, deploying);
    const receipt = await received(await submit(operation));
    expect(receipt).toMatchObject({ success: true, userOpHash: deploying.userOpHash });
    expect(receipt.actualGasCost).toBeGreaterThan(0n);
    expect(await chain.accounts.isDeployed(chain.chainId, [wallet.address])).toEqual([true]);

    const next = await prepare({ wallet, calls: [transfer(second, 20n)], key: 2n });
    expect(next.operation.factory).toBeUndefined();
    expect(
      (await received(await submit(await chain.accounts.sign(wallet.scope, next)))).success,
    ).toBe(true);
    expect(
      await Promise.all([first, second, wallet.address].map((one) => chain.tokenBalance(one))),
    ).toEqual([10n, 20n, 70n]);
  });

  test("an operation has no receipt before it is mined", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, prepare, submit, received } = steps;
    const wallet = await newWallet(100n);
    const prepared = await prepare({ wallet, calls: [transfer(newRecipient(), 1n)], key: 8n });
    const fromBlock = await chain.blockNumber();
    expect(
      await chain.bundler.receipt(chain.chainId, prepared.userOpHash, fromBlock),
    ).toBeNull();
    await submit(await chain.accounts.sign(wallet.scope, prepared));
    const receipt = await received(prepared.userOpHash, fromBlock);
    expect(receipt.blockNumber).toBeGreaterThan(fromBlock);
  });

  test("a receipt contains only the logs of its own operation", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, run } = steps;
    const wallet = await newWallet(100n);
    const [first, second] = [newRecipient(), newRecipient()];
    const receipt = await run({
      wallet,
      calls: [transfer(first, 1n), transfer(second, 2n)],
      key: 9n,
    });
    const transfers = receipt.logs.filter(
      (log) => log.address.toLowerCase() === chain.token.toLowerCase(),
    );
    expect(transfers.map((log) => BigInt(log.topics[2] ?? 0))).toEqual([
      BigInt(first),
      BigInt(second),
    ]);
    // The logs of deployment, prefund and payment belong to the bundle, not to the operation.
    expect(receipt.logs.filter((log) => log.topics[1] === receipt.userOpHash)).toEqual([]);
  });

  test("a call can transfer the native coin", async () => {
    const { chain, steps } = started();
    const { newRecipient, newWallet, run } = steps;
    const wallet = await newWallet(0n);
    const to = newRecipient();
    const receipt = await run({ wallet, calls: [{ to, data: "0x", value: 123n }], key: 14n });
    expect(receipt.success).toBe(true);
    expect(await chain.nativeBalance(to)).toBe(123n);
  });
};

const testRefusals = (started: () => Started): void => {
  test("an operation with one reverting call moves nothing, and uses its nonce", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, signed, redeployed, submit, received } = steps;
    const wallet = await newWallet(100n);
    const [first, second] = [newRecipient(), newRecipient()];
    const operation = await signed({
      wallet,
      calls: [transfer(first, 60n), transfer(second, 40n)],
      key: 3n,
    });
    // The balance covers the operation when it is prepared, but not when it is executed.
    const drain = await signed({ wallet, calls: [transfer(newRecipient(), 50n)], key: 4n });
    // Only one of two first operations can deploy the account, so `drain` deploys it first.
    expect((await received(await submit(drain))).success).toBe(true);
    const again =
      operation.factory === undefined ? operation : await redeployed(wallet, operation);
    const receipt = await received(await submit(again));
    expect(receipt.success).toBe(false);
    expect(await chain.tokenBalance(first)).toBe(0n);
    expect(await chain.tokenBalance(wallet.address)).toBe(50n);
    expect(await chain.accounts.nonceUsed(chain.chainId, wallet.address, 3n)).toBe(true);
    expect(await chain.accounts.nonceUsed(chain.chainId, wallet.address, 5n)).toBe(false);
  });

  test("the estimate refuses an operation whose calls would revert", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, draft } = steps;
    const wallet = await newWallet(100n);
    const estimate = async (calls: readonly Call[]): Promise<unknown> =>
      chain.bundler.estimateGas(chain.chainId, await draft({ wallet, calls, key: 6n }));
    expect(await codeOf(estimate([transfer(newRecipient(), 101n)]))).toBe("simulation_failed");
    expect(
      await codeOf(estimate([transfer(newRecipient(), 1n), transfer(newRecipient(), 100n)])),
    ).toBe("simulation_failed");
  });

  test("an operation with the signature of another owner is refused", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, prepare, submit } = steps;
    const [wallet, stranger] = [await newWallet(100n), await chain.newOwner()];
    const to = newRecipient();
    const prepared = await prepare({ wallet, calls: [transfer(to, 1n)], key: 10n });
    const forged = await chain.accounts.sign(stranger.scope, prepared);
    expect(await codeOf(submit(forged))).toBe("simulation_failed");
    expect(await chain.tokenBalance(to)).toBe(0n);
  });

  test("an operation is refused after its validUntil", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, signed, submit } = steps;
    const wallet = await newWallet(100n);
    const to = newRecipient();
    const operation = await signed({
      wallet,
      calls: [transfer(to, 1n)],
      key: 11n,
      validForMs: -60_000,
    });
    expect(await codeOf(submit(operation))).toBe("simulation_failed");
    expect(await chain.accounts.nonceUsed(chain.chainId, wallet.address, 11n)).toBe(false);
    expect(await chain.tokenBalance(to)).toBe(0n);
  });

  test("an account that cannot pay the fee is refused without a paymaster, and accepted with one", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, signed, submit, run } = steps;
    const wallet = await newWallet(100n, 0n);
    const to = newRecipient();
    const wish: Wish = { wallet, calls: [transfer(to, 5n)], key: 12n };
    expect(await codeOf(signed(wish).then(submit))).toBe("simulation_failed");
    if (!chain.hasPaymaster) return;
    const receipt = await run({ ...wish, sponsored: true });
    expect(receipt.success).toBe(true);
    expect(await chain.tokenBalance(to)).toBe(5n);
    expect(await chain.nativeBalance(wallet.address)).toBe(0n);
  });

  test("an estimate is refused when the account or the paymaster is not a contract", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, draft } = steps;
    const wallet = await newWallet(100n);
    const drafted = await draft({ wallet, calls: [transfer(newRecipient(), 1n)], key: 15n });
    const estimate = (operation: UserOperation): Promise<string> =>
      codeOf(chain.bundler.estimateGas(chain.chainId, operation));
    expect(await estimate(withoutFactory(drafted))).toBe("simulation_failed");
    expect(await estimate({ ...drafted, paymaster: newRecipient(), paymasterData: "0x" })).toBe(
      "simulation_failed",
    );
  });
};

const testBatches = (started: () => Started): void => {
  test("an operation that is submitted twenty times concurrently is executed once", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, signed, submit, received } = steps;
    const wallet = await newWallet(100n);
    const to = newRecipient();
    const operation = await signed({ wallet, calls: [transfer(to, 7n)], key: 7n });
    const hashes = await Promise.all(Array.from({ length: AT_ONCE }, () => submit(operation)));
    expect(new Set(hashes).size).toBe(1);
    expect((await received(hashes[0] ?? "0x")).success).toBe(true);
    await submit(operation);
    expect(await chain.tokenBalance(to)).toBe(7n);
    expect(await chain.tokenBalance(wallet.address)).toBe(93n);
  });

  test("ten concurrent operations of one account, each with its own nonce key, are all executed", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, run } = steps;
    const wallet = await newWallet(1_000n);
    await run({ wallet, calls: [transfer(newRecipient(), 1n)], key: 13n });
    const wishes = Array.from({ length: PARALLEL }, (_, index) => ({
      wallet,
      calls: [transfer(newRecipient(), BigInt(index + 1))],
      key: 100n + BigInt(index),
      sponsored: chain.hasPaymaster,
    }));
    const receipts = await Promise.all(wishes.map(run));
    expect(receipts.map((receipt) => receipt.success)).toEqual(wishes.map(() => true));
    expect(await chain.tokenBalance(wallet.address)).toBe(1_000n - 1n - 55n);
  });

  test("fifty concurrent operations of one account are each executed once, in few transactions", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, signed, submitAll, received, run } = steps;
    const wallet = await newWallet(10_000n);
    await run({ wallet, calls: [transfer(newRecipient(), 1n)], key: 16n });
    const recipients = Array.from({ length: BATCH }, newRecipient);
    const signedAll = await Promise.all(
      recipients.map((to, index) =>
        signed({
          wallet,
          calls: [transfer(to, BigInt(index + 1))],
          key: 200n + BigInt(index),
          sponsored: chain.hasPaymaster,
        }),
      ),
    );
    const { fromBlock, hashes } = await submitAll(signedAll);
    const receipts = await Promise.all(hashes.map((hash) => received(hash, fromBlock)));
    expect(receipts.map(({ success }) => success)).toEqual(signedAll.map(() => true));
    expect(new Set(receipts.map(({ txHash }) => txHash)).size).toBeLessThanOrEqual(BATCH / 5);
    expect(await Promise.all(recipients.map((one) => chain.tokenBalance(one)))).toEqual(
      recipients.map((_, index) => BigInt(index + 1)),
    );
  });
};

const testMixedBatches = (started: () => Started): void => {
  test("invalid operations do not prevent the valid ones that are submitted with them", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, prepare, submit, received, run } = steps;
    const wallet = await newWallet(1_000n);
    await run({ wallet, calls: [transfer(newRecipient(), 1n)], key: 17n });
    const stranger = await chain.newOwner();
    const prepared = await Promise.all(
      Array.from({ length: PARALLEL }, (_, index) =>
        prepare({
          wallet,
          calls: [transfer(newRecipient(), 1n)],
          key: 300n + BigInt(index),
          sponsored: chain.hasPaymaster,
        }),
      ),
    );
    const forged = new Set([0, 4]);
    const operations = await Promise.all(
      prepared.map((one, index) =>
        chain.accounts.sign(forged.has(index) ? stranger.scope : wallet.scope, one),
      ),
    );
    const outcomes = await Promise.all(
      operations.map((operation) => codeOf(submit(operation))),
    );
    expect(outcomes).toEqual(
      operations.map((_, index) => (forged.has(index) ? "simulation_failed" : "no error")),
    );
    const good = prepared.filter((_, index) => !forged.has(index));
    const receipts = await Promise.all(good.map(({ userOpHash }) => received(userOpHash)));
    expect(receipts.every(({ success }) => success)).toBe(true);
    expect(await chain.tokenBalance(wallet.address)).toBe(1_000n - 1n - BigInt(good.length));
  });

  test("operations that their owners also hold are executed, also when submitted with others", async () => {
    const { chain, steps } = started();
    const { newRecipient, transfer, newWallet, signed, received, run } = steps;
    const wallet = await newWallet(1_000n);
    await run({ wallet, calls: [transfer(newRecipient(), 1n)], key: 18n });
    const to = Array.from({ length: 4 }, newRecipient);
    const all = await Promise.all(
      to.map((one, index) =>
        signed({ wallet, calls: [transfer(one, 5n)], key: 400n + BigInt(index) }),
      ),
    );
    const answers = await Promise.all(
      all.map((operation, index) =>
        chain.bundler.submit(chain.chainId, operation, { isHeldElsewhere: index % 2 === 0 }),
      ),
    );
    const receipts = await Promise.all(answers.map(({ userOpHash }) => received(userOpHash)));
    expect(receipts.map(({ success }) => success)).toEqual(to.map(() => true));
    expect(await Promise.all(to.map((one) => chain.tokenBalance(one)))).toEqual(
      to.map(() => 5n),
    );
  });
};

/** Contract tests that every bundler must pass. */
export const bundlerContract = (name: string, start: () => Promise<BundlerHarness>): void => {
  describe(name, () => {
    let state: Started | null = null;
    const started = (): Started => {
      if (state === null) throw new Error("The chain has not started.");
      return state;
    };
    beforeAll(async () => {
      const chain = await start();
      state = { chain, steps: createBundlerSteps(chain) };
    }, 120_000);

    testExecution(started);
    testRefusals(started);
    testBatches(started);
    testMixedBatches(started);
  });
};
