import fc from "fast-check";
import { encodeFunctionData, encodeFunctionResult, multicall3Abi, type Hex } from "viem";
import { expect, test } from "vitest";
import { decodeAggregate, encodeAggregate } from "./aggregate3";

const bytes = fc
  .uint8Array({ maxLength: 200 })
  .map((data): Hex => `0x${Buffer.from(data).toString("hex")}`);
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((data): Hex => `0x${Buffer.from(data).toString("hex")}`);

test("calls are encoded as the general ABI coder does it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ target: address, callData: bytes }), { maxLength: 12 }),
      (calls) => {
        const args = [calls.map((call) => ({ ...call, allowFailure: true }))] as const;
        expect(encodeAggregate(calls)).toBe(
          encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args }),
        );
      },
    ),
  );
});

test("answers are decoded as the general ABI coder encodes them, failures as null", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ success: fc.boolean(), returnData: bytes }), { maxLength: 12 }),
      (result) => {
        const data = encodeFunctionResult({
          abi: multicall3Abi,
          functionName: "aggregate3",
          result,
        });
        expect(decodeAggregate(data)).toEqual(
          result.map(({ success, returnData }) => (success ? returnData : null)),
        );
      },
    ),
  );
});

test("what is no answer of Multicall3 is refused", () => {
  for (const data of ["0x", "0x01", `0x${"ff".repeat(64)}`] as const) {
    expect(() => decodeAggregate(data)).toThrow(RangeError);
  }
});
