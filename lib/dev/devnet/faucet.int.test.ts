import { erc20Abi, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { readBalances } from "@/lib/chain/balances";
import { isDomainError } from "@/lib/core/errors";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { createFaucet } from "./faucet";

const CHAIN = 31338;
const devnet = await testDevnet();
const registry = createChainRegistry(devnet.chains);
const newAddress = () => privateKeyToAddress(generatePrivateKey());

test.each(["ETH", "WETH", "USDC", "USDT", "DAI"])(
  "the faucet: gives %s, and its transaction is mined when it answers",
  async (symbol) => {
    const [to, token] = [newAddress(), registry.resolveToken(CHAIN, symbol)];
    const amount = 3n * 10n ** BigInt(token.decimals);
    const { txHash } = await createFaucet({ registry }).give(to, token, amount);
    const client = registry.client(CHAIN);
    expect(await client.getTransactionReceipt({ hash: txHash })).toMatchObject({
      status: "success",
    });
    const balance =
      token.address === "native"
        ? await client.getBalance({ address: to })
        : await client.readContract({
            address: token.address,
            abi: erc20Abi,
            functionName: "balanceOf",
            args: [to],
          });
    expect(balance).toBe(amount);
  },
);

test("the faucet: serves many at once, from several processes too", async () => {
  // Two independent faucets, as in two processes.
  const faucets = [createFaucet({ registry }), createFaucet({ registry })];
  const tokens = registry.tokens(CHAIN);
  const gifts = Array.from({ length: 30 }, (_, index) => ({ to: newAddress(), index }));
  await Promise.all(
    gifts.map(async ({ to, index }) => {
      const token = tokens[index % tokens.length];
      if (token) await faucets[index % 2]?.give(to, token, 5n);
    }),
  );
  const balances = await readBalances(
    registry,
    CHAIN,
    gifts.map(({ to }) => to),
    tokens,
  );
  const given = gifts.map(({ to, index }) => {
    const token = tokens[index % tokens.length];
    return token && balances.get(to, token);
  });
  expect(given).toEqual(gifts.map(() => 5n));
});

test("the faucet: refuses more than there can be", async () => {
  const token = registry.resolveToken(CHAIN, "ETH");
  const give = createFaucet({ registry }).give(
    newAddress(),
    token,
    parseEther("1000000000000"),
  );
  await expect(give).rejects.toSatisfy(
    (error) => isDomainError(error) && error.code === "invalid_request",
  );
});
