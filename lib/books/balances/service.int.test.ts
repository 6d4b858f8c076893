import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeEach, expect, test } from "vitest";
import { createBalanceReader, type BalanceReaderOptions } from "@/lib/chain/balance-reader";
import { createChainRegistry } from "@/lib/chain/registry";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { systemClock } from "@/lib/core/clock";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { toUnifiedBalances } from "./serializer";
import { createBalancesService, type BalancesDeps } from "./service";

const [ONE, TWO, THREE] = [31337, 31338, 31339] as const;
const PRICES: Readonly<Record<string, string>> = { usdc: "1", dai: "0.999", eth: "3000.5" };

const devnet = await testDevnet();
const requests: string[] = [];
let down: "nothing" | "refused" | "silent" = "nothing";
const thirdUrl = devnet.rpcUrls[String(THREE)] ?? "";
const registry = createChainRegistry(devnet.chains, {
  timeoutMs: 10_000,
  fetchFn: (input, init) => {
    requests.push(input instanceof Request ? input.url : new URL(input).href);
    if (down === "nothing" || !(typeof input === "string" && input.startsWith(thirdUrl)))
      return fetch(input, init);
    return down === "refused"
      ? Promise.reject(new TypeError("refused"))
      : new Promise(() => undefined);
  },
});
const faucet = createFaucet({ registry });

const wallet = (id: string) => ({ id, address: privateKeyToAddress(generatePrivateKey()) });
const wallets = [wallet("wal_1"), wallet("wal_2")] as const;
const serviceOf = (
  owners: readonly { id: string; address: `0x${string}` }[] = wallets,
  {
    moves,
    ...readerOptions
  }: BalanceReaderOptions & { moves?: Partial<BalancesDeps["moves"]> } = {},
) =>
  createBalancesService({
    registry,
    reader: createBalanceReader(registry, readerOptions),
    wallets: { addresses: () => Promise.resolve(owners) },
    moves: { out: () => Promise.resolve([]), in: () => Promise.resolve([]), ...moves },
    backings: () => Promise.resolve([]),
    prices: {
      priceUsd: (tokens) =>
        Promise.resolve(tokens.map(({ assetId }) => PRICES[assetId] ?? null)),
    },
    history: { note: () => undefined, list: () => Promise.resolve([]) },
    clock: systemClock,
  });
const unified = async (service: ReturnType<typeof serviceOf>) =>
  getUnifiedBalances.response.parse(toUnifiedBalances(await service.unified("prj_1")));
const give = (
  owner: { address: `0x${string}` },
  chainId: number,
  symbol: string,
  amountBase: bigint,
) => faucet.give(owner.address, registry.resolveToken(chainId, symbol), amountBase);

beforeEach(() => {
  down = "nothing";
});

test("the balances of a project without money are empty and name their blocks", async () => {
  const answer = await unified(serviceOf([wallet("wal_3")]));
  expect(answer).toMatchObject({ totals: [], totalUsd: "0", stale: [] });
  expect(answer.asOf.map(({ chainId }) => chainId)).toEqual([ONE, TWO, THREE]);
  for (const { blockNumber } of answer.asOf) expect(BigInt(blockNumber)).toBeGreaterThan(0n);
});

test("unified balances sum an asset over chains and wallets, with its value, and keep ETH and WETH apart", async () => {
  await Promise.all([
    give(wallets[0], ONE, "USDC", 1_500_000n),
    give(wallets[1], ONE, "USDC", 250_000n),
    give(wallets[0], THREE, "USDC", 1n),
    give(wallets[0], TWO, "DAI", 2n * 10n ** 18n),
    give(wallets[0], TWO, "ETH", 10n ** 17n),
  ]);
  const before = await unified(serviceOf());
  expect(before.totals).toHaveLength(3);
  const total = (assetId: string) => before.totals.find((each) => each.assetId === assetId);
  expect(total("usdc")).toMatchObject({
    token: "USDC",
    amount: "1.750001",
    amountBase: "1750001",
    usd: "1.750001",
  });
  expect(
    total("usdc")?.breakdown.map(({ chainId, walletId, amount }) => [
      chainId,
      walletId,
      amount,
    ]),
  ).toEqual([
    [ONE, "wal_1", "1.5"],
    [ONE, "wal_2", "0.25"],
    [THREE, "wal_1", "0.000001"],
  ]);
  expect(total("dai")).toMatchObject({ amount: "2", usd: "1.998" });
  expect(total("eth")).toMatchObject({ amount: "0.1", usd: "300.05" });
  expect(before.totalUsd).toBe("303.798001");
  await give(wallets[0], ONE, "WETH", 1n);
  const after = await unified(serviceOf());
  expect(after.totals.find(({ assetId }) => assetId === "weth")).toMatchObject({
    amountBase: "1",
    usd: null,
  });
  expect(after.totals.find(({ assetId }) => assetId === "eth")).toMatchObject({
    amount: "0.1",
  });
  // One price is unknown, so there is no total.
  expect(after.totalUsd).toBeNull();
});

test("unified balances of a hundred wallets, three chains and five tokens take one request to each chain", async () => {
  const owners = Array.from({ length: 100 }, (_, index) => wallet(`wal_many_${String(index)}`));
  const last = owners[99] ?? owners[0] ?? wallets[0];
  await Promise.all([ONE, TWO, THREE].map((chainId) => give(last, chainId, "USDC", 3n)));
  requests.length = 0;
  const answer = await unified(serviceOf(owners));
  expect([...requests].sort()).toEqual(
    [...Object.values(devnet.rpcUrls)].map((url) => new URL(url).href).sort(),
  );
  expect(answer.totals).toMatchObject([{ assetId: "usdc", amountBase: "9" }]);
  expect(answer.totals[0]?.breakdown.map(({ walletId }) => walletId)).toEqual([
    "wal_many_99",
    "wal_many_99",
    "wal_many_99",
  ]);
});

test.each(["refused", "silent"] as const)(
  "unified balances show the last of a chain that is %s, and say so",
  async (how) => {
    const owner = wallet("wal_4");
    await Promise.all([give(owner, ONE, "USDC", 5n), give(owner, THREE, "USDC", 7n)]);
    const service = serviceOf([owner]);
    const before = await unified(service);
    expect(before.totals).toMatchObject([{ amountBase: "12" }]);
    down = how;
    await give(owner, ONE, "USDC", 1n);
    const after = await unified(service);
    expect(after.totals).toMatchObject([{ amountBase: "13" }]);
    expect(after.stale).toMatchObject([
      { chainId: THREE, lastSeenAt: expect.any(String) as string },
    ]);
    expect(after.asOf.find(({ chainId }) => chainId === THREE)).toEqual(
      before.asOf.find(({ chainId }) => chainId === THREE),
    );
  },
);

test("unified balances omit a chain that never answered, and report it", async () => {
  const owner = wallet("wal_5");
  await Promise.all([give(owner, ONE, "USDC", 5n), give(owner, THREE, "USDC", 7n)]);
  down = "refused";
  const answer = await unified(serviceOf([owner]));
  expect(answer.totals).toMatchObject([{ amountBase: "5" }]);
  expect(answer.asOf.map(({ chainId }) => chainId)).toEqual([ONE, TWO]);
  expect(answer.stale).toMatchObject([{ chainId: THREE, lastSeenAt: null }]);
});
