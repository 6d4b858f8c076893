import { readFileSync } from "node:fs";
import { toSafeSmartAccount } from "permissionless/accounts";
import { createPublicClient, custom, encodeAbiParameters, getAddress, pad, toHex, type Hex } from "viem";
import { entryPoint07Address } from "viem/account-abstraction";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Call } from "@/lib/ports/routing";
import { addressOf, CANONICAL_CONTRACTS, CANONICAL_INIT_CODE_HASH, deploymentOf, encodeCalls } from "./encoding";

const ARTIFACT =
  "node_modules/@safe-global/safe-contracts/build/artifacts/contracts/proxies/SafeProxy.sol/SafeProxy.json";
const proxyCreationCode = (): Hex => {
  const { bytecode } = z.object({ bytecode: z.string() }).parse(JSON.parse(readFileSync(ARTIFACT, "utf8")));
  return bytecode as Hex;
};

/** A chain that knows no more than permissionless asks for: no account is deployed, and what proxies are made of. */
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
    expect(addressOf(owner.address, CANONICAL_CONTRACTS, CANONICAL_INIT_CODE_HASH)).toBe(safe.address);
    const deployment = deploymentOf(owner.address, CANONICAL_CONTRACTS);
    expect({ factory: deployment.to, factoryData: deployment.data }).toEqual(await safe.getFactoryArgs());
  });

  test.each([1, 2, 5])("call data of %i call(s)", async (count) => {
    const [owner] = owners;
    if (owner === undefined) throw new Error("no owner");
    const calls = Array.from({ length: count }, (_, index) => call(index + 1));
    expect(encodeCalls(calls, CANONICAL_CONTRACTS)).toBe(await (await reference(owner)).encodeCalls(calls));
  });

  test("an operation without calls is refused", () => {
    expect(() => encodeCalls([], CANONICAL_CONTRACTS)).toThrow("at least one call");
  });
});
