import {
  domainSeparator,
  hashTypedData,
  keccak256,
  parseAbi,
  decodeFunctionData,
  stringToBytes,
  zeroHash,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import type { ChainRegistry } from "@/lib/chain/registry";
import {
  createPermit2,
  permit2Call,
  permit2NonceOf,
  type Permit2Permit,
  permit2TypedData,
} from "./permits";

const CHAIN = 31337;
const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
const TOKEN = "0x1111111111111111111111111111111111111111";
const OWNER = privateKeyToAccount(`0x${"01".repeat(32)}`);
const SPENDER = "0x2222222222222222222222222222222222222222";
const RECIPIENT = "0x3333333333333333333333333333333333333333";

const PERMIT: Permit2Permit = {
  standard: "permit2",
  permit2: PERMIT2,
  token: TOKEN,
  owner: OWNER.address,
  spender: SPENDER,
  value: 5n,
  nonce: (7n << 8n) | 255n,
  deadline: 1000n,
};

interface Chain {
  configured?: boolean;
  separator?: string;
  allowed?: bigint;
  balance?: bigint;
  word?: bigint;
  code?: string;
}

const registryOf = ({
  configured = true,
  separator,
  allowed = 5n,
  balance = 5n,
  word = 0n,
  code,
}: Chain) => {
  const asked: unknown[] = [];
  const client = {
    readContract: () =>
      separator === undefined
        ? Promise.reject(new Error("It returned no data."))
        : Promise.resolve(separator),
    multicall: ({ contracts }: { contracts: unknown[] }) => {
      asked.push(...contracts);
      return Promise.resolve([allowed, balance, word]);
    },
    getCode: () => Promise.resolve(code),
  };
  const contracts = configured ? { permit2: PERMIT2 } : {};
  return {
    asked,
    permit2: createPermit2({
      get: () => ({ contracts }),
      client: () => client,
    } as unknown as ChainRegistry),
  };
};

describe("Permit2 is used", () => {
  const separator = domainSeparator({
    domain: { name: "Permit2", chainId: CHAIN, verifyingContract: PERMIT2 },
  });

  test("where it is configured and hashes as it should", async () => {
    expect(await registryOf({ separator }).permit2.addressOn(CHAIN)).toBe(PERMIT2);
  });

  test.each<[string, Chain]>([
    ["it is not configured", { configured: false, separator }],
    ["no code is at its address", {}],
    ["something else is at its address", { separator: zeroHash }],
  ])("nowhere that %s", async (_, chain) => {
    expect(await registryOf(chain).permit2.addressOn(CHAIN)).toBeNull();
  });
});

describe("what keeps Permit2 from taking the tokens", () => {
  test("is nothing where the wallet has exactly as much and allows exactly as much", async () => {
    const { asked, permit2 } = registryOf({
      word: ~(1n << 255n) & ((1n << 256n) - 1n),
      code: "0x",
    });
    expect(await permit2.obstacle(CHAIN, PERMIT)).toBeNull();
    expect(asked).toContainEqual(
      expect.objectContaining({ functionName: "nonceBitmap", args: [OWNER.address, 7n] }),
    );
    expect(asked).toContainEqual(
      expect.objectContaining({ functionName: "allowance", args: [OWNER.address, PERMIT2] }),
    );
  });

  test.each<[string, Chain, RegExp]>([
    ["too small an allowance", { allowed: 4n }, /does not allow Permit2/],
    ["too small a balance", { balance: 4n }, /has not got all/],
    ["the nonce's bit", { word: 1n << 255n }, /cancelled its permit/],
    [
      "code of the wallet, also where it has only delegated",
      { code: "0xef0100" },
      /asks that code/,
    ],
  ])("is %s", async (_, chain, message) => {
    expect(await registryOf(chain).permit2.obstacle(CHAIN, PERMIT)).toMatch(message);
  });
});

test("every leg has one nonce of its own, so that two permits of one leg cannot both be used", () => {
  expect(permit2NonceOf("leg_1")).toBe(permit2NonceOf("leg_1"));
  expect(permit2NonceOf("leg_1") >> 8n).not.toBe(permit2NonceOf("leg_2") >> 8n);
});

test("what is signed is hashed as Permit2's source says", () => {
  const word = (value: bigint | string): string => BigInt(value).toString(16).padStart(64, "0");
  const typeHash = (text: string): string => keccak256(stringToBytes(text));
  const permissions = "TokenPermissions(address token,uint256 amount)";
  const permit =
    "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)";
  const hash = (...words: (bigint | string)[]) => keccak256(`0x${words.map(word).join("")}`);
  const permitted = hash(typeHash(permissions), TOKEN, 5n);
  const message = hash(
    typeHash(`${permit}${permissions}`),
    permitted,
    SPENDER,
    PERMIT.nonce,
    1000n,
  );
  const domain = hash(
    typeHash("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
    typeHash("Permit2"),
    BigInt(CHAIN),
    PERMIT2,
  );
  const digest = keccak256(`0x1901${word(domain)}${word(message)}`);
  expect(hashTypedData(permit2TypedData(CHAIN, PERMIT))).toBe(digest);
});

test("a signature that ends with 0 or 1 is given to Permit2 as it takes it", async () => {
  const signature = await OWNER.signTypedData(permit2TypedData(CHAIN, PERMIT));
  const parity = signature.endsWith("1b") ? "00" : "01";
  const { to, data } = permit2Call(
    { ...PERMIT, signature: `${signature.slice(0, -2)}${parity}` as "0x" },
    RECIPIENT,
  );
  const abi = parseAbi([
    "function permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)",
  ]);
  expect(to).toBe(PERMIT2);
  expect(decodeFunctionData({ abi, data }).args).toEqual([
    { permitted: { token: TOKEN, amount: 5n }, nonce: PERMIT.nonce, deadline: 1000n },
    { to: RECIPIENT, requestedAmount: 5n },
    OWNER.address,
    signature,
  ]);
});
