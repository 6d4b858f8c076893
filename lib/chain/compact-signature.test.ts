import {
  serializeCompactSignature,
  signatureToCompactSignature,
  parseSignature,
  recoverMessageAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { expandedSignature } from "./signed-message";

test("64 bytes of EIP-2098 become the 65 bytes that they stand for, with either parity", async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    const account = privateKeyToAccount(generatePrivateKey());
    const signature = await account.signMessage({ message: `turn ${String(turn)}` });
    const compact = serializeCompactSignature(
      signatureToCompactSignature(parseSignature(signature)),
    );
    expect(compact).toHaveLength(2 + 128);
    expect(expandedSignature(compact)).toBe(signature);
    const by = await recoverMessageAddress({
      message: `turn ${String(turn)}`,
      signature: expandedSignature(compact),
    });
    expect(by).toBe(account.address);
  }
});

test.each(["0x", "0x12", `0x${"11".repeat(65)}`, `0x${"11".repeat(200)}`] as const)(
  "other bytes stay: %s",
  (bytes) => {
    expect(expandedSignature(bytes)).toBe(bytes);
  },
);
