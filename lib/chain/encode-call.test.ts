import { encodeFunctionData, erc20Abi, parseAbi } from "viem";
import { expect, test } from "vitest";
import { encodeCall } from "./encode-call";

const TO = "0x00000000000000000000000000000000000000aa";

test("a call is encoded as viem encodes it, at first and again", () => {
  const encoded = [1n, 2n].map((amount) =>
    encodeCall({ abi: erc20Abi, functionName: "transfer", args: [TO, amount] }),
  );
  expect(encoded).toEqual(
    [1n, 2n].map((amount) =>
      encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [TO, amount] }),
    ),
  );
  expect(encodeCall({ abi: erc20Abi, functionName: "decimals" })).toBe("0x313ce567");
});

test("of two functions with one name the arguments choose, each time", () => {
  const abi = parseAbi([
    "function mark(address who)",
    "function mark(address who, uint256 count)",
  ]);
  const short = { abi, functionName: "mark", args: [TO] } as const;
  const long = { abi, functionName: "mark", args: [TO, 3n] } as const;
  expect([encodeCall(short), encodeCall(long), encodeCall(short)]).toEqual([
    encodeFunctionData(short),
    encodeFunctionData(long),
    encodeFunctionData(short),
  ]);
});
