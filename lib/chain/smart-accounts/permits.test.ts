import { domainSeparator, zeroHash, type Hex } from "viem";
import { expect, test } from "vitest";
import type { ChainRegistry } from "@/lib/chain/registry";
import { createPermits } from "./permits";

const TOKEN = "0x1111111111111111111111111111111111111111";
const CHAIN = 31337;
const EIP2612 = "0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9";
const separatorOf = (name: string, version: string): Hex =>
  domainSeparator({ domain: { name, version, chainId: CHAIN, verifyingContract: TOKEN } });

interface Answers {
  name?: string;
  DOMAIN_SEPARATOR?: Hex;
  version?: string;
  eip712Domain?: readonly [Hex, string, string];
  PERMIT_TYPEHASH?: Hex;
}

/** A token with these answers; other calls revert. */
const registryOf = (answers: Answers): ChainRegistry =>
  ({
    client: () => ({
      multicall: ({ contracts }: { contracts: { functionName: keyof Answers }[] }) =>
        Promise.resolve(
          contracts.map(({ functionName }) => {
            const result = answers[functionName];
            return result === undefined ? { status: "failure" } : { status: "success", result };
          }),
        ),
    }),
  }) as unknown as ChainRegistry;

const domainOf = (answers: Answers) =>
  createPermits(registryOf(answers)).domainOf(CHAIN, TOKEN);

test.each<[string, Answers, { name: string; version: string }]>([
  [
    "is read from name and version",
    {
      name: "USD Coin",
      version: "2",
      DOMAIN_SEPARATOR: separatorOf("USD Coin", "2"),
      PERMIT_TYPEHASH: EIP2612,
    },
    { name: "USD Coin", version: "2" },
  ],
  [
    "is of version 1 where the token tells none",
    { name: "Token", DOMAIN_SEPARATOR: separatorOf("Token", "1") },
    { name: "Token", version: "1" },
  ],
  [
    "is what EIP-5267 says, also where the token was renamed",
    {
      name: "New name",
      eip712Domain: ["0x0f", "Old name", "3"],
      DOMAIN_SEPARATOR: separatorOf("Old name", "3"),
    },
    { name: "Old name", version: "3" },
  ],
])("the domain of a token's permits %s", async (_, answers, expected) => {
  expect(await domainOf(answers)).toEqual({
    ...expected,
    chainId: CHAIN,
    verifyingContract: TOKEN,
  });
});

test.each<[string, Answers]>([
  ["has no separator", { name: "Tether USD" }],
  ["hashes something else", { name: "Token", version: "1", DOMAIN_SEPARATOR: zeroHash }],
  [
    "has a permit of DAI's form",
    {
      name: "Dai Stablecoin",
      version: "1",
      DOMAIN_SEPARATOR: separatorOf("Dai Stablecoin", "1"),
      PERMIT_TYPEHASH: "0xea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acb",
    },
  ],
  ["did not answer at all", {}],
])("the domain of a token's permits there is none for a token that %s", async (_, answers) => {
  expect(await domainOf(answers)).toBeNull();
});
