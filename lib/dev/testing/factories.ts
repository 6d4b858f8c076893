import { expect, inject } from "vitest";
import { encodePacked, keccak256, stringToHex, type Hex } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";

let count = 0;

/**
 * A private key that is unique in this run. It is derived from the run's seed, the file and a
 * counter, so that runs with the same seed use the same keys.
 */
export const testKey = (): Hex => {
  const file = expect.getState().testPath ?? "";
  count += 1;
  return keccak256(
    encodePacked(
      ["uint256", "bytes", "uint256"],
      [BigInt(inject("testSeed")), stringToHex(file), BigInt(count)],
    ),
  );
};

export const testAccount = (): PrivateKeyAccount => privateKeyToAccount(testKey());

/** An address for mail that no other test reads. */
export const testEmail = (): string => `${testKey().slice(2, 18)}@example.test`;
