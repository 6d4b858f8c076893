/** Money that backs global accounts is not available, in any place of the treasury and over all. */
import { expect, test, vi } from "vitest";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { getReserves } from "@/lib/contracts/reserves";
import { testApi } from "@/lib/dev/testing/api";
import { fund, newCustomer } from "@/lib/dev/testing/journey";

const [ONE, TWO] = [31337, 31338];
const api = await testApi({ worker: true });

test("balances show what may leave the treasury, and no place offers more than all places together", async () => {
  const { session, treasury } = await newCustomer(api);
  const { client } = session;
  const usdc = async () =>
    (await client.call(getUnifiedBalances)).totals.find(({ token }) => token === "USDC");
  await fund(client, treasury, { chainId: ONE, token: "USDC", amount: "100" });
  await fund(client, treasury, { chainId: TWO, token: "USDC", amount: "20" });
  expect(await usdc()).toMatchObject({ amount: "120", available: "120", backing: "0" });
  // Reserves are read at final blocks, which are older than the blocks of the balances.
  await vi.waitFor(
    async () => {
      const { data } = await client.call(getReserves);
      expect(data.find(({ currency }) => currency === "USDC")?.available).toBe("120");
    },
    { timeout: 30_000, interval: 200 },
  );

  const { id } = await client.call(createGlobalAccount, { body: { currency: "USDC" } });
  const funding = { params: { id }, body: { currency: "USDC", amount: "70" } };
  await client.call(fundGlobalAccount, funding);

  const total = await usdc();
  expect(total).toMatchObject({ amount: "120", available: "50", backing: "70" });
  const places = [
    { chainId: ONE, amount: "100", available: "50", backing: "50" },
    { chainId: TWO, amount: "20", available: "20", backing: "0" },
  ];
  const byChain = <T extends { chainId: number }>(list: readonly T[] = []) =>
    [...list].sort((one, other) => one.chainId - other.chainId);
  expect(byChain(total?.chains)).toMatchObject(places);
  expect(byChain(total?.breakdown)).toMatchObject(places);
  const reserves = (await client.call(getReserves)).data;
  expect(reserves.find(({ currency }) => currency === "USDC")?.available).toBe(
    total?.available,
  );
});
