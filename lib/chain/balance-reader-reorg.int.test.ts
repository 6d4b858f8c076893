import { parseEther, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { testConfig } from "@/lib/dev/testing/devnet";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { balanceKey, createBalanceReader } from "./balance-reader";
import { createChainRegistry } from "./registry";

const CHAIN = 31337;
const CONFIRMATIONS = 4;
const BALANCE_OF = /70a08231/g;
const devnet = await ownDevnet();
const chain = devnet.chains.find(({ chainId }) => chainId === CHAIN);
if (chain === undefined) throw new Error("The devnet has no chain 31337.");
const { chains } = testConfig({
  databaseUrl: "postgresql://unused@127.0.0.1:9/unused",
  rpcUrls: devnet.rpcUrls,
});
let asked = 0;
const registry = createChainRegistry(
  chains.map((each) => ({ ...each, confirmations: CONFIRMATIONS })),
  {
    fetchFn: (input, init) => {
      asked +=
        (typeof init?.body === "string" ? init.body.match(BALANCE_OF) : null)?.length ?? 0;
      return fetch(input, init);
    },
  },
);
const faucet = createFaucet({ registry });
const usdc = registry.resolveToken(CHAIN, "USDC");
const weth = registry.resolveToken(CHAIN, "WETH");
const native = registry.native(CHAIN);
const tokens = registry.tokens(CHAIN);
const owners = Array.from({ length: 30 }, () => privateKeyToAddress(generatePrivateKey()));
const [lost, kept, late] = owners as [Address, Address, Address];

test("balances of blocks that a reorganisation replaced are given up, and only the wallets that it touched are read again", async () => {
  await chain.hold();
  await chain.mine(CONFIRMATIONS + 2);
  const reader = createBalanceReader(registry, { directMax: 0 });
  const read = async () => {
    asked = 0;
    const named = new Map(owners.map((owner) => [owner.toLowerCase(), owner]));
    const { amounts, blockNumber } = await reader.read({
      key: "prj_1",
      chainId: CHAIN,
      owners: named,
      tokens,
    });
    const of = (owner: Address, token: typeof usdc) =>
      amounts.get(balanceKey(owner.toLowerCase(), token)) ?? 0n;
    return {
      blockNumber,
      lost: of(lost, usdc),
      kept: of(kept, usdc),
      late: [of(late, weth), of(late, native)],
    };
  };
  await faucet.give(kept, usdc, 5n);
  await chain.mine(CONFIRMATIONS);
  expect(await read()).toMatchObject({ lost: 0n, kept: 5n });
  expect(asked).toBe(owners.length * (tokens.length - 1));

  const before = await chain.client.getBlockNumber({ cacheTime: 0 });
  await faucet.give(lost, usdc, 7n);
  await faucet.give(lost, native, parseEther("1"));
  expect(await read()).toMatchObject({ lost: 7n, kept: 5n });

  // The blocks with both gifts are replaced by the same number of empty ones, so the chain is not
  // shorter and no log names the wallet any more.
  const head = await chain.client.getBlockNumber({ cacheTime: 0 });
  expect(head - before).toBeLessThanOrEqual(BigInt(CONFIRMATIONS));
  await chain.reorg(Number(head - before));
  expect(await chain.client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThanOrEqual(head);
  expect(await read()).toMatchObject({ lost: 0n, kept: 5n });
  expect(asked).toBeLessThan(owners.length * (tokens.length - 1));

  // The effects of the new blocks are included.
  await faucet.give(late, weth, 3n);
  await faucet.give(late, native, 2n);
  const after = await read();
  expect(after).toMatchObject({ lost: 0n, kept: 5n, late: [3n, 2n] });
  expect(after.blockNumber).toBeGreaterThan(before);
});

test("a chain that was set back below the last reading is read whole", async () => {
  const reader = createBalanceReader(registry, { directMax: 0 });
  const question = {
    key: "prj_2",
    chainId: CHAIN,
    owners: new Map([[lost.toLowerCase(), lost]]),
    tokens,
  };
  const id = await chain.client.snapshot();
  await faucet.give(lost, usdc, 11n);
  await chain.mine(CONFIRMATIONS + 2);
  const first = await reader.read(question);
  expect(first.amounts.get(balanceKey(lost.toLowerCase(), usdc))).toBe(11n);
  const { blockNumber } = first;
  await chain.client.revert({ id });
  const second = await reader.read(question);
  expect(second.blockNumber).toBeLessThan(blockNumber);
  expect(second.amounts.get(balanceKey(lost.toLowerCase(), usdc))).toBeUndefined();
  chain.flow();
});
