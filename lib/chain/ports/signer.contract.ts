import {
  parseTransaction,
  recoverMessageAddress,
  recoverTransactionAddress,
  recoverTypedDataAddress,
} from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import type { Signer } from "./signer";

const scope = { keyId: "key-1", projectId: "prj_a" };
const foreign = { keyId: "key-1", projectId: "prj_b" };

const typedData = {
  domain: { name: "Causeway", chainId: 31337 },
  types: { Note: [{ name: "text", type: "string" }] },
  primaryType: "Note",
  message: { text: "hello" },
} as const;

const transaction = {
  type: "eip1559",
  chainId: 31337,
  nonce: 7,
  to: "0x0000000000000000000000000000000000000001",
  value: 1n,
  gas: 21_000n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
} as const;

/**
 * Contract tests that every adapter of the Signer port must pass. `makeSigner` returns a signer
 * without keys.
 */
export const signerContract = (name: string, makeSigner: () => Promise<Signer>): void => {
  describe(`${name} keeps the Signer contract`, () => {
    let signer: Signer;
    beforeEach(async () => {
      signer = await makeSigner();
    });

    const isNotFound = async (work: Promise<unknown>): Promise<void> => {
      const error: unknown = await work.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(isDomainError(error) && error.code).toBe("not_found");
    };

    test("a key has one address, and creating the key again returns that address", async () => {
      const { address } = await signer.create(scope);
      expect(await signer.address(scope)).toBe(address);
      expect(await signer.create(scope)).toEqual({ address });
    });

    test("twenty concurrent calls that create the same key get one key", async () => {
      const made = await Promise.all(Array.from({ length: 20 }, () => signer.create(scope)));
      expect(new Set(made.map(({ address }) => address)).size).toBe(1);
      expect(await signer.address(scope)).toBe(made[0]?.address);
    });

    test("two keys have different addresses", async () => {
      const one = await signer.create(scope);
      const other = await signer.create({ keyId: "key-2", projectId: "prj_a" });
      expect(one.address).not.toBe(other.address);
    });

    test("the signer of each signature recovers to the key's address", async () => {
      const { address } = await signer.create(scope);
      const signature = await signer.signTypedData(scope, typedData);
      expect(await recoverTypedDataAddress({ ...typedData, signature })).toBe(address);
      const message = await signer.signMessage(scope, "0x1234");
      expect(
        await recoverMessageAddress({ message: { raw: "0x1234" }, signature: message }),
      ).toBe(address);
      const serialized = (await signer.signTransaction(scope, transaction)) as `0x02${string}`;
      expect(await recoverTransactionAddress({ serializedTransaction: serialized })).toBe(
        address,
      );
      expect(parseTransaction(serialized)).toMatchObject(transaction);
    });

    test("a key that was not created is not found", async () => {
      expect(await signer.address(scope)).toBeNull();
      await isNotFound(signer.signMessage(scope, "0x00"));
    });

    test("a key is not found under another project, or without a project", async () => {
      await signer.create(scope);
      for (const other of [foreign, { keyId: "key-1", projectId: null }]) {
        expect(await signer.address(other)).toBeNull();
        await isNotFound(signer.signMessage(other, "0x00"));
        await isNotFound(signer.signTypedData(other, typedData));
        await isNotFound(signer.signTransaction(other, transaction));
        await isNotFound(signer.create(other));
      }
    });
  });
};
