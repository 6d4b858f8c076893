import { readFileSync } from "node:fs";
import { toSafeSmartAccount } from "permissionless/accounts";
import {
  createPublicClient,
  custom,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  pad,
  parseAbi,
  toHex,
  type Hex,
} from "viem";
import { entryPoint07Address } from "viem/account-abstraction";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { CANONICAL_SAFE } from "@/lib/chain/chain-contracts";
import { distributeData } from "@/lib/chain/distributor";
import type { Call } from "@/lib/core/evm";
import {
  addressOf,
  CANONICAL_INIT_CODE_HASH,
  deploymentOf,
  encodeCalls,
  encodePayout,
} from "./encoding";

const ARTIFACT =
  "node_modules/@safe-global/safe-contracts/build/artifacts/contracts/proxies/SafeProxy.sol/SafeProxy.json";
const proxyCreationCode = (): Hex => {
  const { bytecode } = z
    .object({ bytecode: z.string() })
    .parse(JSON.parse(readFileSync(ARTIFACT, "utf8")));
  return bytecode as Hex;
};

/**
 * A chain with the answers that permissionless needs: no account is deployed, and the proxies'
 * creation code.
 */
const client = createPublicClient({
  transport: custom({
    request: ({ method }: { method: string }) => {
      if (method === "eth_chainId") return Promise.resolve("0x7a69");
      if (method === "eth_getCode") return Promise.resolve("0x");
      if (method === "eth_call")
        return Promise.resolve(encodeAbiParameters([{ type: "bytes" }], [proxyCreationCode()]));
      return Promise.reject(new Error(method));
    },
  }),
});

const owners = [1n, 2n, 3n].map((seed) => privateKeyToAccount(pad(toHex(seed), { size: 32 })));
const reference = (owner: (typeof owners)[number]) =>
  toSafeSmartAccount({
    client,
    owners: [owner],
    version: "1.4.1",
    entryPoint: { address: entryPoint07Address, version: "0.7" },
  });

const call = (seed: number): Call => ({
  to: getAddress(pad(toHex(seed), { size: 20 })),
  data: toHex(`call ${String(seed)}`),
  value: BigInt(seed),
});

describe("the account of an owner is the one that permissionless makes", () => {
  test.each(owners)("address and deployment of $address", async (owner) => {
    const safe = await reference(owner);
    expect(addressOf(owner.address, CANONICAL_SAFE, CANONICAL_INIT_CODE_HASH)).toBe(
      safe.address,
    );
    const deployment = deploymentOf(owner.address, CANONICAL_SAFE);
    expect({ factory: deployment.to, factoryData: deployment.data }).toEqual(
      await safe.getFactoryArgs(),
    );
  });

  test.each([1, 2, 5])("call data of %i call(s)", async (count) => {
    const [owner] = owners;
    if (owner === undefined) throw new Error("no owner");
    const calls = Array.from({ length: count }, (_, index) => call(index + 1));
    expect(encodeCalls(calls, CANONICAL_SAFE)).toBe(
      await (await reference(owner)).encodeCalls(calls),
    );
  });

  test("an operation without calls is refused", () => {
    expect(() => encodeCalls([], CANONICAL_SAFE)).toThrow("at least one call");
  });
});

describe("the call data of a payout", () => {
  const token = call(100).to;
  const distributor = call(200).to;
  const rows = [1, 2].map((seed) => ({ recipient: call(seed).to, amountBase: BigInt(seed) }));
  const executeAbi = parseAbi([
    "function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)",
  ]);

  test.each([token, "native"] as const)(
    "of %s is one call that is delegated to the distributor",
    (paid) => {
      const callData = encodePayout({ token: paid, rows }, CANONICAL_SAFE, distributor);
      const { args } = decodeFunctionData({ abi: executeAbi, data: callData });
      expect(args).toEqual([distributor, 0n, distributeData(paid, rows), 1]);
    },
  );

  test("is plain calls where there is no distributor", () => {
    const transfers = rows.map(({ recipient, amountBase }) => ({
      to: token,
      value: 0n,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: "transfer",
        args: [recipient, amountBase],
      }),
    }));
    expect(encodePayout({ token, rows }, CANONICAL_SAFE, undefined)).toBe(
      encodeCalls(transfers, CANONICAL_SAFE),
    );
    const coins: Call[] = rows.map(({ recipient, amountBase }) => ({
      to: recipient,
      value: amountBase,
      data: "0x",
    }));
    expect(encodePayout({ token: "native", rows }, CANONICAL_SAFE, undefined)).toBe(
      encodeCalls(coins, CANONICAL_SAFE),
    );
  });

  test("is refused without rows, and for an amount of nothing", () => {
    expect(() => encodePayout({ token, rows: [] }, CANONICAL_SAFE, distributor)).toThrow(
      "at least one row",
    );
    const nothing = [...rows, { recipient: call(3).to, amountBase: 0n }];
    expect(() => encodePayout({ token, rows: nothing }, CANONICAL_SAFE, distributor)).toThrow(
      "above zero",
    );
  });
});
