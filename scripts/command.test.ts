import { ContractFunctionExecutionError, ExecutionRevertedError, parseAbi } from "viem";
import { expect, test } from "vitest";
import { protectSecrets } from "../lib/core/redaction";
import { commandError } from "./command";

test("a chain's refusal is one short line, without the bytecode of its request", () => {
  const bytecode = `0x${"60".repeat(4_000)}`;
  const cause = new ExecutionRevertedError({ message: `execution reverted: ${bytecode}` });
  const error = new ContractFunctionExecutionError(cause, {
    abi: parseAbi(["function deploy(bytes code)"]),
    args: [bytecode],
    functionName: "deploy",
  });
  expect(error.message.length).toBeGreaterThan(8_000);
  const text = commandError(error);
  expect(text).toMatch(/reverted/);
  expect(text).not.toContain("\n");
  expect(text.length).toBeLessThan(500);
});

test("another error keeps its own text, without secrets", () => {
  protectSecrets({ values: ["a-secret-of-the-environment"], urls: [] });
  const text = commandError(new Error("It failed:\nwith a-secret-of-the-environment."));
  expect(text).toMatch(/^It failed:\nwith /);
  expect(text).not.toContain("a-secret");
});
