import { createRequire } from "node:module";
import type { Abi, Hex } from "viem";

interface Compiled {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly abi: Abi;
            readonly evm: { readonly bytecode: { readonly object: string } };
          }
        >
      >
    >
  >;
}

/** Compiles one contract of a test with the npm package `solc`, which takes about a second. */
export const compileContract = (name: string, source: string): Compiled => {
  // Loaded here instead of above, because it is a compiler of nine megabytes that few tests need.
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };
  const input = {
    language: "Solidity",
    sources: { "test.sol": { content: source } },
    settings: {
      evmVersion: "paris",
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const failed = output.errors?.find(({ severity }) => severity === "error");
  const contract = output.contracts?.["test.sol"]?.[name];
  if (failed !== undefined || contract === undefined)
    throw new Error(failed?.formattedMessage ?? `There is no ${name}.`);
  return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
};
