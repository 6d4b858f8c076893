import { Linter } from "eslint";
import { expect, test } from "vitest";
import { mnemonicToAccount } from "viem/accounts";
import config from "@/eslint.config.mjs";
import { masterKeysOf } from "./keys";

const BASE = Array.from({ length: 11 }, () => "abandon").join(" ");

// Versions of the SDK before 1.2.0 read the seed as a floating-point number, which keeps its first 53 bits alone.
test("two mnemonics that differ in their last word alone give keys that share nothing", () => {
  const one = masterKeysOf(`${BASE} about`);
  const other = masterKeysOf(`${BASE} actual`);
  expect(new Set([one.masterNullifier, one.masterSecret, other.masterNullifier, other.masterSecret]).size).toBe(4);
});

test("every bit of the derived key counts: a key whose last bits differ gives another master key", async () => {
  const { poseidon } = await import("maci-crypto/build/ts/hashing.js");
  const seed = mnemonicToAccount(`${BASE} about`, { accountIndex: 0 }).getHdKey().privateKey;
  const exact = BigInt(`0x${Buffer.from(seed ?? []).toString("hex")}`);
  expect(masterKeysOf(`${BASE} about`).masterNullifier).toBe(poseidon([exact]));
  expect(poseidon([BigInt(Number(exact))])).not.toBe(poseidon([exact]));
});

test.each([
  ['import { generateMasterKeys } from "pp-artifacts";', 1],
  ['export * from "pp-artifacts/dist/node/index.mjs";', 1],
  ['const sdk = await import("pp-artifacts");', 1],
  ['import { generateMasterKeys } from "@0xbow/privacy-pools-core-sdk";', 0],
])("the lint rule about the artifacts' code finds it in %j", (code, found) => {
  const rules = ["no-restricted-imports", "no-restricted-syntax"] as const;
  const own = config.find((each) => each.rules?.["no-restricted-imports"] !== undefined)?.rules ?? {};
  const messages = new Linter().verify(code, { rules: Object.fromEntries(rules.map((rule) => [rule, own[rule]])) });
  expect(messages.filter(({ message }) => message.includes("pp-artifacts"))).toHaveLength(found);
});
