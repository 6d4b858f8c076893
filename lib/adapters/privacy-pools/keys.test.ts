import {
  generateDepositSecrets,
  generateMasterKeys,
  generateWithdrawalSecrets,
  getCommitment,
  hashPrecommitment,
  type Hash,
} from "@0xbow/privacy-pools-core-sdk";
import { poseidon1 } from "poseidon-lite/poseidon1";
import { mnemonicToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import {
  changeSecrets,
  commitmentOf,
  depositSecrets,
  masterKeysOf,
  nullifierHashOf,
  precommitmentOf,
} from "./keys";

const BASE = Array.from({ length: 11 }, () => "abandon").join(" ");

// SDK versions before 1.2.0 read the seed as a floating-point number, which keeps only its first 53
// bits.
test("two mnemonics that differ in their last word alone give keys that share nothing", () => {
  const one = masterKeysOf(`${BASE} about`);
  const other = masterKeysOf(`${BASE} actual`);
  expect(
    new Set([one.masterNullifier, one.masterSecret, other.masterNullifier, other.masterSecret])
      .size,
  ).toBe(4);
});

test("every bit of the derived seed counts, and not only those that a floating-point number keeps", () => {
  const seed = mnemonicToAccount(`${BASE} about`, { accountIndex: 0 }).getHdKey().privateKey;
  const exact = BigInt(`0x${Buffer.from(seed ?? []).toString("hex")}`);
  expect(masterKeysOf(`${BASE} about`).masterNullifier).toBe(poseidon1([exact]));
  expect(masterKeysOf(`${BASE} about`).masterNullifier).not.toBe(
    poseidon1([BigInt(Number(exact))]),
  );
});

test("keys, secrets and commitments are those of the SDK", () => {
  const keys = masterKeysOf(`${BASE} about`);
  const [scope, label, value] = [123n, 456n, 789n];
  expect(keys).toEqual(generateMasterKeys(`${BASE} about`));
  const deposit = depositSecrets(keys, scope, 7n);
  const theirs = generateMasterKeys(`${BASE} about`);
  expect(deposit).toEqual(generateDepositSecrets(theirs, scope as Hash, 7n));
  expect(changeSecrets(keys, label, 2n)).toEqual(
    generateWithdrawalSecrets(theirs, label as Hash, 2n),
  );
  const { nullifier, secret } = generateDepositSecrets(theirs, scope as Hash, 7n);
  expect(precommitmentOf(deposit)).toBe(hashPrecommitment(nullifier, secret));
  expect(commitmentOf(value, label, deposit)).toBe(
    getCommitment(value, label, nullifier, secret).hash,
  );
  expect(nullifierHashOf(deposit)).toBe(poseidon1([nullifier]));
});
